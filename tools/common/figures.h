/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/common/figures.h
 * @brief Statistics: what each is called in JSON and in Prometheus' text, from
 * one table.
 */
#ifndef TOOLS_COMMON_FIGURES_H
#define TOOLS_COMMON_FIGURES_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/** At most, in one list. */
#define FIGURES_MAX 96

/** What a figure does over time. */
enum figure_type {
    FIGURE_GAUGE = 0,  /**< rises and falls */
    FIGURE_COUNTER = 1 /**< only rises */
};

/** @brief One kind of figure; a program has a table of them. */
struct figure_def {
    const char *json;   /**< name in JSON, with dots between nested objects; "*"
                             stands for the value of the label */
    const char *metric; /**< name in Prometheus' text, with its unit, without
                             the prefix; NULL: none */
    const char *label;  /**< name of the label that tells figures of this kind
                             apart; NULL: there is one */
    const char *help;   /**< what it is */
    int type;           /**< ::figure_type */
    int digits;         /**< in JSON behind the point; 0: an integer */
    double unit;        /**< of JSON in units of the metric, such as 0.001 for
                             milliseconds; 0: 1 */
};

/** @brief A figure. */
struct figure {
    const struct figure_def *def;
    const char *value_of_label;
    double value; /**< as in JSON */
};

/** @brief Figures of one thing; zeroed: none. */
struct figures {
    char labels[800]; /**< of all of them, as figures_label() wrote them */
    struct figure figure[FIGURES_MAX];
    size_t count;
};

/** @brief Adds one. @param f  list with room @param def  its kind
 * @param label  value of its label, or NULL @param value  as in JSON */
void figures_add(struct figures *f, const struct figure_def *def,
                 const char *label, double value);

/** @brief Adds a label to all. @param f  list @param name  of the label
 * @param value  any text */
void figures_label(struct figures *f, const char *name, const char *value);

/** @brief As JSON. @param f  list @param json  object that they go into */
void figures_json(const struct figures *f, json_t *json);

/**
 * @brief In Prometheus' text format.
 * @param out     where to
 * @param prefix  of all names
 * @param f       lists of the same shape, told apart by figures_label()
 * @param count   how many
 */
void figures_text(FILE *out, const char *prefix, const struct figures *f,
                  size_t count);

#endif /* TOOLS_COMMON_FIGURES_H */

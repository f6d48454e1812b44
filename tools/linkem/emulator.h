/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/linkem/emulator.h
 * @brief Both directions of the link in real time: clock, changes, log, JSON.
 */
#ifndef TOOLS_LINKEM_EMULATOR_H
#define TOOLS_LINKEM_EMULATOR_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "tools/linkem/options.h"

/** @brief Timing error of departures, a check on the emulation. */
struct linkem_lateness {
    uint64_t packets;
    uint64_t sum_ns;
    uint64_t max_ns;
};

/** @brief End-to-end delay of packets. */
struct linkem_transit {
    uint64_t packets;
    uint64_t sum_ns;
    uint64_t max_ns;
};

/** @brief Both directions. */
struct emulator {
    const struct linkem_options *options;
    struct sim_link *link[LINKEM_DIRECTIONS];
    struct linkem_lateness late[LINKEM_DIRECTIONS];
    struct linkem_transit transit[LINKEM_DIRECTIONS]; /* since the start */
    struct linkem_transit recent[LINKEM_DIRECTIONS];  /* since the last line */
    uint64_t first_out[LINKEM_DIRECTIONS]; /* of the first packet, for rates */
    uint64_t last_out[LINKEM_DIRECTIONS];
    uint64_t first_bytes[LINKEM_DIRECTIONS]; /* of that first packet */
    uint64_t start;                          /* on the system's clock */
    uint64_t round_start; /* when the changes began, since start */
    size_t change_next;
    FILE *log;
    uint64_t log_next;
    uint64_t log_last;                        /* due time of the last line */
    uint64_t log_capacity[LINKEM_DIRECTIONS]; /* offered by a trace */
};

/** @brief Owner and marking of a packet. */
struct emulator_packet {
    int direction;
    uint64_t owner; /**< returned on output; identifies flows for fair
                         queueing */
    uint32_t ecn;   /**< codepoint */
};

/** @brief Starts the clock. @return TOOL_OK, or an exit status after a
 * message */
int emulator_init(struct emulator *em, const struct linkem_options *o);

/** @brief Frees the emulator. @return false after a message: the log is not
 * whole */
bool emulator_free(struct emulator *em);

/** @brief ns since emulator_init(). */
uint64_t emulator_now(const struct emulator *em);

/** @brief Puts a packet on the link; copies its bytes. */
void emulator_offer(struct emulator *em, const struct emulator_packet *info,
                    const void *data, size_t len);

/** @brief The next packet that has arrived, to be freed with
 * sim_packet_free(), or NULL. */
struct sim_packet *emulator_take(struct emulator *em, int direction);

/** @brief Runs due events. @return ns until the next; UINT64_MAX: none */
uint64_t emulator_run(struct emulator *em);

/** @brief Whether --duration has passed. */
bool emulator_is_over(const struct emulator *em);

/** @brief The statistics of both directions. */
json_t *emulator_json(const struct emulator *em);

#endif /* TOOLS_LINKEM_EMULATOR_H */

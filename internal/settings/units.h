/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/settings/units.h
 * @brief Quantities with units: 2mbit, 40ms, 50kB, 1%. Every function returns
 * NULL on success, or a description of the expected value; the result is then
 * unchanged.
 */
#ifndef SETTINGS_UNITS_H
#define SETTINGS_UNITS_H

#include <stdbool.h>
#include <stdint.h>

/** @brief bit/s: bit, kbit, mbit, gbit (powers of 1000); no unit: bit/s. 0, or
 * 1 to 1e15, so that times and sizes computed from it fit into 64 bits. */
const char *units_rate(const char *text, double *bps);

/** @brief ns: ns, us, ms, s, min, h; only 0 needs no unit. */
const char *units_time(const char *text, uint64_t *ns);

/** @brief Milliseconds: like units_time(), but a bare number is in ms. */
const char *units_ms(const char *text, uint32_t *ms);

/** @brief Bytes: B, kB, MB, GB (powers of 1000), KiB, MiB, GiB (of 1024); no
 * unit: bytes. */
const char *units_size(const char *text, uint64_t *bytes);

/** @brief 0 to 1, or 0% to 100%. */
const char *units_probability(const char *text, double *p);

/** @brief A whole number from @p min to @p max. */
const char *units_count(const char *text, uint64_t min, uint64_t max,
                        uint64_t *n);

/** @brief A finite number, at least 0. */
const char *units_number(const char *text, double *x);

/** @brief on or off. */
const char *units_flag(const char *text, bool *flag);

#endif /* SETTINGS_UNITS_H */

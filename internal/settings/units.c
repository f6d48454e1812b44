/* SPDX-License-Identifier: MPL-2.0 */
/* Parses rates, times, sizes and probabilities with units. */
#include "internal/settings/units.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define RATE_MAX 1e15 /* bit/s */

struct unit {
    const char *name;
    double factor;
};

/* Scans the leading number; end points after it. No hexadecimal, no "inf". */
static bool units_scan_number(const char *text, double *x, const char **end) {
    char *stop;
    if (!isdigit((unsigned char)text[0]) && text[0] != '.') {
        return false;
    }
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        return false;
    }
    *x = strtod(text, &stop);
    *end = stop;
    return stop != text && isfinite(*x);
}

static bool quantity(const char *text, const struct unit *units, double *x) {
    const char *end;
    if (!units_scan_number(text, x, &end)) {
        return false;
    }
    for (; units->name; units++) {
        if (strcasecmp(end, units->name) == 0) {
            *x *= units->factor;
            return true;
        }
    }
    return false;
}

const char *units_rate(const char *text, double *bps) {
    static const struct unit units[] = {
        {"", 1},         {"bit", 1},    {"bit/s", 1},    {"kbit", 1e3},
        {"kbit/s", 1e3}, {"mbit", 1e6}, {"mbit/s", 1e6}, {"gbit", 1e9},
        {"gbit/s", 1e9}, {NULL, 0}};
    double x;
    if (!quantity(text, units, &x)) {
        return "a rate in bit/s, kbit, mbit or gbit, such as 2mbit";
    }
    if (x != 0 && !(x >= 1 && x <= RATE_MAX)) {
        return "a rate from 1 bit/s to 1000000 gbit, or 0";
    }
    *bps = x;
    return NULL;
}

/* Below 2^63 the conversion is exact enough and never overflows. */
static bool to_u64(double x, uint64_t *n) {
    if (!(x >= 0 && x < 9.2e18)) {
        return false;
    }
    *n = (uint64_t)(x + 0.5);
    return true;
}

static const struct unit time_units[] = {
    {"ns", 1},     {"us", 1e3},   {"ms", 1e6}, {"s", 1e9},
    {"min", 6e10}, {"h", 3.6e12}, {NULL, 0}};

const char *units_time(const char *text, uint64_t *ns) {
    double x;
    const char *end;
    bool zero = units_scan_number(text, &x, &end) && *end == '\0' && x == 0;
    if ((!zero && !quantity(text, time_units, &x)) || !to_u64(x, ns)) {
        return "a time with its unit (ns, us, ms, s, min or h), such as 40ms";
    }
    return NULL;
}

const char *units_ms(const char *text, uint32_t *ms) {
    double x;
    const char *end;
    bool bare = units_scan_number(text, &x, &end) && *end == '\0';
    if (!bare) {
        if (!quantity(text, time_units, &x)) {
            return "a time in milliseconds, such as 200 or 200ms";
        }
        x /= 1e6;
    }
    if (x > 86400e3) {
        return "a time of at most a day, in milliseconds";
    }
    *ms = (uint32_t)(x + 0.5);
    return NULL;
}

const char *units_size(const char *text, uint64_t *bytes) {
    static const struct unit units[] = {
        {"", 1},     {"B", 1},      {"kB", 1e3},      {"MB", 1e6},
        {"GB", 1e9}, {"KiB", 1024}, {"MiB", 1048576}, {"GiB", 1073741824},
        {NULL, 0}};
    double x;
    if (!quantity(text, units, &x) || !to_u64(x, bytes)) {
        return "a size in bytes, or with its unit (kB, MB, GB, KiB, MiB or "
               "GiB), such as 50kB";
    }
    return NULL;
}

const char *units_probability(const char *text, double *p) {
    static const struct unit units[] = {{"", 1}, {"%", 0.01}, {NULL, 0}};
    double x;
    if (!quantity(text, units, &x) || x > 1) {
        return "a probability from 0 to 1 or from 0% to 100%, such as 1%";
    }
    *p = x;
    return NULL;
}

const char *units_count(const char *text, uint64_t min, uint64_t max,
                        uint64_t *n) {
    char *end;
    unsigned long long x;
    if (!isdigit((unsigned char)text[0])) {
        return "a whole number";
    }
    errno = 0;
    x = strtoull(text, &end, 10);
    if (*end != '\0' || errno != 0) {
        return "a whole number";
    }
    if (x < min || x > max) {
        return "a whole number in the range that the help names";
    }
    *n = x;
    return NULL;
}

const char *units_number(const char *text, double *x) {
    const char *end;
    double value;
    if (!units_scan_number(text, &value, &end) || *end != '\0') {
        return "a number, at least 0";
    }
    *x = value;
    return NULL;
}

const char *units_flag(const char *text, bool *flag) {
    bool on = strcmp(text, "on") == 0;
    if (!on && strcmp(text, "off") != 0) {
        return "on or off";
    }
    *flag = on;
    return NULL;
}

/* SPDX-License-Identifier: MPL-2.0 */
/* The way through a constellation like Iridium's. */
#include "sim/iridium.h"

#include <math.h>
#include <stdlib.h>

#define IN_PLANE 11
#define NODES_APART 31.6 /* degrees */
#define INCLINATION 86.4
#define EARTH 6371.0 /* km */
#define ALTITUDE 780.0
#define PERIOD 6026.9    /* s */
#define DAY 86164.0      /* s, to the stars */
#define MASK 8.2         /* degrees */
#define POLAR 60.0       /* latitude above which planes have no links */
#define LIGHT 299792.458 /* km/s */

struct point {
    double x, y, z; /* km, in an inertial frame */
};

static double radians(double degrees) {
    return degrees * (acos(-1) / 180);
}

static double distance(struct point a, struct point b) {
    return sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) +
                (a.z - b.z) * (a.z - b.z));
}

static struct point ground(struct iridium_place p, double t) {
    double latitude = radians(p.latitude);
    double longitude = radians(p.longitude + 360 * t / DAY);
    return (struct point){EARTH * cos(latitude) * cos(longitude),
                          EARTH * cos(latitude) * sin(longitude),
                          EARTH * sin(latitude)};
}

static struct point satellite_at(int satellite, double t) {
    int plane = satellite / IN_PLANE;
    double step = 360.0 / IN_PLANE;
    double node = radians(NODES_APART * plane);
    double u = radians(step * (satellite % IN_PLANE) + step / 2 * (plane % 2) +
                       360 * t / PERIOD);
    double tilt = radians(INCLINATION);
    double r = EARTH + ALTITUDE;
    return (struct point){
        r * (cos(node) * cos(u) - sin(node) * sin(u) * cos(tilt)),
        r * (sin(node) * cos(u) + cos(node) * sin(u) * cos(tilt)),
        r * sin(u) * sin(tilt)};
}

double iridium_range(struct iridium_place place, int satellite, double t) {
    return distance(ground(place, t), satellite_at(satellite, t));
}

double iridium_elevation(struct iridium_place place, int satellite, double t) {
    struct point g = ground(place, t);
    struct point s = satellite_at(satellite, t);
    double up = ((s.x - g.x) * g.x + (s.y - g.y) * g.y + (s.z - g.z) * g.z) /
                (EARTH * distance(g, s));
    return asin(up) / radians(1);
}

static bool hand_over(struct iridium *g, int end, double t) {
    double best = MASK;
    int *serving = &g->serving[end];
    if (*serving >= 0 &&
        iridium_elevation(g->place[end], *serving, t) >= MASK) {
        return true;
    }
    *serving = -1;
    for (int i = 0; i < IRIDIUM_SATELLITES; i++) {
        double elevation = iridium_elevation(g->place[end], i, t);
        if (elevation >= best) {
            best = elevation;
            *serving = i;
        }
    }
    return *serving >= 0;
}

static bool is_polar(struct point p) {
    return fabs(p.z) > (EARTH + ALTITUDE) * sin(radians(POLAR));
}

static bool are_linked(int a, int b, const struct point *at) {
    int planes = abs(a / IN_PLANE - b / IN_PLANE);
    int along = abs(a % IN_PLANE - b % IN_PLANE);
    if (planes == 0) {
        return along == 1 || along == IN_PLANE - 1;
    }
    return planes == 1 && along == 0 && !is_polar(at[a]) && !is_polar(at[b]);
}

/* The nearest satellite without a final distance; -1: none. */
static int nearest(const double *far, const bool *final) {
    int found = -1;
    for (int i = 0; i < IRIDIUM_SATELLITES; i++) {
        if (!final[i] && isfinite(far[i]) &&
            (found < 0 || far[i] < far[found])) {
            found = i;
        }
    }
    return found;
}

/* Dijkstra: km from one satellite to the other, or infinite. */
static double shortest(int from, int to, double t, int *hops) {
    struct point at[IRIDIUM_SATELLITES];
    double far[IRIDIUM_SATELLITES];
    int links[IRIDIUM_SATELLITES] = {0};
    bool final[IRIDIUM_SATELLITES] = {false};
    int i;
    for (i = 0; i < IRIDIUM_SATELLITES; i++) {
        at[i] = satellite_at(i, t);
        far[i] = i == from ? 0 : (double)INFINITY;
    }
    while ((i = nearest(far, final)) >= 0 && i != to) {
        final[i] = true;
        for (int j = 0; j < IRIDIUM_SATELLITES; j++) {
            double longer = far[i] + distance(at[i], at[j]);
            if (are_linked(i, j, at) && longer < far[j]) {
                far[j] = longer;
                links[j] = links[i] + 1;
            }
        }
    }
    *hops = links[to];
    return far[to];
}

void iridium_init(struct iridium *g, struct iridium_place a,
                  struct iridium_place b) {
    *g = (struct iridium){{a, b}, {-1, -1}};
}

bool iridium_look(struct iridium *g, double t, struct iridium_way *way) {
    double between;
    if (!hand_over(g, 0, t) || !hand_over(g, 1, t)) {
        return false;
    }
    between = shortest(g->serving[0], g->serving[1], t, &way->hops);
    way->up = iridium_range(g->place[0], g->serving[0], t) / LIGHT;
    way->between = between / LIGHT;
    way->down = iridium_range(g->place[1], g->serving[1], t) / LIGHT;
    return isfinite(between);
}

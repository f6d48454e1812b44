/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file sim/iridium.h
 * @brief The path between two ground stations through a constellation like
 * Iridium's, with moving satellites and handovers.
 *
 * Six planes of eleven satellites in 780 km, inclination 86.4 degrees, nodes
 * 31.6 degrees apart, period 6026.9 s.  Links join neighbours of a plane, and
 * of planes side by side while both are below 60 degrees of latitude; none
 * crosses the seam.  A place keeps its satellite until that is below 8.2
 * degrees, then takes the highest one. The numbers are those of ns-2's Iridium.
 */
#ifndef SIM_IRIDIUM_H
#define SIM_IRIDIUM_H

#include <stdbool.h>

/** Satellites. */
#define IRIDIUM_SATELLITES 66

/** @brief A place on the ground, degrees. */
struct iridium_place {
    double latitude;  /**< north */
    double longitude; /**< east */
};

/** @brief Two places and the satellites that serve them. */
struct iridium {
    struct iridium_place place[2];
    int serving[2]; /**< -1: none yet */
};

/** @brief A path, as propagation delays, s. */
struct iridium_way {
    double up;      /**< from the first place to its satellite */
    double between; /**< from satellite to satellite */
    double down;    /**< down to the other place */
    int hops;       /**< links between satellites */
};

/** @brief Initialises two places without satellites. @param g pair @param a
 * one
 * @param b  other */
void iridium_init(struct iridium *g, struct iridium_place a,
                  struct iridium_place b);
/**
 * @brief Updates the satellites, hands over if due, and finds the shortest
 * path. Times must not decrease.
 * @param g         places
 * @param t         s; at 0, satellite 0 is over the equator at 0 degrees
 * @param[out] way  lengths
 * @return false: a place sees no satellite, or there is no path
 */
bool iridium_look(struct iridium *g, double t, struct iridium_way *way);
/** @brief Elevation of a satellite, degrees. @param place observer
 * @param satellite  from 0 @param t  s @return 90: overhead */
double iridium_elevation(struct iridium_place place, int satellite, double t);
/** @brief Distance of a satellite, km. @param place observer
 * @param satellite  from 0 @param t  s @return km */
double iridium_range(struct iridium_place place, int satellite, double t);

#endif /* SIM_IRIDIUM_H */

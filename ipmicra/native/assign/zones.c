/* Zones as a k-d tree in arrays: which leaf holds a point, and how a joining crawler splits one.
 *
 * Every zone number that is read from the arrays is checked before it is followed, and no walk takes more steps
 * than there are zones: arrays that somebody else wrote may give a wrong answer, never a wild read. */

#include <math.h>

#include "overlay.h"

/* Return the leaf that holds a point, which lies above a cut if it is on it; NO_ZONE if the tree is not sound. */
int64_t leaf_of(const Zones *zones, const double *point) {
    int64_t zone = 0;
    for (size_t steps = 0; steps <= zones->room; steps++) {
        int axis = zones->axis[zone];
        if (axis < 0)
            return zone;
        int64_t below = (size_t)axis < zones->dimensions ? zones->child[zone] : NO_ZONE;
        if (!is_zone(zones, below) || !is_zone(zones, below + 1))
            return NO_ZONE;
        zone = below + (point[axis] >= zones->cut[zone]);
    }
    return NO_ZONE;
}

/* Cut a leaf in two; return the lower half, NO_ZONE where there is no room. */
int64_t split_zone(Zones *zones, int64_t zone, Cut cut) {
    size_t width = zones->dimensions;
    int64_t first = zones->counts[0];
    bool is_reused = zones->counts[1] > 0 && (size_t)zones->counts[1] <= zones->room;
    if (is_reused)
        first = zones->unused[zones->counts[1] - 1];
    if (!is_zone(zones, first) || !is_zone(zones, first + 1) || !is_zone(zones, zone) || cut.axis < 0 ||
        (size_t)cut.axis >= width)
        return NO_ZONE;
    zones->counts[is_reused ? 1 : 0] += is_reused ? -1 : 2;
    for (int64_t half = first; half <= first + 1; half++) {
        for (size_t k = 0; k < width; k++) {
            zones->low[half * (int64_t)width + (int64_t)k] = zones->low[zone * (int64_t)width + (int64_t)k];
            zones->high[half * (int64_t)width + (int64_t)k] = zones->high[zone * (int64_t)width + (int64_t)k];
        }
        zones->axis[half] = -1;
        zones->parent[half] = (int32_t)zone;
        zones->owner[half] = zones->owner[zone];
    }
    zones->high[first * (int64_t)width + cut.axis] = cut.at;
    zones->low[(first + 1) * (int64_t)width + cut.axis] = cut.at;
    zones->axis[zone] = (int8_t)cut.axis;
    zones->cut[zone] = cut.at;
    zones->child[zone] = (int32_t)first;
    zones->owner[zone] = -1;
    return first;
}

/* Return the wanted axis if a zone has a middle there, else the widest that has; -1 if none. */
static int roomiest(const Zones *zones, int64_t zone, int wanted) {
    int best = -1;
    double width = 0.0;
    for (int k = 0; k < (int)zones->dimensions; k++) {
        double low = zones->low[zone * (int64_t)zones->dimensions + k];
        double high = zones->high[zone * (int64_t)zones->dimensions + k];
        double middle = low + (high - low) / 2;
        if (low < middle && middle < high) {
            if (k == wanted)
                return k;
            if (high - low > width) {
                best = k;
                width = high - low;
            }
        }
    }
    return best;
}

/* Return the dimension after the one that made the zone. */
int next_axis(const Zones *zones, int64_t zone) {
    if (zone <= 0 || !is_zone(zones, zones->parent[zone]))
        return 0;
    return (int)((size_t)(zones->axis[zones->parent[zone]] + 1) % zones->dimensions);
}

/* Choose the middle of a zone in the next dimension; axis -1 for a zone too small to cut. */
Cut loop_cut(const Zones *zones, int64_t zone) {
    int axis = roomiest(zones, zone, next_axis(zones, zone));
    if (axis < 0)
        return (Cut){-1, 0.0};
    double low = zones->low[zone * (int64_t)zones->dimensions + axis];
    double high = zones->high[zone * (int64_t)zones->dimensions + axis];
    return (Cut){axis, low + (high - low) / 2};
}

/* Choose the cut half-way between two points in the dimension in which they differ most.
 *
 * Falls back on the dimension loop where that cut is not inside the zone. */
static Cut middle_cut(const Zones *zones, int64_t zone, const double *one, const double *other) {
    int axis = 0;
    for (int k = 1; k < (int)zones->dimensions; k++)
        if (fabs(one[k] - other[k]) > fabs(one[axis] - other[axis]))
            axis = k;
    double at = one[axis] + (other[axis] - one[axis]) / 2;
    double low = zones->low[zone * (int64_t)zones->dimensions + axis];
    double high = zones->high[zone * (int64_t)zones->dimensions + axis];
    if (one[axis] == other[axis] || !(low < at && at < high))
        return loop_cut(zones, zone);
    /* the cut must separate the two even where they are neighbouring floating-point numbers */
    double lower = one[axis] < other[axis] ? one[axis] : other[axis];
    double upper = one[axis] < other[axis] ? other[axis] : one[axis];
    return (Cut){axis, at > lower ? at : upper};
}

/* Let a crawler join by splitting the zone that holds it; return false if that is too small.
 *
 * It takes the lower half (0), the upper one (1) or the one that holds it (-1). For overlays in which every crawler
 * has one zone and nobody holds a site. */
bool join_one(Zones *zones, Joiners joiners, int64_t crawler, int scheme, int64_t half) {
    const double *point = joiners.points + (size_t)crawler * zones->dimensions;
    int64_t zone = leaf_of(zones, point);
    int64_t old = zone < 0 ? -1 : zones->owner[zone];
    if (old < 0 || (size_t)old >= joiners.count)
        return false;
    Cut cut = scheme == MIDDLE_POINT
                  ? middle_cut(zones, zone, joiners.points + (size_t)old * zones->dimensions, point)
                  : loop_cut(zones, zone);
    int64_t first = cut.axis < 0 ? NO_ZONE : split_zone(zones, zone, cut);
    if (first < 0)
        return false;
    int upper = half == 1 || (half < 0 && point[cut.axis] >= cut.at);
    zones->owner[first + upper] = (int32_t)crawler;
    joiners.zone_of[crawler] = (int32_t)(first + upper);
    joiners.zone_of[old] = (int32_t)(first + 1 - upper);
    return true;
}

/* Who borders whom, and routing hop by hop. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "overlay.h"

enum { DEEPEST = 4096 }; /* zones still to be looked at: a path down the tree leaves at most one on each level */

/* A box to search neighbours of. */
typedef struct {
    double low[MOST_DIMENSIONS];
    double high[MOST_DIMENSIONS];
} Box;

static inline double low_of(const Zones *zones, int64_t zone, size_t k) {
    return zones->low[(size_t)zone * zones->dimensions + k];
}

static inline double high_of(const Zones *zones, int64_t zone, size_t k) {
    return zones->high[(size_t)zone * zones->dimensions + k];
}

/* Return whether a zone and a box touch in one dimension and overlap in all others. */
static bool shares_face(const Zones *zones, int64_t zone, const Box *box) {
    int touching = 0;
    for (size_t k = 0; k < zones->dimensions; k++) {
        double low = low_of(zones, zone, k), high = high_of(zones, zone, k);
        if (high == box->low[k] || low == box->high[k])
            touching++;
        else if (high < box->low[k] || low > box->high[k])
            return false;
    }
    return touching == 1;
}

/* Append the leaves that share a face with a box; beyond the room of `found` they are only counted. */
static int64_t gather(const Zones *zones, int64_t zone, const Box *box, int32_t *found, size_t room, int64_t count) {
    int32_t stack[DEEPEST];
    size_t size = 1;
    stack[0] = 0;
    for (size_t steps = 0; size > 0; steps++) {
        int32_t here = stack[--size];
        int axis = zones->axis[here];
        if (axis < 0) {
            if (here != zone && shares_face(zones, here, box)) {
                if ((size_t)count < room)
                    found[count] = here;
                count++;
            }
            continue;
        }
        int32_t below = zones->child[here];
        if (size + 2 > DEEPEST || steps > zones->room || (size_t)axis >= zones->dimensions || !is_zone(zones, below) ||
            !is_zone(zones, (int64_t)below + 1))
            return TOO_DEEP;
        if (box->low[axis] <= zones->cut[here])
            stack[size++] = below;
        if (box->high[axis] >= zones->cut[here])
            stack[size++] = below + 1;
    }
    return count;
}

/* Write the zones that share a face with a zone; return how many there are, TOO_DEEP if the tree is not sound.
 *
 * On a torus opposite ends of the space touch; a zone may then border another on two sides and is named twice. */
int64_t neighbours_of(const Zones *zones, int64_t zone, bool is_torus, int32_t *found, size_t room) {
    Box box = {{0}, {0}};
    for (size_t k = 0; k < zones->dimensions; k++) {
        box.low[k] = low_of(zones, zone, k);
        box.high[k] = high_of(zones, zone, k);
    }
    int64_t count = gather(zones, zone, &box, found, room, 0);
    for (size_t k = 0; is_torus && k < zones->dimensions && count >= 0; k++) {
        double start = low_of(zones, 0, k), end = high_of(zones, 0, k), span = end - start;
        double low = box.low[k], high = box.high[k];
        if (low == start && high < end) {
            box.low[k] = end;
            box.high[k] = end + span;
            count = gather(zones, zone, &box, found, room, count);
        }
        if (count >= 0 && high == end && low > start) {
            box.low[k] = start - span;
            box.high[k] = start;
            count = gather(zones, zone, &box, found, room, count);
        }
        box.low[k] = low;
        box.high[k] = high;
    }
    return count;
}

static inline double larger(double one, double other) { return one > other ? one : other; }

static inline double smaller(double one, double other) { return one < other ? one : other; }

/* Return the squared distance from a point to a zone. */
static double distance_to(const Zones *zones, int64_t zone, const double *point, bool is_torus) {
    double total = 0.0;
    for (size_t k = 0; k < zones->dimensions; k++) {
        double low = low_of(zones, zone, k), high = high_of(zones, zone, k);
        double away = larger(larger(low - point[k], point[k] - high), 0.0);
        if (is_torus && away > 0) {
            double span = high_of(zones, 0, k) - low_of(zones, 0, k);
            away = smaller(away, smaller(larger(low - point[k] + span, 0.0), larger(point[k] + span - high, 0.0)));
        }
        total += away * away;
    }
    return total;
}

/* Return whether a zone holds a point as far as one dimension goes. */
static bool is_within(const Zones *zones, int64_t zone, const double *point, size_t k) {
    bool is_below_end = point[k] < high_of(zones, zone, k) || high_of(zones, zone, k) == high_of(zones, 0, k);
    return low_of(zones, zone, k) <= point[k] && is_below_end;
}

static bool holds(const Zones *zones, int64_t zone, const double *point) {
    for (size_t k = 0; k < zones->dimensions; k++)
        if (!is_within(zones, zone, point, k))
            return false;
    return true;
}

/* Return the neighbour across the first face beyond which a point lies.
 *
 * Compares bounds only, so that it also separates zones whose distances are rounded to the same number. */
static int64_t across(const Zones *zones, int64_t zone, const double *point, bool is_torus) {
    double inside[MOST_DIMENSIONS];
    size_t axis = zones->dimensions;
    for (size_t k = 0; k < zones->dimensions; k++) {
        double low = low_of(zones, zone, k), high = high_of(zones, zone, k);
        if (axis == zones->dimensions && !is_within(zones, zone, point, k))
            axis = k;
        inside[k] = smaller(larger(point[k], low), nextafter(high, low));
    }
    if (axis == zones->dimensions)
        return zone;
    double low = low_of(zones, zone, axis), high = high_of(zones, zone, axis);
    double start = low_of(zones, 0, axis), end = high_of(zones, 0, axis);
    bool is_up = point[axis] >= high;
    if (is_torus) {
        double straight = is_up ? point[axis] - high : low - point[axis];
        double around = is_up ? low - point[axis] + (end - start) : point[axis] + (end - start) - high;
        is_up = is_up == (straight <= around);
    }
    if (is_up)
        inside[axis] = high < end ? high : start;
    else
        inside[axis] = low > start ? nextafter(low, -INFINITY) : end;
    return leaf_of(zones, inside);
}

/* Walk from a zone to the one that holds a point, always to the neighbour nearest to it; return the hops.
 *
 * A hop uses nothing but the zones of one's neighbours, as a real crawler would. The zone across the face on the
 * way to the point is always nearer, so the walk ends. NO_ZONE if the path is too short. */
int64_t route(const Zones *zones, int64_t start, const double *point, bool is_torus, int32_t *path, size_t room) {
    int32_t first_found[256], *found = first_found, *allocated = NULL;
    size_t found_room = sizeof first_found / sizeof *first_found;
    int64_t here = start, hops = 0;
    while (hops >= 0 && !holds(zones, here, point)) {
        int64_t count = (size_t)hops == room ? NO_ZONE : neighbours_of(zones, here, is_torus, found, found_room);
        if (count >= 0 && (size_t)count > found_room) {
            int32_t *more = realloc(allocated, 2 * (size_t)count * sizeof *more);
            if (more == NULL) {
                hops = NO_MEMORY_LEFT;
                break;
            }
            found = allocated = more;
            found_room = 2 * (size_t)count;
            neighbours_of(zones, here, is_torus, found, found_room);
        }
        double left = distance_to(zones, here, point, is_torus);
        int64_t best = here;
        for (int64_t i = 0; i < count; i++) {
            double away = distance_to(zones, found[i], point, is_torus);
            if (away < left || (away == 0 && holds(zones, found[i], point))) {
                best = found[i];
                left = away;
            }
        }
        here = count >= 0 && best == here ? across(zones, here, point, is_torus) : best;
        if (count < 0 || !is_zone(zones, here)) {
            hops = NO_ZONE;
            break;
        }
        path[hops++] = (int32_t)here;
    }
    free(allocated);
    return hops;
}

/* The functions of overlay, auction, binding and partition, as Python calls them. */

#include "../assign/balance.h"
#include "../assign/overlay.h"
#include "arrays.h"

/* Take a tree of zones: a tuple of low, high, axis, cut, child, parent, owner, free, counts. */
static Zones take_zones(Frame *frame, PyObject *tree) {
    static const char *const types[] = {"wf8", "wf8", "wi1", "wf8", "wi4", "wi4", "wi4", "wi4", "wi8"};
    enum { PARTS = sizeof types / sizeof *types };
    Array parts[PARTS] = {{NULL, 0, 0}};
    bool is_tree = PyTuple_Check(tree) && PyTuple_Size(tree) == PARTS;
    expect(frame, is_tree, "no tree of zones");
    for (int i = 0; is_tree && i < PARTS; i++)
        parts[i] = take_array(frame, PyTuple_GetItem(tree, i), types[i]);
    size_t room = parts[2].count, dimensions = room ? parts[0].count / room : 0;
    expect(frame, dimensions > 0 && dimensions <= MOST_DIMENSIONS && parts[0].count == room * dimensions &&
                      parts[1].count == room * dimensions && parts[8].count == 2, "a tree without zones");
    for (int i = 3; i < 8; i++)
        expect(frame, parts[i].count == room, "columns of different lengths");
    return (Zones){parts[0].data, parts[1].data, parts[2].data, parts[3].data, parts[4].data,
                   parts[5].data, parts[6].data, parts[7].data, parts[8].data, room, dimensions};
}

static int64_t take_zone(Frame *frame, const Zones *zones, PyObject *object) {
    int64_t zone = take_number(frame, object);
    expect(frame, is_zone(zones, zone), "no such zone");
    return zone;
}

/* Take points, of which there are `rows`. */
static const double *take_points(Frame *frame, const Zones *zones, PyObject *object, size_t *rows) {
    Array points = take_array(frame, object, "f8");
    *rows = zones->dimensions ? points.count / zones->dimensions : 0;
    expect(frame, points.count == *rows * zones->dimensions, "points of another dimension");
    return points.data;
}

FUNCTION(leaf_of, 2) {
    Zones zones = take_zones(frame, args[0]);
    size_t rows;
    const double *point = take_points(frame, &zones, args[1], &rows);
    expect(frame, rows == 1, "one point is needed");
    int64_t leaf = frame->is_failed ? 0 : leaf_of(&zones, point);
    expect(frame, leaf >= 0, "a tree that is not sound");
    return return_number(frame, leaf);
}

FUNCTION(leaves_of, 3) {
    Zones zones = take_zones(frame, args[0]);
    size_t rows;
    const double *points = take_points(frame, &zones, args[1], &rows);
    Array leaves = take_array(frame, args[2], "wi4");
    expect(frame, leaves.count == rows, "as many leaves as points are needed");
    bool is_sound = true;
    if (!frame->is_failed) {
        int32_t *out = leaves.data;
        Py_BEGIN_ALLOW_THREADS
        for (size_t i = 0; i < rows; i++) {
            int64_t leaf = leaf_of(&zones, points + i * zones.dimensions);
            is_sound &= leaf >= 0;
            out[i] = (int32_t)leaf;
        }
        Py_END_ALLOW_THREADS
    }
    expect(frame, is_sound, "a tree that is not sound");
    return return_number(frame, 0);
}

FUNCTION(split_zone, 4) {
    Zones zones = take_zones(frame, args[0]);
    int64_t zone = take_zone(frame, &zones, args[1]), axis = take_number(frame, args[2]);
    double at = take_float(frame, args[3]);
    expect(frame, axis >= 0 && (size_t)axis < zones.dimensions, "no such axis");
    int64_t first = frame->is_failed ? 0 : split_zone(&zones, zone, (Cut){(int)axis, at});
    expect(frame, first >= 0, "no room for two more zones");
    return return_number(frame, first);
}

FUNCTION(next_axis, 2) {
    Zones zones = take_zones(frame, args[0]);
    int64_t zone = take_zone(frame, &zones, args[1]);
    return return_number(frame, frame->is_failed ? 0 : next_axis(&zones, zone));
}

FUNCTION(loop_cut, 2) {
    Zones zones = take_zones(frame, args[0]);
    int64_t zone = take_zone(frame, &zones, args[1]);
    Cut cut = {-1, 0.0};
    if (!frame->is_failed)
        cut = loop_cut(&zones, zone);
    return frame->is_failed ? NULL : Py_BuildValue("id", cut.axis, cut.at);
}

FUNCTION(join_many, 6) {
    Zones zones = take_zones(frame, args[0]);
    Joiners joiners = {NULL, NULL, 0};
    joiners.points = take_points(frame, &zones, args[1], &joiners.count);
    Array zone_of = take_array(frame, args[2], "wi4"), crawlers = take_array(frame, args[3], "i8");
    int64_t scheme = take_number(frame, args[4]);
    Array halves = take_array(frame, args[5], "i8");
    joiners.zone_of = zone_of.data;
    if (zone_of.count < joiners.count)
        joiners.count = zone_of.count;
    expect(frame, halves.count == crawlers.count, "as many halves as crawlers are needed");
    const int64_t *numbers = crawlers.data, *draws = halves.data;
    for (size_t i = 0; !frame->is_failed && i < crawlers.count; i++)
        expect(frame, numbers[i] >= 0 && (size_t)numbers[i] < joiners.count, "no such crawler");
    size_t joined = 0;
    if (!frame->is_failed) {
        Py_BEGIN_ALLOW_THREADS
        while (joined < crawlers.count && join_one(&zones, joiners, numbers[joined], (int)scheme, draws[joined]))
            joined++;
        Py_END_ALLOW_THREADS
    }
    return return_number(frame, (int64_t)joined);
}

FUNCTION(neighbours_of, 4) {
    Zones zones = take_zones(frame, args[0]);
    int64_t zone = take_zone(frame, &zones, args[1]);
    bool is_torus = take_flag(frame, args[2]);
    Array found = take_array(frame, args[3], "wi4");
    int64_t count = frame->is_failed ? 0 : neighbours_of(&zones, zone, is_torus, found.data, found.count);
    expect(frame, count >= 0, "a tree that is not sound");
    return return_number(frame, count);
}

FUNCTION(route, 5) {
    Zones zones = take_zones(frame, args[0]);
    int64_t start = take_zone(frame, &zones, args[1]);
    size_t rows;
    const double *point = take_points(frame, &zones, args[2], &rows);
    bool is_torus = take_flag(frame, args[3]);
    Array path = take_array(frame, args[4], "wi4");
    expect(frame, rows == 1, "one point is needed");
    int64_t hops = frame->is_failed ? 0 : route(&zones, start, point, is_torus, path.data, path.count);
    expect(frame, hops >= 0, "a walk that does not end");
    return return_number(frame, hops);
}

FUNCTION(hops_of_many, 6) {
    Zones zones = take_zones(frame, args[0]);
    Array starts = take_array(frame, args[1], "i4");
    size_t rows;
    const double *points = take_points(frame, &zones, args[2], &rows);
    bool is_torus = take_flag(frame, args[3]);
    Array path = take_array(frame, args[4], "wi4"), hops = take_array(frame, args[5], "wi8");
    expect(frame, starts.count == rows && hops.count == rows, "as many starts as points are needed");
    const int32_t *zone = starts.data;
    int64_t *out = hops.data;
    for (size_t i = 0; !frame->is_failed && i < rows; i++)
        expect(frame, is_zone(&zones, zone[i]), "no such zone");
    if (!frame->is_failed) {
        Py_BEGIN_ALLOW_THREADS
        for (size_t i = 0; i < rows; i++)
            out[i] = route(&zones, zone[i], points + i * zones.dimensions, is_torus, path.data, path.count);
        Py_END_ALLOW_THREADS
    }
    return return_number(frame, 0);
}

FUNCTION(auction, 8) {
    Array cost = take_array(frame, args[0], "f4"), load = take_array(frame, args[1], "f8");
    Array room = take_array(frame, args[2], "f8"), price = take_array(frame, args[3], "wf8");
    Array waiting = take_array(frame, args[4], "i8");
    double step = take_float(frame, args[5]);
    int64_t most_bids = take_number(frame, args[6]);
    Array taker = take_array(frame, args[7], "wi8");
    expect(frame, cost.count == load.count * room.count && price.count == room.count && taker.count == load.count,
           "columns of different lengths");
    Auction auction = {cost.data, load.data, room.data, price.data, load.count, room.count, step, most_bids};
    int64_t bids = 0;
    WITHOUT_GIL(frame, bids = hold_auction(auction, waiting.data, waiting.count, taker.data));
    expect(frame, bids != -2, "a site that does not exist, or waits twice");
    expect_memory(frame, bids != -1);
    return return_number(frame, bids);
}

/* Take what both choices of a binder need: since, lives, expected_ms, site, pages, slope, offset, last crawler, and
 * the weights stay, risk, fixed_ms, per_step, per_age. */
static Binding take_binding(Frame *frame, PyObject *const *args) {
    Array since = take_array(frame, args[0], "f8"), lives = take_array(frame, args[1], "i8");
    Array expected = take_array(frame, args[2], "f8"), site = take_array(frame, args[3], "i8");
    Array pages = take_array(frame, args[4], "i8"), slope = take_array(frame, args[5], "f8");
    Array offset = take_array(frame, args[6], "f8"), last = take_array(frame, args[7], "i8");
    Array weights = take_array(frame, args[8], "f8");
    size_t pieces = site.count, crawlers = since.count;
    expect(frame, pages.count == pieces && slope.count == pieces && offset.count == pieces && last.count == pieces &&
                      weights.count == 5 && crawlers > 0 && expected.count % crawlers == 0,
           "columns of different lengths");
    const double none[5] = {0}, *weight = frame->is_failed ? none : weights.data;
    return (Binding){since.data, lives.data, expected.data, site.data, pages.data, slope.data, offset.data, last.data,
                     lives.count, crawlers, crawlers ? expected.count / crawlers : 0, pieces,
                     weight[0], weight[1], weight[2], weight[3], weight[4]};
}

static PyObject *choose(Frame *frame, PyObject *const *args, bool is_piece) {
    int64_t one = take_number(frame, args[0]);
    Array many = take_array(frame, args[1], "i8");
    double now = take_float(frame, args[2]);
    Binding binding = take_binding(frame, args + 3);
    expect(frame, one >= 0 && (size_t)one < (is_piece ? binding.crawlers : binding.pieces), "no such crawler or piece");
    int64_t best = -1;
    if (!frame->is_failed)
        best = is_piece ? best_piece(&binding, one, many.data, many.count, now)
                        : best_crawler(&binding, one, many.data, many.count, now);
    return return_number(frame, best);
}

FUNCTION(best_piece, 12) { return choose(frame, args, true); }

FUNCTION(best_crawler, 12) { return choose(frame, args, false); }

/* Take a graph: a tuple of starts, ends and weights. */
static Graph take_graph(Frame *frame, PyObject *object, size_t vertices) {
    expect(frame, PyTuple_Check(object) && PyTuple_Size(object) == 3, "no graph");
    if (frame->is_failed)
        return (Graph){NULL, NULL, NULL};
    Array starts = take_array(frame, PyTuple_GetItem(object, 0), "i8");
    Array ends = take_array(frame, PyTuple_GetItem(object, 1), "i8");
    Array weights = take_array(frame, PyTuple_GetItem(object, 2), "f8");
    expect(frame, starts.count == vertices + 1 && weights.count == ends.count, "columns of different lengths");
    const int64_t *edges = starts.data;
    for (size_t i = 0; !frame->is_failed && i < starts.count; i++)
        expect(frame, edges[i] >= 0 && (size_t)edges[i] <= ends.count, "no such edge");
    return (Graph){starts.data, ends.data, weights.data};
}

FUNCTION(move_once, 9) {
    Array preferences = take_array(frame, args[2], "f8");
    double power = take_float(frame, args[3]);
    Array part = take_array(frame, args[4], "wi8"), load = take_array(frame, args[5], "wf8");
    Array limit = take_array(frame, args[6], "f8"), weight = take_array(frame, args[7], "f8");
    Array cuts = take_array(frame, args[8], "wf8");
    Graph near = take_graph(frame, args[0], part.count), linked = take_graph(frame, args[1], part.count);
    expect(frame, preferences.count == 2 && cuts.count == 2 && load.count == limit.count && weight.count == part.count,
           "columns of different lengths");
    const int64_t *parts = part.data;
    for (size_t i = 0; !frame->is_failed && i < part.count; i++)
        expect(frame, parts[i] >= 0 && (size_t)parts[i] < limit.count, "no such part");
    Moves moves = {{near, linked}, preferences.data, power, part.data, load.data, limit.data, weight.data, cuts.data,
                   part.count, limit.count};
    int64_t moved = 0;
    WITHOUT_GIL(frame, moved = move_once(moves));
    expect(frame, moved != -2, "an edge to a vertex that does not exist");
    expect_memory(frame, moved != -1);
    return return_number(frame, moved);
}

PyMethodDef assign_functions[] = {
    METHOD(leaf_of, "Return the zone that holds a point."),
    METHOD(leaves_of, "Write the zones that hold points."),
    METHOD(split_zone, "Cut a zone in two; return the lower half."),
    METHOD(next_axis, "Return the dimension after the one that made a zone."),
    METHOD(loop_cut, "Return axis and place of the middle cut; axis -1 for a zone too small for any."),
    METHOD(join_many, "Let crawlers join in turn; return how many could."),
    METHOD(neighbours_of, "Write the zones that share a face with a zone; return how many there are."),
    METHOD(route, "Write a greedy walk to the zone that holds a point; return the hops."),
    METHOD(hops_of_many, "Write the hops of many walks."),
    METHOD(auction, "Sell room to waiting sites; return the number of bids."),
    METHOD(best_piece, "Return the waiting piece that costs least on a crawler; -1 if none waits."),
    METHOD(best_crawler, "Return the free crawler on which a piece costs least; -1 if none is free."),
    METHOD(move_once, "Move vertices once; return how many moved."),
    {NULL, NULL, 0, NULL},
};

/* Moving vertices between parts, one after the other, each to where both objectives together gain most. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "balance.h"

/* Add up the weights of a vertex's edges by the part at their other end; return whether all exist. */
static bool sum_ties(const Moves *moves, const Graph *graph, size_t vertex, double *ties) {
    memset(ties, 0, moves->parts * sizeof *ties);
    for (int64_t edge = graph->starts[vertex]; edge < graph->starts[vertex + 1]; edge++) {
        int64_t end = graph->ends[edge];
        if (end < 0 || (size_t)end >= moves->vertices)
            return false;
        ties[moves->part[end]] += graph->weights[edge];
    }
    return true;
}

/* Return what a unit of a cut is worth now: the slope of preference × cut^power. */
static double worth_of(const Moves *moves, int graph) {
    double cut = moves->cuts[graph] > 1e-9 ? moves->cuts[graph] : 1e-9;
    return moves->preferences[graph] * pow(cut, moves->power - 1.0);
}

/* Return the part into which a vertex moves, -1 if it stays. */
static int64_t best_part(const Moves *moves, size_t vertex, const double *near, const double *linked) {
    double near_worth = worth_of(moves, 0), link_worth = worth_of(moves, 1);
    int64_t own = moves->part[vertex], best = -1;
    double most = moves->load[own] > moves->limit[own] ? -INFINITY : 1e-12;
    for (size_t other = 0; other < moves->parts; other++) {
        if ((int64_t)other == own || moves->load[other] + moves->weight[vertex] > moves->limit[other])
            continue;
        double gain = near_worth * (near[other] - near[own]);
        gain += link_worth * (linked[other] - linked[own]);
        if (gain > most) {
            most = gain;
            best = (int64_t)other;
        }
    }
    return best;
}

/* Go once through all vertices; change `part`, `load` and `cuts` in place; return the number of moves, -1 where
 * memory ran out, -2 for an edge to a vertex that does not exist.
 *
 * Weights are in units of a good cut, and so are `cuts`. A vertex only moves to where it fits; out of a part that is
 * too full it moves at any price. All parts were checked to exist. */
int64_t move_once(Moves moves) {
    double *near = malloc(2 * (moves.parts + 1) * sizeof *near), *linked = near + moves.parts;
    int64_t moved = near == NULL ? -1 : 0;
    for (size_t vertex = 0; moved >= 0 && vertex < moves.vertices; vertex++) {
        if (!sum_ties(&moves, &moves.graphs[0], vertex, near) || !sum_ties(&moves, &moves.graphs[1], vertex, linked)) {
            moved = -2;
            break;
        }
        int64_t own = moves.part[vertex], best = best_part(&moves, vertex, near, linked);
        if (best < 0)
            continue;
        moves.part[vertex] = best;
        moves.load[own] -= moves.weight[vertex];
        moves.load[best] += moves.weight[vertex];
        moves.cuts[0] -= near[best] - near[own];
        moves.cuts[1] -= linked[best] - linked[own];
        moved++;
    }
    free(near);
    return moved;
}

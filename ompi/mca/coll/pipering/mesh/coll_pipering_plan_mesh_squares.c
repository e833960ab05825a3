/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

/**
 * @file
 * Factors of a mesh (2-factors) are cycles that cover its vertices, such as the rows of a torus of
 * two dimensions, or its columns. At a square whose sides across are links of one factor and whose
 * sides down are links of another one, these change places: a switch.
 *
 *      p -- q        p    q      where p -- q and r -- s are links of two cycles of a factor,
 *                    |    |      these become one; where they are links of one cycle that goes
 *      r -- s        r    s      both of them in the same direction it stays one, else it
 *                                breaks in two
 *
 * Cost: a switch O(1); a trace, which tells these cases apart, O(vertices). A trace holds until
 * the next switch. Limits: a switch wants all four links (mca_coll_pipering_can_switch).
 *
 * A. Kotzig, "Every Cartesian product of two circuits is decomposable into two Hamiltonian
 * circuits", 1973.
 */

#include "coll_pipering_plan_mesh_squares.h"

typedef mca_coll_pipering_two_factor_t factor_t;
typedef mca_coll_pipering_trace_t trace_t;
typedef mca_coll_pipering_square_t square_t;

/* ---- factors ---- */

bool mca_coll_pipering_has_link(factor_t factor, int u, int v)
{
    return factor.near[2 * u] == v || factor.near[2 * u + 1] == v;
}

void mca_coll_pipering_set_links(factor_t factor, int v, int before, int after)
{
    factor.near[2 * v] = before;
    factor.near[2 * v + 1] = after;
}

void mca_coll_pipering_exchange_end(factor_t factor, int v, int from, int to)
{
    factor.near[2 * v + (factor.near[2 * v] == from ? 0 : 1)] = to;
}

/* The vertex behind v on a way that came from `before`. */
static int step(factor_t factor, int before, int v)
{
    return factor.near[2 * v] == before ? factor.near[2 * v + 1] : factor.near[2 * v];
}

void mca_coll_pipering_unroll(factor_t factor, int n, int *order)
{
    int before = factor.near[0], v = 0;

    for (int i = 0; i < n; ++i) {
        const int next = step(factor, before, v);
        order[i] = v;
        before = v;
        v = next;
    }
}

static void trace_cycle(factor_t factor, int from, trace_t trace)
{
    int before = factor.near[2 * from], v = from, place = 0;

    do {
        const int next = step(factor, before, v);
        trace.cycle[v] = from;
        trace.place[v] = place++;
        before = v;
        v = next;
    } while (v != from);
}

void mca_coll_pipering_trace(factor_t factor, int n, trace_t trace)
{
    for (int v = 0; v < n; ++v) {
        trace.cycle[v] = -1;
    }
    for (int v = 0; v < n; ++v) {
        if (0 > trace.cycle[v]) {
            trace_cycle(factor, v, trace);
        }
    }
}

/* ---- squares ---- */

square_t mca_coll_pipering_turned(square_t at)
{
    return (square_t){.p = at.p, .q = at.r, .r = at.q, .s = at.s};
}

/* Whether the cycle goes from u to v, which are neighbours in it, and not from v to u. */
static bool goes(trace_t trace, int u, int v)
{
    const int distance = trace.place[v] - trace.place[u];

    return 1 == distance || distance < -1;
}

bool mca_coll_pipering_is_parallel(trace_t trace, square_t at)
{
    return trace.cycle[at.p] == trace.cycle[at.r]
           && goes(trace, at.p, at.q) == goes(trace, at.r, at.s);
}

void mca_coll_pipering_turn_links(factor_t factor, square_t at)
{
    mca_coll_pipering_exchange_end(factor, at.p, at.q, at.r);
    mca_coll_pipering_exchange_end(factor, at.r, at.s, at.p);
    mca_coll_pipering_exchange_end(factor, at.q, at.p, at.s);
    mca_coll_pipering_exchange_end(factor, at.s, at.r, at.q);
}

static bool has_across(factor_t factor, square_t at)
{
    return mca_coll_pipering_has_link(factor, at.p, at.q)
           && mca_coll_pipering_has_link(factor, at.r, at.s);
}

bool mca_coll_pipering_can_switch(factor_t across, factor_t down, square_t at)
{
    return has_across(across, at) && has_across(down, mca_coll_pipering_turned(at));
}

void mca_coll_pipering_switch(factor_t across, factor_t down, square_t at)
{
    mca_coll_pipering_turn_links(across, at);
    mca_coll_pipering_turn_links(down, mca_coll_pipering_turned(at));
}

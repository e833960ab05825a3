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
 * Hamiltonian cycles of the product of two graphs, from those of the graphs: a torus of d closed
 * dimensions has d of them, which take all of its links, and open dimensions add none. No two
 * cycles share a link. A vertex (u, w) of the product is a vertex of each of the graphs.
 *
 *      upper graph: cycles A, B     A and C span a torus of two dimensions, which has two cycles
 *      lower graph: cycle  C        for them; B is there once for each vertex of the lower graph
 *
 *      copy w       p -- q        p    q      copies are joined by squares: they give links across
 *                                 |    |      for links down of one of the first two cycles, which
 *      copy w'      r -- s        r    s      stays one; w and w' are neighbours in C
 *
 * - A torus of more dimensions is the product of two of about half as many. Their cycles span tori
 *   of two dimensions in pairs (coll_pipering_plan_mesh_torus.c). A cycle without a partner is
 *   there in copies, which are joined by squares that leave the cycle that lends links for it one
 *   (Foregger; Aubert and Schneider). That must pass two links of a square in the same direction.
 *   Where all extents are even, the squares that join rows and columns give no such cycle, as
 *   neighbours go in opposite directions; then it is one that goes in one direction only, or has a
 *   part that does.
 * - Open dimensions: a cycle is there once for each of their vertices, and copies that follow each
 *   other are joined by squares whose other sides are links of no cycle.
 *
 * Cost: O(vertices x vertices of the larger graph) with a small factor; where it takes a search
 * (mca_coll_pipering_torus_skew), O(vertices^2). Limits: none is found where that search would be
 * too long.
 *
 * M. F. Foregger, "Hamiltonian decompositions of products of cycles", Discrete Mathematics 24,
 * 1978; J. Aubert, B. Schneider, "Decomposition de la somme cartesienne d'un cycle et de l'union
 * de deux cycles hamiltoniens en cycles hamiltoniens", ibid. 38, 1982.
 */

#include "coll_pipering_plan_mesh_product.h"

#include <stddef.h>

#include "coll_pipering_plan_mesh_torus.h"

typedef mca_coll_pipering_cycles_t cycles_t;
typedef mca_coll_pipering_two_factor_t factor_t;
typedef mca_coll_pipering_square_t square_t;
typedef mca_coll_pipering_trace_t trace_t;
typedef mca_coll_pipering_torus_t torus_t;

/* A way to two cycles of a torus of two dimensions. */
typedef bool way_t(const torus_t *torus);

static int product_of(const int *extent, int dims)
{
    int n = 1;

    for (int i = 0; i < dims; ++i) {
        n *= extent[i];
    }
    return n;
}

cycles_t mca_coll_pipering_take_cycles(const int *extent, int dims, int **memory)
{
    const cycles_t cycles = {.count = dims, .n = product_of(extent, dims), .order = *memory};

    *memory += (size_t) dims * (size_t) cycles.n;
    return cycles;
}

static int *order_of(cycles_t cycles, int i)
{
    return cycles.order + (size_t) i * (size_t) cycles.n;
}

/* ---- factors of a product ---- */

/* What takes cycles apart and joins them: `count` factors of n vertices, and two traces. */
typedef struct {
    int count, n;
    int *memory; /* [count][n][2], then [4][n] */
} bench_t;

static factor_t factor_of(bench_t bench, int i)
{
    return (factor_t){.near = bench.memory + 2 * (size_t) i * (size_t) bench.n};
}

static trace_t trace_of(bench_t bench, int i)
{
    int *memory = bench.memory + 2 * ((size_t) bench.count + (size_t) i) * (size_t) bench.n;

    return (trace_t){.cycle = memory, .place = memory + bench.n};
}

/* Writes the cycles of the factors, which are one each. */
static void unroll(bench_t bench, cycles_t cycles)
{
    for (int i = 0; i < cycles.count; ++i) {
        mca_coll_pipering_unroll(factor_of(bench, i), cycles.n, order_of(cycles, i));
    }
}

/* Copies of a cycle, one for each of `layers` vertices of another graph. */
static void lay_copies(factor_t factor, const int *order, int n, int layers)
{
    for (int i = 0; i < n; ++i) {
        for (int w = 0; w < layers; ++w) {
            mca_coll_pipering_set_links(factor, order[i] * layers + w,
                                        order[(i + n - 1) % n] * layers + w,
                                        order[(i + 1) % n] * layers + w);
        }
    }
}

/* The square of link i of a cycle of n vertices and of a link between two of `layers` layers. */
static square_t square_between(const int *order, int n, int i, int layers, int from, int to)
{
    const int u = order[i] * layers, v = order[(i + 1) % n] * layers;

    return (square_t){.p = u + from, .q = v + from, .r = u + to, .s = v + to};
}

/* ---- products of two graphs that have cycles ---- */

/* Two cycles of the torus that cycle i of the one and of the other graph span. */
static bool span_torus(bench_t bench, cycles_t upper, cycles_t lower, int i, way_t *way)
{
    const bool wide = upper.n >= lower.n;
    const torus_t torus = {.a = wide ? upper.n : lower.n,
                           .b = wide ? lower.n : upper.n,
                           .n = bench.n,
                           .column = order_of(wide ? upper : lower, i),
                           .row = order_of(wide ? lower : upper, i),
                           .column_step = wide ? lower.n : 1,
                           .row_step = wide ? 1 : lower.n,
                           .across = factor_of(bench, 2 * i),
                           .down = factor_of(bench, 2 * i + 1),
                           .trace = trace_of(bench, 0),
                           .other = trace_of(bench, 1)};

    return way(&torus);
}

/* Joins two copies by links of a cycle that spans a torus, which stays one cycle. */
static bool join_copies(bench_t bench, factor_t copies, const int *order, int n, int from, int to)
{
    const trace_t trace = trace_of(bench, 0);

    for (int k = 0; k < 2; ++k) {
        const factor_t lender = factor_of(bench, k);
        mca_coll_pipering_trace(lender, bench.n, trace);
        for (int i = 0; i < n; ++i) {
            const square_t at = square_between(order, n, i, bench.n / n, from, to);
            if (mca_coll_pipering_can_switch(copies, lender, at)
                && mca_coll_pipering_is_parallel(trace, mca_coll_pipering_turned(at))) {
                mca_coll_pipering_switch(copies, lender, at);
                return true;
            }
        }
    }
    return false;
}

/* Joins the copies of the last cycle of the upper graph; those of the first torus lend links. */
static bool join_last(bench_t bench, cycles_t upper, cycles_t lower, way_t *way)
{
    const factor_t copies = factor_of(bench, bench.count - 1);
    const int *order = order_of(upper, upper.count - 1);
    bool joined = span_torus(bench, upper, lower, 0, way);

    lay_copies(copies, order, upper.n, lower.n);
    for (int w = 0; joined && w < lower.n - 1; ++w) {
        joined = join_copies(bench, copies, order, upper.n, lower.order[w], lower.order[w + 1]);
    }
    return joined;
}

/*
 * The cycles of the product of two graphs, of which the upper one has as many cycles as the lower
 * one or one more.
 */
static bool multiply(cycles_t upper, cycles_t lower, cycles_t product, int *memory)
{
    const bench_t bench = {.count = product.count, .n = product.n, .memory = memory};
    const bool odd = upper.count > lower.count;
    bool joined = true;

    if (odd) {
        joined = join_last(bench, upper, lower, mca_coll_pipering_torus_wind)
                 || join_last(bench, upper, lower, mca_coll_pipering_torus_join)
                 || join_last(bench, upper, lower, mca_coll_pipering_torus_skew);
    }
    for (int i = odd ? 1 : 0; joined && i < lower.count; ++i) {
        joined = span_torus(bench, upper, lower, i, mca_coll_pipering_torus_join);
    }
    if (joined) {
        unroll(bench, product);
    }
    return joined;
}

bool mca_coll_pipering_wind_torus(const int *extent, int dims, cycles_t cycles, int *memory)
{
    const int half = (dims + 1) / 2;

    if (1 == dims) {
        for (int i = 0; i < extent[0]; ++i) {
            cycles.order[i] = i;
        }
        return true;
    }
    const cycles_t upper = mca_coll_pipering_take_cycles(extent, half, &memory);
    const cycles_t lower = mca_coll_pipering_take_cycles(extent + half, dims - half, &memory);
    return mca_coll_pipering_wind_torus(extent, half, upper, memory)
           && mca_coll_pipering_wind_torus(extent + half, dims - half, lower, memory)
           && multiply(upper, lower, cycles, memory);
}

/* ---- open dimensions ---- */

/* The vertex at place i of the path that goes to and fro through an open mesh. */
static int snake(const int *extent, int dims, int i)
{
    int vertex = 0, rest = product_of(extent, dims);

    for (int k = 0; k < dims; ++k) {
        rest /= extent[k];
        const int digit = i / rest;
        vertex = vertex * extent[k] + digit;
        i = 0 == digit % 2 ? i % rest : rest - 1 - i % rest;
    }
    return vertex;
}

/* Whether a cycle has the link between two vertices. */
static bool is_used(bench_t bench, int u, int v)
{
    for (int i = 0; i < bench.count; ++i) {
        if (mca_coll_pipering_has_link(factor_of(bench, i), u, v)) {
            return true;
        }
    }
    return false;
}

/* Joins two copies in adjacent layers by links that no cycle has. */
static bool join_layers(bench_t bench, factor_t copies, const int *order, int n, int from, int to)
{
    for (int i = 0; i < n; ++i) {
        const square_t at = square_between(order, n, i, bench.n / n, from, to);
        if (mca_coll_pipering_has_link(copies, at.p, at.q)
            && mca_coll_pipering_has_link(copies, at.r, at.s)
            && !is_used(bench, at.p, at.r) && !is_used(bench, at.q, at.s)) {
            mca_coll_pipering_turn_links(copies, at);
            return true;
        }
    }
    return false;
}

bool mca_coll_pipering_stack(cycles_t base, const int *extent, int dims, cycles_t product,
                             int *memory)
{
    const bench_t bench = {.count = base.count, .n = product.n, .memory = memory};
    const int layers = product_of(extent, dims);
    bool joined = true;

    for (int i = 0; i < base.count; ++i) {
        lay_copies(factor_of(bench, i), order_of(base, i), base.n, layers);
    }
    for (int i = 0; i < base.count; ++i) {
        for (int k = 0; joined && k < layers - 1; ++k) {
            joined = join_layers(bench, factor_of(bench, i), order_of(base, i), base.n,
                                 snake(extent, dims, k), snake(extent, dims, k + 1));
        }
    }
    if (joined) {
        unroll(bench, product);
    }
    return joined;
}


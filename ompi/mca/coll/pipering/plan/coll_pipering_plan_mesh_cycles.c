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
 * Hamiltonian cycles of a mesh, no two of which share a link.
 *
 * A torus of d closed dimensions has d of them, which take all of its links; a mesh without a
 * closed dimension has one if two of its extents exceed 1 and its number of vertices is even. All
 * are made of cycles that cover the mesh without sharing links (factors), such as the rows and
 * the columns of a torus of two dimensions, by switches: at a square whose sides across are
 * links of one factor and whose sides down are links of another one, these change places.
 *
 *      p -- q        p    q      where p -- q and r -- s are links of two cycles of a factor,
 *                    |    |      these become one; where they are links of one cycle that goes
 *      r -- s        r    s      both of them in the same direction it stays one, else it
 *                                breaks in two
 *
 * - Two cycles of a and b <= a vertices span a torus of two dimensions (Kotzig). The squares on
 *   the diagonal join all rows and the first b columns. Each later column is joined to those
 *   before it by a square that leaves the rows one cycle: if b is odd there always is one, since
 *   the cycle passes an odd number of links into that column and so two neighbours in the same
 *   direction. If b is even, two columns are joined by two squares, the first of which breaks the
 *   cycle of rows and the second one mends it.
 * - A torus of more dimensions is the product of two of about half as many. Their cycles span tori
 *   of two dimensions in pairs. A cycle without a partner is there once for each vertex of the
 *   other torus: these copies are joined by squares that leave the cycle that lends links for
 *   it one (Foregger; Aubert and Schneider). That must pass two links of a square in the same
 *   direction. Where all extents are even, squares of rows and columns give no such cycle, as
 *   neighbours go in opposite directions; then it is one that goes in one direction only
 *   (wind_diagonals), or has a part that does (join_skewed).
 * - Open dimensions: a cycle is there once for each of their vertices, and copies that follow
 *   each other are joined by squares whose other sides are links of no cycle.
 * - A mesh of two open dimensions has the cycle that winds through the rows but for the first
 *   column, in which it comes back.
 *
 * Cost: O(vertices x sum of extents) with a small factor, at first use; where it takes a search
 * (join_skewed), O(vertices^2) within a bound, beyond which there is one cycle less. Limits: a mesh
 * of closed and open dimensions has no more cycles than closed dimensions.
 *
 * A. Kotzig, "Every Cartesian product of two circuits is decomposable into two Hamiltonian
 * circuits", 1973; M. F. Foregger, "Hamiltonian decompositions of products of cycles", Discrete
 * Mathematics 24, 1978; J. Aubert, B. Schneider, "Decomposition de la somme cartesienne d'un
 * cycle et de l'union de deux cycles hamiltoniens en cycles hamiltoniens", ibid. 38, 1982.
 * Paper, section 3.1, Reduce, has one path.
 */

#include <string.h>

#include "coll_pipering_plan_mesh.h"

/* ---- factors: cycles that cover all vertices ---- */

/* Cycles that cover n vertices: the two neighbours of each in its cycle. */
typedef struct {
    int *near; /* [n][2] */
} factor_t;

/* Where the vertices stand in the cycles of a factor. */
typedef struct {
    int *cycle; /* [n] the least vertex of the same cycle */
    int *place; /* [n] along this cycle */
} trace_t;

static bool has_link(factor_t factor, int u, int v)
{
    return factor.near[2 * u] == v || factor.near[2 * u + 1] == v;
}

static void set_links(factor_t factor, int v, int before, int after)
{
    factor.near[2 * v] = before;
    factor.near[2 * v + 1] = after;
}

static void exchange_end(factor_t factor, int v, int from, int to)
{
    factor.near[2 * v + (factor.near[2 * v] == from ? 0 : 1)] = to;
}

/* The vertex behind v on a way that came from `before`. */
static int step(factor_t factor, int before, int v)
{
    return factor.near[2 * v] == before ? factor.near[2 * v + 1] : factor.near[2 * v];
}

/* Writes the cycle of vertex 0 into order [n]. */
static void unroll(factor_t factor, int n, int *order)
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

static void trace_all(factor_t factor, int n, trace_t trace)
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

/* Whether the cycle goes from u to v, which are neighbours in it, and not from v to u. */
static bool goes(trace_t trace, int u, int v)
{
    const int distance = trace.place[v] - trace.place[u];

    return 1 == distance || distance < -1;
}

/* ---- squares ---- */

/* The corners of a square: p -- q and r -- s go across, p -- r and q -- s down. */
typedef struct {
    int p, q, r, s;
} square_t;

static bool can_switch(factor_t across, factor_t down, square_t at)
{
    return has_link(across, at.p, at.q) && has_link(across, at.r, at.s)
           && has_link(down, at.p, at.r) && has_link(down, at.q, at.s);
}

/* Whether a traced factor that has the links across passes them in the same direction. */
static bool is_parallel(trace_t trace, square_t at)
{
    return trace.cycle[at.p] == trace.cycle[at.r]
           && goes(trace, at.p, at.q) == goes(trace, at.r, at.s);
}

static square_t turned(square_t at)
{
    return (square_t){.p = at.p, .q = at.r, .r = at.q, .s = at.s};
}

/* Replaces the links of a factor across by those down. */
static void turn_links(factor_t factor, square_t at)
{
    exchange_end(factor, at.p, at.q, at.r);
    exchange_end(factor, at.r, at.s, at.p);
    exchange_end(factor, at.q, at.p, at.s);
    exchange_end(factor, at.s, at.r, at.q);
}

/* Gives the links across to the factor that has those down, and these to the other one. */
static void switch_square(factor_t across, factor_t down, square_t at)
{
    turn_links(across, at);
    turn_links(down, turned(at));
}

/* ---- a torus of two cycles ---- */

/* Columns are the places of a cycle of a vertices, rows those of one of b <= a. */
typedef struct {
    int a, b, n;
    const int *column, *row; /* [a], [b] */
    int column_step, row_step;
    factor_t across, down; /* at first the rows, and the columns */
    trace_t trace, other;
} torus_t;

static int vertex_of(const torus_t *torus, int x, int y)
{
    return torus->column[x % torus->a] * torus->column_step
           + torus->row[y % torus->b] * torus->row_step;
}

static square_t square_at(const torus_t *torus, int x, int y)
{
    return (square_t){.p = vertex_of(torus, x, y),
                      .q = vertex_of(torus, x + 1, y),
                      .r = vertex_of(torus, x, y + 1),
                      .s = vertex_of(torus, x + 1, y + 1)};
}

/* Rows and columns. */
static void lay_torus(const torus_t *torus)
{
    for (int x = 0; x < torus->a; ++x) {
        for (int y = 0; y < torus->b; ++y) {
            const int v = vertex_of(torus, x, y);
            set_links(torus->across, v, vertex_of(torus, x + torus->a - 1, y),
                      vertex_of(torus, x + 1, y));
            set_links(torus->down, v, vertex_of(torus, x, y + torus->b - 1),
                      vertex_of(torus, x, y + 1));
        }
    }
}

/* Joins column x + 1 by one square, the rows being one cycle before and after. */
static bool join_column(const torus_t *torus, int x)
{
    trace_all(torus->across, torus->n, torus->trace);
    for (int y = 0; y < torus->b; ++y) {
        const square_t at = square_at(torus, x, y);
        if (can_switch(torus->across, torus->down, at) && is_parallel(torus->trace, at)) {
            switch_square(torus->across, torus->down, at);
            return true;
        }
    }
    return false;
}

/* Joins the two cycles into which a square has broken that of the rows, by one of column x. */
static bool mend_rows(const torus_t *torus, int x)
{
    const bool last = x == torus->a - 1; /* whose next one is joined already */

    trace_all(torus->across, torus->n, torus->trace);
    trace_all(torus->down, torus->n, torus->other);
    for (int y = 0; y < torus->b; ++y) {
        const square_t at = square_at(torus, x, y);
        if (can_switch(torus->across, torus->down, at)
            && torus->trace.cycle[at.p] != torus->trace.cycle[at.r]
            && (!last || is_parallel(torus->other, turned(at)))) {
            switch_square(torus->across, torus->down, at);
            return true;
        }
    }
    return false;
}

/*
 * Joins columns x + 1 and x + 2 (around the end: x + 1 alone) by two squares: the first one
 * breaks the cycle of rows, the other one mends it.
 */
static bool join_two_columns(const torus_t *torus, int x)
{
    for (int y = 0; y < torus->b; ++y) {
        const square_t at = square_at(torus, x, y);
        if (can_switch(torus->across, torus->down, at)) {
            switch_square(torus->across, torus->down, at);
            if (mend_rows(torus, x + 1)) {
                return true;
            }
            switch_square(torus->across, torus->down, turned(at));
        }
    }
    return false;
}

/* Makes one cycle of the rows and one of the columns. */
static bool join_torus(const torus_t *torus)
{
    int x = torus->b - 1;

    lay_torus(torus);
    for (int i = 0; i < x; ++i) {
        switch_square(torus->across, torus->down, square_at(torus, i, i));
    }
    while (x < torus->a - 1) {
        if (join_column(torus, x)) {
            x += 1;
        } else if (join_two_columns(torus, x)) {
            x += 2;
        } else {
            return false;
        }
    }
    return true;
}

static int gcd(int a, int b)
{
    while (0 != b) {
        const int rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void lead(factor_t factor, int from, int to)
{
    factor.near[2 * from + 1] = to;
    factor.near[2 * to] = from;
}

/*
 * Two cycles that never go up or to the left: at the diagonals x + y = 0 .. i - 1 modulo g, the
 * greatest common divisor of a and b, one of them goes across and the other down, and elsewhere
 * the other way about. False unless i and g - i can be prime to a and b.
 */
static bool wind_diagonals(const torus_t *torus)
{
    const int g = gcd(torus->a, torus->b);
    int i = 1;

    while (i < g && (1 != gcd(torus->n, i) || 1 != gcd(torus->n, g - i))) {
        ++i;
    }
    if (i >= g) {
        return false;
    }
    for (int x = 0; x < torus->a; ++x) {
        for (int y = 0; y < torus->b; ++y) {
            const bool across = (x + y) % g < i;
            const int v = vertex_of(torus, x, y);
            lead(across ? torus->across : torus->down, v, vertex_of(torus, x + 1, y));
            lead(across ? torus->down : torus->across, v, vertex_of(torus, x, y + 1));
        }
    }
    return true;
}

/* ---- the same from a skewed start ---- */

/* Steps that a search may take: visits of vertices. */
#define SEARCH_MOST ((size_t) 1 << 28)

/* Where row y goes on to the next one. */
static int exit_of(const torus_t *torus, int y)
{
    return y < torus->b / 2 ? y + 1 : torus->b - 1 - y;
}

/*
 * One cycle across: it passes each row once from the column where it has come in, the upper half
 * of the rows in one direction and the lower half in the other one, so that it ends where it has
 * begun. The other factor has what is left. Wants an even number of rows.
 */
static void lay_skewed(const torus_t *torus)
{
    lay_torus(torus);
    for (int y = 0; y < torus->b; ++y) {
        const int above = y + torus->b - 1, from = exit_of(torus, above % torus->b);
        const int to = exit_of(torus, y);
        const int entry = vertex_of(torus, from, y), exit = vertex_of(torus, to, y);
        const int before = vertex_of(torus, from, above), behind = vertex_of(torus, to, y + 1);

        exchange_end(torus->across, entry, exit, before);
        exchange_end(torus->across, exit, entry, behind);
        exchange_end(torus->down, entry, before, exit);
        exchange_end(torus->down, exit, behind, entry);
    }
}

static void trace_both(const torus_t *torus)
{
    trace_all(torus->across, torus->n, torus->trace);
    trace_all(torus->down, torus->n, torus->other);
}

static bool joins_down(const torus_t *torus, square_t at)
{
    return torus->other.cycle[at.p] != torus->other.cycle[at.q];
}

static square_t square_by_number(const torus_t *torus, int i)
{
    return square_at(torus, i / torus->b, i % torus->b);
}

/* Joins two cycles down, that across being one before and after. */
static bool join_any(const torus_t *torus)
{
    for (int i = 0; i < torus->n; ++i) {
        const square_t at = square_by_number(torus, i);
        if (can_switch(torus->across, torus->down, at) && joins_down(torus, at)
            && is_parallel(torus->trace, at)) {
            switch_square(torus->across, torus->down, at);
            return true;
        }
    }
    return false;
}

/* Joins the two cycles across again, and breaks none down. */
static bool mend_any(const torus_t *torus)
{
    trace_both(torus);
    for (int i = 0; i < torus->n; ++i) {
        const square_t at = square_by_number(torus, i);
        if (can_switch(torus->across, torus->down, at)
            && torus->trace.cycle[at.p] != torus->trace.cycle[at.r]
            && (joins_down(torus, at) || is_parallel(torus->other, turned(at)))) {
            switch_square(torus->across, torus->down, at);
            return true;
        }
    }
    return false;
}

/* Joins two cycles down by a square that breaks the one across, and mends that. */
static bool join_and_mend(const torus_t *torus)
{
    for (int i = 0; i < torus->n; ++i) {
        const square_t at = square_by_number(torus, i);
        trace_both(torus);
        if (can_switch(torus->across, torus->down, at) && joins_down(torus, at)) {
            switch_square(torus->across, torus->down, at);
            if (mend_any(torus)) {
                return true;
            }
            switch_square(torus->across, torus->down, turned(at));
        }
    }
    return false;
}

static bool is_one(trace_t trace, int n)
{
    int v = 0;

    while (v < n && 0 == trace.cycle[v]) {
        ++v;
    }
    return v == n;
}

/* One cycle across, part of which goes on in the same direction, and one down. */
static bool join_skewed(const torus_t *torus)
{
    if (0 != torus->b % 2 || (size_t) torus->a * (size_t) torus->n > SEARCH_MOST) {
        return false;
    }
    lay_skewed(torus);
    trace_both(torus);
    while (!is_one(torus->other, torus->n)) {
        if (!join_any(torus) && !join_and_mend(torus)) {
            return false;
        }
        trace_both(torus);
    }
    return true;
}

/* ---- products ---- */

/* Cycles of a graph of n vertices, as orders of these. */
typedef struct {
    int count, n;
    int *order; /* [count][n] */
} cycles_t;

static int *order_of(cycles_t cycles, int i)
{
    return cycles.order + (size_t) i * (size_t) cycles.n;
}

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

/* Ways to two cycles of a torus of two dimensions. */
typedef bool way_t(const torus_t *torus);

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

/* Copies of a cycle, one for each of `layers` vertices of another graph. */
static void lay_copies(factor_t factor, const int *order, int n, int layers)
{
    for (int i = 0; i < n; ++i) {
        for (int w = 0; w < layers; ++w) {
            set_links(factor, order[i] * layers + w, order[(i + n - 1) % n] * layers + w,
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

/* Joins two copies by links of a cycle that spans a torus, which stays one cycle. */
static bool join_copies(bench_t bench, factor_t copies, const int *order, int n, int from, int to)
{
    for (int k = 0; k < 2; ++k) {
        const factor_t lender = factor_of(bench, k);
        trace_all(lender, bench.n, trace_of(bench, 0));
        for (int i = 0; i < n; ++i) {
            const square_t at = square_between(order, n, i, bench.n / n, from, to);
            if (can_switch(copies, lender, at) && is_parallel(trace_of(bench, 0), turned(at))) {
                switch_square(copies, lender, at);
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
 * one or one more. Vertex (u, w) is u lower.n + w.
 */
static bool multiply(cycles_t upper, cycles_t lower, cycles_t product, int *memory)
{
    const bench_t bench = {.count = product.count, .n = product.n, .memory = memory};
    const bool odd = upper.count > lower.count;
    bool joined = true;

    if (odd) {
        joined = join_last(bench, upper, lower, wind_diagonals)
                 || join_last(bench, upper, lower, join_torus)
                 || join_last(bench, upper, lower, join_skewed);
    }
    for (int i = odd ? 1 : 0; joined && i < lower.count; ++i) {
        joined = span_torus(bench, upper, lower, i, join_torus);
    }
    for (int i = 0; joined && i < product.count; ++i) {
        unroll(factor_of(bench, i), product.n, order_of(product, i));
    }
    return joined;
}

static int product_of(const int *extent, int dims)
{
    int n = 1;

    for (int i = 0; i < dims; ++i) {
        n *= extent[i];
    }
    return n;
}

/* Room for the cycles of closed dimensions at the beginning of memory, which moves behind it. */
static cycles_t take_cycles(const int *extent, int dims, int **memory)
{
    const cycles_t cycles = {.count = dims, .n = product_of(extent, dims), .order = *memory};

    *memory += (size_t) dims * (size_t) cycles.n;
    return cycles;
}

/* The cycles of a torus, all of whose dimensions are closed. */
static bool wind(const int *extent, int dims, cycles_t cycles, int *memory)
{
    const int half = (dims + 1) / 2;

    if (1 == dims) {
        for (int i = 0; i < extent[0]; ++i) {
            cycles.order[i] = i;
        }
        return true;
    }
    const cycles_t upper = take_cycles(extent, half, &memory);
    const cycles_t lower = take_cycles(extent + half, dims - half, &memory);
    return wind(extent, half, upper, memory) && wind(extent + half, dims - half, lower, memory)
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

/* The cycle of an open mesh of two dimensions, the first of which is even. */
static void wind_rows(const int *extent, int *order)
{
    const int rows = extent[0], columns = extent[1];
    int i = 0;

    for (int x = 0; x < rows; ++x) {
        for (int k = 1; k < columns; ++k) {
            order[i++] = x * columns + (0 == x % 2 ? k : columns - k);
        }
    }
    for (int x = rows - 1; 0 <= x; --x) {
        order[i++] = x * columns;
    }
}

static bool is_used(bench_t bench, int u, int v)
{
    for (int i = 0; i < bench.count; ++i) {
        if (has_link(factor_of(bench, i), u, v)) {
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
        if (has_link(copies, at.p, at.q) && has_link(copies, at.r, at.s)
            && !is_used(bench, at.p, at.r) && !is_used(bench, at.q, at.s)) {
            turn_links(copies, at);
            return true;
        }
    }
    return false;
}

/* The cycles of the product of a graph and an open mesh. */
static bool stack(cycles_t base, const int *extent, int dims, cycles_t product, int *memory)
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
        unroll(factor_of(bench, i), product.n, order_of(product, i));
    }
    return joined;
}

/* ---- cycles of any mesh ---- */

/* The dimensions of a mesh in another order. */
typedef struct {
    int dims, base; /* the first `base` of them have the cycles that the others have copies of */
    int dim[MCA_COLL_PIPERING_MESH_DIMS];    /* [dims] */
    int extent[MCA_COLL_PIPERING_MESH_DIMS]; /* [dims] */
} arrangement_t;

static void add_dim(arrangement_t *arranged, const mca_coll_pipering_extents_t *extents, int dim)
{
    arranged->dim[arranged->dims] = dim;
    arranged->extent[arranged->dims++] = extents->extent[dim];
}

static int find_even(const mca_coll_pipering_extents_t *extents)
{
    int dim = extents->dims - 1;

    while (0 <= dim && 0 != extents->extent[dim] % 2) {
        --dim;
    }
    return dim;
}

/*
 * Closed dimensions first, from the one behind `skip` others on; without any, an even one and
 * another one. The number of cycles that these have.
 */
static int arrange(const mca_coll_pipering_extents_t *extents, int skip, arrangement_t *arranged)
{
    const int closed = mca_coll_pipering_closed(extents), even = find_even(extents);
    int ahead = 0;

    memset(arranged, 0, sizeof(*arranged));
    if (0 == closed && (0 > even || 2 > extents->dims)) {
        return 0;
    }
    if (0 == closed) {
        add_dim(arranged, extents, even);
    }
    for (int i = 0; i < 2 * extents->dims && arranged->dims < closed; ++i) {
        if (extents->closed[i % extents->dims] && ahead++ >= skip) {
            add_dim(arranged, extents, i % extents->dims);
        }
    }
    for (int i = 0; i < extents->dims; ++i) {
        if (!extents->closed[i] && (0 < closed || i != even)) {
            add_dim(arranged, extents, i);
        }
    }
    arranged->base = 0 < closed ? closed : 2;
    return 0 < closed ? closed : 1;
}

/* The vertex of the mesh that has this number in another order of dimensions. */
static int restore(const mca_coll_pipering_extents_t *extents, const arrangement_t *arranged,
                   int vertex)
{
    int coordinate[MCA_COLL_PIPERING_MESH_DIMS];

    for (int k = arranged->dims - 1; 0 <= k; --k) {
        coordinate[arranged->dim[k]] = vertex % arranged->extent[k];
        vertex /= arranged->extent[k];
    }
    return mca_coll_pipering_vertex_at(extents, coordinate);
}

int mca_coll_pipering_cycles_count(const mca_coll_pipering_extents_t *extents)
{
    arrangement_t arranged;

    return arrange(extents, 0, &arranged);
}

/* Cycles of the base and of its parts, factors, two traces. */
size_t mca_coll_pipering_cycles_scratch(const mca_coll_pipering_extents_t *extents)
{
    return (size_t) mca_coll_pipering_extents_product(extents) * (4 * (size_t) extents->dims + 6)
           * sizeof(int);
}

/* Cycles of the base of an arrangement, then of the whole mesh. */
static bool find_cycles(const mca_coll_pipering_extents_t *extents, const arrangement_t *arranged,
                        cycles_t cycles, int *memory)
{
    const int *extent = arranged->extent, base_dims = arranged->base;
    cycles_t base = take_cycles(extent, base_dims, &memory);

    base.count = cycles.count;
    if (0 == mca_coll_pipering_closed(extents)) {
        wind_rows(extent, base.order);
    } else if (!wind(extent, base_dims, base, memory)) {
        return false;
    }
    if (!stack(base, extent + base_dims, arranged->dims - base_dims, cycles, memory)) {
        return false;
    }
    for (int i = 0; i < cycles.count * cycles.n; ++i) {
        cycles.order[i] = restore(extents, arranged, cycles.order[i]);
    }
    return true;
}

int mca_coll_pipering_cycles(const mca_coll_pipering_extents_t *extents, int *order,
                             void *scratch)
{
    mca_coll_pipering_extents_t some = *extents;
    arrangement_t arranged;
    cycles_t cycles = {.n = mca_coll_pipering_extents_product(extents), .order = order};

    for (int i = 0; i <= extents->dims; ++i) {
        const int closed = mca_coll_pipering_closed(&some);
        for (int skip = 0; 0 == skip || skip < closed; ++skip) {
            cycles.count = arrange(&some, skip, &arranged);
            if (0 == cycles.count || find_cycles(&some, &arranged, cycles, scratch)) {
                return cycles.count;
            }
        }
        some.closed[i] = false;
    }
    return 0;
}

/* ---- open meshes whose extents are all odd ---- */

/* Two dimensions: row 1 with pairs of row 0 as teeth, the rows below, back in the first column. */
static void wind_teeth(const int *extent, int *order)
{
    const int rows = extent[0], columns = extent[1];
    int i = 0;

    for (int y = 1; y < columns; ++y) {
        const bool up = 1 == y % 2;
        order[i++] = up ? columns + y : y;
        order[i++] = up ? y : columns + y;
    }
    for (int x = 2; x < rows; ++x) {
        for (int k = 1; k < columns; ++k) {
            order[i++] = x * columns + (1 == x % 2 ? k : columns - k);
        }
    }
    for (int x = rows - 1; 1 <= x; --x) {
        order[i++] = x * columns;
    }
}

/* Puts the cycle of the upper layers between two neighbours in that of the lowest one. */
static bool splice(const int *lowest, int count, const int *upper, int n, int *place, int layers,
                   int *order)
{
    for (int i = 0; i < n; ++i) {
        place[upper[i]] = i;
    }
    for (int i = 0; i < count; ++i) {
        const int u = lowest[i], v = lowest[(i + 1) % count];
        const int from = place[u * (layers - 1)], to = place[v * (layers - 1)];
        const int ahead = (to - from + n) % n;
        if (1 == ahead || n - 1 == ahead) {
            for (int k = 0; k < count; ++k) {
                order[k] = lowest[(i + 1 + k) % count] * layers;
            }
            for (int k = 0; k < n; ++k) {
                const int w = upper[((1 == ahead ? from - k : from + k) + n) % n];
                order[count + k] = w / (layers - 1) * layers + w % (layers - 1) + 1;
            }
            return true;
        }
    }
    return false;
}

/* One dimension after the other: its lowest layer has the cycle of fewer of them. */
bool mca_coll_pipering_near_cycle(const mca_coll_pipering_extents_t *extents, int *order,
                                  void *scratch)
{
    mca_coll_pipering_extents_t upper = *extents;
    int n = extents->extent[0] * extents->extent[1];

    wind_teeth(extents->extent, order);
    for (upper.dims = 3; upper.dims <= extents->dims; ++upper.dims) {
        const int layers = extents->extent[upper.dims - 1], above = n * (layers - 1);
        int *lowest = scratch, *cycle = lowest + n, *place = cycle + above;
        memcpy(lowest, order, (size_t) (n - 1) * sizeof(int));
        upper.extent[upper.dims - 1] = layers - 1;
        if (1 != mca_coll_pipering_cycles(&upper, cycle, place)
            || !splice(lowest, n - 1, cycle, above, place, layers, order)) {
            return false;
        }
        upper.extent[upper.dims - 1] = layers;
        n *= layers;
    }
    return true;
}

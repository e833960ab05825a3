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
 * Two Hamiltonian cycles of a torus of a columns and b <= a rows, which take all of its links.
 * Which way is best depends on what is to be joined to them (coll_pipering_plan_mesh_product.c).
 *
 *      o----o----o----o---     join: the rows are one factor, the columns the other one. The
 *      | 1  |    |    |        squares 1 and 2 on the diagonal join all rows, and the first b
 *      o----o----o----o---     columns. Then 3, in any row, joins the next column.
 *      |    | 2  |    |
 *      o----o----o----o---     wind: at the diagonals x + y = 0 .. i - 1 modulo g the one cycle
 *      |    |    | 3  |        goes across and the other one down, elsewhere the other way about.
 *
 * - join (Kotzig): each later column is joined to those before it by a square that leaves the
 *   rows one cycle: if b is odd there always is one, since the cycle passes an odd number of
 *   links into that column and so two neighbours in the same direction. If b is even, two columns
 *   are joined by two squares, the first of which breaks the cycle of rows and the second one
 *   mends it.
 * - wind: the cycles never go up or to the left (g is the greatest common divisor of a and b).
 *   That takes an i such that i and g - i are prime to a and b, so that both cycles pass all
 *   vertices (Trotter and Erdos).
 * - skew: the cycle across passes each row once, the upper half of the rows in one direction and
 *   the lower half in the other one. What it leaves is joined by squares.
 *
 * Cost: join O(n (a - b + 1)) for n = a b vertices, with a small factor, wind O(n), skew O(n^2).
 * Limits: skew wants an even b, and gives up tori that would take it too long.
 *
 * A. Kotzig, "Every Cartesian product of two circuits is decomposable into two Hamiltonian
 * circuits", 1973; W. T. Trotter, P. Erdos, "When the Cartesian product of directed cycles is
 * Hamiltonian", Journal of Graph Theory 2, 1978.
 */

#include "coll_pipering_plan_mesh_torus.h"

#include <stddef.h>

typedef mca_coll_pipering_two_factor_t factor_t;
typedef mca_coll_pipering_square_t square_t;
typedef mca_coll_pipering_torus_t torus_t;

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
            mca_coll_pipering_set_links(torus->across, v, vertex_of(torus, x + torus->a - 1, y),
                                        vertex_of(torus, x + 1, y));
            mca_coll_pipering_set_links(torus->down, v, vertex_of(torus, x, y + torus->b - 1),
                                        vertex_of(torus, x, y + 1));
        }
    }
}

/* ---- squares that join ---- */

/* Some squares, by number: square (x, y) is x b + y. */
typedef struct {
    int from, to; /* the first one, and the one behind the last */
} range_t;

static square_t square_by_number(const torus_t *torus, int i)
{
    return square_at(torus, i / torus->b, i % torus->b);
}

static bool can_switch(const torus_t *torus, square_t at)
{
    return mca_coll_pipering_can_switch(torus->across, torus->down, at);
}

static void switch_square(const torus_t *torus, square_t at)
{
    mca_coll_pipering_switch(torus->across, torus->down, at);
}

static void trace_both(const torus_t *torus)
{
    mca_coll_pipering_trace(torus->across, torus->n, torus->trace);
    mca_coll_pipering_trace(torus->down, torus->n, torus->other);
}

static bool joins_across(const torus_t *torus, square_t at)
{
    return torus->trace.cycle[at.p] != torus->trace.cycle[at.r];
}

static bool joins_down(const torus_t *torus, square_t at)
{
    return torus->other.cycle[at.p] != torus->other.cycle[at.q];
}

/* Joins two cycles down by one of some squares, that across being one before and after. */
static bool join(const torus_t *torus, range_t some)
{
    for (int i = some.from; i < some.to; ++i) {
        const square_t at = square_by_number(torus, i);
        if (can_switch(torus, at) && joins_down(torus, at)
            && mca_coll_pipering_is_parallel(torus->trace, at)) {
            switch_square(torus, at);
            return true;
        }
    }
    return false;
}

/* Joins the two cycles across again by one of some squares, and breaks none down. */
static bool mend(const torus_t *torus, range_t some)
{
    trace_both(torus);
    for (int i = some.from; i < some.to; ++i) {
        const square_t at = square_by_number(torus, i);
        if (can_switch(torus, at) && joins_across(torus, at)
            && (joins_down(torus, at)
                || mca_coll_pipering_is_parallel(torus->other, mca_coll_pipering_turned(at)))) {
            switch_square(torus, at);
            return true;
        }
    }
    return false;
}

/* Joins two cycles down by a square that breaks the one across, and mends that by another one. */
static bool join_and_mend(const torus_t *torus, range_t joining, range_t mending)
{
    for (int i = joining.from; i < joining.to; ++i) {
        const square_t at = square_by_number(torus, i);
        if (can_switch(torus, at) && joins_down(torus, at)) {
            switch_square(torus, at);
            if (mend(torus, mending)) {
                return true;
            }
            switch_square(torus, mca_coll_pipering_turned(at));
            trace_both(torus);
        }
    }
    return false;
}

/* ---- join ---- */

/* Squares between column x and the next one. */
static range_t squares_of(const torus_t *torus, int x)
{
    return (range_t){.from = x * torus->b, .to = (x + 1) * torus->b};
}

bool mca_coll_pipering_torus_join(const torus_t *torus)
{
    int x = torus->b - 1; /* the last column that is joined */

    lay_torus(torus);
    for (int i = 0; i < x; ++i) {
        switch_square(torus, square_at(torus, i, i));
    }
    while (x < torus->a - 1) {
        trace_both(torus);
        if (join(torus, squares_of(torus, x))) {
            x += 1;
        } else if (join_and_mend(torus, squares_of(torus, x), squares_of(torus, x + 1))) {
            x += 2; /* around the end the second column has been joined already */
        } else {
            return false;
        }
    }
    return true;
}

/* ---- wind ---- */

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

bool mca_coll_pipering_torus_wind(const torus_t *torus)
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

/* ---- skew ---- */

/* Steps that a search may take: visits of vertices. */
#define SEARCH_MOST ((size_t) 1 << 28)

/* The column where row y goes on to the next one. */
static int exit_of(const torus_t *torus, int y)
{
    return y < torus->b / 2 ? y + 1 : torus->b - 1 - y;
}

/*
 * One cycle across, which passes each row from the column where it has come in. The columns in
 * which the halves of the rows come in and go out are such that it ends where it has begun. The
 * other factor has what is left.
 */
static void lay_skewed(const torus_t *torus)
{
    lay_torus(torus);
    for (int y = 0; y < torus->b; ++y) {
        const int above = y + torus->b - 1, from = exit_of(torus, above % torus->b);
        const int to = exit_of(torus, y);
        const int entry = vertex_of(torus, from, y), exit = vertex_of(torus, to, y);
        const int before = vertex_of(torus, from, above), behind = vertex_of(torus, to, y + 1);

        mca_coll_pipering_exchange_end(torus->across, entry, exit, before);
        mca_coll_pipering_exchange_end(torus->across, exit, entry, behind);
        mca_coll_pipering_exchange_end(torus->down, entry, before, exit);
        mca_coll_pipering_exchange_end(torus->down, exit, behind, entry);
    }
}

/* Whether all vertices are in the cycle of vertex 0. */
static bool is_one(mca_coll_pipering_trace_t trace, int n)
{
    int v = 0;

    while (v < n && 0 == trace.cycle[v]) {
        ++v;
    }
    return v == n;
}

bool mca_coll_pipering_torus_skew(const torus_t *torus)
{
    const range_t all = {.from = 0, .to = torus->n};

    if (0 != torus->b % 2 || (size_t) torus->a * (size_t) torus->n > SEARCH_MOST) {
        return false;
    }
    lay_skewed(torus);
    trace_both(torus);
    while (!is_one(torus->other, torus->n)) {
        if (!join(torus, all) && !join_and_mend(torus, all, all)) {
            return false;
        }
        trace_both(torus);
    }
    return true;
}

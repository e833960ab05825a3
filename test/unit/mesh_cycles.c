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
 * Hamiltonian cycles: for all meshes and tori of up to 6 x 6 x 6, and larger ones and ones of
 * more dimensions, each passes every vertex once along links of the mesh, and no two share a link.
 */

#include <string.h>

#include "coll_pipering_plan_mesh.h"
#include "tap.h"

/* Takes the link between two vertices: false if there is none, or it is taken. */
static bool take_link(const mca_coll_pipering_extents_t *extents, int u, int v, char *taken)
{
    for (int i = 0; i < extents->dims; i++) {
        const int low = v == mca_coll_pipering_neighbour(extents, u, i, 1)   ? u
                        : u == mca_coll_pipering_neighbour(extents, v, i, 1) ? v
                                                                             : -1;
        if (0 <= low) {
            return 0 == taken[low * extents->dims + i]++;
        }
    }
    return false;
}

/* Whether a closed way passes all vertices from `first` on once, along links not yet taken. */
static bool is_round(const mca_coll_pipering_extents_t *extents, const int *order, int first,
                     char *taken)
{
    const int n = mca_coll_pipering_extents_product(extents), length = n - first;
    char *seen = tap_memory((size_t) n);
    bool right = true;

    memset(seen, 0, (size_t) n);
    for (int i = 0; right && i < length; i++) {
        const int v = order[i];
        right = first <= v && v < n && 0 == seen[v]++
                && take_link(extents, v, order[(i + 1) % length], taken);
    }
    free(seen);
    return right;
}

/* The cycles that are found: as many as returned, -1: a wrong one. */
static int count_cycles(const mca_coll_pipering_extents_t *extents)
{
    const size_t n = (size_t) mca_coll_pipering_extents_product(extents);
    const int most = mca_coll_pipering_cycles_count(extents);
    int *order = tap_memory((size_t) most * n * sizeof(int));
    void *scratch = tap_memory(mca_coll_pipering_cycles_scratch(extents));
    char *taken = tap_memory(n * (size_t) extents->dims);
    const int count = mca_coll_pipering_cycles(extents, order, scratch);
    bool right = 0 <= count && count <= most;

    memset(taken, 0, n * (size_t) extents->dims);
    for (int i = 0; right && i < count; i++) {
        right = is_round(extents, order + (size_t) i * n, 0, taken);
    }
    free(order);
    free(scratch);
    free(taken);
    return right ? count : -1;
}

static bool has_near_cycle(const mca_coll_pipering_extents_t *extents)
{
    const size_t n = (size_t) mca_coll_pipering_extents_product(extents);
    int *order = tap_memory(n * sizeof(int));
    void *scratch = tap_memory(mca_coll_pipering_cycles_scratch(extents));
    char *taken = tap_memory(n * (size_t) extents->dims);

    memset(taken, 0, n * (size_t) extents->dims);
    const bool right = mca_coll_pipering_near_cycle(extents, order, scratch)
                       && is_round(extents, order, 1, taken);
    free(order);
    free(scratch);
    free(taken);
    return right;
}

static bool is_even(const mca_coll_pipering_extents_t *extents)
{
    return 0 == mca_coll_pipering_extents_product(extents) % 2;
}

/* As many cycles as closed dimensions, or one, or the one that misses a vertex. */
static void try_mesh(const mca_coll_pipering_extents_t *extents, tap_tally_t *cycles,
                     tap_tally_t *near)
{
    const int closed = mca_coll_pipering_closed(extents);
    const int wanted = 0 < closed                                ? closed
                       : 1 < extents->dims && is_even(extents) ? 1
                                                                 : 0;
    char text[64];
    const char *shown = mca_coll_pipering_extents_write(extents, text, sizeof(text));
    const int found = count_cycles(extents);

    tap_try(cycles, found == wanted, "%s: %d", shown, found);
    if (0 == wanted && 1 < extents->dims) {
        tap_try(near, has_near_cycle(extents), "%s", shown);
    }
}

static void test_all(void)
{
    tap_tally_t cycles = {0, 0}, near = {0, 0};

    for (int dims = 1; dims <= 4; dims++) {
        const int most = 2 >= dims ? 12 : 3 == dims ? 6 : 4, each = 2 * (most - 1);
        long codes = 1;
        for (int i = 0; i < dims; i++) {
            codes *= each;
        }
        for (long code = 0; code < codes; code++) {
            mca_coll_pipering_extents_t extents = {.dims = dims};
            bool right = true;
            long rest = code;
            for (int i = 0; i < dims; i++, rest /= each) {
                extents.extent[i] = 2 + (int) (rest % each) / 2;
                extents.closed[i] = 0 != rest % 2;
                right &= !extents.closed[i] || 2 < extents.extent[i];
            }
            if (right) {
                try_mesh(&extents, &cycles, &near);
            }
        }
    }
    tally_ok(&cycles, 1500, "cycles are Hamiltonian, share no link, are as many as there can be");
    tally_ok(&near, 30, "open meshes with odd extents have a cycle through all vertices but one");
}

static void test_large(void)
{
    static const struct {
        const char *text;
        int cycles;
    } shapes[] = {{"255tx256t", 2}, {"8tx8tx8t", 3},      {"8tx8tx16t", 3},      {"16tx16tx8t", 3},
                  {"31tx3tx3t", 3}, {"16tx32tx32t", 3},   {"3tx3tx3tx3tx3t", 5}, {"4tx4tx4tx4t", 4},
                  {"4tx4tx4tx4tx6t", 5},    {"10tx12tx14t", 3}, {"12tx14tx16t", 3},
                  {"3tx3tx4tx3tx5tx3t", 6}, {"4tx4tx6t", 3}, {"8tx8tx8tx2", 3},  {"24tx24t", 2},
                  {"4tx10tx12t", 3}, {"12tx12tx12t", 3}, {"10tx4tx8t", 3}};
    tap_tally_t tally = {0, 0}, tori = {0, 0};
    mca_coll_pipering_extents_t extents = {.dims = 2, .closed = {true, true}};

    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        mca_coll_pipering_extents_t large;
        (void) mca_coll_pipering_extents_read(&large, shapes[i].text);
        tap_try(&tally, shapes[i].cycles == count_cycles(&large), "%s", shapes[i].text);
    }
    for (int a = 3; a <= 40; a++) {
        for (int b = 3; b <= 40; b++) {
            extents.extent[0] = a;
            extents.extent[1] = b;
            tap_try(&tori, 2 == count_cycles(&extents), "%dt x %dt", a, b);
        }
    }
    tally_ok(&tally, 18, "large tori, and ones of up to six dimensions");
    tally_ok(&tori, 1444, "all tori of two dimensions up to 40 x 40 have two cycles");
}

int main(void)
{
    tap_start();
    alarm(300);
    test_all();
    test_large();
    return tap_end();
}

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
 * Short calls along lines, for all meshes of up to 5 x 5 x 5 with one rank a vertex or two, lines
 * of up to 40 vertices, and groups of several sizes: every message has a sender and a receiver that
 * agree on it, on one line; every rank ends with the value of each rank once, and in the same order
 * as all others; as many messages come in as the paper's formula has.
 */

#include <string.h>

#include "coll_pipering_plan_mesh_lines.h"
#include "tap.h"

#define MOST_RANKS 256

/* A mesh with all ranks in it, and the phases of each. */
typedef struct {
    mca_coll_pipering_mesh_t mesh;
    void *memory;
    int group, phases;
    mca_coll_pipering_lines_phase_t phase[MOST_RANKS][MCA_COLL_PIPERING_LINES_PHASES];
    char text[96];
} instance_t;

static const int groups[] = {2, 3, 4, 5, MCA_COLL_PIPERING_LINES_WHOLE};

/* The values that a rank has combined, as ranks in their order. */
typedef struct {
    int count, rank[MOST_RANKS];
} values_t;

static instance_t instance;
static values_t before[MOST_RANKS], after[MOST_RANKS];

static mca_coll_pipering_lines_t lines_of(int rank)
{
    return (mca_coll_pipering_lines_t){&instance.mesh, instance.group, rank};
}

/* Ranks are dealt to vertices upwards, then downwards; with `hole` the last one is missing. */
static bool open_instance(const mca_coll_pipering_extents_t *extents, int ranks, int group,
                          bool hole)
{
    const int n = mca_coll_pipering_extents_product(extents), p = n * ranks - hole;
    int at[MOST_RANKS], scratch[16];

    for (int i = 0; i < p; i++) {
        at[i] = 0 == i / n % 2 ? i % n : n - 1 - i % n;
    }
    instance.group = group;
    instance.memory = tap_memory(mca_coll_pipering_mesh_size(p));
    mca_coll_pipering_mesh_bind(&instance.mesh, p, instance.memory);
    if (!mca_coll_pipering_mesh_fill(&instance.mesh, extents, at, scratch)) {
        free(instance.memory);
        return false;
    }
    const size_t length = (size_t) snprintf(instance.text, sizeof(instance.text),
                                            "%d ranks a vertex, groups of %d, ", ranks, group);
    mca_coll_pipering_extents_write(extents, instance.text + length,
                                    sizeof(instance.text) - length);
    return true;
}

/* Finds the phases of all ranks, as many for each. */
static bool find_phases(void)
{
    bool same = true;

    for (int r = 0; r < instance.mesh.ranks; r++) {
        const mca_coll_pipering_lines_t lines = lines_of(r);
        const int phases = mca_coll_pipering_lines_phases(&lines, instance.phase[r]);
        same &= 0 == r || phases == instance.phases;
        instance.phases = phases;
    }
    return same && MCA_COLL_PIPERING_LINES_PHASES >= instance.phases;
}

/* ---- messages ---- */

/* Whether two ranks are on one line of a dimension: all their other coordinates are the same. */
static bool share_line(int a, int b, int dim)
{
    const mca_coll_pipering_mesh_t *mesh = &instance.mesh;
    int at[MCA_COLL_PIPERING_MESH_DIMS], to[MCA_COLL_PIPERING_MESH_DIMS];
    bool same = true;

    mca_coll_pipering_coordinates(&mesh->extents, mesh->vertex_of[a], at);
    mca_coll_pipering_coordinates(&mesh->extents, mesh->vertex_of[b], to);
    for (int i = 0; i < mesh->extents.dims; i++) {
        same &= i == dim || at[i] == to[i];
    }
    return same && a != b;
}

/* Whether each message of a phase that somebody receives is sent, and no other. */
static bool messages_match(int phase)
{
    static int messages[MOST_RANKS][MOST_RANKS];
    const int p = instance.mesh.ranks;
    bool match = true;

    memset(messages, 0, sizeof(messages));
    for (int r = 0; r < p; r++) {
        const mca_coll_pipering_lines_t lines = lines_of(r);
        const mca_coll_pipering_lines_phase_t *at = &instance.phase[r][phase];
        for (int i = 0; i < at->parts; i++) {
            const int from = mca_coll_pipering_lines_from(&lines, at, i);
            match &= (from == r) == (i == at->own);
            messages[from][r] += from != r;
        }
        for (int i = 0; i < at->sends; i++) {
            const int to = mca_coll_pipering_lines_to(&lines, at, i);
            match &= share_line(r, to, at->dim);
            messages[r][to] -= 1;
        }
    }
    for (int i = 0; i < p * p; i++) {
        match &= 0 == messages[i / p][i % p];
    }
    return match;
}

static bool all_match(void)
{
    bool match = true;

    for (int i = 0; i < instance.phases; i++) {
        match &= messages_match(i);
    }
    return match;
}

/* ---- values ---- */

static void append(values_t *to, const values_t *from)
{
    const int room = MOST_RANKS - to->count, count = from->count < room ? from->count : room;

    memcpy(to->rank + to->count, from->rank, (size_t) count * sizeof(int));
    to->count += count;
}

static void run_phase(int phase)
{
    const int p = instance.mesh.ranks;

    memcpy(before, after, (size_t) p * sizeof(before[0]));
    for (int r = 0; r < p; r++) {
        const mca_coll_pipering_lines_t lines = lines_of(r);
        after[r].count = 0;
        for (int i = 0; i < instance.phase[r][phase].parts; i++) {
            append(&after[r],
                   &before[mca_coll_pipering_lines_from(&lines, &instance.phase[r][phase], i)]);
        }
    }
}

/* Whether all ranks have each value once, and in one order. */
static bool all_have_all(void)
{
    const int p = instance.mesh.ranks;
    bool seen[MOST_RANKS] = {false}, same = true;

    for (int r = 0; r < p; r++) {
        after[r] = (values_t){1, {r}};
    }
    for (int i = 0; i < instance.phases; i++) {
        run_phase(i);
    }
    for (int r = 0; r < p; r++) {
        same &= p == after[r].count
                && 0 == memcmp(after[r].rank, after[0].rank, (size_t) p * sizeof(int));
    }
    for (int i = 0; same && i < p; i++) {
        same &= !seen[after[0].rank[i]];
        seen[after[0].rank[i]] = true;
    }
    return same;
}

/* ---- messages that come in ---- */

/* m - 1 + g - 1 of a line, with g groups of m or, where they are not equal, up to m ranks. */
static int most_of_line(int length)
{
    const int parts = (length + instance.group - 1) / instance.group;

    return (length + parts - 1) / parts - 1 + parts - 1;
}

static bool come_in_as_many(void)
{
    const mca_coll_pipering_mesh_t *mesh = &instance.mesh;
    int most = most_of_line(mesh->ranks / mesh->vertices), found = 0;

    for (int i = 0; i < mesh->extents.dims; i++) {
        most += most_of_line(mesh->extents.extent[i]);
    }
    for (int r = 0; r < mesh->ranks; r++) {
        int in = 0;
        for (int i = 0; i < instance.phases; i++) {
            in += instance.phase[r][i].parts - 1;
        }
        if (in > most) {
            return false;
        }
        found = in > found ? in : found;
    }
    return found == most;
}

/* ---- tests ---- */

typedef struct {
    tap_tally_t phases, match, values, many;
} tallies_t;

static void try_mesh(tallies_t *tallies, const mca_coll_pipering_extents_t *extents, int ranks,
                     int group)
{
    if (!open_instance(extents, ranks, group, false)) {
        return;
    }
    tap_try(&tallies->phases, find_phases() && mca_coll_pipering_lines_fit(&instance.mesh), "%s",
            instance.text);
    tap_try(&tallies->match, all_match(), "%s", instance.text);
    tap_try(&tallies->values, all_have_all(), "%s", instance.text);
    tap_try(&tallies->many, come_in_as_many(), "%s", instance.text);
    free(instance.memory);
}

static void try_all(void)
{
    tallies_t tallies = {{0, 0}, {0, 0}, {0, 0}, {0, 0}};
    const size_t sizes = sizeof(groups) / sizeof(groups[0]);

    for (int i = 1; i < 125; i++) {
        const mca_coll_pipering_extents_t box = {.dims = 3,
                                                 .extent = {1 + i / 25, 1 + i / 5 % 5, 1 + i % 5},
                                                 .closed = {0 == i % 2, 0 == i % 3, 0 == i % 7}};
        for (size_t k = 0; k < 2 * sizes; k++) {
            try_mesh(&tallies, &box, 1 + (int) (k % 2), groups[k / 2]);
        }
    }
    for (int length = 6; length <= 40; length++) {
        const mca_coll_pipering_extents_t line = {.dims = 1, .extent = {length}};
        for (size_t k = 0; k < 4 * sizes; k++) {
            try_mesh(&tallies, &line, 1 + (int) (k % 4), groups[k / 4]);
        }
    }
    tally_ok(&tallies.phases, 1500, "all ranks have as many phases");
    tally_ok(&tallies.match, 1500, "each message is sent once, along a line");
    tally_ok(&tallies.values, 1500, "each rank has each value once, all in one order");
    tally_ok(&tallies.many, 1500, "m - 1 + g - 1 messages come in, a dimension");
}

static void test_holes(void)
{
    const mca_coll_pipering_extents_t box = {.dims = 2, .extent = {3, 4}};
    tap_tally_t refused = {0, 0};

    for (int ranks = 2; ranks <= 6; ranks++) {
        if (open_instance(&box, ranks, 4, true)) {
            tap_try(&refused, !mca_coll_pipering_lines_fit(&instance.mesh), "%s", instance.text);
            free(instance.memory);
        }
    }
    tally_ok(&refused, 5, "vertices with unlike numbers of ranks have no lines");
}

/* Times by hand: 8 vertices in two groups of 4, messages of 1000 bytes. */
static void test_time(void)
{
    const mca_coll_pipering_extents_t box = {.dims = 1, .extent = {8}};

    if (!open_instance(&box, 1, 4, false)) {
        return;
    }
    const mca_coll_pipering_lines_t lines = lines_of(0);
    mca_coll_pipering_lines_problem_t problem = {.lines = &lines,
                                                 .bytes = 1000,
                                                 .combine = 1e-9,
                                                 .cost = {.alpha = 3e-6, .gap = 2e-6}};
    const double handled = mca_coll_pipering_lines_time(&problem);
    problem.cost.beta = 1e-6;
    const double sent = mca_coll_pipering_lines_time(&problem);
    ok(1e-12 > handled - 18e-6 && 1e-12 > 18e-6 - handled,
       "without bytes on links: 2 S + (4 - 1 + 2 - 1) T");
    ok(1e-9 > sent - 8.006e-3 && 1e-9 > 8.006e-3 - sent,
       "on slow links: 4 messages over the middle of a group, then 4 over that of the line");
    free(instance.memory);
}

int main(void)
{
    try_all();
    test_holes();
    test_time();
    return tap_end();
}

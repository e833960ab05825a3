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
 * Pairs of drawn.h. Which there can be follows from what a whole call can be: all of these are
 * tried.
 */

#include "drawn.h"

#include "call.h"
#include "foldcall.h"
#include "tap.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUES_MOST 17

enum { RING, ROUNDS, PIPELINE, MERGED, TREES, PATH, CYCLES, LINES, BINS, PERMUTED, EXCHANGED, LEADERS,
       PULLS, NODE_LEADERS, FIXED, NO_DATA, BELOW, ALGORITHMS };
enum { ALONE, ONE_NODE, ONE_EACH, IN_A_ROW, IN_TURN, PLACES };

static const struct {
    const char *part;
    int values;
    const char *name[VALUES_MOST];
} names[DRAWN_PARTS] = {
    {"call", DRAWN_NEIGHBORS + 1,
     {"bcast", "reduce", "scan", "exscan", "allreduce", "reduce_scatter", "reduce_scatter_block",
      "allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw", "neighbor_alltoallw"}},
    {"form", FORMS, {"blocking", "nonblocking", "persistent"}},
    {"type", DRAWN_TYPES,
     {"contiguous", "gaps", "interleaved", "lower bound", "negative lower bound", "negative extent",
      "no bytes", "unlike", "MPI_BOTTOM"}},
    {"operation", DRAWN_OPS,
     {"none", "exact", "floating", "pairs", "user's, basic", "user's, basic, ordered",
      "user's, derived", "user's, derived, ordered"}},
    {"algorithm", ALGORITHMS,
     {"ring", "rounds", "pipeline", "merged", "mesh_trees", "mesh_path", "mesh_cycles", "mesh_lines",
      "bins", "permuted", "pairs in place", "leaders", "pulls",
      "node leaders", "fixed point", "no data", "below"}},
    {"place", PLACES, {"one rank", "one node", "a rank a node", "node by node", "in turn"}}};

/* ---- what there can be ---- */

static bool commutes(int op)
{
    return DRAWN_USER_BASIC_ORDERED != op && DRAWN_USER_DERIVED_ORDERED != op;
}

static bool type_fits(int op, int type)
{
    const bool derived = DRAWN_USER_DERIVED == op || DRAWN_USER_DERIVED_ORDERED == op;

    return DRAWN_NO_OP == op
           || (derived ? DRAWN_UNLIKE > type
                       : DRAWN_CONTIGUOUS == type || (DRAWN_PAIRS == op && DRAWN_GAPS == type));
}

/*
 * Open MPI's own algorithms fail, and are not tried, where a type has another lower bound than 0 or
 * a negative extent in a reduction, or interleaves, and in exchanges of all with all
 * (docs/troubleshooting.md).
 */
static bool below_can(const int of[DRAWN_PARTS], bool reduces, bool swaps)
{
    const int type = of[DRAWN_TYPE];

    return !swaps
           && !(reduces && (DRAWN_INTERLEAVED == type || DRAWN_BOUND == type
                            || DRAWN_NEGATIVE_BOUND == type || DRAWN_NEGATIVE_EXTENT == type));
}

static bool can(const int of[DRAWN_PARTS])
{
    const int call = of[DRAWN_CALL], op = of[DRAWN_OP], type = of[DRAWN_TYPE];
    const bool gathers = DRAWN_ALLGATHER == call || DRAWN_ALLGATHERV == call;
    const bool swaps = DRAWN_ALLTOALL <= call, bcast = FOLD_BCAST == call;
    const bool reduces = !gathers && !swaps && !bcast, scans = FOLD_SCAN == call || FOLD_EXSCAN == call;
    const bool scatters = FOLD_REDUCE_SCATTER == call || FOLD_REDUCE_SCATTER_BLOCK == call;
    const bool any_order = !reduces || commutes(op);
    const bool apart = !scatters || DRAWN_INTERLEAVED != type;

    if (reduces != (DRAWN_NO_OP != op) || !type_fits(op, type)) {
        return false;
    }
    if (BELOW == of[DRAWN_ALGORITHM]) {
        return below_can(of, reduces, swaps);
    }
    if (ALONE == of[DRAWN_PLACE]
        || (DRAWN_NOTHING == type && !swaps && NO_DATA != of[DRAWN_ALGORITHM])) {
        return false;
    }
    switch (of[DRAWN_ALGORITHM]) {
    case RING:
        return gathers || ((scatters || FOLD_ALLREDUCE == call) && any_order && apart);
    case ROUNDS:
        return gathers || bcast || scans || (reduces && any_order && apart);
    case PIPELINE:
        return !gathers && !swaps && FOLD_ALLREDUCE != call;
    case MERGED:
        return FOLD_ALLREDUCE == call;
    case TREES:
        return bcast || (FOLD_REDUCE == call && any_order);
    case PATH:
        return (FOLD_REDUCE == call || FOLD_ALLREDUCE == call) && any_order;
    case CYCLES:
        return gathers || (FOLD_ALLREDUCE == call && any_order);
    case LINES:
        return FOLD_ALLREDUCE == call && any_order;
    case BINS:
        return swaps;
    case PERMUTED:
        return swaps && DRAWN_NEIGHBORS != call;
    case EXCHANGED:
        return swaps && DRAWN_NEIGHBORS != call;
    case LEADERS:
        return DRAWN_ALLGATHER == call;
    case PULLS:
        return ONE_NODE == of[DRAWN_PLACE]
               && (gathers || bcast || (reduces && !scans && DRAWN_CONTIGUOUS == type));
    case NODE_LEADERS:
        return (IN_A_ROW == of[DRAWN_PLACE] || IN_TURN == of[DRAWN_PLACE])
               && (gathers || bcast
                   || (reduces && !scans && any_order && DRAWN_CONTIGUOUS == type));
    case FIXED:
        return (FOLD_REDUCE == call || FOLD_ALLREDUCE == call) && DRAWN_FLOATING == op;
    default:
        return (!swaps || DRAWN_ALLTOALL == call) && PERSISTENT != of[DRAWN_FORM]
               && DRAWN_INTERLEAVED != type; /* which takes two elements */
    }
}

/* ---- pairs ---- */

typedef uint64_t pairs_t[DRAWN_PARTS][VALUES_MOST][DRAWN_PARTS][VALUES_MOST];

static pairs_t count, possible;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT; /* for `possible` */

static void add_pairs(pairs_t pairs, const drawn_t *drawn)
{
    for (int a = 0; a < DRAWN_PARTS; a++) {
        for (int b = a + 1; b < DRAWN_PARTS; b++) {
            for (int i = 0; i < names[a].values; i++) {
                for (int k = 0; k < names[b].values && 0 != (drawn->of[a] & DRAWN(i)); k++) {
                    pairs[a][i][b][k] += 0 != (drawn->of[b] & DRAWN(k));
                }
            }
        }
    }
}

void drawn_add(const drawn_t *drawn)
{
    pthread_mutex_lock(&lock);
    add_pairs(count, drawn);
    pthread_mutex_unlock(&lock);
}

/* All calls, one after the other. */
static void find_possible(void)
{
    int of[DRAWN_PARTS] = {0}, part;

    do {
        if (can(of)) {
            drawn_t drawn;
            for (part = 0; part < DRAWN_PARTS; part++) {
                drawn.of[part] = DRAWN(of[part]);
            }
            add_pairs(possible, &drawn);
        }
        for (part = 0; part < DRAWN_PARTS && ++of[part] == names[part].values; part++) {
            of[part] = 0;
        }
    } while (part < DRAWN_PARTS);
}

void drawn_write(void)
{
    const char *path = getenv("DRAWN");
    FILE *file = NULL;

    if (NULL == path) {
        return;
    }
    MPI_Reduce(0 == tap_rank ? MPI_IN_PLACE : count, count, sizeof(count) / sizeof(uint64_t),
               MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (0 == tap_rank && NULL == (file = fopen(path, "a"))) {
        tap_bail("cannot write to %s", path);
    }
    pthread_once(&once, find_possible);
    for (int a = 0; NULL != file && a < DRAWN_PARTS; a++) {
        for (int b = a + 1; b < DRAWN_PARTS; b++) {
            for (int i = 0; i < names[a].values; i++) {
                for (int k = 0; k < names[b].values; k++) {
                    if (0 < possible[a][i][b][k] || 0 < count[a][i][b][k]) {
                        fprintf(file, "%llu\t%s %s and %s\t%s%s\n",
                                (unsigned long long) count[a][i][b][k], names[a].part,
                                names[a].name[i], names[b].part, names[b].name[k],
                                0 < possible[a][i][b][k] ? "" : "\tno such pair");
                    }
                }
            }
        }
    }
    if (NULL != file) {
        fclose(file);
    }
}

/* ---- values ---- */

static bool serves(int algorithm, uint32_t call)
{
    for (int i = 0; i < names[DRAWN_CALL].values; i++) {
        if (DRAWN(i) == call) {
            return 0 < possible[DRAWN_CALL][i][DRAWN_ALGORITHM][algorithm];
        }
    }
    return false;
}

uint32_t drawn_algorithm(const drawn_t *drawn, const char *verdict)
{
    static const struct {
        const char *text;
        int algorithm;
    } texts[] = {{"pipelined ring", RING},
                 {"rounds", ROUNDS},
                 {"pipeline", PIPELINE},
                 {"merged pipelines", MERGED},
                 {"trees of a mesh", TREES},
                 {"paths of a mesh", PATH},
                 {"path of a mesh, there and back", PATH},
                 {"cycles of a mesh", CYCLES},
                 {"lines of a mesh", LINES},
                 {"bins", BINS},
                 {"permuted", PERMUTED},
                 {"pairs", EXCHANGED},
                 {"pulls", PULLS},
                 {"leaders of nodes", NODE_LEADERS},
                 {"fixed-point sum", FIXED},
                 {DRAWN_BY_LEADERS, LEADERS},
                 {DRAWN_WITHOUT_DATA, NO_DATA}};

    pthread_once(&once, find_possible);
    for (size_t i = 0; NULL != verdict && i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (0 == strcmp(texts[i].text, verdict)) {
            return DRAWN(serves(texts[i].algorithm, drawn->of[DRAWN_CALL]) ? texts[i].algorithm
                                                                           : BELOW);
        }
    }
    /* of calls that are left the reason is said; some are planned when they start */
    return NULL == verdict || NULL != strchr(verdict, ':') ? DRAWN(BELOW) : 0;
}

uint32_t drawn_place(const int *node, int ranks)
{
    int runs = 1, nodes = 0;

    for (int i = 0; i < ranks; i++) {
        bool first = true;
        for (int k = 0; k < i; k++) {
            first = first && node[k] != node[i];
        }
        nodes += first;
        runs += 0 < i && node[i] != node[i - 1];
    }
    return DRAWN(1 == ranks          ? ALONE
                 : 1 == nodes        ? ONE_NODE
                 : ranks == nodes    ? ONE_EACH
                 : runs == nodes     ? IN_A_ROW
                                     : IN_TURN);
}

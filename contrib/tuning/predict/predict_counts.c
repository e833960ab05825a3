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
 * The sizes of a call, and the nodes of its ranks.
 */

#include "predict.h"

#include "agv_dist.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

const char *predict_call_name(const predict_call_t *call)
{
    return PREDICT_BARRIER == call->closed    ? "barrier"
           : PREDICT_ALLTOALL == call->closed ? "alltoall"
                                              : predict_collective_name(call->collective);
}

const char *predict_distribution(const predict_call_t *call)
{
    return NULL != call->counts_file ? call->counts_file
           : NULL != call->dist      ? call->dist
                                     : "regular";
}

static bool combines(const predict_call_t *call)
{
    return PREDICT_PLANNED == call->closed && mca_coll_pipering_combines(call->collective);
}

/* ---- types ---- */

static const struct {
    const char *name;
    size_t bytes;
    bool exact;
} types[] = {{"byte", 1, true}, {"int", 4, true}, {"float", 4, false}, {"double", 8, false}};

static bool find_type(predict_call_t *call)
{
    const char *name = '\0' != *call->type ? call->type : combines(call) ? "double" : "byte";

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); ++i) {
        if (0 == strcmp(name, types[i].name)) {
            call->type = types[i].name;
            call->element = types[i].bytes;
            call->exact = types[i].exact;
            return true;
        }
    }
    return predict_refuse("--type %s: expected byte, int, float or double", name);
}

/* ---- counts of a file ---- */

static bool read_stream(predict_call_t *call, FILE *in)
{
    int many = 0, what;
    long count;

    call->counts = predict_memory(PREDICT_RANKS_MOST * sizeof(*call->counts));
    while (1 == (what = fscanf(in, "%ld", &count)) && 0 <= count && INT_MAX >= count) {
        if (PREDICT_RANKS_MOST == many) {
            return predict_refuse("--counts %s: there are more than %d counts", call->counts_file,
                                  PREDICT_RANKS_MOST);
        }
        call->counts[many++] = (int) count;
    }
    if (EOF != what || 0 != ferror(in)) {
        return predict_refuse("--counts %s: count %d is no whole number, 0 to %d",
                              call->counts_file, many + 1, INT_MAX);
    }
    if (0 == many) {
        return predict_refuse("--counts %s: it is empty, expected a count for each rank",
                              call->counts_file);
    }
    if (0 < call->ranks && call->ranks != many) {
        return predict_refuse("--counts %s: there are %d counts, expected %d", call->counts_file,
                              many, call->ranks);
    }
    call->ranks = many;
    return true;
}

static bool read_counts(predict_call_t *call)
{
    const bool is_input = 0 == strcmp(call->counts_file, "-");
    FILE *in = is_input ? stdin : fopen(call->counts_file, "r");

    if (NULL == in) {
        return predict_refuse("--counts %s: %s", call->counts_file, strerror(errno));
    }
    const bool good = read_stream(call, in);
    if (!is_input) {
        (void) fclose(in);
    }
    return good;
}

/* ---- nodes ---- */

static void place_ranks(predict_call_t *call)
{
    call->nodes = (call->ranks + call->ppn - 1) / call->ppn;
    call->node_of = predict_memory((size_t) call->ranks * sizeof(*call->node_of));
    for (int r = 0; r < call->ranks; ++r) {
        call->node_of[r] = call->by_node ? r % call->nodes : r / call->ppn * call->ppn;
    }
}

/* ---- counts of a distribution ---- */

static bool to_counts(predict_call_t *call, const size_t *bytes)
{
    for (int r = 0; r < call->ranks; ++r) {
        if (bytes[r] / call->element > INT_MAX) {
            return predict_refuse("--total %zu: rank %d has more than %d elements; take a larger "
                                  "--type", call->total, r, INT_MAX);
        }
        call->counts[r] = (int) (bytes[r] / call->element);
    }
    return true;
}

static bool deal_out(predict_call_t *call)
{
    const char *dist = predict_distribution(call);
    /* as the benchmarks have it for bytes */
    const size_t unit = 1 == call->element ? agv_dist_unit(call->total, call->ranks)
                                           : call->element;
    size_t *bytes = predict_memory((size_t) call->ranks * sizeof(*bytes));

    call->counts = predict_memory((size_t) call->ranks * sizeof(*call->counts));
    const bool good
        = agv_dist_fill(dist, call->ranks, call->node_of, call->total / unit, unit, bytes)
              ? to_counts(call, bytes)
              : predict_refuse("--dist %s is no distribution; --help lists them", dist);
    free(bytes);
    return good;
}

/* ---- the call ---- */

static bool check(const predict_call_t *call)
{
    const char *name = predict_call_name(call);

    if (PREDICT_PLANNED != call->closed && NULL == call->mesh) {
        return predict_refuse("--collective %s is predicted along a mesh only; --mesh says which",
                              name);
    }
    if (NULL != call->counts_file && NULL != call->dist) {
        return predict_refuse("--counts and --dist exclude each other");
    }
    if ((NULL != call->counts_file || NULL != call->dist)
        && MCA_COLL_PIPERING_ALLGATHERV != call->collective
        && MCA_COLL_PIPERING_REDUCE_SCATTER != call->collective) {
        return predict_refuse("--collective %s has no counts; --counts and --dist are of "
                              "allgatherv and reduce_scatter", name);
    }
    if (call->ordered && !combines(call)) {
        return predict_refuse("--noncommuting: %s has no operation", name);
    }
    if (NULL == call->counts_file && 0 == call->ranks) {
        return predict_refuse("--ranks is missing; --help lists options");
    }
    return true;
}

/* Counts of MPI are int. */
static bool check_count(const predict_call_t *call)
{
    const size_t parts = PREDICT_ALLTOALL == call->closed ? (size_t) call->ranks : 1;

    return predict_has_parts(call) || INT_MAX >= call->total / parts / call->element
           || predict_refuse("--total %zu: the vector has more than %d elements of --type %s, "
                             "which no call of %s can name; take a larger --type", call->total,
                             INT_MAX, call->type, predict_call_name(call));
}

static bool check_sizes(const predict_call_t *call)
{
    if (call->root >= call->ranks) {
        return predict_refuse("--root %d: expected a rank, 0 to %d", call->root, call->ranks - 1);
    }
    if (PREDICT_BARRIER == call->closed) {
        return 0 == call->total || predict_refuse("--total: a barrier moves no data");
    }
    if (0 == call->total) {
        return predict_refuse("there are no bytes to move; --total BYTES or --counts FILE says "
                              "how many");
    }
    if (0 != call->total % call->element) {
        return predict_refuse("--total %zu: expected a multiple of the %zu bytes of --type %s",
                              call->total, call->element, call->type);
    }
    return check_count(call);
}

/* Every rank of MPI_Allgather contributes the same, of MPI_Reduce_scatter_block gets the same, and
 * MPI_Alltoall sends the same to each. */
static void round_up(predict_call_t *call)
{
    const size_t one = call->element * (size_t) call->ranks;

    if (MCA_COLL_PIPERING_ALLGATHER == call->collective
        || MCA_COLL_PIPERING_REDUCE_SCATTER_BLOCK == call->collective
        || PREDICT_ALLTOALL == call->closed) {
        call->total = (call->total + one - 1) / one * one;
    }
}

static void add_up(predict_call_t *call)
{
    call->total = 0;
    for (int r = 0; r < call->ranks; ++r) {
        call->total += (size_t) call->counts[r] * call->element;
    }
}

bool predict_deal(predict_call_t *call)
{
    if (!predict_size_mesh(call) || !check(call) || !find_type(call)) {
        return false;
    }
    if (NULL != call->counts_file) {
        if (!read_counts(call)) {
            return false;
        }
        add_up(call);
    }
    round_up(call);
    if (!check_sizes(call)) {
        return false;
    }
    place_ranks(call);
    return predict_lay_mesh(call)
           && (!predict_has_parts(call) || NULL != call->counts || deal_out(call));
}

void predict_forget(predict_call_t *call)
{
    free(call->counts);
    free(call->node_of);
    mca_coll_pipering_ways_free(call->ways);
}

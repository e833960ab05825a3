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
 * Messages and bytes that all ranks send for calls of the modules below, counted where they are
 * given to the PML (with pml/monitoring, MPI_Init of Open MPI 6.0.0rc2 dies), against the model of
 * plan_below. Calls have sizes on both sides of each power of two, at which these modules decide
 * otherwise; ranks start to send when they like.
 *
 *   MODULES=tuned  or han: which of them serve calls here
 *   LARGEST=20     of vectors, 2^LARGEST bytes
 */

#include "ompi_config.h"

#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/pml/pml.h"

#include "coll_pipering_plan_below.h"
#include "foldcall.h"
#include "tap.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if 6 > OMPI_MAJOR_VERSION
#    define TUNED MCA_COLL_PIPERING_BELOW_TUNED
#    define HAN MCA_COLL_PIPERING_BELOW_HAN
#    define CHAINS 1 /* to the root of a reduction */
#else
#    define TUNED MCA_COLL_PIPERING_BELOW_TUNED_6
#    define HAN MCA_COLL_PIPERING_BELOW_HAN_6
#    define CHAINS 2
#endif

#define SHAPES 4 /* of contributions */
#define SHOWN 5

static mca_pml_base_module_t pml; /* as it is without counting */
static double sent[3];            /* by this rank: messages, bytes, messages to the root */

static mca_coll_pipering_below_call_t below;
static mca_coll_pipering_cost_t cost = {.net = {.alpha = 1e-6, .beta = 1e-9},
                                        .local = {.alpha = 1e-6, .beta = 1e-9}};
static int *node_of, *counts, *displs;
static size_t *blocks;
static char *out, *in;
static MPI_Op last; /* the last rank's value: does not commute */

static void take_last(void *from, void *into, int *count, MPI_Datatype *type)
{
    (void) from;
    (void) into;
    (void) count;
    (void) type;
}

static void count(size_t elements, struct ompi_datatype_t *type, int to)
{
    size_t size;

    ompi_datatype_type_size(type, &size);
    sent[0] += 1;
    sent[1] += (double) elements * (double) size;
    sent[2] += to == below.root ? 1 : 0;
}

static int counted_send(const void *from, size_t elements, struct ompi_datatype_t *type, int to,
                        int tag, mca_pml_base_send_mode_t mode, struct ompi_communicator_t *comm)
{
    count(elements, type, to);
    return pml.pml_send(from, elements, type, to, tag, mode, comm);
}

static int counted_isend(const void *from, size_t elements, struct ompi_datatype_t *type, int to,
                         int tag, mca_pml_base_send_mode_t mode, struct ompi_communicator_t *comm,
                         struct ompi_request_t **request)
{
    count(elements, type, to);
    return pml.pml_isend(from, elements, type, to, tag, mode, comm, request);
}

static void count_messages(void)
{
    pml = mca_pml;
    mca_pml.pml_send = counted_send;
    mca_pml.pml_isend = counted_isend;
}

static void find_nodes(void)
{
    int least = tap_size;

    below.nodes = tap_nodes(MPI_COMM_WORLD, node_of);
    for (int r = 0; r < tap_size; r++) {
        int ranks = 0;
        for (int i = 0; i < tap_size; i++) {
            ranks += node_of[i] == node_of[r];
        }
        below.ppn = ranks > below.ppn ? ranks : below.ppn;
        least = ranks < least ? ranks : least;
    }
    below.equal = below.ppn == least;
}

/* Contributions of so many bytes on average. */
static void shape_blocks(int shape, size_t mean)
{
    const size_t p = (size_t) tap_size, total = mean * p;
    size_t placed = 0;

    for (size_t r = 0; r < p; r++) {
        const size_t in_turn = r % 2 ? 0 : 2 * mean, one = r == p / 2 ? total : 0;
        const size_t shapes[SHAPES] = {mean, in_turn, one, r * 2 * mean / (p - 1)};
        blocks[r] = shapes[shape];
        blocks[r] = r == p - 1 || placed + blocks[r] > total ? total - placed : blocks[r];
        counts[r] = (int) blocks[r];
        displs[r] = (int) placed;
        placed += blocks[r];
    }
}

static void call(void)
{
    static const fold_call_t calls[MCA_COLL_PIPERING_COLLECTIVES]
        = {[MCA_COLL_PIPERING_ALLGATHERV] = FOLD_ALLGATHERV,
           [MCA_COLL_PIPERING_ALLGATHER] = FOLD_ALLGATHER,
           [MCA_COLL_PIPERING_BCAST] = FOLD_BCAST,
           [MCA_COLL_PIPERING_REDUCE] = FOLD_REDUCE,
           [MCA_COLL_PIPERING_SCAN] = FOLD_SCAN,
           [MCA_COLL_PIPERING_EXSCAN] = FOLD_EXSCAN,
           [MCA_COLL_PIPERING_ALLREDUCE] = FOLD_ALLREDUCE,
           [MCA_COLL_PIPERING_REDUCE_SCATTER] = FOLD_REDUCE_SCATTER,
           [MCA_COLL_PIPERING_REDUCE_SCATTER_BLOCK] = FOLD_REDUCE_SCATTER_BLOCK};
    const fold_call_t what = calls[below.collective];
    const bool gathers = FOLD_CALLS < what, parts = FOLD_REDUCE_SCATTER_BLOCK == what;
    const foldcall_t c = {.call = what,
                          .send = out,
                          .recv = FOLD_BCAST == what ? out : in,
                          .count = (int) (below.total / below.unit)
                                   / (gathers || parts ? tap_size : 1),
                          .type = gathers           ? MPI_BYTE
                                  : 8 == below.unit ? MPI_DOUBLE
                                                    : MPI_SIGNED_CHAR,
                          .op = below.ordered ? last : MPI_MAX,
                          .root = below.root,
                          .comm = MPI_COMM_WORLD,
                          .counts = counts,
                          .displs = displs};

    TAP_MPI(foldcall(&c, BLOCKING));
}

static bool differs(double found, double expected)
{
    return fabs(found - expected) > 0.25; /* both are whole, but for the model's rounding */
}

/* A call; how often one has differed so far. */
static int try_call(int failed)
{
    double by_all[3];

    memset(sent, 0, sizeof(sent));
    call();
    memcpy(by_all, sent, sizeof(by_all));
    TAP_MPI(MPI_Allreduce(MPI_IN_PLACE, by_all, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    const mca_coll_pipering_below_time_t model = mca_coll_pipering_below_time(&below);
    const bool branches = MCA_COLL_PIPERING_REDUCE != below.collective
                          || 0 != strcmp(model.algorithm, "tuned: chain")
                          || (2 < tap_size ? CHAINS : 1) == by_all[2];
    if (!differs(by_all[0], model.messages) && !differs(by_all[1], model.bytes) && branches) {
        return failed;
    }
    if (SHOWN > failed) {
        tap_note("%s, %zu bytes in elements of %zu, root %d: %.0f messages, %.0f to the root, %.0f "
                 "bytes; the model has %.0f, %.0f",
                 model.algorithm, below.total, below.unit, below.root, by_all[0], by_all[2],
                 by_all[1], model.messages, model.bytes);
    }
    return failed + 1;
}

static void test_collective(const char *name, mca_coll_pipering_collective_t collective,
                            bool ordered, int largest)
{
    const bool v = MCA_COLL_PIPERING_ALLGATHERV == collective;
    const bool gathers = v || MCA_COLL_PIPERING_ALLGATHER == collective;
    const bool scatters = MCA_COLL_PIPERING_REDUCE_SCATTER == collective;
    const bool block = MCA_COLL_PIPERING_REDUCE_SCATTER_BLOCK == collective;
    const bool parts = gathers || scatters || block;
    const bool rooted = MCA_COLL_PIPERING_BCAST == collective
                        || MCA_COLL_PIPERING_REDUCE == collective;
    int failed = 0, tried = 0;

    below.collective = collective;
    below.ordered = ordered;
    for (int variant = 0; variant < (v ? SHAPES : gathers ? 1 : 2); variant++) {
        below.unit = gathers || 0 == variant ? 1 : 8;
        for (int bits = 0; bits <= (gathers ? largest - 2 : parts ? largest - 4 : largest); bits++) {
            for (size_t less = 0; less < 2; less++) {
                const size_t size = ((size_t) 1 << bits) / below.unit * below.unit;
                /* recursive doubling of up to 1 KiB in all is not modelled */
                if (size <= less * below.unit || (block && 32 > size - less * below.unit)) {
                    continue;
                }
                below.total = (size - less * below.unit) * (parts ? (size_t) tap_size : 1);
                below.bytes = v || scatters ? blocks : NULL;
                if (v || scatters) {
                    shape_blocks(scatters ? 1 + variant : variant, size / below.unit - less);
                }
                below.root = rooted ? bits % tap_size : 0;
                tried++;
                failed = try_call(failed);
            }
        }
    }
    tap_check(0 == failed, NULL, "%s%s: %d of %d calls as modelled", name,
              ordered ? " in order" : "", tried - failed, tried);
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"MPI_Allgatherv", "MPI_Allgather", "MPI_Bcast",
                                        "MPI_Reduce",     "MPI_Scan",      "MPI_Exscan",
                                        "MPI_Allreduce",  "MPI_Reduce_scatter",
                                        "MPI_Reduce_scatter_block"};
    const char *modules = getenv("MODULES");

    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    const int largest = (int) tap_number("LARGEST", 20);
    const size_t p = (size_t) tap_size;
    node_of = tap_memory(p * sizeof(int));
    counts = tap_memory(p * sizeof(int));
    displs = tap_memory(p * sizeof(int));
    blocks = tap_memory(p * sizeof(size_t));
    out = calloc(p, (size_t) 1 << largest);
    in = calloc(p, (size_t) 1 << largest);
    if (NULL == out || NULL == in) {
        tap_bail("no memory");
    }
    TAP_MPI(MPI_Op_create(take_last, 0, &last));
    count_messages();
    find_nodes();
    below.modules = NULL != modules && 0 == strcmp(modules, "han") ? HAN : TUNED;
    below.ranks = tap_size;
    below.node_of = node_of;
    below.cost = &cost;
    below.scratch = tap_memory(mca_coll_pipering_below_scratch(tap_size));

    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < (int) MCA_COLL_PIPERING_COLLECTIVES; i++) {
            const bool reduces = i > (int) MCA_COLL_PIPERING_BCAST;
            below.collective = (mca_coll_pipering_collective_t) i;
            if (0 == pass) { /* modules set themselves up */
                below.unit = 1;
                below.total = p;
                shape_blocks(0, 1);
                call();
                continue;
            }
            /* coll/han's scatter, which a reduction in order precedes, is taken for coll/tuned's */
            const bool block = MCA_COLL_PIPERING_REDUCE_SCATTER_BLOCK == below.collective;
            const bool in_order = reduces && !(block && HAN == below.modules
                                               && below.nodes < tap_size);
            for (int ordered = 0; ordered < (in_order ? 2 : 1); ordered++) {
                test_collective(names[i], (mca_coll_pipering_collective_t) i, ordered,
                                largest);
            }
        }
    }
    TAP_MPI(MPI_Op_free(&last));
    free(below.scratch);
    free(node_of);
    free(counts);
    free(displs);
    free(blocks);
    free(out);
    free(in);
    return tap_end();
}

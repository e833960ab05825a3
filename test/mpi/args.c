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
 * Every nonblocking and persistent call while its arrays and types are gone (vanish.c):
 * gathers and broadcasts in all settings, as the first call of a communicator and later,
 * exchanges with all algorithms; few bytes and many. Several calls are in flight at once,
 * and persistent ones are started again.
 */

#include "knob.h"
#include "swap.h"
#include "tap.h"
#include "trial.h"

#include <stdlib.h>

#if OMPI_MAJOR_VERSION < 5 /* persistent collectives have names of their own there */
#    include <mpi-ext.h>
#    define MPI_Allgather_init MPIX_Allgather_init
#    define MPI_Allgatherv_init MPIX_Allgatherv_init
#    define MPI_Bcast_init MPIX_Bcast_init
#endif

enum { FLIGHT = 3 };

static const int sizes[] = {60, 20000}; /* bytes of a contribution, about */
#define SIZES 2

static uint64_t key = 5000;

/* ---- gathers ---- */

typedef struct gather_t {
    exchange_t *x;
    layout_t *layout;
} gather_t;

static layout_t *layout_of(int n)
{
    return 0 == n % 2 ? layout_unit(3, 0) : layout_vector(2, 1, 3, layout_unit(3, 0));
}

static gather_t gather_new(MPI_Comm comm, int n, int most)
{
    exchange_spec_t spec = {.comm = comm, .key = key++, .same = 0 == n % 3, .in_place = 1 == n};
    gather_t gather = {.layout = layout_of(n)};
    int *count = tap_memory((size_t) tap_size * sizeof(int));

    for (int i = 0; i < tap_size; i++) {
        count[i] = spec.same ? most / 4 : most / 4 + i * most / 16;
    }
    spec.count = count;
    spec.send_count = count[tap_rank];
    spec.send = spec.recv = gather.layout;
    gather.x = trial_exchange(&spec);
    free(count);
    return gather;
}

static int gather_init(exchange_t *x)
{
    const void *from = x->in_place ? MPI_IN_PLACE : x->source.memory + x->source.origin;
    void *to = x->target.memory + x->target.origin;
    const MPI_Datatype type = x->in_place ? MPI_DATATYPE_NULL : x->send->type;

    return x->same ? MPI_Allgather_init(from, x->send_count, type, to, x->count[0],
                                        x->recv->type, x->comm, MPI_INFO_NULL, &x->request)
                   : MPI_Allgatherv_init(from, x->send_count, type, to, x->count, x->displ,
                                         x->recv->type, x->comm, MPI_INFO_NULL, &x->request);
}

static bool gathers_right(MPI_Comm comm, int most, bool persistent)
{
    gather_t gather[FLIGHT];
    bool right = true;

    for (int i = 0; i < FLIGHT; i++) {
        gather[i] = gather_new(comm, i, most);
        TAP_MPI(persistent ? gather_init(gather[i].x) : exchange_start(gather[i].x));
    }
    for (int start = 0; start < (persistent ? 2 : 1); start++) {
        for (int i = 0; i < FLIGHT && persistent; i++) {
            exchange_reset(gather[i].x);
            TAP_MPI(MPI_Start(&gather[i].x->request));
        }
        for (int i = FLIGHT - 1; 0 <= i; i--) {
            TAP_MPI(MPI_Wait(&gather[i].x->request, MPI_STATUS_IGNORE));
            right &= exchange_right(gather[i].x);
        }
    }
    for (int i = 0; i < FLIGHT; i++) {
        if (persistent) {
            TAP_MPI(MPI_Request_free(&gather[i].x->request));
        }
        exchange_free(gather[i].x);
        layout_free(gather[i].layout);
    }
    return right;
}

/* ---- broadcasts ---- */

#define WIDTH 4 /* ints of an element, of which its type has every second */
#define GAP (-1)

static MPI_Datatype new_type(void)
{
    MPI_Datatype vector, type;

    MPI_Type_vector(WIDTH / 2, 1, 2, MPI_INT, &vector);
    MPI_Type_create_resized(vector, 0, WIDTH * (MPI_Aint) sizeof(int), &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&vector);
    return type;
}

typedef struct broadcast_t {
    int *buffer, count, root, key;
    MPI_Request request;
} broadcast_t;

static int wanted(const broadcast_t *b, bool there, int k)
{
    return there && 0 == k % 2 ? 1000 * b->key + k : GAP;
}

static void broadcast_reset(broadcast_t *b)
{
    for (int k = 0; k < b->count * WIDTH; k++) {
        b->buffer[k] = wanted(b, tap_rank == b->root, k);
    }
}

static bool broadcast_right(const broadcast_t *b)
{
    for (int k = 0; k < b->count * WIDTH; k++) {
        if (wanted(b, true, k) != b->buffer[k]) {
            return false;
        }
    }
    return true;
}

/* Some bytes each, as Open MPI serves persistent calls without, and loses their types. */
static broadcast_t broadcast_new(MPI_Comm comm, int i, int most, bool persistent)
{
    const int count = most / 8 + i;
    broadcast_t b = {.buffer = tap_memory((size_t) count * WIDTH * sizeof(int)),
                     .count = count,
                     .root = i % tap_size,
                     .key = (int) key++};
    MPI_Datatype type = new_type();

    broadcast_reset(&b);
    TAP_MPI(persistent ? MPI_Bcast_init(b.buffer, count, type, b.root, comm, MPI_INFO_NULL,
                                        &b.request)
                       : MPI_Ibcast(b.buffer, count, type, b.root, comm, &b.request));
    MPI_Type_free(&type);
    return b;
}

static bool broadcasts_right(MPI_Comm comm, int most, bool persistent)
{
    broadcast_t b[FLIGHT];
    bool right = true;

    for (int i = 0; i < FLIGHT; i++) {
        b[i] = broadcast_new(comm, i, most, persistent);
    }
    for (int start = 0; start < (persistent ? 2 : 1); start++) {
        for (int i = 0; i < FLIGHT && persistent; i++) {
            broadcast_reset(&b[i]);
            TAP_MPI(MPI_Start(&b[i].request));
        }
        for (int i = FLIGHT - 1; 0 <= i; i--) {
            TAP_MPI(MPI_Wait(&b[i].request, MPI_STATUS_IGNORE));
            right &= broadcast_right(&b[i]);
        }
    }
    for (int i = 0; i < FLIGHT; i++) {
        if (persistent) {
            TAP_MPI(MPI_Request_free(&b[i].request));
        }
        free(b[i].buffer);
    }
    return right;
}

/**
 * Both, on a new communicator: the first calls find it as it is made, the others set up.
 * Persistent calls only where the component serves all of them.
 */
static void try_pipelines(const char *setting, int most, bool forced)
{
    MPI_Comm comm;
    bool gathers = true, broadcasts = true;
    char any = 0;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int is_set_up = 0; is_set_up < 2; is_set_up++) {
        for (int persistent = 0; persistent < (forced ? 2 : 1); persistent++) {
            gathers &= gathers_right(comm, most, persistent);
            broadcasts &= broadcasts_right(comm, most, persistent);
        }
        MPI_Bcast(&any, 1, MPI_CHAR, 0, comm);
    }
    MPI_Comm_free(&comm);
    tap_check(gathers, "wrong data", "gathers of %d bytes, %s", most, setting);
    tap_check(broadcasts, "wrong data", "broadcasts of %d bytes, %s", most, setting);
}

/* ---- exchanges ---- */

static const char *const algorithms[] = {"auto", "bins"};
#define ALGORITHMS 2

static void choose(int algorithm)
{
    knob_set("coll_pipering_alltoallv_algorithm", algorithm);
    knob_set("coll_pipering_alltoallw_algorithm", algorithm);
    knob_set("coll_pipering_neighbor_alltoallw_algorithm", algorithm % 2);
}

static bool swaps_right(MPI_Comm comm, MPI_Comm quiet, swap_call_t call, swap_form_t form,
                        int most, bool in_place)
{
    swap_t *swap[FLIGHT];
    bool right = true;

    for (int i = 0; i < FLIGHT; i++) {
        const swap_spec_t spec = {.comm = comm,
                                  .quiet = quiet,
                                  .call = call,
                                  .in_place = in_place,
                                  .zeros = 25 * i,
                                  .most = (size_t) most};
        dice_t own = dice_from(key, 0, (uint64_t) tap_rank);
        swap[i] = swap_new(&spec, key++, &own);
        TAP_MPI(swap_start(swap[i], form));
    }
    for (int i = FLIGHT - 1; 0 <= i; i--) {
        TAP_MPI(MPI_Wait(&swap[i]->request, MPI_STATUS_IGNORE));
        right &= swap_right(swap[i]);
    }
    for (int i = 0; i < FLIGHT; i++) {
        if (SWAP_PERSISTENT == form) {
            TAP_MPI(MPI_Start(&swap[i]->request));
            TAP_MPI(MPI_Wait(&swap[i]->request, MPI_STATUS_IGNORE));
            right &= swap_right(swap[i]);
            TAP_MPI(MPI_Request_free(&swap[i]->request));
        }
        swap_free(swap[i]);
    }
    return right;
}

static void try_swaps(int algorithm, int most)
{
    MPI_Comm quiet, topology;
    const char *name;
    bool right = true;

    choose(algorithm);
    topology = swap_topology(MPI_COMM_WORLD, key++, &name);
    MPI_Comm_dup(MPI_COMM_WORLD, &quiet);
    for (swap_form_t form = SWAP_NONBLOCKING; form < SWAP_FORMS; form++) {
        for (int in_place = 0; in_place < 2; in_place++) {
            right &= swaps_right(MPI_COMM_WORLD, quiet, SWAP_V, form, most, in_place);
            right &= swaps_right(MPI_COMM_WORLD, quiet, SWAP_W, form, most, in_place);
        }
        right &= swaps_right(topology, quiet, SWAP_NEIGHBORS, form, most, false);
    }
    MPI_Comm_free(&topology);
    MPI_Comm_free(&quiet);
    tap_check(right, "wrong data", "exchanges of %d bytes, %s, neighbors in a %s", most,
              algorithms[algorithm], name);
}

/** All settings, but no thousands of tiny blocks. */
static void try_settings(int most)
{
    for (int s = 0; s < knob_settings_count(); s++) {
        const size_t block = knob_settings[s].block_size;

        if (0 == block || (size_t) most < 1000 * block) {
            knob_apply(&knob_settings[s]);
            knob_folds(0 == s ? KNOB_AUTO : KNOB_PIPELINE, KNOB_AUTO);
            try_pipelines(knob_settings[s].name, most, 0 < s && 1 < tap_size);
        }
    }
}

int main(int argc, char **argv)
{
    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    const bool component = knob_begin();

    for (int i = 0; i < SIZES; i++) {
        try_settings(sizes[i]);
        /* one rank alone is served by Open MPI, which loses types and mixes up neighbours */
        for (int a = 0; 1 < tap_size && component && a < ALGORITHMS; a++) {
            try_swaps(a, sizes[i]);
        }
    }
    knob_end();
    return tap_end();
}

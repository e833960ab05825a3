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
 * Requests whose types, operation and communicator are gone: freed between the call and
 * MPI_Wait, or the making of a persistent request and MPI_Start, and others made in their
 * place, which may lie where those lay and are no good. All of them are gone at the end:
 * the next ones have the numbers that were free once coll/han had its communicators, which
 * it makes in a first round of all calls.
 *
 * Each call is made on a communicator that is set up, and as the first one on its own; a
 * persistent one is started twice, or never.
 */

#include "foldcall.h"
#include "knob.h"
#include "tap.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#if OMPI_MAJOR_VERSION < 5 /* persistent collectives have names of their own there */
#    include <mpi-ext.h>
#    define MPI_Allgather_init MPIX_Allgather_init
#    define MPI_Allgatherv_init MPIX_Allgatherv_init
#endif

#define COUNT 3000 /* elements of four ints, of which an element of the type has two */
#define WIDTH 4
#define GAP (-1)

typedef enum { GATHER, GATHERV, FOLD } family_t;

typedef struct kind_t {
    const char *name;
    family_t family;
    int algorithm; /**< of the family, or of MPI_Allreduce */
    fold_call_t call;
} kind_t;

static const kind_t kinds[] = {
    {"allgather, ring", GATHER, KNOB_RING, FOLD_ANY},
    {"allgatherv, ring", GATHERV, KNOB_RING, FOLD_ANY},
    {"allgatherv, rounds", GATHERV, KNOB_DOUBLING, FOLD_ANY},
    {"bcast", FOLD, KNOB_OFF, FOLD_BCAST},
    {"reduce", FOLD, KNOB_OFF, FOLD_REDUCE},
    {"scan", FOLD, KNOB_OFF, FOLD_SCAN},
    {"exscan", FOLD, KNOB_OFF, FOLD_EXSCAN},
    {"allreduce, merged", FOLD, KNOB_MERGED, FOLD_ALLREDUCE},
    {"allreduce, ring", FOLD, KNOB_RING, FOLD_ALLREDUCE},
};

/** What a call is made with and may lose. */
typedef struct parents_t {
    MPI_Comm comm;
    MPI_Datatype send_type, recv_type; /**< the same, but of a gather */
    MPI_Op op;
} parents_t;

typedef struct orphan_t {
    const kind_t *kind;
    parents_t parents;
    int root;
    int *count, *displ; /**< [ranks] of a gather */
    int *send, *recv;
    int elements; /**< in recv */
    MPI_Request request;
} orphan_t;

/* ---- what is freed, and what comes in its place ---- */

static void add(void *in, void *inout, int *length, MPI_Datatype *type)
{
    const int *a = in;
    int *b = inout;

    (void) type;
    for (int i = 0; i < *length * WIDTH; i += 2) {
        b[i] += a[i];
    }
}

static void spoil(void *in, void *inout, int *length, MPI_Datatype *type)
{
    int *b = inout;

    (void) in;
    (void) type;
    for (int i = 0; i < *length * WIDTH; i++) {
        b[i] = 99;
    }
}

/** Two ints of four, or, with a gap of another width, something else; a type has a number
 *  once someone has asked for it. */
static MPI_Datatype new_type(int gap)
{
    MPI_Datatype vector, type;

    MPI_Type_vector(2, 1, gap, MPI_INT, &vector);
    MPI_Type_create_resized(vector, 0, 2 * gap * (MPI_Aint) sizeof(int), &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&vector);
    (void) MPI_Type_c2f(type);
    return type;
}

static parents_t parents_new(bool good)
{
    parents_t parents;

    MPI_Comm_split(MPI_COMM_WORLD, 0, good ? tap_rank : -tap_rank, &parents.comm);
    parents.send_type = new_type(good ? 2 : 1);
    parents.recv_type = new_type(good ? 2 : 1);
    MPI_Op_create(good ? add : spoil, 1, &parents.op);
    return parents;
}

static void parents_free(parents_t *parents)
{
    MPI_Type_free(&parents->send_type);
    MPI_Type_free(&parents->recv_type);
    MPI_Op_free(&parents->op);
    MPI_Comm_free(&parents->comm);
}

/* ---- calls ---- */

static int value(int rank, int k)
{
    return 1000 * (rank + 1) + k;
}

static void fill(orphan_t *orphan)
{
    for (int i = 0; i < COUNT * WIDTH; i++) {
        orphan->send[i] = 0 == i % 2 ? value(tap_rank, i / 2) : GAP;
    }
    for (int i = 0; i < orphan->elements * WIDTH; i++) {
        orphan->recv[i] = GAP;
    }
    for (int i = 0; FOLD_BCAST == orphan->kind->call && i < COUNT * WIDTH; i++) {
        orphan->recv[i] = tap_rank == orphan->root ? orphan->send[i] : GAP;
    }
}

static orphan_t orphan_new(const kind_t *kind)
{
    const size_t p = (size_t) tap_size;
    orphan_t orphan = {.kind = kind,
                       .parents = parents_new(true),
                       .root = tap_size / 2,
                       .count = tap_memory(p * sizeof(int)),
                       .displ = tap_memory(p * sizeof(int)),
                       .send = tap_memory(COUNT * WIDTH * sizeof(int)),
                       .recv = tap_memory(p * COUNT * WIDTH * sizeof(int)),
                       .elements = FOLD == kind->family ? COUNT : COUNT * tap_size,
                       .request = MPI_REQUEST_NULL};

    for (int i = 0; i < tap_size; i++) {
        orphan.count[i] = GATHERV == kind->family ? COUNT - 7 * i : COUNT;
        orphan.displ[i] = COUNT * i;
    }
    fill(&orphan);
    return orphan;
}

static void orphan_free(orphan_t *orphan)
{
    free(orphan->count);
    free(orphan->displ);
    free(orphan->send);
    free(orphan->recv);
}

static int start_gather(orphan_t *o, bool persistent)
{
    const parents_t *parents = &o->parents;
    const int mine = o->count[tap_rank];

    if (GATHER == o->kind->family && persistent) {
        return MPI_Allgather_init(o->send, mine, parents->send_type, o->recv, COUNT,
                                  parents->recv_type, parents->comm, MPI_INFO_NULL, &o->request);
    }
    if (GATHER == o->kind->family) {
        return MPI_Iallgather(o->send, mine, parents->send_type, o->recv, COUNT,
                              parents->recv_type, parents->comm, &o->request);
    }
    if (persistent) {
        return MPI_Allgatherv_init(o->send, mine, parents->send_type, o->recv, o->count, o->displ,
                                   parents->recv_type, parents->comm, MPI_INFO_NULL, &o->request);
    }
    return MPI_Iallgatherv(o->send, mine, parents->send_type, o->recv, o->count, o->displ,
                           parents->recv_type, parents->comm, &o->request);
}

static int start(orphan_t *o, bool persistent)
{
    const foldcall_t call = {.call = o->kind->call,
                             .send = o->send,
                             .recv = o->recv,
                             .count = COUNT,
                             .type = o->parents.recv_type,
                             .op = o->parents.op,
                             .root = o->root,
                             .comm = o->parents.comm};

    if (FOLD != o->kind->family) {
        return start_gather(o, persistent);
    }
    return persistent ? foldcall_init(&call, &o->request) : foldcall_start(&call, &o->request);
}

/** Any blocking call, after which the communicator is set up. */
static void set_up(const orphan_t *o)
{
    TAP_MPI(MPI_Allgatherv(o->send, o->count[tap_rank], o->parents.send_type, o->recv, o->count,
                           o->displ, o->parents.recv_type, o->parents.comm));
}

/* ---- results ---- */

/** What ranks [from, to) give together, at place k. */
static int sum(int from, int to, int k)
{
    int all = 0;

    for (int r = from; r < to; r++) {
        all += value(r, k);
    }
    return all;
}

static int wanted_of_fold(const orphan_t *o, int k)
{
    switch (o->kind->call) {
    case FOLD_BCAST:
        return value(o->root, k);
    case FOLD_REDUCE:
        return tap_rank == o->root ? sum(0, tap_size, k) : GAP;
    case FOLD_SCAN:
        return sum(0, tap_rank + 1, k);
    case FOLD_EXSCAN:
        return 0 == tap_rank ? GAP : sum(0, tap_rank, k);
    default:
        return sum(0, tap_size, k);
    }
}

static bool right(const orphan_t *o)
{
    for (int i = 0; i < o->elements * WIDTH; i++) {
        const int element = i / WIDTH, rank = element / COUNT;
        int wanted = GAP;
        if (0 == i % 2 && FOLD == o->kind->family) {
            wanted = wanted_of_fold(o, i / 2);
        } else if (0 == i % 2 && element % COUNT < o->count[rank]) {
            wanted = value(rank, (i - rank * COUNT * WIDTH) / 2);
        }
        if (wanted != o->recv[i]) {
            return false;
        }
    }
    return true;
}

/* ---- tests ---- */

/** The component must have served it, or nothing is said of the component. */
static bool try_starts(orphan_t *orphan, int starts)
{
    bool all = true;

    for (int i = 0; i < starts; i++) {
        const uint64_t calls = knob_counter("coll_pipering_calls");
        fill(orphan);
        TAP_MPI(MPI_Start(&orphan->request));
        TAP_MPI(MPI_Wait(&orphan->request, MPI_STATUS_IGNORE));
        all &= right(orphan) && calls + 1 == knob_counter("coll_pipering_calls");
    }
    TAP_MPI(MPI_Request_free(&orphan->request));
    return all;
}

static void try_kind(const kind_t *kind, bool is_set_up, bool persistent, int starts)
{
    orphan_t orphan = orphan_new(kind);
    bool good = true;

    if (is_set_up) {
        set_up(&orphan);
        fill(&orphan);
    }
    TAP_MPI(start(&orphan, persistent));
    parents_free(&orphan.parents);
    parents_t others = parents_new(false);
    if (persistent) {
        good = try_starts(&orphan, starts);
    } else {
        TAP_MPI(MPI_Wait(&orphan.request, MPI_STATUS_IGNORE));
        good = right(&orphan);
    }
    tap_check(good, "wrong data, or left to others",
              "%s%s, %s, %d starts: types, operation and communicator freed", kind->name,
              is_set_up ? "" : ", first on its communicator",
              persistent ? "persistent" : "nonblocking", starts);
    parents_free(&others);
    orphan_free(&orphan);
}

static void try_all(const kind_t *kind)
{
    for (int is_set_up = 0; is_set_up < 2; is_set_up++) {
        try_kind(kind, is_set_up, false, 1);
        try_kind(kind, is_set_up, true, 2);
        try_kind(kind, is_set_up, true, 0);
    }
}

static void try_kinds(void)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const int algorithm = kinds[i].algorithm;
        const bool fold = FOLD == kinds[i].family;

        knob_folds(KNOB_PIPELINE, fold ? algorithm : KNOB_OFF);
        knob_set("coll_pipering_allgather_algorithm", fold ? KNOB_RING : algorithm);
        knob_set("coll_pipering_allgatherv_algorithm", fold ? KNOB_RING : algorithm);
        try_all(&kinds[i]);
    }
}

/** Numbers that are free, the lowest ones. */
typedef struct numbers_t {
    MPI_Fint comm, type, op;
} numbers_t;

static numbers_t free_numbers(void)
{
    parents_t parents = parents_new(true);
    const numbers_t numbers = {MPI_Comm_c2f(parents.comm), MPI_Type_c2f(parents.send_type),
                               MPI_Op_c2f(parents.op)};

    parents_free(&parents);
    return numbers;
}

/** Messages that are on their way still have a communicator. */
static void try_numbers(const numbers_t *first)
{
    numbers_t last;
    int gone = 0;

    for (int i = 0; i < 50 && !gone; i++) {
        last = free_numbers();
        gone = first->comm >= last.comm;
        MPI_Allreduce(MPI_IN_PLACE, &gone, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    }
    tap_check(first->comm >= last.comm, "a higher number", "no communicator is left");
    tap_check(first->type >= last.type, "a higher number", "no type is left");
    tap_check(first->op >= last.op, "a higher number", "no operation is left");
}

int main(int argc, char **argv)
{
    numbers_t numbers;

    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (!knob_begin()) {
        tap_bail("coll/pipering is not there");
    }
    knob_set("coll_pipering_block_size", 4096);
    try_kinds();
    numbers = free_numbers();
    try_kinds();
    try_numbers(&numbers);
    knob_end();
    return tap_end();
}

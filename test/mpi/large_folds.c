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
 * Broadcasts, reductions and scans of large numbers: more than 2^31 bytes in a vector,
 * as many elements as an int can count, and elements far from each other. Words
 * of a vector are a function of rank and place, so each rank knows its result.
 *
 * Large vectors are in place, and in the same memory for all calls, for a rank must not
 * take more than 2.3 GB. The root is the last rank.
 */

#define _GNU_SOURCE /* madvise */

#include "foldcall.h"
#include "knob.h"
#include "tap.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define GUARD 4096
#define MEMORY (((size_t) 1 << 31) + ((size_t) 128 << 20))

static void *reserve(size_t bytes, bool whole)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (MAP_FAILED == memory) {
        tap_bail("no %zu bytes of address space", bytes);
    }
    (void) madvise(memory, whole ? bytes : 0, MADV_HUGEPAGE); /* fewer faults */
    return memory;
}

/* ---- vectors ---- */

/** What a vector consists of: words, in runs that are `stride` words apart. */
typedef struct vector_t {
    size_t bytes; /**< of data */
    size_t run, stride;
    bool bits; /**< combined by an exclusive or, else by a sum */
} vector_t;

static uint64_t word_of(int rank, size_t k)
{
    return (k + 1) * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t) rank * UINT64_C(0xc2b2ae3d27d4eb4f);
}

/** Word k of what ranks first .. last give together. */
static uint64_t fold_of(int first, int last, size_t k, bool bits)
{
    uint64_t fold = word_of(first, k);

    for (int r = first + 1; r <= last; r++) {
        fold = bits ? fold ^ word_of(r, k) : fold + word_of(r, k);
    }
    return fold;
}

/** Writes what ranks first .. last give together, 0 between the runs and behind. */
static void fill(uint64_t *at, const vector_t *v, int first, int last)
{
    const size_t words = v->bytes / 8;
    size_t k = 0;

    while (k < words) {
        for (size_t i = 0; i < v->run && k < words; i++) {
            *at++ = fold_of(first, last, k++, v->bits);
        }
        for (size_t i = v->run; i < v->stride && k < words; i++) {
            *at++ = 0;
        }
    }
    memset(at, 0, GUARD);
    if (0 < v->bytes % 8) {
        const uint64_t word = fold_of(first, last, k, v->bits);
        memcpy(at, &word, v->bytes % 8);
    }
}

static bool judge(const uint64_t *at, const vector_t *v, int first, int last)
{
    const size_t words = v->bytes / 8;
    uint64_t end[2] = {0, 0}, wrong = 0;
    size_t k = 0;

    while (k < words && 0 == wrong) {
        for (size_t i = 0; i < v->run && k < words; i++) {
            wrong |= *at++ ^ fold_of(first, last, k++, v->bits);
        }
        for (size_t i = v->run; i < v->stride && k < words; i++) {
            wrong |= *at++;
        }
    }
    if (0 < v->bytes % 8) {
        const uint64_t word = fold_of(first, last, k, v->bits);
        memcpy(end, &word, v->bytes % 8);
    }
    return 0 == wrong && 0 == memcmp(at, end, sizeof(end));
}

/* ---- calls ---- */

static void add_words(void *in, void *inout, int *length, MPI_Datatype *type)
{
    const uint64_t *a = in;
    uint64_t *b = inout;
    int size;

    MPI_Type_size(*type, &size);
    for (size_t k = 0; k < (size_t) *length * (size_t) size / 8; k++) {
        b[k] += a[k];
    }
}

/** The ranks whose fold this rank is to have. */
static void wanted_ranks(fold_call_t call, int *first, int *last)
{
    const bool bcast = FOLD_BCAST == call;
    const bool none = (FOLD_REDUCE == call && tap_rank < tap_size - 1)
                      || (FOLD_EXSCAN == call && 0 == tap_rank);

    *first = bcast ? tap_size - 1 : none ? tap_rank : 0;
    *last = none || FOLD_SCAN == call ? tap_rank
            : FOLD_EXSCAN == call     ? tap_rank - 1
                                      : tap_size - 1;
}

static void try_call(foldcall_t call, form_t form, const vector_t *v, uint64_t *memory,
                     const char *what)
{
    const uint64_t calls = knob_counter("coll_pipering_calls");
    int first, last, code;

    call.comm = MPI_COMM_WORLD;
    call.root = tap_size - 1;
    call.recv = memory;
    call.send = MPI_IN_PLACE;
    if (FOLD_REDUCE == call.call && tap_rank != call.root) {
        call.send = memory;
        call.recv = NULL;
    }
    fill(memory, v, tap_rank, tap_rank);
    code = foldcall(&call, form);
    wanted_ranks(call.call, &first, &last);
    tap_check(MPI_SUCCESS == code && judge(memory, v, first, last)
                  && calls < knob_counter("coll_pipering_calls"),
              "wrong data, or not by the component", "%s, %s, %s: %.2f GB",
              foldcall_name(call.call), form_name(form), what, (double) v->bytes / 1e9);
}

static MPI_Datatype committed(MPI_Datatype type)
{
    MPI_Type_commit(&type);
    return type;
}

static vector_t dense(size_t bytes, bool bits)
{
    return (vector_t){.bytes = bytes, .run = 128, .stride = 128, .bits = bits};
}

/** More bytes than an int can count, in few large elements, in words and in strides. */
static void try_many_bytes(uint64_t *memory)
{
    const int mebis = 2049, words = (1 << 28) + 5;
    const vector_t large = dense((size_t) mebis << 20, false), small = dense(8ul * words, false);
    const vector_t strided = {.bytes = (size_t) mebis << 20, .run = 128, .stride = 130};
    MPI_Datatype mebi, strides;
    MPI_Op op;

    MPI_Type_contiguous(1 << 17, MPI_UINT64_T, &mebi);
    MPI_Type_vector(1024, 128, 130, MPI_UINT64_T, &strides);
    MPI_Type_create_resized(committed(strides), 0, 1024 * 130 * 8, &strides);
    MPI_Op_create(add_words, 1, &op);
    committed(mebi);
    committed(strides);
    knob_folds(KNOB_PIPELINE, KNOB_RING);
    knob_set("coll_pipering_block_size", 1 << 20); /* chosen ones may take memory for a vector */
    try_call((foldcall_t){.call = FOLD_BCAST, .count = mebis, .type = strides}, BLOCKING,
             &strided, memory, "strided elements of 1 MiB");
    try_call((foldcall_t){.call = FOLD_SCAN, .count = mebis, .type = mebi, .op = op},
             PERSISTENT, &large, memory, "elements of 1 MiB");
    try_call((foldcall_t){.call = FOLD_EXSCAN, .count = words, .type = MPI_UINT64_T, .op = MPI_SUM},
             BLOCKING, &small, memory, "words");
    try_call((foldcall_t){
                 .call = FOLD_ALLREDUCE, .count = words, .type = MPI_UINT64_T, .op = MPI_SUM},
             NONBLOCKING, &small, memory, "words, ring");
    knob_folds(KNOB_PIPELINE, KNOB_MERGED);
    try_call((foldcall_t){.call = FOLD_ALLREDUCE, .count = mebis, .type = mebi, .op = op},
             BLOCKING, &large, memory, "elements of 1 MiB, merged");
    knob_set("coll_pipering_block_size", 0);
    MPI_Op_free(&op);
    MPI_Type_free(&mebi);
    MPI_Type_free(&strides);
}

/** A first part of more bytes than an int can count, so all others begin behind them. */
static void try_parts(uint64_t *memory, form_t form, int algorithm, const char *what)
{
    enum { FEW = 3 };
    const int words = (1 << 28) + 5;
    const uint64_t calls = knob_counter("coll_pipering_calls");
    const vector_t all = dense(8ul * (size_t) (words + FEW * (tap_size - 1)), false);
    int *counts = malloc((size_t) tap_size * sizeof(int)), wrong = 0;
    const size_t begin = 0 == tap_rank ? 0 : (size_t) (words + FEW * (tap_rank - 1));

    for (int r = 0; r < tap_size; r++) {
        counts[r] = 0 == r ? words : FEW;
    }
    const foldcall_t call = {.call = FOLD_REDUCE_SCATTER,
                             .send = MPI_IN_PLACE,
                             .recv = memory,
                             .counts = counts,
                             .type = MPI_UINT64_T,
                             .op = MPI_SUM,
                             .comm = MPI_COMM_WORLD};
    knob_folds(KNOB_PIPELINE, algorithm);
    fill(memory, &all, tap_rank, tap_rank);
    const int code = foldcall(&call, form);
    for (size_t k = 0; k < (size_t) counts[tap_rank]; k++) {
        wrong |= fold_of(0, tap_size - 1, begin + k, false) != memory[k];
    }
    tap_check(MPI_SUCCESS == code && !wrong && calls < knob_counter("coll_pipering_calls"),
              "wrong data, or not by the component", "%s, %s, %s: %.2f GB",
              foldcall_name(call.call), form_name(form), what, (double) all.bytes / 1e9);
    free(counts);
}

/** As many elements as an int can count. Open MPI's sums of bytes stop at 255 (5.0.7). */
static void try_many_elements(uint64_t *memory)
{
    const vector_t v = dense(INT_MAX, true);

    try_call((foldcall_t){.call = FOLD_BCAST, .count = INT_MAX, .type = MPI_BYTE},
             NONBLOCKING, &v, memory, "bytes");
    try_call((foldcall_t){
                 .call = FOLD_REDUCE, .count = INT_MAX, .type = MPI_UINT8_T, .op = MPI_BXOR},
             BLOCKING, &v, memory, "bytes");
}

/* ---- elements far from each other ---- */

#define FAR ((MPI_Aint) 1 << 28)
#define FAR_WORDS 8
#define FAR_COUNT 11

static void add_far(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void) type;
    for (int n = 0; n < *length; n++) {
        const uint64_t *a = (const uint64_t *) ((char *) in + n * FAR);
        uint64_t *b = (uint64_t *) ((char *) inout + n * FAR);

        for (int i = 0; i < FAR_WORDS; i++) {
            b[i] += a[i];
        }
    }
}

/** Writes or judges what is due of ranks first .. last. */
static bool far_words(char *memory, int first, int last, bool look)
{
    bool right = true;

    for (int n = 0; n < FAR_COUNT; n++) {
        for (size_t i = 0; i < FAR_WORDS; i++) {
            uint64_t *at = (uint64_t *) (memory + n * FAR) + i;
            const uint64_t word = fold_of(first, last, (size_t) n * FAR_WORDS + i, false);

            right &= !look || word == *at;
            *at = word;
        }
    }
    return right;
}

static void try_far(fold_call_t kind, form_t form, MPI_Datatype type, MPI_Op op, char *send,
                    char *recv)
{
    const foldcall_t call = {.call = kind,
                             .send = send,
                             .recv = recv,
                             .count = FAR_COUNT,
                             .type = type,
                             .op = op,
                             .root = tap_size - 1,
                             .comm = MPI_COMM_WORLD};
    int first, last, code;

    far_words(send, tap_rank, tap_rank, false);
    far_words(recv, tap_rank, tap_rank, false);
    code = foldcall(&call, form);
    wanted_ranks(kind, &first, &last);
    tap_check(MPI_SUCCESS == code && far_words(recv, first, last, true)
                  && far_words(send, tap_rank, tap_rank, true),
              "wrong data", "%s, %s, elements up to %.1f GB away", foldcall_name(kind),
              form_name(form), (double) FAR * (FAR_COUNT - 1) / 1e9);
}

static void try_all_far(void)
{
    static const int both_ways[] = {KNOB_RING, KNOB_MERGED};
    char *send = reserve((size_t) FAR * FAR_COUNT, false);
    char *recv = reserve((size_t) FAR * FAR_COUNT, false);
    MPI_Datatype words, type;
    MPI_Op op;

    MPI_Type_contiguous(FAR_WORDS, MPI_UINT64_T, &words);
    MPI_Type_create_resized(words, 0, FAR, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(add_far, 1, &op);
    for (int form = 0; form < FORMS; form++) {
        knob_folds(KNOB_PIPELINE, both_ways[form % 2]);
        for (int call = 0; call < FOLD_VECTORS; call++) {
            try_far((fold_call_t) call, (form_t) form, type, op, send, recv);
        }
    }
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    MPI_Type_free(&words);
    munmap(send, (size_t) FAR * FAR_COUNT);
    munmap(recv, (size_t) FAR * FAR_COUNT);
}

int main(int argc, char **argv)
{
    uint64_t *memory;

    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (!knob_begin()) {
        tap_skip("nothing to force", "large folds");
        return tap_end();
    }
    try_all_far();
    if (0 != tap_number("TEST_TOTAL", 1)) {
        memory = reserve(MEMORY, true);
        try_many_bytes(memory);
        try_many_elements(memory);
        try_parts(memory, BLOCKING, KNOB_RING, "ring");
        try_parts(memory, NONBLOCKING, KNOB_MERGED, "pipeline");
        try_parts(memory, PERSISTENT, KNOB_ROUNDS, "rounds");
        munmap(memory, MEMORY);
    }
    knob_end();
    return tap_end();
}

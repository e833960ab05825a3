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
 * Tasks within a rank: pack and unpack a message of a derived type, combine two vectors, copy.
 * With direction=all every rank works at the same time, as in a collective call, so that
 * the ranks of a node share its memory; else rank 0 alone.
 */

#include "kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORK_BYTES 4194304.0 /* of a repetition, so that it takes longer than a clock's tick */
#define TIMES_MOST 4096
#define GAP 0xa5

enum { COPY, PACK, UNPACK, COMBINE };
enum { BYTES, DOUBLES, FLOATS, INTS, VECTOR, LIST, TYPES };

static const char *const type_names[TYPES] = {"byte", "double", "float", "int", "vector", "list"};

typedef struct {
    int times; /* operations of a repetition */
    int count; /* of elements of `type` */
    MPI_Datatype type;
    bool owned;     /* the type is to be freed */
    size_t extent;  /* bytes in memory, with gaps */
    size_t packed;  /* bytes of data */
    unsigned char *laid, *dense, *result;
    size_t unit;      /* bytes of a number */
    int runs;         /* of a derived type: pieces of `length[i]` numbers at number `at[i]` */
    int *length, *at;
} local_t;

/* ---- types */

/* Pieces of one number, one left out behind each (vector), or of 1, 2, 3 (list). */
static bool make_runs(local_t *local, int type)
{
    const int numbers = (int) (local->packed / sizeof(double));
    int left = numbers, at = 0;

    local->length = calloc((size_t) numbers + 1, sizeof(int));
    local->at = calloc((size_t) numbers + 1, sizeof(int));
    if (NULL == local->length || NULL == local->at) {
        return false;
    }
    while (0 < left) {
        const int wanted = VECTOR == type ? 1 : 1 + local->runs % 3;
        const int length = wanted < left ? wanted : left;

        local->length[local->runs] = length;
        local->at[local->runs++] = at;
        at += length + 1;
        left -= length;
    }
    local->extent = (size_t) at * sizeof(double);
    if (VECTOR == type) {
        MPI_Type_vector(numbers, 1, 2, MPI_DOUBLE, &local->type);
    } else {
        MPI_Type_indexed(local->runs, local->length, local->at, MPI_DOUBLE, &local->type);
    }
    MPI_Type_commit(&local->type);
    local->owned = true;
    local->count = 1;
    return true;
}

/* All in one piece. */
static bool make_dense(local_t *local, int type)
{
    const MPI_Datatype types[] = {[BYTES] = MPI_BYTE, [DOUBLES] = MPI_DOUBLE,
                                  [FLOATS] = MPI_FLOAT, [INTS] = MPI_INT};
    static const size_t units[] = {[BYTES] = 1, [DOUBLES] = sizeof(double),
                                   [FLOATS] = sizeof(float), [INTS] = sizeof(int)};

    local->type = types[type];
    local->unit = units[type];
    local->count = (int) (local->packed / local->unit);
    local->extent = local->packed;
    local->runs = 1;
    local->at = calloc(1, sizeof(int));
    local->length = calloc(1, sizeof(int));
    if (NULL == local->at || NULL == local->length) {
        return false;
    }
    *local->length = local->count;
    return true;
}

static int find_type(const kernel_work_t *work, char *error)
{
    const bool automatic = 0 == strcmp(work->problem.type, "auto");
    const int which = work->kind->which;
    const int preset = COPY == which ? BYTES : COMBINE == which ? DOUBLES : LIST;
    const int type = automatic ? preset : bench_find(type_names, TYPES, work->problem.type);
    const bool numbers = DOUBLES == type || FLOATS == type || INTS == type;

    if (0 <= type && (COMBINE == which ? numbers : COPY == which ? BYTES == type : true)) {
        return type;
    }
    snprintf(error, KERNEL_NOTE, "type=%s: %s does not have it", work->problem.type,
             work->kind->name);
    return -1;
}

/* ---- the data */

static void destroy(kernel_work_t *work)
{
    local_t *local = work->data;

    if (local->owned) {
        MPI_Type_free(&local->type);
    }
    free(local->length);
    free(local->at);
    free(local->laid);
    free(local->dense);
    free(local->result);
    free(local);
}

static bool allocate(local_t *local, int type)
{
    if (!(VECTOR <= type ? make_runs : make_dense)(local, type)) {
        return false;
    }
    local->laid = malloc(local->extent + 1);
    local->dense = malloc(local->packed + 1);
    local->result = malloc(local->packed + 1);
    return NULL != local->laid && NULL != local->dense && NULL != local->result;
}

static bool create(kernel_work_t *work, char *error)
{
    const size_t bytes = work->problem.bytes - work->problem.bytes % sizeof(double);
    const int type = find_type(work, error);
    local_t *local;

    if (0 > type) {
        return false;
    }
    snprintf(error, KERNEL_NOTE, "bytes=%zu: no memory for them, or fewer than 8",
             work->problem.bytes);
    local = work->data = 0 == bytes ? NULL : calloc(1, sizeof(*local));
    if (NULL == local) {
        return false;
    }
    local->packed = bytes;
    local->unit = sizeof(double);
    local->times = (int) fmin(TIMES_MOST, fmax(1.0, WORK_BYTES / (double) bytes));
    if (!allocate(local, type)) {
        destroy(work);
        return false;
    }
    return true;
}

/* The pieces of the laid out data against dense ones, or from them. */
static bool lay(const local_t *local, const unsigned char *dense, bool compare)
{
    for (int i = 0; i < local->runs; ++i) {
        const size_t length = (size_t) local->length[i] * local->unit;
        unsigned char *piece = local->laid + (size_t) local->at[i] * local->unit;

        if (!compare) {
            memcpy(piece, dense, length);
        } else if (0 != memcmp(piece, dense, length)) {
            return false;
        }
        dense += length;
    }
    return true;
}

/* Numbers that are sums of whole ones without rounding, however often they are added up. */
static void fill_numbers(const local_t *local, uint64_t sample)
{
    for (int i = 0; i < local->count; ++i) {
        const int number = (int) (((uint64_t) i + sample) % 1000) + 1;
        const double wide = number;
        const float narrow = (float) number;
        const void *as = MPI_DOUBLE == local->type ? (const void *) &wide
                         : MPI_FLOAT == local->type ? (const void *) &narrow : &number;

        memcpy(local->dense + (size_t) i * local->unit, as, local->unit);
    }
    memset(local->result, 0, local->packed);
}

static void fill(kernel_work_t *work, uint64_t sample)
{
    local_t *local = work->data;

    if (COMBINE == work->kind->which) {
        fill_numbers(local, sample);
        return;
    }
    kernel_pattern(local->dense, local->packed, work->world->rank, sample);
    memset(local->laid, GAP, local->extent);
    memset(local->result, GAP, local->packed);
    if (UNPACK != work->kind->which) {
        (void) lay(local, local->dense, false);
    }
}

/* ---- the work */

static void operate(const local_t *local, int which)
{
    int position = 0;

    switch (which) {
    case PACK:
        MPI_Pack(local->laid, local->count, local->type, local->result, (int) local->packed,
                 &position, MPI_COMM_SELF);
        break;
    case UNPACK:
        MPI_Unpack(local->dense, (int) local->packed, &position, local->laid, local->count,
                   local->type, MPI_COMM_SELF);
        break;
    case COMBINE:
        MPI_Reduce_local(local->dense, local->result, local->count, local->type, MPI_SUM);
        break;
    default:
        memcpy(local->result, local->dense, local->packed);
        /* or the compiler keeps the last copy only */
        __asm__ volatile("" : : "r"(local->result) : "memory");
    }
}

static bool takes_part(const kernel_work_t *work)
{
    return KERNEL_ALL == work->problem.direction || 0 == work->world->rank;
}

static void run(kernel_work_t *work, MPI_Comm comm, double *seconds)
{
    const local_t *local = work->data;
    const double start = kernel_time_now();

    (void) comm;
    *seconds = 0.0;
    if (takes_part(work)) {
        for (int i = 0; i < local->times; ++i) {
            operate(local, work->kind->which);
        }
        *seconds = (kernel_time_now() - start) / local->times;
    }
}

static bool sums_right(const local_t *local)
{
    double wanted, found;

    for (int i = 0; i < local->count; ++i) {
        const unsigned char *one = local->dense + (size_t) i * local->unit;
        const unsigned char *all = local->result + (size_t) i * local->unit;

        if (MPI_DOUBLE == local->type) {
            memcpy(&wanted, one, sizeof(wanted));
            memcpy(&found, all, sizeof(found));
        } else if (MPI_FLOAT == local->type) {
            float narrow[2];
            memcpy(&narrow[0], one, sizeof(float));
            memcpy(&narrow[1], all, sizeof(float));
            wanted = narrow[0];
            found = narrow[1];
        } else {
            int whole[2];
            memcpy(&whole[0], one, sizeof(int));
            memcpy(&whole[1], all, sizeof(int));
            wanted = whole[0];
            found = whole[1];
        }
        if (wanted * local->times != found) {
            return false;
        }
    }
    return true;
}

static bool verify(kernel_work_t *work, uint64_t sample, char *error)
{
    const local_t *local = work->data;

    (void) sample;
    snprintf(error, KERNEL_NOTE, "%s gave a wrong result", work->kind->name);
    if (!takes_part(work)) {
        return true;
    }
    switch (work->kind->which) {
    case COMBINE:
        return sums_right(local);
    case UNPACK:
        return lay(local, local->dense, true);
    default:
        return 0 == memcmp(local->result, local->dense, local->packed);
    }
}

#define LOCAL(name, which) {name, which, create, destroy, NULL, fill, run, verify}

const kernel_kind_t kernel_local[] = {LOCAL("copy", COPY), LOCAL("pack", PACK),
                                      LOCAL("unpack", UNPACK), LOCAL("combine", COMBINE),
                                      {NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL}};

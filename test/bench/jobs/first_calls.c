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
 * The first calls of a job: what each of them takes, connections being open.
 *
 *     first_calls CALLS ROW:BYTES...
 *
 * A row is a call of common programs (`rows` below) with so many bytes in all. It is made CALLS
 * times, one after a barrier each, on a duplicate of MPI_COMM_WORLD of its own. Rank 0 prints for
 * each call the row, its bytes, the number of the call, the seconds of the slowest rank, and
 * whether all results were right:
 *
 *     zipf	65536	1	0.002410	yes
 */

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of a message that opens a connection for long messages too. */
#define OPENING (256 * 1024)

#define CALLS_MOST 1024

static int rank, size;

/* ---- a call ---- */

typedef struct {
    MPI_Comm comm;
    size_t bytes;
    int *count, *displ; /* [size] of a gather */
    void *in, *out;
} call_t;

static size_t elements(const call_t *call, size_t width)
{
    return call->bytes / width;
}

/* ---- gathers ---- */

static double part_regular(int r)
{
    (void) r;
    return 1;
}

static double part_zipf(int r)
{
    return 1.0 / (1 + r);
}

static double part_broadcast(int r)
{
    return 0 == r;
}

/* Contributions in proportion to `part`; rank 0 has what rounding leaves. */
static void deal(call_t *call, double (*part)(int))
{
    double all = 0;
    size_t rest = call->bytes;

    for (int r = 0; r < size; ++r) {
        all += part(r);
    }
    for (int r = size - 1; 0 <= r; --r) {
        const size_t share = 0 == r ? rest : (size_t) ((double) call->bytes * part(r) / all);
        call->count[r] = (int) share;
        rest -= share;
    }
    for (int r = 0, at = 0; r < size; at += call->count[r++]) {
        call->displ[r] = at;
    }
}

static unsigned char byte_of(int r, size_t i, int turn)
{
    return (unsigned char) (31 * r + 7 * turn + (int) (i % 251));
}

static void fill_gather(call_t *call, int turn)
{
    unsigned char *in = call->in;

    for (int i = 0; i < call->count[rank]; ++i) {
        in[i] = byte_of(rank, (size_t) i, turn);
    }
    memset(call->out, 0, call->bytes);
}

static bool check_gather(const call_t *call, int turn)
{
    const unsigned char *out = call->out;

    for (int r = 0; r < size; ++r) {
        for (int i = 0; i < call->count[r]; ++i) {
            if (byte_of(r, (size_t) i, turn) != out[call->displ[r] + i]) {
                return false;
            }
        }
    }
    return true;
}

static void gather(call_t *call)
{
    MPI_Allgatherv(call->in, call->count[rank], MPI_BYTE, call->out, call->count, call->displ,
                   MPI_BYTE, call->comm);
}

/* ---- a broadcast ---- */

static void fill_bcast(call_t *call, int turn)
{
    unsigned char *out = call->out;

    for (size_t i = 0; i < call->bytes; ++i) {
        out[i] = 0 == rank ? byte_of(0, i, turn) : 0;
    }
}

static bool check_bcast(const call_t *call, int turn)
{
    const unsigned char *out = call->out;

    for (size_t i = 0; i < call->bytes; ++i) {
        if (byte_of(0, i, turn) != out[i]) {
            return false;
        }
    }
    return true;
}

static void bcast(call_t *call)
{
    MPI_Bcast(call->out, (int) call->bytes, MPI_BYTE, 0, call->comm);
}

/* ---- reductions: all values are small whole numbers, so that sums are exact ---- */

static int value_of(int r, size_t i, int turn)
{
    return r + turn + (int) (i % 1000);
}

/* The sum of the values of ranks 0 to `last`. */
static int sum_of(int last, size_t i, int turn)
{
    return (last + 1) * value_of(0, i, turn) + last * (last + 1) / 2;
}

static void fill_ints(call_t *call, int turn)
{
    int *in = call->in;

    for (size_t i = 0; i < elements(call, sizeof(int)); ++i) {
        in[i] = value_of(rank, i, turn);
    }
    memset(call->out, 0, call->bytes);
}

static void fill_doubles(call_t *call, int turn)
{
    double *in = call->in;

    for (size_t i = 0; i < elements(call, sizeof(double)); ++i) {
        in[i] = value_of(rank, i, turn);
    }
    memset(call->out, 0, call->bytes);
}

static bool check_ints(const call_t *call, int last, int turn)
{
    const int *out = call->out;

    for (size_t i = 0; i < elements(call, sizeof(int)); ++i) {
        if (sum_of(last, i, turn) != out[i]) {
            return false;
        }
    }
    return true;
}

static bool check_all_ints(const call_t *call, int turn)
{
    return check_ints(call, size - 1, turn);
}

static bool check_scan(const call_t *call, int turn)
{
    return check_ints(call, rank, turn);
}

static bool check_doubles(const call_t *call, int turn)
{
    const double *out = call->out;

    for (size_t i = 0; i < elements(call, sizeof(double)); ++i) {
        if (sum_of(size - 1, i, turn) != out[i]) {
            return false;
        }
    }
    return true;
}

static bool check_at_root(const call_t *call, int turn)
{
    return 0 != rank || check_doubles(call, turn);
}

static void allreduce_ints(call_t *call)
{
    MPI_Allreduce(call->in, call->out, (int) elements(call, sizeof(int)), MPI_INT, MPI_SUM,
                  call->comm);
}

static void allreduce_doubles(call_t *call)
{
    MPI_Allreduce(call->in, call->out, (int) elements(call, sizeof(double)), MPI_DOUBLE, MPI_SUM,
                  call->comm);
}

static void reduce_doubles(call_t *call)
{
    MPI_Reduce(call->in, call->out, (int) elements(call, sizeof(double)), MPI_DOUBLE, MPI_SUM, 0,
               call->comm);
}

static void scan_ints(call_t *call)
{
    MPI_Scan(call->in, call->out, (int) elements(call, sizeof(int)), MPI_INT, MPI_SUM, call->comm);
}

/* ---- rows ---- */

static const struct row_t {
    const char *name;
    double (*part)(int); /* of a gather */
    void (*fill)(call_t *call, int turn);
    void (*run)(call_t *call);
    bool (*check)(const call_t *call, int turn);
} rows[] = {
    {"regular", part_regular, fill_gather, gather, check_gather},
    {"zipf", part_zipf, fill_gather, gather, check_gather},
    {"broadcast", part_broadcast, fill_gather, gather, check_gather},
    {"bcast", NULL, fill_bcast, bcast, check_bcast},
    {"allreduce_int", NULL, fill_ints, allreduce_ints, check_all_ints},
    {"allreduce_double", NULL, fill_doubles, allreduce_doubles, check_doubles},
    {"reduce_double", NULL, fill_doubles, reduce_doubles, check_at_root},
    {"scan_int", NULL, fill_ints, scan_ints, check_scan},
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static void refuse(const char *word)
{
    if (0 == rank) {
        fprintf(stderr, "first_calls: \"%s\": expected CALLS (1 to %d), then words ROW:BYTES, with 8 bytes"
                        " or more, and one of the rows:", word, CALLS_MOST);
        for (size_t i = 0; i < ROWS; ++i) {
            fprintf(stderr, " %s", rows[i].name);
        }
        fprintf(stderr, "; nothing was measured\n");
    }
    MPI_Abort(MPI_COMM_WORLD, 2);
}

static const struct row_t *find_row(const char *word)
{
    const size_t length = strcspn(word, ":");

    for (size_t i = 0; i < ROWS; ++i) {
        if (length == strlen(rows[i].name) && 0 == strncmp(word, rows[i].name, length)) {
            return &rows[i];
        }
    }
    return NULL;
}

static void *take(size_t bytes)
{
    void *memory = calloc(1, bytes);

    if (NULL == memory) {
        fprintf(stderr, "first_calls: no memory for %zu bytes; nothing more was measured\n", bytes);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

static void measure(const char *word, int calls)
{
    const struct row_t *row = find_row(word);
    const char *colon = strchr(word, ':');
    double *seconds = take(2 * (size_t) calls * sizeof(*seconds)), *slowest = seconds + calls;
    int *wrong = take(2 * (size_t) calls * sizeof(*wrong)), *wrongs = wrong + calls;
    call_t call = {.bytes = NULL == colon ? 0 : (size_t) strtoul(colon + 1, NULL, 10)};

    if (NULL == row || 8 > call.bytes) {
        refuse(word);
    }
    call.count = take(2 * (size_t) size * sizeof(int));
    call.displ = call.count + size;
    call.in = take(call.bytes);
    call.out = take(call.bytes);
    MPI_Comm_dup(MPI_COMM_WORLD, &call.comm);
    if (NULL != row->part) {
        deal(&call, row->part);
    }
    for (int turn = 0; turn < calls; ++turn) {
        row->fill(&call, turn);
        MPI_Barrier(call.comm);
        const double began = MPI_Wtime();
        row->run(&call);
        seconds[turn] = MPI_Wtime() - began;
        wrong[turn] = !row->check(&call, turn);
    }
    MPI_Reduce(seconds, slowest, calls, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(wrong, wrongs, calls, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    for (int turn = 0; 0 == rank && turn < calls; ++turn) {
        printf("%s\t%zu\t%d\t%.6f\t%s\n", row->name, call.bytes, turn + 1, slowest[turn],
               0 == wrongs[turn] ? "yes" : "no");
    }
    MPI_Comm_free(&call.comm);
    free(call.out);
    free(call.in);
    free(call.count);
    free(wrong);
    free(seconds);
}

/* Each rank has exchanged a short and a long message with each other one. */
static void open_connections(void)
{
    char *in = take(OPENING), *out = take(OPENING);

    for (int distance = 1; distance < size; ++distance) {
        const int to = (rank + distance) % size, from = (rank + size - distance) % size;
        for (int turn = 0; turn < 2; ++turn) {
            const int bytes = 0 == turn ? 1 : OPENING;
            MPI_Sendrecv(in, bytes, MPI_BYTE, to, 0, out, bytes, MPI_BYTE, from, 0,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int calls = 1 < argc ? atoi(argv[1]) : 0;
    if (1 > calls || CALLS_MOST < calls || 3 > argc) {
        refuse(1 < argc ? argv[1] : "");
    }
    open_connections();
    for (int i = 2; i < argc; ++i) {
        measure(argv[i], calls);
    }
    MPI_Finalize();
    return 0;
}

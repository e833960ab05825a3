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
 *     first_calls CALLS ROW:BYTES[:WORK[:TEST]]...
 *
 * A row is a call of common programs (`rows` below) with so many bytes in all. It is made CALLS
 * times, one after a barrier each, on a duplicate of MPI_COMM_WORLD of its own. Rank 0 prints for
 * each call the row, its bytes, the number of the call, the seconds of the slowest rank, and
 * whether all results were right:
 *
 *     zipf	65536	1	0.002410	yes
 *
 * With WORK a call is nonblocking, and its time is that from its start to the end of its wait, with
 * so many seconds of work between them, or, as x0.5, so many times what the call takes without, by
 * the median of as many calls before (printed as the row itself). MPI is not called meanwhile, but
 * for an MPI_Test each TEST seconds. The work computes, or, behind an s (sx0.5), it sleeps. If it
 * is more than 0, the row is printed with it, as zipf+sx0.5:0.001. Rows whose counts change have
 * others in each call; those named same have the first of these in all. split is the time of
 * MPI_Comm_split and a call on what it makes, which is freed outside of it.
 *
 * Data and calls are those of agv and fold.
 */

#include "agv.h"
#include "fold.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Bytes of a message that opens a connection for long messages too. */
#define OPENING (256 * 1024)

#define CALLS_MOST 1024

static bench_world_t world; /* rank and size alone */

/* How a row is more than one call again and again. */
typedef enum { AGAIN, TURNED, RANDOM, RANDOM_SAME, SPLIT } kind_t;

static const struct row_t {
    const char *name;
    const char *dist; /* of a gather, or a reduce-scatter */
    fold_coll_t coll; /* of others */
    fold_value_t value;
    kind_t kind;
} rows[] = {
    {"regular", "regular", 0, 0, AGAIN},
    {"zipf", "zipf", 0, 0, AGAIN},
    {"broadcast", "broadcast", 0, 0, AGAIN},
    {"turned", "zipf", 0, 0, TURNED},
    {"random", "regular", 0, 0, RANDOM},
    {"random_same", "regular", 0, 0, RANDOM_SAME},
    {"split", "zipf", 0, 0, SPLIT},
    {"allgather", NULL, FOLD_ALLGATHER, FOLD_INT, AGAIN},
    {"bcast", NULL, FOLD_BCAST, FOLD_DOUBLE, AGAIN},
    {"allreduce_int", NULL, FOLD_ALLREDUCE, FOLD_INT, AGAIN},
    {"allreduce_double", NULL, FOLD_ALLREDUCE, FOLD_DOUBLE, AGAIN},
    {"reduce_double", NULL, FOLD_REDUCE, FOLD_DOUBLE, AGAIN},
    {"scan_int", NULL, FOLD_SCAN, FOLD_INT, AGAIN},
    {"scatter_regular", "regular", FOLD_REDUCE_SCATTER, FOLD_INT, AGAIN},
    {"scatter_zipf", "zipf", FOLD_REDUCE_SCATTER, FOLD_INT, AGAIN},
    {"scatter_double", "regular", FOLD_REDUCE_SCATTER, FOLD_DOUBLE, AGAIN},
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static void refuse(const char *word)
{
    if (0 == world.rank) {
        fprintf(stderr, "first_calls: \"%s\": expected CALLS (1 to %d), then words"
                        " ROW:BYTES[:WORK[:TEST]], with a multiple of 8 bytes, seconds from 0 to 10"
                        " or x0.5 or sx0.5, and one of the rows:",
                word, CALLS_MOST);
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

static void need(bool memory)
{
    if (!memory) {
        fprintf(stderr, "first_calls: no memory; nothing more was measured\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* ---- calls ---- */

/* The work beside a nonblocking call. */
static struct {
    double seconds; /* less than 0: calls are blocking */
    double test;    /* seconds between two tests, 0: none */
    bool sleeps;
} work;

static void start_gather(const agv_problem_t *problem, const agv_data_t *data, MPI_Comm comm,
                         MPI_Request *request)
{
    MPI_Iallgatherv(data->send, problem->counts[world.rank], data->layout.type, data->recv,
                    problem->counts, problem->displs, data->layout.type, comm, request);
}

static void start_fold(const fold_data_t *data, MPI_Comm comm, MPI_Request *request)
{
    const int count = (int) data->length, root = data->problem.root;

    switch (data->problem.coll) {
    case FOLD_BCAST:
        MPI_Ibcast(data->recv, count, data->type, root, comm, request);
        break;
    case FOLD_REDUCE:
        MPI_Ireduce(data->send, data->recv, count, data->type, data->op, root, comm, request);
        break;
    case FOLD_SCAN:
        MPI_Iscan(data->send, data->recv, count, data->type, data->op, comm, request);
        break;
    case FOLD_REDUCE_SCATTER:
        MPI_Ireduce_scatter(data->send, data->recv, data->counts, data->type, data->op, comm,
                            request);
        break;
    case FOLD_ALLGATHER:
        MPI_Iallgather(data->send, count, data->type, data->recv, count, data->type, comm, request);
        break;
    default:
        MPI_Iallreduce(data->send, data->recv, count, data->type, data->op, comm, request);
        break;
    }
}

/* Works for so many seconds. */
static void do_work(double seconds)
{
    const double end = MPI_Wtime() + seconds;
    const struct timespec time = {(time_t) seconds, (long) (1e9 * (seconds - (int) seconds))};

    if (work.sleeps) {
        (void) nanosleep(&time, NULL);
    }
    while (MPI_Wtime() < end) {
    }
}

static void work_and_wait(MPI_Request *request)
{
    const double piece = 0 < work.test ? work.test : work.seconds;
    int over = 0;

    for (double left = work.seconds; 0 < left; left -= piece) {
        do_work(left < piece ? left : piece);
        if (0 < work.test && !over) {
            MPI_Test(request, &over, MPI_STATUS_IGNORE);
        }
    }
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* The contributions of call i, as many bytes in all: `of` turned, or of random sizes that differ by
 * a factor of two at most. */
static void change(agv_problem_t *problem, const size_t *of, kind_t kind, int i)
{
    const size_t ranks = (size_t) world.size;
    size_t left = problem->total;
    double sum = 0;

    for (size_t r = 0; r < ranks; ++r) {
        problem->bytes[r] = 65536 + mix((uint64_t) i * ranks + r + 1) % 65536;
        sum += (double) problem->bytes[r];
    }
    for (size_t r = 0; r < ranks; ++r) {
        const double part = (double) problem->bytes[r] / sum;
        problem->bytes[r] = TURNED == kind  ? of[(r + (size_t) i) % ranks]
                            : r + 1 < ranks ? (size_t) (part * (double) problem->total)
                                            : left;
        left -= TURNED == kind ? 0 : problem->bytes[r];
        problem->counts[r] = (int) problem->bytes[r];
        problem->displs[r] = 0 == r ? 0 : problem->displs[r - 1] + problem->counts[r - 1];
    }
}

/* Who checks results takes the processor from ranks that share it and are in the call still. */
static void leave(MPI_Comm comm)
{
    MPI_Barrier(comm);
}

/* Seconds of each call on this rank, and whether its result was wrong here. */
static void gather(const struct row_t *row, size_t bytes, int calls, MPI_Comm comm, double *seconds,
                   int *wrong)
{
    char error[BENCH_ERROR_LENGTH];
    agv_problem_t problem, first;
    agv_data_t data;

    need(agv_problem_create(&problem, row->dist, bytes, AGV_TYPE_BYTE, &world)
         && agv_problem_create(&first, row->dist, bytes, AGV_TYPE_BYTE, &world));
    for (int i = 0; i < calls; ++i) {
        if (AGAIN != row->kind && SPLIT != row->kind) {
            change(&problem, first.bytes, row->kind, RANDOM_SAME == row->kind ? 0 : i);
        }
        MPI_Request request;
        MPI_Comm own = comm;
        need(agv_data_create(&data, &problem, AGV_TYPE_BYTE, world.rank));
        agv_data_fill(&data, &problem, world.rank, (uint64_t) i);
        MPI_Barrier(comm);
        const double began = MPI_Wtime();
        if (SPLIT == row->kind) {
            MPI_Comm_split(comm, 0, world.rank, &own);
        }
        if (0 <= work.seconds) {
            start_gather(&problem, &data, own, &request);
            work_and_wait(&request);
        } else {
            agv_call(AGV_BLOCKING, &problem, &data, own);
        }
        seconds[i] = MPI_Wtime() - began;
        leave(comm);
        wrong[i] = !agv_data_verify(&data, &problem, world.size, (uint64_t) i, error);
        if (SPLIT == row->kind) {
            MPI_Comm_free(&own);
        }
        agv_data_free(&data);
    }
    agv_problem_free(&first);
    agv_problem_free(&problem);
}

static void fold(const fold_problem_t *problem, int calls, MPI_Comm comm, double *seconds,
                 int *wrong)
{
    char error[BENCH_ERROR_LENGTH];
    MPI_Request request;
    fold_data_t data;

    need(fold_data_create(&data, problem, &world));
    for (int i = 0; i < calls; ++i) {
        fold_data_fill(&data, (uint64_t) i);
        MPI_Barrier(comm);
        const double began = MPI_Wtime();
        if (0 <= work.seconds) {
            start_fold(&data, comm, &request);
            work_and_wait(&request);
        } else {
            fold_data_call(&data, comm);
        }
        seconds[i] = MPI_Wtime() - began;
        leave(comm);
        wrong[i] = !fold_data_verify(&data, error);
    }
    fold_data_free(&data);
}

/* Makes the calls of a row, and prints them under a name; the median of their seconds. */
static double measure_calls(const struct row_t *row, size_t bytes, int calls, const char *name)
{
    static double seconds[CALLS_MOST], sorted[CALLS_MOST];
    static int wrong[CALLS_MOST];
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (NULL != row->dist && FOLD_REDUCE_SCATTER != row->coll) {
        gather(row, bytes, calls, comm, seconds, wrong);
    } else {
        const bool each = FOLD_ALLGATHER == row->coll;
        const fold_problem_t problem = {row->coll, each ? bytes / (size_t) world.size : bytes,
                                        row->value, 0, row->dist};
        fold(&problem, calls, comm, seconds, wrong);
    }
    MPI_Comm_free(&comm);
    MPI_Allreduce(MPI_IN_PLACE, seconds, calls, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, wrong, calls, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    for (int i = 0; i < calls; ++i) {
        int at = i;
        if (0 == world.rank) {
            printf("%s\t%zu\t%d\t%.6f\t%s\n", name, bytes, i + 1, seconds[i],
                   0 == wrong[i] ? "yes" : "no");
        }
        for (; 0 < at && sorted[at - 1] > seconds[i]; --at) {
            sorted[at] = sorted[at - 1];
        }
        sorted[at] = seconds[i];
    }
    return sorted[calls / 2];
}

static void measure(const char *word, int calls)
{
    const struct row_t *row = find_row(word);
    const char *colon = strchr(word, ':'), *behind = NULL == colon ? NULL : strchr(colon + 1, ':');
    const char *test = NULL == behind ? NULL : strchr(behind + 1, ':');
    const size_t bytes = NULL == colon ? 0 : (size_t) strtoul(colon + 1, NULL, 10);
    const char *amount = NULL == behind ? "-1" : behind + 1;
    char name[64];

    work.sleeps = 's' == *amount;
    amount += work.sleeps;
    const bool times = 'x' == *amount;
    work.seconds = atof(amount + times);
    work.test = NULL == test ? 0 : atof(test + 1);
    if (NULL == row || 0 == bytes || 0 != bytes % 8 || 10 < work.seconds || 0 > work.test
        || (NULL != behind && 0 > work.seconds)) {
        refuse(word);
    }
    if (times) {
        const double factor = work.seconds;
        work.seconds = 0;
        work.seconds = factor * measure_calls(row, bytes, calls, row->name);
    }
    (void) snprintf(name, sizeof(name), "%s%s%s", row->name, 0 < work.seconds ? "+" : "",
                    0 < work.seconds ? behind + 1 : "");
    (void) measure_calls(row, bytes, calls, name);
}

/* Each rank has exchanged a short and a long message with each other one. */
static void open_connections(void)
{
    char *in = calloc(2, OPENING), *out = in + OPENING;

    need(NULL != in);
    for (int distance = 1; distance < world.size; ++distance) {
        const int to = (world.rank + distance) % world.size;
        const int from = (world.rank + world.size - distance) % world.size;
        for (int turn = 0; turn < 2; ++turn) {
            const int bytes = 0 == turn ? 1 : OPENING;
            MPI_Sendrecv(out, bytes, MPI_BYTE, to, 0, in, bytes, MPI_BYTE, from, 0,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    free(in);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world.size);
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

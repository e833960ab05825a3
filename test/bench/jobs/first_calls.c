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
 *     first_calls CALLS ROW:BYTES[:WORK]...
 *
 * A row is a call of common programs (`rows` below) with so many bytes in all. It is made CALLS
 * times, one after a barrier each, on a duplicate of MPI_COMM_WORLD of its own. Rank 0 prints for
 * each call the row, its bytes, the number of the call, the seconds of the slowest rank, and
 * whether all results were right:
 *
 *     zipf	65536	1	0.002410	yes
 *
 * With WORK a call is nonblocking, and its time is that from its start to the end of its wait, with
 * so many seconds of work between them, in which MPI is not called; if these are more than 0, the
 * row is printed as zipf+work. Rows whose counts change have others in each call; those named same
 * have the first of these in all. split is the time of MPI_Comm_split and a call on what it makes,
 * which is freed outside of it.
 *
 * Data and calls are those of agv and fold.
 */

#include "agv.h"
#include "fold.h"

#include <stdlib.h>
#include <string.h>

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
        fprintf(stderr, "first_calls: \"%s\": expected CALLS (1 to %d), then words ROW:BYTES[:WORK],"
                        " with a multiple of 8 bytes, seconds from 0 to 10, and one of the rows:",
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

/* The seconds of work of a nonblocking call; less than 0: calls are blocking. */
static double work;

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

static void work_and_wait(MPI_Request *request)
{
    const double end = MPI_Wtime() + work;

    while (MPI_Wtime() < end) {
    }
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* The contributions of call i, as many bytes in all: `of` turned, or of random sizes that differ by a
 * factor of two at most. */
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
        if (0 <= work) {
            start_gather(&problem, &data, own, &request);
            work_and_wait(&request);
        } else {
            agv_call(AGV_BLOCKING, &problem, &data, own);
        }
        seconds[i] = MPI_Wtime() - began;
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
        if (0 <= work) {
            start_fold(&data, comm, &request);
            work_and_wait(&request);
        } else {
            fold_data_call(&data, comm);
        }
        seconds[i] = MPI_Wtime() - began;
        wrong[i] = !fold_data_verify(&data, error);
    }
    fold_data_free(&data);
}

static void measure(const char *word, int calls)
{
    static double seconds[CALLS_MOST];
    static int wrong[CALLS_MOST];
    const struct row_t *row = find_row(word);
    const char *colon = strchr(word, ':'), *behind = NULL == colon ? NULL : strchr(colon + 1, ':');
    const size_t bytes = NULL == colon ? 0 : (size_t) strtoul(colon + 1, NULL, 10);
    MPI_Comm comm;

    work = NULL == behind ? -1 : atof(behind + 1);
    if (NULL == row || 0 == bytes || 0 != bytes % 8 || (NULL != behind && !(0 <= work && work <= 10))) {
        refuse(word);
    }
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
    for (int i = 0; 0 == world.rank && i < calls; ++i) {
        printf("%s%s\t%zu\t%d\t%.6f\t%s\n", row->name, 0 < work ? "+work" : "", bytes, i + 1,
               seconds[i], 0 == wrong[i] ? "yes" : "no");
    }
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

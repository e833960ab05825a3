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

static const struct row_t {
    const char *name;
    const char *dist; /* of a gather, or a reduce-scatter */
    fold_coll_t coll; /* of others */
    fold_value_t value;
} rows[] = {
    {"regular", "regular", 0, 0},
    {"zipf", "zipf", 0, 0},
    {"broadcast", "broadcast", 0, 0},
    {"bcast", NULL, FOLD_BCAST, FOLD_DOUBLE},
    {"allreduce_int", NULL, FOLD_ALLREDUCE, FOLD_INT},
    {"allreduce_double", NULL, FOLD_ALLREDUCE, FOLD_DOUBLE},
    {"reduce_double", NULL, FOLD_REDUCE, FOLD_DOUBLE},
    {"scan_int", NULL, FOLD_SCAN, FOLD_INT},
    {"scatter_regular", "regular", FOLD_REDUCE_SCATTER, FOLD_INT},
    {"scatter_zipf", "zipf", FOLD_REDUCE_SCATTER, FOLD_INT},
    {"scatter_double", "regular", FOLD_REDUCE_SCATTER, FOLD_DOUBLE},
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static void refuse(const char *word)
{
    if (0 == world.rank) {
        fprintf(stderr, "first_calls: \"%s\": expected CALLS (1 to %d), then words ROW:BYTES, with a"
                        " multiple of 8 bytes, and one of the rows:", word, CALLS_MOST);
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

/* Seconds of each call on this rank, and whether its result was wrong here. */
static void gather(const char *dist, size_t bytes, int calls, MPI_Comm comm, double *seconds,
                   int *wrong)
{
    char error[BENCH_ERROR_LENGTH];
    agv_problem_t problem;
    agv_data_t data;

    need(agv_problem_create(&problem, dist, bytes, AGV_TYPE_BYTE, &world)
         && agv_data_create(&data, &problem, AGV_TYPE_BYTE, world.rank));
    for (int i = 0; i < calls; ++i) {
        agv_data_fill(&data, &problem, world.rank, (uint64_t) i);
        MPI_Barrier(comm);
        const double began = MPI_Wtime();
        agv_call(AGV_BLOCKING, &problem, &data, comm);
        seconds[i] = MPI_Wtime() - began;
        wrong[i] = !agv_data_verify(&data, &problem, world.size, (uint64_t) i, error);
    }
    agv_data_free(&data);
    agv_problem_free(&problem);
}

static void fold(const fold_problem_t *problem, int calls, MPI_Comm comm, double *seconds,
                 int *wrong)
{
    char error[BENCH_ERROR_LENGTH];
    fold_data_t data;

    need(fold_data_create(&data, problem, &world));
    for (int i = 0; i < calls; ++i) {
        fold_data_fill(&data, (uint64_t) i);
        MPI_Barrier(comm);
        const double began = MPI_Wtime();
        fold_data_call(&data, comm);
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
    const char *colon = strchr(word, ':');
    const size_t bytes = NULL == colon ? 0 : (size_t) strtoul(colon + 1, NULL, 10);
    MPI_Comm comm;

    if (NULL == row || 0 == bytes || 0 != bytes % 8) {
        refuse(word);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (NULL != row->dist && FOLD_REDUCE_SCATTER != row->coll) {
        gather(row->dist, bytes, calls, comm, seconds, wrong);
    } else {
        const fold_problem_t problem = {row->coll, bytes, row->value, 0,
                                        row->dist};
        fold(&problem, calls, comm, seconds, wrong);
    }
    MPI_Comm_free(&comm);
    MPI_Allreduce(MPI_IN_PLACE, seconds, calls, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, wrong, calls, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    for (int i = 0; 0 == world.rank && i < calls; ++i) {
        printf("%s\t%zu\t%d\t%.6f\t%s\n", row->name, bytes, i + 1, seconds[i],
               0 == wrong[i] ? "yes" : "no");
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

/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

/** @file Begin and end of a program that times calls, its ranks and its nodes. */

#include "bench.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The rate of this node in TESTBED_SLOW, n3:20mbit,n5:50mbit; 0: it is not named. */
static double slow_rate(const char *name)
{
    const char *list = getenv("TESTBED_SLOW");
    char copy[1024], *rest, *word;
    const size_t length = strlen(name);

    snprintf(copy, sizeof(copy), "%s", NULL == list ? "" : list);
    for (word = strtok_r(copy, ",", &rest); NULL != word; word = strtok_r(NULL, ",", &rest)) {
        if (0 == strncmp(word, name, length) && ':' == word[length]) {
            return bench_number(word + length + 1);
        }
    }
    return 0.0;
}

/* Numbers the nodes 0, 1, ... in the order of their lowest ranks. */
static void number_nodes(bench_world_t *world)
{
    char (*names)[MPI_MAX_PROCESSOR_NAME] = calloc((size_t) world->size, sizeof(*names));
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    int length;

    world->node = calloc((size_t) world->size, sizeof(*world->node));
    world->slow = calloc((size_t) world->size, sizeof(*world->slow));
    if (NULL == names || NULL == world->node || NULL == world->slow) {
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    MPI_Get_processor_name(name, &length);
    MPI_Allgather(name, sizeof(name), MPI_CHAR, names, sizeof(name), MPI_CHAR, world->control);
    for (int i = 0; i < world->size; ++i) {
        world->node[i] = -1;
        for (int k = 0; k < i && 0 > world->node[i]; ++k) {
            world->node[i] = (0 == strcmp(names[i], names[k])) ? world->node[k] : -1;
        }
        if (0 > world->node[i]) {
            world->node[i] = world->nodes++;
        }
    }
    free(names);
    world->slow[world->rank] = slow_rate(name);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, world->slow, 1, MPI_DOUBLE,
                  world->control);
}

double bench_world_rate(const bench_world_t *world, int node, double rate)
{
    for (int i = 0; i < world->size; ++i) {
        if (node == world->node[i]) {
            return 0.0 < world->slow[i] ? world->slow[i] : rate;
        }
    }
    return rate;
}

void bench_world_create(bench_world_t *world, MPI_Comm base)
{
    memset(world, 0, sizeof(*world));
    world->base = base;
    MPI_Comm_rank(base, &world->rank);
    MPI_Comm_size(base, &world->size);
    bench_comm_dup(base, "^pipering,mleader,han", &world->barrier);
    bench_comm_dup(base, "^pipering,mleader,han", &world->control);
    number_nodes(world);
}

void bench_world_free(bench_world_t *world)
{
    MPI_Comm_free(&world->barrier);
    MPI_Comm_free(&world->control);
    MPI_Comm_free(&world->base);
    free(world->node);
    free(world->slow);
}

/* In step d a rank hears of d more ranks. */
void bench_meet(const bench_world_t *world)
{
    char out = 0, in = 0;

    for (int d = 1; d < world->size; d *= 2) {
        MPI_Sendrecv(&out, 1, MPI_BYTE, (world->rank + d) % world->size, 3, &in, 1, MPI_BYTE,
                     (world->rank - d + world->size) % world->size, 3, world->barrier,
                     MPI_STATUS_IGNORE);
    }
}

int bench_refuse(const char *program, int rank, const char *error)
{
    if (0 == rank) {
        fprintf(stderr, "%s: %s\n", program, error);
    }
    return 2;
}

int bench_begin(int *argc, char ***argv)
{
    int rank;

    MPI_Init(argc, argv);
    bench_variables_start();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

/* A rank without work must not take a core from the others while it waits. */
static void wait_for_others(void)
{
    MPI_Request request;
    int done = 0;

    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (!done) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (!done) {
            usleep(10000);
        }
    }
}

/* mpirun of Open MPI 5.0.7 may crash when several ranks say that something is wrong. */
int bench_end(int rank, int code)
{
    wait_for_others();
    bench_variables_stop();
    MPI_Finalize();
    return 0 == rank ? code : 0;
}

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
 * What the programs that measure have in common: the communicators and places of
 * a job, and what surrounds a timed call.
 */

#include "agv.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int agv_refuse(const char *program, int rank, const char *error)
{
    if (0 == rank) {
        fprintf(stderr, "%s: %s\n", program, error);
    }
    return 2;
}

/* The rate of this node in TESTBED_SLOW, n3:20mbit,n5:50mbit; 0: it is not named. */
static double slow_rate(const char *name)
{
    const char *list = getenv("TESTBED_SLOW");
    char copy[1024], *rest, *word;
    const size_t length = strlen(name);

    snprintf(copy, sizeof(copy), "%s", NULL == list ? "" : list);
    for (word = strtok_r(copy, ",", &rest); NULL != word; word = strtok_r(NULL, ",", &rest)) {
        if (0 == strncmp(word, name, length) && ':' == word[length]) {
            return agv_options_number(word + length + 1);
        }
    }
    return 0.0;
}

/* Numbers the nodes 0, 1, ... in the order of their lowest ranks. */
static void number_nodes(agv_world_t *world)
{
    char (*names)[MPI_MAX_PROCESSOR_NAME]
        = calloc((size_t) world->size, sizeof(*names));
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    int length;

    world->node = calloc((size_t) world->size, sizeof(*world->node));
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
    world->slow = calloc((size_t) world->size, sizeof(*world->slow));
    world->slow[world->rank] = slow_rate(name);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, world->slow, 1, MPI_DOUBLE,
                  world->control);
}

double agv_world_rate(const agv_world_t *world, int node, double rate)
{
    for (int i = 0; i < world->size; ++i) {
        if (node == world->node[i]) {
            return 0.0 < world->slow[i] ? world->slow[i] : rate;
        }
    }
    return rate;
}

void agv_world_create(agv_world_t *world, MPI_Comm base)
{
    memset(world, 0, sizeof(*world));
    world->base = base;
    MPI_Comm_rank(base, &world->rank);
    MPI_Comm_size(base, &world->size);
    agv_comm_dup(base, AGV_WITHOUT_OURS ",han", &world->barrier);
    agv_comm_dup(base, AGV_WITHOUT_OURS ",han", &world->control);
    number_nodes(world);
}

void agv_world_free(agv_world_t *world)
{
    MPI_Comm_free(&world->barrier);
    MPI_Comm_free(&world->control);
    MPI_Comm_free(&world->base);
    free(world->node);
    free(world->slow);
}

/* Dissemination: in step d a rank hears of d more ranks. */
static void barrier(const agv_world_t *world)
{
    char out = 0, in = 0;

    for (int d = 1; d < world->size; d *= 2) {
        MPI_Sendrecv(&out, 1, MPI_BYTE, (world->rank + d) % world->size, 3, &in, 1, MPI_BYTE,
                     (world->rank - d + world->size) % world->size, 3, world->barrier,
                     MPI_STATUS_IGNORE);
    }
}

static void rest(double seconds)
{
    if (0.0 < seconds) {
        usleep((useconds_t) (1e6 * seconds));
    }
}

void agv_call_begin(const agv_world_t *world, double idle, uint64_t before[2])
{
    before[0] = before[1] = 0;
    agv_pvar_read("coll_pipering_calls", &before[0]);
    agv_pvar_read("coll_pipering_rounds", &before[1]);
    barrier(world);
    rest(idle);
    barrier(world);
}

/*
 * Ranks meet before anything else is done: on a machine that poses as many, the
 * checks of those that are through would take the processors from the others.
 */
void agv_call_end(const agv_world_t *world, agv_result_t *result, const uint64_t before[2])
{
    uint64_t calls, rounds, block;

    barrier(world);

    result->block = result->rounds = 0;
    if (agv_pvar_read("coll_pipering_calls", &calls) && calls > before[0]) {
        if (agv_pvar_read("coll_pipering_block_size_used", &block)) {
            result->block = block;
        }
        if (agv_pvar_read("coll_pipering_rounds", &rounds)) {
            result->rounds = rounds - before[1];
        }
    }
}

void agv_result_combine(agv_result_t *result, MPI_Comm control)
{
    MPI_Allreduce(MPI_IN_PLACE, result->seconds, result->reps, MPI_DOUBLE, MPI_MAX, control);
    MPI_Allreduce(MPI_IN_PLACE, &result->block, 1, MPI_UINT64_T, MPI_MAX, control);
    MPI_Allreduce(MPI_IN_PLACE, &result->rounds, 1, MPI_UINT64_T, MPI_MAX, control);
    MPI_Allreduce(MPI_IN_PLACE, &result->verified, 1, MPI_C_BOOL, MPI_LAND, control);
}

void agv_wait_for_others(void)
{
    MPI_Request request;
    int done = 0;

    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (!done) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        rest(0 == done ? 0.01 : 0.0);
    }
}

int agv_begin(int *argc, char ***argv)
{
    int rank;

    MPI_Init(argc, argv);
    agv_mpit_start();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

/* mpirun of Open MPI 5.0.7 may crash when several ranks say that something is wrong. */
int agv_end(int rank, int code)
{
    agv_wait_for_others();
    agv_mpit_stop();
    MPI_Finalize();
    return 0 == rank ? code : 0;
}

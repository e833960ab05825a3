/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

/** @file Begin, end, and the groups of cells that rank 0 reads. */

#include "kernel.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REST_LEAST 50       /* microseconds that a rank sleeps while nothing is to be done */
#define REST_MOST 2000

/* What rank 0 has read. */
typedef struct {
    char *text; /* the lines of a group */
    size_t length, room;
} input_t;

/* ---- the machine */

typedef struct {
    char host[MPI_MAX_PROCESSOR_NAME];
    int processors;
} place_t;

static void print_variable(const char *key, const char *variable)
{
    const int cvar = bench_cvar_open(variable);

    printf("\t%s=%s", key, 0 > cvar ? "" : bench_cvar_value(cvar));
}

/* How components of Open MPI 4.1 to 6.0 begin: mca_base_component_t. */
typedef struct {
    int version[3];
    char project[16];
    int project_version[3];
    char type[32];
    int type_version[3];
    char name[64];
} component_t;

/* The one in use; the variable is empty if nobody has set it. Weak: other releases may hide it. */
extern const component_t mca_pml_base_selected_component __attribute__((weak));

static void print_pml(void)
{
    const component_t *pml = &mca_pml_base_selected_component;

    if (NULL != pml && 0 == strcmp(pml->type, "pml")) {
        printf("\tpml=%.63s", pml->name);
    } else {
        print_variable("pml", "pml");
    }
}

static void print_machine(const bench_world_t *world, const place_t *places, double error)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, node = -1;

    MPI_Get_library_version(version, &length);
    version[strcspn(version, ",\n")] = '\0';
    printf("machine\tformat=1\tlibrary=%s\tranks=%d\tnodes=%d\thosts=", version, world->size,
           world->nodes);
    for (int i = 0; i < world->size; ++i) {
        printf(0 == i ? "%s" : ",%s", places[i].host);
    }
    printf("\tprocessors=");
    for (int i = 0; i < world->size; ++i) {
        if (world->node[i] > node) {
            node = world->node[i];
            printf(0 == node ? "%d" : ",%d", places[i].processors);
        }
    }
    print_pml();
    print_variable("yield", "mpi_yield_when_idle");
    printf("\tcrowded=%d\tclock_error=%.3g\trtt=%.3g\n", kernel_time_crowded(), error,
           kernel_time_round_trip());
    fflush(stdout);
}

static void report_machine(const bench_world_t *world)
{
    place_t mine = {.processors = (int) sysconf(_SC_NPROCESSORS_ONLN)};
    place_t *places = calloc((size_t) world->size, sizeof(*places));
    double error = kernel_time_error();
    int length;

    if (NULL == places) {
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    MPI_Get_processor_name(mine.host, &length);
    MPI_Gather(&mine, (int) sizeof(mine), MPI_BYTE, places, (int) sizeof(mine), MPI_BYTE, 0,
               world->control);
    MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, world->control);
    if (0 == world->rank) {
        print_machine(world, places, error);
    }
    free(places);
}

/* ---- groups */

static void append(input_t *input, const char *line)
{
    const size_t length = strlen(line);

    if (input->length + length + 1 > input->room) {
        input->room = 2 * (input->length + length + 1);
        input->text = realloc(input->text, input->room);
        if (NULL == input->text) {
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
    }
    memcpy(input->text + input->length, line, length + 1);
    input->length += length;
}

/* Reads the lines of a group, which ends at an empty line. False: there are none any more. */
static bool read_group(input_t *input)
{
    char line[KERNEL_LINE + 1];

    input->length = 0;
    while (NULL != fgets(line, KERNEL_LINE, stdin)) {
        if (strlen(line) > strspn(line, " \t\r\n")) {
            append(input, strcat(line, NULL == strchr(line, '\n') ? "\n" : ""));
        } else if (0 < input->length) {
            return true;
        }
    }
    return 0 < input->length;
}

/* Waits in a way that leaves the processors to others. */
static void broadcast(void *data, int bytes, const bench_world_t *world)
{
    MPI_Request request;
    useconds_t rest = REST_LEAST;
    int done = 0;

    MPI_Ibcast(data, bytes, MPI_BYTE, 0, world->control, &request);
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    while (!done) {
        usleep(rest);
        rest = 2 * rest < REST_MOST ? 2 * rest : REST_MOST;
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
}

/* All ranks get the lines of the next group; NULL: there is none. The caller frees them. */
static char *next_group(input_t *input, const bench_world_t *world)
{
    int length = 0 == world->rank && read_group(input) ? (int) input->length + 1 : 0;
    char *text;

    broadcast(&length, (int) sizeof(length), world);
    if (0 == length) {
        return NULL;
    }
    text = malloc((size_t) length);
    if (NULL == text) {
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    if (0 == world->rank) {
        memcpy(text, input->text, (size_t) length);
    }
    broadcast(text, length, world);
    return text;
}

/* ---- cells */

/* Parses the lines; those that cannot be are refused. */
static int parse(char *text, kernel_cell_t *cells, int rank)
{
    char error[KERNEL_NOTE], *rest, *line;
    int count = 0;

    for (line = strtok_r(text, "\n", &rest); NULL != line; line = strtok_r(NULL, "\n", &rest)) {
        if (kernel_cell_parse(&cells[count], line, error)) {
            ++count;
        } else if (0 == rank) {
            kernel_refuse(cells[count].id, error);
        }
    }
    return count;
}

/* How many ranks take part in the group of this cell, and whether this one does; 0 and a sentence:
 * there is no such part. All ranks find the same. */
static int find_part(const kernel_cell_t *cell, const bench_world_t *world, bool *takes_part,
                     char *error)
{
    bool *member = calloc((size_t) world->size, sizeof(*member));
    int *taken = calloc((size_t) world->size, sizeof(*taken));
    int count;

    if (NULL == member || NULL == taken) {
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    count = kernel_part_find(&cell->problem, world->node, world->size, member, taken, error);
    *takes_part = member[world->rank];
    free(taken);
    free(member);
    return count;
}

/* A part of the ranks is a world of its own. */
static void race_among(const kernel_cell_t *cells, int count, const bench_world_t *world,
                       bool takes_part)
{
    bench_world_t some;
    MPI_Comm comm;

    MPI_Comm_split(world->base, takes_part ? 0 : MPI_UNDEFINED, 0, &comm);
    if (MPI_COMM_NULL != comm) {
        bench_world_create(&some, comm);
        kernel_race(cells, count, &some);
        bench_world_free(&some);
    }
}

static void race(const kernel_cell_t *cells, int count, const bench_world_t *world)
{
    static const kernel_problem_t all = {.ranks = 0};
    char error[KERNEL_NOTE];
    bool takes_part;
    int ranks;

    kernel_time_align();
    if (kernel_part_same(&cells->problem, &all)) {
        kernel_race(cells, count, world);
        return;
    }
    ranks = find_part(cells, world, &takes_part, error);
    for (int i = 0; 0 == ranks && 0 == world->rank && i < count; ++i) {
        kernel_refuse(cells[i].id, error);
    }
    if (ranks == world->size) {
        kernel_race(cells, count, world);
    } else if (0 < ranks) {
        race_among(cells, count, world, takes_part);
    }
}

static void run_group(char *text, const bench_world_t *world)
{
    kernel_cell_t *cells;
    size_t lines = 1;
    int count;

    for (const char *end = strchr(text, '\n'); NULL != end; end = strchr(end + 1, '\n')) {
        ++lines;
    }
    cells = calloc(lines, sizeof(*cells));
    if (NULL == cells) {
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    count = parse(text, cells, world->rank);
    if (0 < count) {
        race(cells, count, world);
    }
    free(cells);
}

/* ---- begin and end */

int main(int argc, char **argv)
{
    const int rank = bench_begin(&argc, &argv);
    bench_world_t world;
    MPI_Comm base;
    input_t input = {.length = 0};
    char *text;

    MPI_Comm_dup(MPI_COMM_WORLD, &base);
    bench_world_create(&world, base);
    kernel_time_begin(&world);
    report_machine(&world);
    while (NULL != (text = next_group(&input, &world))) {
        run_group(text, &world);
        free(text);
    }
    free(input.text);
    kernel_time_end();
    bench_world_free(&world);
    return bench_end(rank, 0);
}

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

/* ---- the machine */

/* "" if there is no such variable. */
static const char *value_of(const char *variable)
{
    const int cvar = bench_cvar_open(variable);

    return 0 > cvar ? "" : bench_cvar_value(cvar);
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

static const char *pml_name(void)
{
    const component_t *pml = &mca_pml_base_selected_component;

    return NULL != pml && 0 == strcmp(pml->type, "pml") ? pml->name : value_of("pml");
}

static void print_machine(const bench_world_t *world, char (*hosts)[MPI_MAX_PROCESSOR_NAME])
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;

    MPI_Get_library_version(version, &length);
    version[strcspn(version, ",\n")] = '\0';
    printf("{\"machine\": {\"ranks\": %d, \"nodes\": %d, \"hosts\": [", world->size, world->nodes);
    for (int i = 0; i < world->size; ++i) {
        printf(0 == i ? "\"%s\"" : ", \"%s\"", hosts[i]);
    }
    putchar(']');
    kernel_print("library", version);
    kernel_print("pml", pml_name());
    kernel_print("yield", value_of("mpi_yield_when_idle"));
    printf("}}\n");
    fflush(stdout);
}

static void report_machine(const bench_world_t *world)
{
    char (*hosts)[MPI_MAX_PROCESSOR_NAME] = kernel_alloc((size_t) world->size, sizeof(*hosts));
    char host[MPI_MAX_PROCESSOR_NAME] = "";
    int length;

    MPI_Get_processor_name(host, &length);
    MPI_Gather(host, sizeof(host), MPI_CHAR, hosts, sizeof(host), MPI_CHAR, 0, world->control);
    if (0 == world->rank) {
        print_machine(world, hosts);
    }
    free(hosts);
}

/* ---- groups */

/* Reads the lines of a group, which ends at an empty line; NULL: there are none any more. */
static char *read_group(size_t *length)
{
    char *line = NULL, *text = NULL;
    FILE *group = open_memstream(&text, length);
    size_t room = 0;
    bool ends = NULL == group;

    while (!ends && 0 < getline(&line, &room, stdin)) {
        if (strlen(line) > strspn(line, " \t\r\n")) {
            fprintf(group, "%s%s", line, NULL == strchr(line, '\n') ? "\n" : "");
        } else {
            ends = 0 < ftell(group);
        }
    }
    free(line);
    if (NULL == group || 0 != fclose(group)) {
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    return text;
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

/* All ranks get the lines of the next group, "" if there is none. The caller frees them. */
static char *next_group(const bench_world_t *world)
{
    size_t length = 0;
    char *text = 0 == world->rank ? read_group(&length) : NULL;

    broadcast(&length, (int) sizeof(length), world);
    if (NULL == text) {
        text = kernel_alloc(length + 1, 1);
    }
    broadcast(text, (int) length + 1, world);
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

static void run_group(char *text, const bench_world_t *world)
{
    kernel_cell_t *cells;
    size_t lines = 1;
    int count;

    for (const char *end = strchr(text, '\n'); NULL != end; end = strchr(end + 1, '\n')) {
        ++lines;
    }
    cells = kernel_alloc(lines, sizeof(*cells));
    count = parse(text, cells, world->rank);
    if (0 < count) {
        kernel_race(cells, count, world);
    }
    free(cells);
}

/* ---- begin and end */

int main(int argc, char **argv)
{
    const int rank = bench_begin(&argc, &argv);
    bench_world_t world;
    MPI_Comm base;
    char *text;

    MPI_Comm_dup(MPI_COMM_WORLD, &base);
    bench_world_create(&world, base);
    report_machine(&world);
    for (text = next_group(&world); '\0' != *text; text = next_group(&world)) {
        run_group(text, &world);
        free(text);
    }
    free(text);
    bench_world_free(&world);
    return bench_end(rank, 0);
}

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
 * Where a communicator has a mesh.
 *
 *     coll_pipering_mesh = 4x4t        nodes in the order of their lowest ranks, or ranks, where
 *                                      there are as many of these as vertices
 *                          @FILE       a line "extents 4x4t", and one "HOST 0 3" for each node
 *                          cartesian   communicators with a Cartesian topology, as it says
 *
 * What is declared is read once in a process, when the first communicator is set up, which is
 * when a topology is known too. A communicator has a mesh if the vertices of its ranks are a box
 * of the machine. All of that is local; the set-up compares the meshes of all ranks.
 */

#include "coll_pipering_mesh.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ompi/group/group.h"
#include "ompi/mca/topo/topo.h"
#include "ompi/proc/proc.h"
#include "ompi/runtime/params.h"
#include "opal/util/output.h"
#include "opal/util/proc.h"
#include "opal/util/show_help.h"

#define TEXT_MOST 128
#define LINE_MOST 1024

struct mca_coll_pipering_wiring_t {
    bool cartesian; /* communicators say it themselves; the rest is not used */
    bool found;     /* else nothing usable is declared */
    bool wrong;     /* extents that do not fit the job: all ranks find that */
    mca_coll_pipering_extents_t machine;
    int size; /* ranks of the job */
    int *at;  /* [size] the vertex of each */
};

/* ---- hosts ---- */

/* The name of the host of a rank of the job without its domain, to be freed; NULL: no memory. */
static char *host_of(int rank)
{
    const opal_process_name_t name = {.jobid = ompi_proc_local()->super.proc_name.jobid,
                                      .vpid = (opal_vpid_t) rank};
    char *known = opal_get_proc_hostname(ompi_proc_for_name(name));
    char *host = NULL == known ? NULL : strdup(known);

    MCA_COMMON_IRREGULAR_FREE_HOSTNAME(known);
    if (NULL != host && !isdigit((unsigned char) host[0])) {
        host[strcspn(host, ".")] = '\0';
    }
    return host;
}

static char **list_hosts(int size)
{
    char **hosts = calloc((size_t) size, sizeof(char *));

    for (int r = 0; NULL != hosts && r < size; ++r) {
        hosts[r] = host_of(r);
    }
    return hosts;
}

static void drop_hosts(char **hosts, int size)
{
    for (int r = 0; NULL != hosts && r < size; ++r) {
        free(hosts[r]);
    }
    free(hosts);
}

/* A host and a rank on it, for sorting. */
typedef struct {
    const char *host;
    int rank;
} resident_t;

static int compare_residents(const void *a, const void *b)
{
    const resident_t *x = a, *y = b;
    const int order = strcmp(x->host, y->host);

    return 0 != order ? order : x->rank - y->rank;
}

/*
 * Numbers the nodes of ranks in the order of their lowest ranks into at [size]; how many there are,
 * -1: no memory, or a host is not known.
 */
static int number_nodes(char **hosts, int size, int *at)
{
    resident_t *residents = malloc((size_t) size * sizeof(*residents));
    int nodes = 0;

    for (int r = 0; r < size; ++r) {
        if (NULL == residents || NULL == hosts[r]) {
            free(residents);
            return -1;
        }
        residents[r] = (resident_t){.host = hosts[r], .rank = r};
    }
    qsort(residents, (size_t) size, sizeof(*residents), compare_residents);
    for (int i = 0, lowest = 0; i < size; ++i) {
        const bool same = 0 < i && 0 == strcmp(residents[i].host, residents[i - 1].host);
        lowest = same ? lowest : residents[i].rank;
        at[residents[i].rank] = lowest;
    }
    free(residents);
    for (int r = 0; r < size; ++r) {
        at[r] = at[r] == r ? nodes++ : at[at[r]];
    }
    return nodes;
}

/* ---- declarations ---- */

/* Extents alone: vertices are nodes or ranks. */
static bool read_extents(mca_coll_pipering_wiring_t *wiring, const char *text)
{
    const char *fault = mca_coll_pipering_extents_read(&wiring->machine, text);

    if (NULL != fault) {
        opal_show_help("help-coll-pipering.txt", "mesh-text", true, text, fault);
        wiring->wrong = true;
        return false;
    }
    char **hosts = list_hosts(wiring->size);
    const int nodes = NULL == hosts ? -1 : number_nodes(hosts, wiring->size, wiring->at);
    drop_hosts(hosts, wiring->size);
    const int vertices = mca_coll_pipering_extents_product(&wiring->machine);
    if (vertices == nodes) {
        return true;
    }
    if (vertices != wiring->size) {
        opal_show_help("help-coll-pipering.txt", "mesh-count", true, text, vertices,
                       0 > nodes ? 0 : nodes, wiring->size);
        wiring->wrong = true;
        return false;
    }
    for (int r = 0; r < wiring->size; ++r) {
        wiring->at[r] = r;
    }
    return true;
}

/* A file that is being read. */
typedef struct {
    const char *path;
    int line;
    char text[LINE_MOST];
    const char *fault; /* a phrase, NULL: none so far */
} reader_t;

/* The coordinates behind a host's name as a vertex, -1: they are none of the machine. */
static int read_vertex(const mca_coll_pipering_extents_t *machine, char *text)
{
    int coordinate[MCA_COLL_PIPERING_MESH_DIMS];

    for (int i = 0; i < machine->dims; ++i) {
        char *rest;
        const long value = strtol(text, &rest, 10);
        if (rest == text || 0 > value || machine->extent[i] <= value) {
            return -1;
        }
        coordinate[i] = (int) value;
        text = rest;
    }
    return '\0' == text[strspn(text, " \t\r\n")]
               ? mca_coll_pipering_vertex_at(machine, coordinate)
               : -1;
}

/* Puts the ranks of a host at a vertex. */
static void place_host(mca_coll_pipering_wiring_t *wiring, char **hosts, const char *host,
                       int vertex, reader_t *reader)
{
    for (int r = 0; r < wiring->size; ++r) {
        if (NULL != hosts[r] && 0 == strcmp(hosts[r], host)) {
            reader->fault = 0 <= wiring->at[r] ? "names a host a second time" : reader->fault;
            wiring->at[r] = vertex;
        } else if (wiring->at[r] == vertex) {
            reader->fault = "gives two hosts the same coordinates";
        }
    }
}

static void read_line(mca_coll_pipering_wiring_t *wiring, char **hosts, reader_t *reader)
{
    char *word = reader->text + strspn(reader->text, " \t");

    word[strcspn(word, "#\r\n")] = '\0';
    char *rest = word + strcspn(word, " \t");
    if ('\0' == word[0]) {
        return;
    }
    if ('\0' != *rest) {
        *rest++ = '\0';
        rest += strspn(rest, " \t");
    }
    if (0 == wiring->machine.dims) {
        rest[strcspn(rest, " \t")] = '\0';
        reader->fault = 0 != strcmp(word, "extents")
                            ? "is not the line \"extents\", such as extents 4x4tx2"
                            : mca_coll_pipering_extents_read(&wiring->machine, rest);
        return;
    }
    const int vertex = read_vertex(&wiring->machine, rest);
    if (0 > vertex) {
        reader->fault = "is not a host and a coordinate for each dimension, from 0 on and below "
                        "its extent";
        return;
    }
    if (!isdigit((unsigned char) word[0])) {
        word[strcspn(word, ".")] = '\0';
    }
    place_host(wiring, hosts, word, vertex, reader);
}

/* All ranks of the job must have got a vertex. */
static bool all_are_placed(const mca_coll_pipering_wiring_t *wiring, char **hosts,
                           const char *path)
{
    for (int r = 0; r < wiring->size; ++r) {
        if (0 > wiring->at[r]) {
            opal_show_help("help-coll-pipering.txt", "mesh-host", true, path,
                           NULL == hosts[r] ? "(unknown)" : hosts[r], r);
            return false;
        }
    }
    return true;
}

static bool read_lines(mca_coll_pipering_wiring_t *wiring, char **hosts, FILE *file,
                       reader_t *reader)
{
    memset(wiring->at, -1, (size_t) wiring->size * sizeof(int));
    while (NULL == reader->fault && NULL != fgets(reader->text, sizeof(reader->text), file)) {
        ++reader->line;
        if (NULL == strchr(reader->text, '\n') && !feof(file)) {
            reader->fault = "is longer than 1022 characters";
        } else {
            read_line(wiring, hosts, reader);
        }
    }
    if (NULL == reader->fault && ferror(file)) {
        reader->fault = "is the last one that can be read";
    }
    if (NULL == reader->fault && 0 == wiring->machine.dims) {
        reader->fault = "is the last one, and there is no line \"extents\"";
    }
    if (NULL != reader->fault) {
        opal_show_help("help-coll-pipering.txt", "mesh-line", true, reader->path, reader->line,
                       reader->fault);
        return false;
    }
    return all_are_placed(wiring, hosts, reader->path);
}

static bool read_file(mca_coll_pipering_wiring_t *wiring, const char *path)
{
    reader_t reader = {.path = path};
    FILE *file = fopen(path, "r");

    if (NULL == file) {
        opal_show_help("help-coll-pipering.txt", "mesh-file", true, path, strerror(errno));
        return false;
    }
    char **hosts = list_hosts(wiring->size);
    const bool read = NULL != hosts && read_lines(wiring, hosts, file, &reader);
    drop_hosts(hosts, wiring->size);
    (void) fclose(file);
    return read;
}

static void read_declaration(mca_coll_pipering_wiring_t *wiring, const char *text)
{
    wiring->cartesian = 0 == strcmp(text, "cartesian");
    if (!wiring->cartesian) {
        wiring->size = MCA_COMMON_IRREGULAR_JOB_SIZE;
        wiring->at = malloc((size_t) wiring->size * sizeof(int));
        wiring->found = NULL != wiring->at
                        && ('@' == text[0] ? read_file(wiring, text + 1)
                                           : read_extents(wiring, text));
    }
}

static const mca_coll_pipering_wiring_t *ensure_wiring(mca_coll_pipering_process_t *process)
{
    OPAL_THREAD_LOCK(&process->lock);
    if (NULL == process->wiring) {
        process->wiring = calloc(1, sizeof(*process->wiring));
        if (NULL != process->wiring) {
            read_declaration(process->wiring, process->mesh);
        }
    }
    OPAL_THREAD_UNLOCK(&process->lock);
    return process->wiring;
}

void mca_coll_pipering_wiring_free(mca_coll_pipering_process_t *process)
{
    if (NULL != process->wiring) {
        free(process->wiring->at);
    }
    free(process->wiring);
    process->wiring = NULL;
}

/* ---- communicators ---- */

/* The extents that a Cartesian topology says; false: there is none, or one with too many. */
static bool read_topology(ompi_communicator_t *comm, mca_coll_pipering_extents_t *machine)
{
    if (!OMPI_COMM_IS_CART(comm) || NULL == comm->c_topo) {
        return false;
    }
    const mca_topo_base_comm_cart_t *cart = comm->c_topo->mtc.cart;
    if (1 > cart->ndims || MCA_COLL_PIPERING_MESH_DIMS < cart->ndims) {
        return false;
    }
    machine->dims = cart->ndims;
    for (int i = 0; i < cart->ndims; ++i) {
        machine->extent[i] = cart->dims[i];
        machine->closed[i] = 0 != cart->periods[i];
    }
    return ompi_comm_size(comm) == mca_coll_pipering_extents_product(machine);
}

/* Whether all ranks were started by one mpirun, so that they have the same coll_pipering_mesh. */
static bool is_of_one_job(ompi_communicator_t *comm)
{
    for (int r = 0; r < ompi_comm_size(comm); ++r) {
        if (ompi_group_get_proc_name(comm->c_local_group, r).jobid
            != ompi_proc_local()->super.proc_name.jobid) {
            return false;
        }
    }
    return true;
}

bool mca_coll_pipering_mesh_common(mca_coll_pipering_context_t *context)
{
    if (!mca_coll_pipering_mesh_declared(context->process)) {
        return false;
    }
    if (MCA_COLL_PIPERING_JOBS_UNKNOWN == context->jobs) {
        context->apart = ompi_group_have_remote_peers(context->comm->c_local_group);
        context->jobs = is_of_one_job(context->comm) ? MCA_COLL_PIPERING_JOBS_ONE
                                                     : MCA_COLL_PIPERING_JOBS_SEVERAL;
    }
    return MCA_COLL_PIPERING_JOBS_ONE == context->jobs;
}

/*
 * Files may differ between nodes, and exchanges do not compare them; so a file counts, whatever is
 * in it. It is read nevertheless, so that a user whose program only exchanges hears what is wrong.
 */
bool mca_coll_pipering_mesh_for_exchanges(mca_coll_pipering_context_t *context)
{
    if (!mca_coll_pipering_mesh_common(context)) {
        return false;
    }
    const mca_coll_pipering_wiring_t *wiring = ensure_wiring(context->process);
    return context->apart && (NULL == wiring || !wiring->wrong);
}

/* The vertices of the ranks of a communicator; false: the mesh does not have one of them. */
static bool find_ranks(ompi_communicator_t *comm, const mca_coll_pipering_wiring_t *wiring, int *at)
{
    for (int r = 0; r < ompi_comm_size(comm); ++r) {
        const opal_process_name_t name = ompi_group_get_proc_name(comm->c_local_group, r);
        if (name.vpid >= (opal_vpid_t) wiring->size) {
            return false;
        }
        at[r] = wiring->at[name.vpid];
    }
    return true;
}

/* The machine that a communicator stands in, and where its ranks do; false: in none. */
static bool find_machine(ompi_communicator_t *comm, const mca_coll_pipering_wiring_t *wiring,
                         mca_coll_pipering_extents_t *machine, int *at)
{
    if (wiring->cartesian) {
        for (int r = 0; r < ompi_comm_size(comm); ++r) {
            at[r] = r;
        }
        return read_topology(comm, machine);
    }
    *machine = wiring->machine;
    return wiring->found && find_ranks(comm, wiring, at);
}

/* A whole job that is no box gets a message, since a mesh was declared for it. */
static bool fill_mesh(mca_coll_pipering_ways_t *ways, ompi_communicator_t *comm,
                      const mca_coll_pipering_extents_t *machine, const int *at)
{
    void *scratch = malloc(mca_coll_pipering_mesh_scratch(machine));
    char text[TEXT_MOST];
    const bool filled = NULL != scratch
                        && mca_coll_pipering_mesh_fill(&ways->mesh, machine, at, scratch);

    free(scratch);
    if (!filled && comm == &ompi_mpi_comm_world.comm) {
        opal_show_help("help-coll-pipering.txt", "mesh-box", true,
                       mca_coll_pipering_extents_write(machine, text, sizeof(text)));
    }
    return filled;
}

static void tell_mesh(const mca_coll_pipering_context_t *context,
                      const mca_coll_pipering_ways_t *ways)
{
    char text[TEXT_MOST];

    if (mca_coll_pipering_is_verbose(context->process, context->comm)) {
        opal_output(context->process->output, "coll/pipering: %s is %s%s", context->comm->c_name,
                    NULL == ways ? "no box of the mesh" : "a mesh of ",
                    NULL == ways ? ""
                                 : mca_coll_pipering_extents_write(&ways->mesh.extents, text,
                                                                   sizeof(text)));
    }
}

mca_coll_pipering_ways_t *mca_coll_pipering_ways_find(mca_coll_pipering_context_t *context)
{
    const int p = ompi_comm_size(context->comm);
    mca_coll_pipering_extents_t machine;

    if (!mca_coll_pipering_mesh_declared(context->process)) {
        return NULL;
    }
    const mca_coll_pipering_wiring_t *wiring = ensure_wiring(context->process);
    mca_coll_pipering_ways_t *ways = mca_coll_pipering_ways_new(p);
    int *at = malloc((size_t) p * sizeof(int));
    const bool found = NULL != wiring && NULL != ways && NULL != at
                       && mca_coll_pipering_mesh_common(context)
                       && find_machine(context->comm, wiring, &machine, at)
                       && fill_mesh(ways, context->comm, &machine, at);
    free(at);
    if (!found) {
        mca_coll_pipering_ways_free(ways);
        ways = NULL;
    }
    tell_mesh(context, ways);
    return ways;
}

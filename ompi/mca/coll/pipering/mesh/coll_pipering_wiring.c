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
 * The wiring that the user declares: reads coll_pipering_mesh, and places the ranks of the job.
 *
 *     4x4t         nodes in the order of their lowest ranks, or ranks, where there are as many of
 *                  these as vertices
 *     @FILE        a line "extents 4x4t", and one "HOST 0 3" for each node
 *     cartesian    communicators with a Cartesian topology, as it says
 *
 * It is read once in a process, when a call first asks for it; then what is wrong with it is said.
 * All of that is local.
 *
 * Cost: n log n for n ranks of the job, and log n for a line of a file.
 */

#include "coll_pipering_wiring.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "coll_pipering_ways.h"
#include "ompi/proc/proc.h"
#include "ompi/runtime/params.h"
#include "opal/util/proc.h"
#include "ompi/mca/common/colltools/common_colltools_file.h"
#include "ompi/mca/common/colltools/common_colltools_help.h"

#define TEXT_MOST 128
#define LINE_MOST 1024

/* ---- hosts ---- */

/*
 * The name of the host of a rank of the job without its domain, to be freed; NULL: no memory, or it
 * is not known.
 */
static char *host_of(int rank)
{
    const opal_process_name_t name = {.jobid = ompi_proc_local()->super.proc_name.jobid,
                                      .vpid = (opal_vpid_t) rank};
    char *known = opal_get_proc_hostname(ompi_proc_for_name(name));
    /* "unknown" is Open MPI's word for a host that this rank, and maybe no other, does not know */
    char *host = NULL == known || 0 == strcmp(known, "unknown") ? NULL : strdup(known);

    MCA_COMMON_COLLTOOLS_FREE_HOSTNAME(known);
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

/* The name of a host that is not known: none that a file can have; the first one in order. */
#define UNKNOWN "\n"

/* A host and a rank on it, for sorting. */
typedef struct {
    const char *host;
    int rank;
    int vertex, line; /* where a line of a file has put it; line 0: none has */
} resident_t;

static int compare_residents(const void *a, const void *b)
{
    const resident_t *x = a, *y = b;
    const int order = strcmp(x->host, y->host);

    return 0 != order ? order : x->rank - y->rank;
}

/* Ranks by their hosts, which are borrowed; to be freed. NULL: no memory. */
static resident_t *sort_residents(char **hosts, int size)
{
    resident_t *residents = malloc((size_t) size * sizeof(*residents));

    for (int r = 0; NULL != residents && r < size; ++r) {
        residents[r] = (resident_t){.host = NULL == hosts[r] ? UNKNOWN : hosts[r], .rank = r};
    }
    if (NULL != residents) {
        qsort(residents, (size_t) size, sizeof(*residents), compare_residents);
    }
    return residents;
}

/*
 * Numbers the nodes of ranks in the order of their lowest ranks into at [size]; how many there are,
 * -1: no memory, or a host is not known.
 */
static int number_nodes(char **hosts, int size, int *at)
{
    resident_t *residents = sort_residents(hosts, size);
    int nodes = 0;

    if (NULL == residents || 0 == strcmp(residents[0].host, UNKNOWN)) {
        free(residents);
        return -1;
    }
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
        mca_common_colltools_show_help("help-coll-pipering.txt", "mesh-text", text, fault);
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
        mca_common_colltools_show_help("help-coll-pipering.txt", "mesh-count", text, vertices,
                                       0 > nodes ? 0 : nodes, wiring->size);
        wiring->wrong = 0 <= nodes; /* else only this rank cannot tell */
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
    resident_t *residents;
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

/* The first of the residents of a host, or where it would be. */
static int find_host(const resident_t *residents, int count, const char *host)
{
    int low = 0, high = count;

    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (0 > strcmp(residents[middle].host, host)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Puts the ranks of a host at a vertex. */
static void place_host(mca_coll_pipering_wiring_t *wiring, const char *host, int vertex,
                       reader_t *reader)
{
    for (int i = find_host(reader->residents, wiring->size, host); i < wiring->size; ++i) {
        resident_t *resident = &reader->residents[i];
        if (0 != strcmp(resident->host, host)) {
            return;
        }
        reader->fault = 0 < resident->line ? "names a host a second time" : NULL;
        resident->vertex = vertex;
        resident->line = reader->line;
        wiring->at[resident->rank] = vertex;
    }
}

static int compare_places(const void *a, const void *b)
{
    const resident_t *x = a, *y = b;

    return x->vertex != y->vertex ? (x->vertex < y->vertex ? -1 : 1) : x->line - y->line;
}

/* No two lines may put ranks at one vertex. Sorts the residents anew. */
static void compare_lines(reader_t *reader, int count)
{
    const resident_t *residents = reader->residents;

    qsort(reader->residents, (size_t) count, sizeof(*residents), compare_places);
    for (int i = 1; i < count && NULL == reader->fault; ++i) {
        if (residents[i].vertex == residents[i - 1].vertex && 0 < residents[i - 1].line
            && residents[i].line != residents[i - 1].line) {
            reader->line = residents[i].line;
            reader->fault = "gives two hosts the same coordinates";
        }
    }
}

static void read_line(mca_coll_pipering_wiring_t *wiring, reader_t *reader)
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
    place_host(wiring, word, vertex, reader);
}

/* All ranks of the job must have got a vertex. */
static bool all_are_placed(const mca_coll_pipering_wiring_t *wiring, char **hosts,
                           const char *path)
{
    for (int r = 0; r < wiring->size; ++r) {
        if (0 > wiring->at[r]) {
            mca_common_colltools_show_help("help-coll-pipering.txt", "mesh-host", path,
                                           NULL == hosts[r] ? "(unknown)" : hosts[r], r);
            return false;
        }
    }
    return true;
}

static void refuse_file(const char *path, const char *fault)
{
    mca_common_colltools_show_help("help-coll-pipering.txt", "mesh-file", path, fault);
}

static bool read_lines(mca_coll_pipering_wiring_t *wiring, char **hosts, const char *text,
                       reader_t *reader)
{
    memset(wiring->at, -1, (size_t) wiring->size * sizeof(int));
    while (NULL == reader->fault && '\0' != *text) {
        const size_t length = strcspn(text, "\n");
        ++reader->line;
        if (LINE_MOST - 2 < length) {
            reader->fault = "is longer than 1022 characters";
        } else {
            memcpy(reader->text, text, length);
            reader->text[length] = '\0';
            read_line(wiring, reader);
        }
        text += length + ('\n' == text[length]);
    }
    if (NULL == reader->fault && 0 == wiring->machine.dims) {
        refuse_file(reader->path, "it has no line \"extents\", such as extents 4x4tx2");
        return false;
    }
    if (NULL == reader->fault) {
        compare_lines(reader, wiring->size);
    }
    if (NULL != reader->fault) {
        mca_common_colltools_show_help("help-coll-pipering.txt", "mesh-line", reader->path,
                                       reader->line, reader->fault);
        return false;
    }
    return all_are_placed(wiring, hosts, reader->path);
}

static bool read_file(mca_coll_pipering_wiring_t *wiring, const char *path)
{
    reader_t reader = {.path = path};
    const char *why;
    char *text = mca_common_colltools_read_text(path, &why);

    if (NULL == text) {
        refuse_file(path, why);
        return false;
    }
    char **hosts = list_hosts(wiring->size);
    reader.residents = NULL == hosts ? NULL : sort_residents(hosts, wiring->size);
    const bool read = NULL != reader.residents && read_lines(wiring, hosts, text, &reader);
    free(reader.residents);
    drop_hosts(hosts, wiring->size);
    free(text);
    return read;
}

/* A file may place the nodes of a job anywhere; a mesh is declared, so they should be a box. */
static void judge_box(const mca_coll_pipering_wiring_t *wiring)
{
    mca_coll_pipering_ways_t *ways = mca_coll_pipering_ways_new(wiring->size, &wiring->machine,
                                                                wiring->at);
    char text[TEXT_MOST];

    if (NULL != ways && 0 == ways->mesh.vertices) {
        mca_common_colltools_show_help(
            "help-coll-pipering.txt", "mesh-box",
            mca_coll_pipering_extents_write(&wiring->machine, text, sizeof(text)));
    }
    mca_coll_pipering_ways_free(ways);
}

static void read_declaration(mca_coll_pipering_wiring_t *wiring, const char *text)
{
    wiring->cartesian = 0 == strcmp(text, "cartesian");
    if (!wiring->cartesian) {
        wiring->size = MCA_COMMON_COLLTOOLS_JOB_SIZE;
        wiring->at = malloc((size_t) wiring->size * sizeof(int));
        wiring->found = NULL != wiring->at
                        && ('@' == text[0] ? read_file(wiring, text + 1)
                                           : read_extents(wiring, text));
    }
    if (wiring->found && '@' == text[0]) {
        judge_box(wiring);
    }
}

const mca_coll_pipering_wiring_t *
mca_coll_pipering_wiring_ensure(mca_coll_pipering_process_t *process)
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

void mca_coll_pipering_mesh_forget(mca_coll_pipering_process_t *process)
{
    if (NULL != process->wiring) {
        free(process->wiring->at);
    }
    free(process->wiring);
    process->wiring = NULL;
}

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
 * Setup of a communicator: who shares a node with whom, and what links cost.
 *
 *     join    every rank tells all others its node and what it knows of links
 *     probe   where that is not enough: echoes and streams along the ring
 *     agree   every rank tells what it measured; the median is what counts
 *
 * Nothing blocks: a nonblocking call carries this out on its way, and later
 * calls on the communicator wait for it. Telling is a dissemination exchange
 * of small records, ceil(log2 p) rounds. A probe is bounded: 8 echoes and one
 * stream of 328 KiB (between nodes) a link; its result serves the whole job.
 *
 *     gap + beta s   is the time per block in a stream of blocks of s bytes;
 *                    parts of two sizes follow each other and give both;
 *     alpha          is half of an echo, at least the gap: in a stream small blocks
 *                    are handled by the dozen, in the ring they are not;
 *     handshake      four echoes, for blocks that the transport does not send
 *                    without asking (known where the PML is ob1): to ask, to be
 *                    told, and on busy links each waits behind what is queued.
 *
 * All links are measured at the same time, as the ring uses them.
 */

#include "coll_pipering.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ompi/group/group.h"
#include "ompi/mca/bml/base/base.h"
#include "ompi/mca/bml/bml.h"
#include "ompi/mca/pml/base/base.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/proc/proc.h"
#include "opal/mca/hwloc/hwloc-internal.h"
#include "opal/util/arch.h"
#include "opal/util/output.h"

enum { NET, LOCAL, KINDS };
enum { TAG_TELL, TAG_PING, TAG_PONG, TAG_STREAM, TAGS };
enum { SMALL, LARGE, SIZES };
enum { PREVIOUS, NEXT };
enum { STREAMED = 1, ECHOED = 2, WHOLLY = 3 };

#define ECHOES 8

/* Blocks of a stream: so small that only their number counts, and mostly bytes. */
static const size_t block_sizes[KINDS][SIZES] = {[NET] = {64, 16 * 1024},
                                                 [LOCAL] = {64, 64 * 1024}};

/* A stream: the first part fills the link, the others are timed. */
static const struct {
    int size;
    int blocks;
} parts[] = {{LARGE, 4}, {SMALL, 64}, {LARGE, 8}, {SMALL, 64}, {LARGE, 8}};
#define PARTS ((int) (sizeof(parts) / sizeof(parts[0])))
#define STREAM_BLOCKS 148

/* Costs that are put down to noise of the clock. */
#define LEAST_ALPHA 1e-7
#define LEAST_BETA 1e-12

/* More than any header of ob1. */
#define HEADER 256

/* What is measured of a link: seconds, but for the last. */
enum { GAP, BETA, ECHO_TIME, EAGER, FIELDS };

typedef struct {
    int32_t node;         /* lowest rank on my node */
    uint32_t arch;        /* data representation */
    int32_t known[KINDS]; /* what of the next is: STREAMED (GAP, BETA) | ECHOED (the others) */
    double link[KINDS][FIELDS];
} record_t;

typedef enum { JOIN, PROBE_NET, PROBE_LOCAL, AGREE, READY } stage_t;

typedef enum { ECHO, STREAM, MEASURED } step_t;

typedef struct {
    step_t step;
    int peer[2]; /* neighbours, -1: none */
    int pings_left, pongs_left;
    ompi_request_t *ping_in, *pong_in, *echo_out[2];
    bool streaming;
    int arrived, gone;
    ompi_request_t *in[STREAM_BLOCKS], *out[STREAM_BLOCKS];
    char *buffer;
    double started;
    double echoes;       /* time of all that count */
    double ended[PARTS]; /* when the last block of a part was there */
} probe_t;

struct mca_coll_pipering_setup_t {
    ompi_communicator_t *comm;
    int size, rank;
    int tag;
    int error;
    stage_t stage;
    bool alike;
    int *node_of;
    int nodes;
    record_t *record; /* [p] of rank (me + i) mod p */
    int distance;     /* of the dissemination, 0: not begun */
    ompi_request_t *tell[2];
    bool want[KINDS]; /* costs that the user does not give */
    int neighbour[KINDS][2];
    record_t mine;
    double link[KINDS][FIELDS];
    probe_t probe;
    double began;
};

static double now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double) ts.tv_sec + 1e-9 * (double) ts.tv_nsec;
}

/* ---- messages ---- */

static void fail(mca_coll_pipering_setup_t *setup, int rc)
{
    if (OMPI_SUCCESS != rc && OMPI_SUCCESS == setup->error) {
        setup->error = rc;
    }
}

static void post(mca_coll_pipering_setup_t *setup, void *buffer, size_t size, int peer, int tag,
                 bool out, ompi_request_t **request)
{
    *request = MPI_REQUEST_NULL;
    fail(setup, out ? MCA_PML_CALL(isend(buffer, size, MPI_BYTE, peer, setup->tag - tag,
                                         MCA_PML_BASE_SEND_STANDARD, setup->comm, request))
                    : MCA_PML_CALL(irecv(buffer, size, MPI_BYTE, peer, setup->tag - tag,
                                         setup->comm, request)));
}

/* Frees a completed request; true if it is done with, or never was. */
static bool finished(mca_coll_pipering_setup_t *setup, ompi_request_t **request)
{
    if (MPI_REQUEST_NULL == *request) {
        return true;
    }
    if (!REQUEST_COMPLETE(*request)) {
        return false;
    }
    fail(setup, (*request)->req_status.MPI_ERROR);
    ompi_request_free(request);
    *request = MPI_REQUEST_NULL;
    return true;
}

/* ---- telling all ---- */

static void begin_telling(mca_coll_pipering_setup_t *setup)
{
    setup->record[0] = setup->mine;
    setup->distance = 0;
}

/*
 * Round by round each rank hands all it has to the rank `distance` below. Both
 * requests are looked at, as either can be the last.
 */
static bool told(mca_coll_pipering_setup_t *setup)
{
    const bool sent = finished(setup, &setup->tell[0]);

    if (!finished(setup, &setup->tell[1]) || !sent) {
        return false;
    }
    setup->distance = 0 == setup->distance ? 1 : 2 * setup->distance;
    if (setup->distance >= setup->size) {
        return true;
    }

    const int have = setup->distance, lack = setup->size - have;
    const size_t size = (size_t) (have < lack ? have : lack) * sizeof(record_t);
    post(setup, setup->record + have, size, (setup->rank + have) % setup->size, TAG_TELL, false,
         &setup->tell[0]);
    post(setup, setup->record, size, (setup->rank - have + setup->size) % setup->size, TAG_TELL,
         true, &setup->tell[1]);
    return false;
}

static const record_t *record_of(const mca_coll_pipering_setup_t *setup, int rank)
{
    return &setup->record[(rank - setup->rank + setup->size) % setup->size];
}

/* ---- who is where ---- */

/* The lowest rank on my node, as far as I see; a process that is not known here is elsewhere. */
static int32_t lowest_on_node(ompi_communicator_t *comm)
{
    for (int r = 0; r < ompi_comm_size(comm); ++r) {
        ompi_proc_t *proc = ompi_group_get_proc_ptr_raw(comm->c_local_group, r);
        if (r == ompi_comm_rank(comm)
            || (!ompi_proc_is_sentinel(proc)
                && OPAL_PROC_ON_LOCAL_NODE(proc->super.proc_flags))) {
            return r;
        }
    }
    return ompi_comm_rank(comm);
}

/* Neighbours along the ring that keeps nodes together, per kind of link. */
static int find_neighbours(mca_coll_pipering_setup_t *setup)
{
    const int p = setup->size;
    const size_t ring_size = mca_coll_pipering_ring_size(p);
    mca_coll_pipering_ring_t ring;
    uint64_t *memory = calloc(1, (size_t) p * sizeof(uint64_t) + mca_coll_pipering_order_scratch(p)
                                     + ring_size);

    if (NULL == memory) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    char *scratch = (char *) (memory + p);
    mca_coll_pipering_ring_bind(&ring, p, scratch + mca_coll_pipering_order_scratch(p));
    mca_coll_pipering_order(&ring, setup->node_of, memory, MCA_COLL_PIPERING_ORDER_NODES, scratch);

    const int x = ring.position[setup->rank], node = ring.node[x];
    const int first = ring.first[node], last = ring.first[node + 1] - 1;
    const bool alone = first == last, whole = 1 == ring.nodes;
    setup->neighbour[NET][PREVIOUS] = whole || x != first ? -1 : ring.rank[(x + p - 1) % p];
    setup->neighbour[NET][NEXT] = whole || x != last ? -1 : ring.rank[(x + 1) % p];
    setup->neighbour[LOCAL][PREVIOUS] = alone ? -1 : ring.rank[x == first ? last : x - 1];
    setup->neighbour[LOCAL][NEXT] = alone ? -1 : ring.rank[x == last ? first : x + 1];
    setup->nodes = ring.nodes;
    free(memory);
    return OMPI_SUCCESS;
}

static int place_ranks(mca_coll_pipering_setup_t *setup)
{
    for (int r = 0; r < setup->size; ++r) {
        setup->node_of[r] = record_of(setup, r)->node;
        setup->alike &= record_of(setup, r)->arch == setup->mine.arch;
    }
    /* a rank is on the node that the lowest rank of its node says it is on */
    for (int r = 0; r < setup->size; ++r) {
        setup->node_of[r] = setup->node_of[setup->node_of[r]];
    }
    return find_neighbours(setup);
}

/* ---- what links cost ---- */

static int compare(const void *a, const void *b)
{
    const double x = *(const double *) a, y = *(const double *) b;
    return (x > y) - (x < y);
}

/* The median of a field over the ranks that know it. */
static double find_median(const mca_coll_pipering_setup_t *setup, int kind, int field,
                          double *values)
{
    const int needed = field <= BETA ? STREAMED : ECHOED;
    int known = 0;

    for (int i = 0; i < setup->size; ++i) {
        if (setup->record[i].known[kind] & needed) {
            values[known++] = setup->record[i].link[kind][field];
        }
    }
    if (0 == known) {
        return 0;
    }
    qsort(values, (size_t) known, sizeof(double), compare);
    return EAGER == field ? values[0] : values[known / 2];
}

static int take_costs(mca_coll_pipering_setup_t *setup)
{
    double *values = malloc((size_t) setup->size * sizeof(double));

    if (NULL == values) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    for (int kind = NET; kind < KINDS; ++kind) {
        for (int field = 0; field < FIELDS; ++field) {
            setup->link[kind][field] = find_median(setup, kind, field, values);
        }
    }
    free(values);
    return OMPI_SUCCESS;
}

/* Kinds of links that the communicator has and that somebody does not know. */
static void find_unknown(mca_coll_pipering_setup_t *setup)
{
    const bool exists[KINDS] = {setup->nodes > 1, setup->nodes < setup->size};

    for (int kind = NET; kind < KINDS; ++kind) {
        bool known = true;
        for (int i = 0; i < setup->size; ++i) {
            known &= WHOLLY == setup->record[i].known[kind];
        }
        setup->want[kind] = setup->want[kind] && exists[kind] && !known;
    }
}

/* ---- probe: echoes ---- */

static void begin_probe(mca_coll_pipering_setup_t *setup, int kind)
{
    probe_t *probe = &setup->probe;
    char *buffer = probe->buffer;

    memset(probe, 0, sizeof(*probe));
    probe->buffer = buffer;
    probe->peer[PREVIOUS] = setup->neighbour[kind][PREVIOUS];
    probe->peer[NEXT] = setup->neighbour[kind][NEXT];
    probe->pings_left = 0 > probe->peer[NEXT] ? 0 : ECHOES + 1;
    probe->pongs_left = 0 > probe->peer[PREVIOUS] ? 0 : ECHOES + 1;
    probe->ping_in = probe->pong_in = MPI_REQUEST_NULL;
    probe->echo_out[0] = probe->echo_out[1] = MPI_REQUEST_NULL;
    if (0 < probe->pongs_left) {
        post(setup, NULL, 0, probe->peer[PREVIOUS], TAG_PING, false, &probe->ping_in);
    }
    if (0 < probe->pings_left) {
        probe->started = now();
        post(setup, NULL, 0, probe->peer[NEXT], TAG_PONG, false, &probe->pong_in);
        post(setup, NULL, 0, probe->peer[NEXT], TAG_PING, true, &probe->echo_out[0]);
    }
    mca_coll_pipering_count(&mca_coll_pipering_component.counters.probes, 1);
}

static int answer_ping(mca_coll_pipering_setup_t *setup)
{
    probe_t *probe = &setup->probe;

    if (0 == probe->pongs_left || !finished(setup, &probe->ping_in)
        || !finished(setup, &probe->echo_out[1])) {
        return 0;
    }
    post(setup, NULL, 0, probe->peer[PREVIOUS], TAG_PONG, true, &probe->echo_out[1]);
    if (0 < --probe->pongs_left) {
        post(setup, NULL, 0, probe->peer[PREVIOUS], TAG_PING, false, &probe->ping_in);
    }
    return 1;
}

/* The first echo may set up a connection and does not count. */
static int take_pong(mca_coll_pipering_setup_t *setup)
{
    probe_t *probe = &setup->probe;

    if (0 == probe->pings_left || !finished(setup, &probe->pong_in)
        || !finished(setup, &probe->echo_out[0])) {
        return 0;
    }

    if (ECHOES >= probe->pings_left) {
        probe->echoes += now() - probe->started;
    }
    if (0 < --probe->pings_left) {
        probe->started = now();
        post(setup, NULL, 0, probe->peer[NEXT], TAG_PONG, false, &probe->pong_in);
        post(setup, NULL, 0, probe->peer[NEXT], TAG_PING, true, &probe->echo_out[0]);
    }
    return 1;
}

static int move_echoes(mca_coll_pipering_setup_t *setup)
{
    probe_t *probe = &setup->probe;
    const int steps = answer_ping(setup) + take_pong(setup);

    if (0 == probe->pings_left && 0 == probe->pongs_left && finished(setup, &probe->echo_out[0])
        && finished(setup, &probe->echo_out[1])) {
        probe->step = STREAM;
    }
    return steps;
}

/* ---- probe: streams ---- */

static size_t stream_bytes(int link)
{
    size_t bytes = 0;

    for (int i = 0; i < PARTS; ++i) {
        bytes += (size_t) parts[i].blocks * block_sizes[link][parts[i].size];
    }
    return bytes;
}

/* All is posted at once, so that the link never waits for this process. */
static void begin_stream(mca_coll_pipering_setup_t *setup, int link)
{
    probe_t *probe = &setup->probe;
    char *in = probe->buffer, *out = probe->buffer + stream_bytes(link);

    probe->streaming = true;
    for (int i = 0; i < STREAM_BLOCKS; ++i) {
        probe->in[i] = probe->out[i] = MPI_REQUEST_NULL;
    }
    for (int side = PREVIOUS; side <= NEXT; ++side) {
        for (int part = 0, i = 0; part < PARTS && 0 <= probe->peer[side]; ++part) {
            const size_t size = block_sizes[link][parts[part].size];
            for (int k = 0; k < parts[part].blocks; ++k, ++i) {
                if (PREVIOUS == side) {
                    post(setup, in, size, probe->peer[side], TAG_STREAM, false, &probe->in[i]);
                    in += size;
                } else {
                    post(setup, out, size, probe->peer[side], TAG_STREAM, true, &probe->out[i]);
                }
            }
        }
    }
}

static void note_arrival(probe_t *probe)
{
    int end = 0;

    ++probe->arrived;
    for (int part = 0; part < PARTS; ++part) {
        end += parts[part].blocks;
        if (probe->arrived == end) {
            probe->ended[part] = now();
        }
    }
}

static int move_stream(mca_coll_pipering_setup_t *setup, int link)
{
    probe_t *probe = &setup->probe;
    int steps = 0;

    if (!probe->streaming) {
        begin_stream(setup, link);
    }
    while (probe->arrived < STREAM_BLOCKS && finished(setup, &probe->in[probe->arrived])) {
        note_arrival(probe);
        ++steps;
    }
    while (probe->gone < STREAM_BLOCKS && finished(setup, &probe->out[probe->gone])) {
        ++probe->gone;
        ++steps;
    }
    if (probe->arrived == STREAM_BLOCKS && probe->gone == STREAM_BLOCKS) {
        probe->step = MEASURED;
    }
    return steps;
}

/*
 * Time of a block of the given size. A part is timed from the end of the part
 * before it to its own end: what delays the look at an arrival delays both.
 */
static double time_block(const probe_t *probe, int size)
{
    double time = 0;
    int blocks = 0;

    for (int part = 1; part < PARTS; ++part) {
        if (size == parts[part].size) {
            time += probe->ended[part] - probe->ended[part - 1];
            blocks += parts[part].blocks;
        }
    }
    return time / blocks;
}

/*
 * Bytes that are sent to a rank without asking, as far as it is known: ob1's
 * transport, less what a header may take.
 */
static double eager_to(ompi_communicator_t *comm, int rank)
{
    const char *pml = mca_pml_base_selected_component.pmlm_version.mca_component_name;
    ompi_proc_t *proc = ompi_comm_peer_lookup(comm, rank);

    if (0 != strcmp("ob1", pml)) {
        return 0;
    }
    mca_bml_base_endpoint_t *endpoint = mca_bml_base_get_endpoint(proc);
    if (NULL == endpoint || 0 == mca_bml_base_btl_array_get_size(&endpoint->btl_eager)) {
        return 0;
    }
    const mca_bml_base_btl_t *btl = mca_bml_base_btl_array_get_index(&endpoint->btl_eager, 0);
    return btl->btl->btl_eager_limit > 2 * HEADER ? (double) (btl->btl->btl_eager_limit - HEADER)
                                                  : 0;
}

/* What this rank saw: the link into it by streams, the one out of it by echoes. */
static void record_probe(mca_coll_pipering_setup_t *setup, int kind)
{
    const probe_t *probe = &setup->probe;
    double *link = setup->mine.link[kind];
    const double small = (double) block_sizes[kind][SMALL];
    const double large = (double) block_sizes[kind][LARGE];

    setup->mine.known[kind] = 0;
    if (0 <= probe->peer[PREVIOUS]) {
        const double time = time_block(probe, SMALL);
        setup->mine.known[kind] |= STREAMED;
        link[BETA] = fmax((time_block(probe, LARGE) - time) / (large - small), LEAST_BETA);
        link[GAP] = fmax(time - link[BETA] * small, LEAST_ALPHA);
    }
    if (0 <= probe->peer[NEXT]) {
        setup->mine.known[kind] |= ECHOED;
        link[ECHO_TIME] = probe->echoes / ECHOES;
        link[EAGER] = eager_to(setup->comm, probe->peer[NEXT]);
    }
}

static int move_probe(mca_coll_pipering_setup_t *setup, int kind)
{
    probe_t *probe = &setup->probe;

    if (NULL == probe->buffer) {
        probe->buffer = calloc(1, stream_bytes(kind) + block_sizes[kind][LARGE]);
        if (NULL == probe->buffer) {
            fail(setup, OMPI_ERR_OUT_OF_RESOURCE);
            return 0;
        }
        begin_probe(setup, kind);
    }

    const int steps = ECHO == probe->step ? move_echoes(setup) : move_stream(setup, kind);
    if (MEASURED == probe->step) {
        record_probe(setup, kind);
        free(probe->buffer);
        probe->buffer = NULL;
        ++setup->stage;
    }
    return steps;
}

/* ---- the stages ---- */

static void enter_stage(mca_coll_pipering_setup_t *setup, stage_t stage)
{
    if (PROBE_NET == stage && !setup->want[NET]) {
        stage = PROBE_LOCAL;
    }
    if (PROBE_LOCAL == stage && !setup->want[LOCAL]) {
        stage = AGREE;
    }
    if (AGREE == stage) {
        if (setup->want[NET] || setup->want[LOCAL]) {
            begin_telling(setup);
        } else {
            stage = READY;
        }
    }
    setup->stage = stage;
}

static void end_join(mca_coll_pipering_setup_t *setup)
{
    fail(setup, place_ranks(setup));
    fail(setup, take_costs(setup));
    if (OMPI_SUCCESS == setup->error) {
        find_unknown(setup);
        enter_stage(setup, PROBE_NET);
    }
}

/* The cost of measuring is no secret. */
static void report(const mca_coll_pipering_setup_t *setup)
{
    static const char *const names[KINDS] = {"between nodes", "inside nodes"};

    for (int kind = NET; kind < KINDS; ++kind) {
        const double *link = setup->link[kind];
        if (setup->want[kind] && 0 < mca_coll_pipering_component.verbose && 0 == setup->rank) {
            opal_output(mca_coll_pipering_component.output,
                        "coll/pipering: links %s measured for %s: gap %.2f us, beta %.4f ns/byte, "
                        "echo %.2f us, eager up to %.0f bytes; joining and "
                        "measuring took %.2f ms",
                        names[kind], setup->comm->c_name, 1e6 * link[GAP], 1e9 * link[BETA],
                        1e6 * link[ECHO_TIME], link[EAGER],
                        1e3 * (now() - setup->began));
        }
    }
}

static void end_agree(mca_coll_pipering_setup_t *setup)
{
    mca_coll_pipering_component_t *component = &mca_coll_pipering_component;

    fail(setup, take_costs(setup));
    if (OMPI_SUCCESS != setup->error) {
        return;
    }
    for (int kind = NET; kind < KINDS; ++kind) {
        if (setup->want[kind]) {
            component->links[kind].known = true;
            memcpy(component->links[kind].fields, setup->link[kind], sizeof(setup->link[kind]));
        }
    }
    report(setup);
    setup->stage = READY;
}

int mca_coll_pipering_setup_progress(mca_coll_pipering_setup_t *setup)
{
    const stage_t stage = setup->stage;
    int steps = 0;

    if (READY == stage || OMPI_SUCCESS != setup->error) {
        return 0;
    }
    if (JOIN == stage && told(setup)) {
        end_join(setup);
    } else if (AGREE == stage && told(setup)) {
        end_agree(setup);
    } else if (PROBE_NET == stage || PROBE_LOCAL == stage) {
        steps = move_probe(setup, PROBE_NET == stage ? NET : LOCAL);
        if (stage != setup->stage) {
            enter_stage(setup, setup->stage);
        }
    }
    return steps + (stage != setup->stage);
}

int mca_coll_pipering_setup_start(mca_coll_pipering_module_t *module, ompi_communicator_t *comm,
                                  const mca_coll_pipering_params_t *params)
{
    const mca_coll_pipering_component_t *component = &mca_coll_pipering_component;
    const size_t p = (size_t) ompi_comm_size(comm);
    mca_coll_pipering_setup_t *setup = calloc(1, sizeof(*setup));

    if (NULL == setup) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    setup->record = calloc(p, sizeof(record_t));
    setup->node_of = calloc(p, sizeof(int));
    if (NULL == setup->record || NULL == setup->node_of) {
        mca_coll_pipering_setup_free(setup);
        return OMPI_ERR_OUT_OF_RESOURCE;
    }

    setup->comm = comm;
    setup->size = (int) p;
    setup->rank = ompi_comm_rank(comm);
    setup->tag = ompi_coll_base_nbc_reserve_tags(comm, TAGS);
    setup->error = OMPI_SUCCESS;
    setup->alike = true;
    setup->tell[0] = setup->tell[1] = MPI_REQUEST_NULL;
    setup->want[NET] = !(0 < params->alpha && 0 < params->beta);
    setup->want[LOCAL] = !(0 < params->local_alpha && 0 < params->local_beta);
    setup->mine = (record_t){.node = lowest_on_node(comm),
                             .arch = opal_local_arch};
    for (int kind = NET; kind < KINDS; ++kind) {
        setup->mine.known[kind] = component->links[kind].known ? WHOLLY : 0;
        memcpy(setup->mine.link[kind], component->links[kind].fields,
               sizeof(setup->mine.link[kind]));
    }
    setup->began = now();
    begin_telling(setup);
    setup->stage = JOIN;
    module->setup = setup;
    return OMPI_SUCCESS;
}

bool mca_coll_pipering_setup_ready(const mca_coll_pipering_setup_t *setup)
{
    return READY == setup->stage;
}

int mca_coll_pipering_setup_error(const mca_coll_pipering_setup_t *setup)
{
    return setup->error;
}

bool mca_coll_pipering_setup_alike(const mca_coll_pipering_setup_t *setup)
{
    return setup->alike;
}

const int *mca_coll_pipering_setup_node_of(const mca_coll_pipering_setup_t *setup)
{
    return setup->node_of;
}

/* A given alpha is the paper's: all that a block costs besides its bytes, in a row with them. */
static mca_coll_pipering_link_cost_t cost_of(const double *link, double alpha, double beta)
{
    const bool given = 0 < alpha;
    const double measured = fmax(fmax(link[GAP], link[ECHO_TIME] / 2), LEAST_ALPHA);

    return (mca_coll_pipering_link_cost_t){.alpha = given ? alpha : measured,
                                           .beta = 0 < beta ? beta : fmax(link[BETA], LEAST_BETA),
                                           .latency = given ? 0 : measured,
                                           .handshake = 4 * link[ECHO_TIME],
                                           .eager = link[EAGER],
                                           .overlap = !given};
}

mca_coll_pipering_cost_t mca_coll_pipering_setup_cost(const mca_coll_pipering_setup_t *setup,
                                                      const mca_coll_pipering_params_t *params)
{
    return (mca_coll_pipering_cost_t){
        .net = cost_of(setup->link[NET], params->alpha, params->beta),
        .local = cost_of(setup->link[LOCAL], params->local_alpha, params->local_beta)};
}

void mca_coll_pipering_setup_free(mca_coll_pipering_setup_t *setup)
{
    if (NULL != setup) {
        free(setup->probe.buffer);
        free(setup->record);
        free(setup->node_of);
        free(setup);
    }
}

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
 * of small records, ceil(log2 p) rounds. What a probe finds serves the whole job:
 *
 *     alpha          half of an echo, at least the gap: in a stream small blocks
 *                    are handled by the dozen, in the ring they are not
 *     latency        the same again, on the way from one link to the next
 *     handshake      an echo, for blocks that the transport does not send without
 *                    asking; four with TCP, where asking and answering wait behind
 *                    what is queued on busy links
 *
 * Costs that the user gives are not measured; the eager bound is looked up all the same.
 */

#include "coll_pipering.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coll_pipering_probe.h"
#include "ompi/group/group.h"
#include "ompi/proc/proc.h"
#include "opal/mca/hwloc/hwloc-internal.h"
#include "opal/util/arch.h"
#include "opal/util/output.h"

enum {
    NET = MCA_COLL_PIPERING_NET,
    LOCAL = MCA_COLL_PIPERING_LOCAL,
    KINDS = MCA_COLL_PIPERING_KINDS,
    FIELDS = MCA_COLL_PIPERING_FIELDS
};
enum { PREVIOUS, NEXT };

/* A cost is never nothing. */
#define LEAST_ALPHA 1e-7
#define LEAST_BETA 1e-12

/* What a handshake takes with TCP. */
#define TCP_ECHOES 4

/*
 * A block on the wire: with the headers of ob1 and the BTL, in packets of TCP over
 * Ethernet (with larger frames it only ends at other places than it could).
 */
#define ENVELOPE 32
#define PACKET 1448
#define FRAME 66

typedef struct {
    int32_t node;         /* lowest rank on my node */
    uint32_t arch;        /* data representation */
    int32_t processors;   /* of my node */
    double combine;       /* seconds a byte */
    int32_t known[KINDS]; /* what of the next is */
    double link[KINDS][FIELDS];
} record_t;

typedef enum { JOIN, PROBE_NET, PROBE_LOCAL, AGREE, READY } stage_t;

struct mca_coll_pipering_setup_t {
    mca_coll_pipering_wire_t wire;
    int size, rank;
    stage_t stage;
    bool alike;
    int *node_of;
    int nodes;
    double load;    /* most ranks per processor on a node */
    double combine; /* seconds a byte */
    record_t *record; /* [p] of rank (me + i) mod p */
    int distance;     /* of the dissemination, 0: not begun */
    ompi_request_t *tell[2];
    double given[KINDS]; /* alpha if the user gives it with beta, else 0 */
    bool want[KINDS];    /* to be agreed on ... */
    bool measure[KINDS]; /* ... and measured before */
    int neighbour[KINDS][2];
    record_t mine;
    double link[KINDS][FIELDS];
    mca_coll_pipering_probe_t *probe;
    double began;
};

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
    const bool sent = mca_coll_pipering_wire_finished(&setup->wire, &setup->tell[0]);

    if (!mca_coll_pipering_wire_finished(&setup->wire, &setup->tell[1]) || !sent) {
        return false;
    }
    setup->distance = 0 == setup->distance ? 1 : 2 * setup->distance;
    if (setup->distance >= setup->size) {
        return true;
    }

    const int have = setup->distance, lack = setup->size - have;
    const size_t size = (size_t) (have < lack ? have : lack) * sizeof(record_t);
    mca_coll_pipering_wire_recv(&setup->wire, setup->record + have, size,
                                (setup->rank + have) % setup->size, MCA_COLL_PIPERING_TAG_TELL,
                                &setup->tell[0]);
    mca_coll_pipering_wire_send(&setup->wire, setup->record, size,
                                (setup->rank - have + setup->size) % setup->size,
                                MCA_COLL_PIPERING_TAG_TELL, &setup->tell[1]);
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

/* Ranks per processor, where there are most. */
static double find_load(const mca_coll_pipering_setup_t *setup,
                        const mca_coll_pipering_ring_t *ring)
{
    double most = 0;

    for (int node = 0; node < ring->nodes; ++node) {
        const int first = ring->first[node], ranks = ring->first[node + 1] - first;
        const int32_t processors = record_of(setup, setup->node_of[ring->rank[first]])->processors;
        most = fmax(most, (double) ranks / processors);
    }
    return most;
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
    setup->load = find_load(setup, &ring);
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

/* The median of a field over the ranks that know it; the least where it is a bound. */
static double find_median(const mca_coll_pipering_setup_t *setup, int kind, int field,
                          double *values)
{
    const bool streamed = MCA_COLL_PIPERING_GAP == field || MCA_COLL_PIPERING_BETA == field;
    const int needed = streamed ? MCA_COLL_PIPERING_STREAMED : MCA_COLL_PIPERING_ECHOED;
    int known = 0;

    for (int i = 0; i < setup->size; ++i) {
        if (setup->record[i].known[kind] & needed) {
            values[known++] = setup->record[i].link[kind][field];
        }
    }
    if (0 == known) {
        return 0;
    }
    qsort(values, (size_t) known, sizeof(double), mca_coll_pipering_compare);
    return MCA_COLL_PIPERING_EAGER <= field ? values[0] : values[known / 2];
}

static int take_costs(mca_coll_pipering_setup_t *setup)
{
    double *values = malloc((size_t) setup->size * sizeof(double));

    if (NULL == values) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    for (int i = 0; i < setup->size; ++i) {
        values[i] = setup->record[i].combine;
    }
    qsort(values, (size_t) setup->size, sizeof(double), mca_coll_pipering_compare);
    setup->combine = values[setup->size / 2];
    for (int kind = NET; kind < KINDS; ++kind) {
        for (int field = 0; field < FIELDS; ++field) {
            setup->link[kind][field] = find_median(setup, kind, field, values);
        }
    }
    free(values);
    return OMPI_SUCCESS;
}

/* In place of a probe: what the given alpha means for an echo, and the transport's bound. */
static void take_given(mca_coll_pipering_setup_t *setup, int kind)
{
    const int next = setup->neighbour[kind][NEXT];

    setup->mine.known[kind] &= ~MCA_COLL_PIPERING_ECHOED;
    if (0 <= next) {
        setup->mine.known[kind] |= MCA_COLL_PIPERING_ECHOED;
        setup->mine.link[kind][MCA_COLL_PIPERING_ECHO] = 2 * setup->given[kind];
        mca_coll_pipering_look_up(setup->wire.comm, next, setup->mine.link[kind]);
    }
}

/* Kinds of links that the communicator has and that somebody does not know. */
static void find_unknown(mca_coll_pipering_setup_t *setup)
{
    const bool exists[KINDS] = {setup->nodes > 1, setup->nodes < setup->size};

    for (int kind = NET; kind < KINDS; ++kind) {
        bool known = true;
        for (int i = 0; i < setup->size; ++i) {
            known &= MCA_COLL_PIPERING_WHOLLY == setup->record[i].known[kind];
        }
        setup->want[kind] = exists[kind] && (!known || 0 < setup->given[kind]);
        setup->measure[kind] = setup->want[kind] && 0 == setup->given[kind];
        if (setup->want[kind] && !setup->measure[kind]) {
            take_given(setup, kind);
        }
    }
}

/* ---- the stages ---- */

static void enter_stage(mca_coll_pipering_setup_t *setup, stage_t stage)
{
    if (PROBE_NET == stage && !setup->measure[NET]) {
        stage = PROBE_LOCAL;
    }
    if (PROBE_LOCAL == stage && !setup->measure[LOCAL]) {
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

static int move_probe(mca_coll_pipering_setup_t *setup, int kind)
{
    if (NULL == setup->probe) {
        setup->probe = mca_coll_pipering_probe_new(&setup->wire, kind,
                                                   setup->neighbour[kind][PREVIOUS],
                                                   setup->neighbour[kind][NEXT]);
    }
    if (NULL == setup->probe) {
        mca_coll_pipering_wire_fail(&setup->wire, OMPI_ERR_OUT_OF_RESOURCE);
        return 0;
    }

    const int steps = mca_coll_pipering_probe_progress(setup->probe);
    if (mca_coll_pipering_probe_done(setup->probe)) {
        setup->mine.known[kind] = mca_coll_pipering_probe_result(setup->probe,
                                                                 setup->mine.link[kind]);
        mca_coll_pipering_probe_free(setup->probe);
        setup->probe = NULL;
        enter_stage(setup, NET == kind ? PROBE_LOCAL : AGREE);
    }
    return steps;
}

static void end_join(mca_coll_pipering_setup_t *setup)
{
    mca_coll_pipering_wire_fail(&setup->wire, place_ranks(setup));
    mca_coll_pipering_wire_fail(&setup->wire, take_costs(setup));
    if (OMPI_SUCCESS == setup->wire.error) {
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
        if (setup->measure[kind] && 0 < mca_coll_pipering_component.verbose && 0 == setup->rank) {
            opal_output(mca_coll_pipering_component.output,
                        "coll/pipering: links %s measured for %s: gap %.2f us, beta %.4f ns/byte, "
                        "echo %.2f us, eager up to %.0f bytes; joining and "
                        "measuring took %.2f ms",
                        names[kind], setup->wire.comm->c_name, 1e6 * link[MCA_COLL_PIPERING_GAP],
                        1e9 * link[MCA_COLL_PIPERING_BETA],
                        1e6 * link[MCA_COLL_PIPERING_ECHO], link[MCA_COLL_PIPERING_EAGER],
                        1e3 * (mca_coll_pipering_now() - setup->began));
        }
    }
}

static void end_agree(mca_coll_pipering_setup_t *setup)
{
    mca_coll_pipering_component_t *component = &mca_coll_pipering_component;

    mca_coll_pipering_wire_fail(&setup->wire, take_costs(setup));
    if (OMPI_SUCCESS != setup->wire.error) {
        return;
    }
    for (int kind = NET; kind < KINDS; ++kind) {
        if (setup->measure[kind]) {
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

    if (READY == stage || OMPI_SUCCESS != setup->wire.error) {
        return 0;
    }
    if (JOIN == stage && told(setup)) {
        end_join(setup);
    } else if (AGREE == stage && told(setup)) {
        end_agree(setup);
    } else if (PROBE_NET == stage || PROBE_LOCAL == stage) {
        steps = move_probe(setup, PROBE_NET == stage ? NET : LOCAL);
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
    setup->tell[0] = setup->tell[1] = MPI_REQUEST_NULL;
    setup->record = calloc(p, sizeof(record_t));
    setup->node_of = calloc(p, sizeof(int));
    if (NULL == setup->record || NULL == setup->node_of) {
        mca_coll_pipering_setup_free(setup);
        return OMPI_ERR_OUT_OF_RESOURCE;
    }

    setup->wire.comm = comm;
    setup->size = (int) p;
    setup->rank = ompi_comm_rank(comm);
    /* once for a communicator; nonblocking calls set it up, and open hops, beside others */
    setup->wire.tag = ompi_coll_base_nbc_reserve_tags(comm, MCA_COLL_PIPERING_TAGS);
    setup->wire.error = OMPI_SUCCESS;
    setup->alike = true;
    setup->given[NET] = 0 < params->beta ? params->alpha : 0;
    setup->given[LOCAL] = 0 < params->local_beta ? params->local_alpha : 0;
    setup->mine = (record_t){.node = lowest_on_node(comm),
                             .arch = opal_local_arch,
                             .processors = (int32_t) fmax(1, sysconf(_SC_NPROCESSORS_ONLN)),
                             .combine = mca_coll_pipering_combine_cost()};
    for (int kind = NET; kind < KINDS; ++kind) {
        setup->mine.known[kind] = component->links[kind].known ? MCA_COLL_PIPERING_WHOLLY : 0;
        memcpy(setup->mine.link[kind], component->links[kind].fields,
               sizeof(setup->mine.link[kind]));
    }
    setup->began = mca_coll_pipering_now();
    begin_telling(setup);
    setup->stage = JOIN;
    module->setup = setup;
    mca_coll_pipering_hops_init(&module->hops, &setup->wire);
    return OMPI_SUCCESS;
}

bool mca_coll_pipering_setup_ready(const mca_coll_pipering_setup_t *setup)
{
    return READY == setup->stage;
}

int mca_coll_pipering_setup_error(const mca_coll_pipering_setup_t *setup)
{
    return setup->wire.error;
}

bool mca_coll_pipering_setup_alike(const mca_coll_pipering_setup_t *setup)
{
    return setup->alike;
}

const int *mca_coll_pipering_setup_node_of(const mca_coll_pipering_setup_t *setup)
{
    return setup->node_of;
}

int mca_coll_pipering_setup_nodes(const mca_coll_pipering_setup_t *setup)
{
    return setup->nodes;
}

double mca_coll_pipering_setup_combine(const mca_coll_pipering_setup_t *setup)
{
    return setup->combine * fmax(1, setup->load);
}

double mca_coll_pipering_setup_load(const mca_coll_pipering_setup_t *setup)
{
    return setup->load;
}

/* A given alpha is the paper's: all that a block costs besides its bytes, in a row with them. */
static mca_coll_pipering_link_cost_t cost_of(const double *link, double alpha, double beta)
{
    const bool given = 0 < alpha;
    const double handling = fmax(link[MCA_COLL_PIPERING_GAP], link[MCA_COLL_PIPERING_ECHO] / 2);
    const double wire = fmax(link[MCA_COLL_PIPERING_BETA], LEAST_BETA);
    mca_coll_pipering_link_cost_t cost = {.alpha = given ? alpha : fmax(handling, LEAST_ALPHA),
                                          .gap = given ? alpha
                                                       : fmax(link[MCA_COLL_PIPERING_GAP],
                                                              LEAST_ALPHA),
                                          .beta = 0 < beta ? beta : wire,
                                          .handshake = link[MCA_COLL_PIPERING_ECHO],
                                          .eager = link[MCA_COLL_PIPERING_EAGER],
                                          .overlap = !given};

    if (!given) {
        cost.latency = cost.alpha;
        cost.envelope = ENVELOPE;
    }
    if (0 < link[MCA_COLL_PIPERING_TCP]) {
        cost.handshake *= TCP_ECHOES;
        cost.packet = given ? 0 : PACKET;
        cost.frame = given ? 0 : FRAME;
    }
    return cost;
}

mca_coll_pipering_cost_t mca_coll_pipering_setup_cost(const mca_coll_pipering_setup_t *setup,
                                                      const mca_coll_pipering_params_t *params)
{
    return (mca_coll_pipering_cost_t){
        .net = cost_of(setup->link[NET], params->alpha, params->beta),
        .local = cost_of(setup->link[LOCAL], params->local_alpha, params->local_beta)};
}

/* After a failure messages may still come in: what they go into is kept for ever. */
static bool is_pending(const mca_coll_pipering_setup_t *setup)
{
    return OMPI_SUCCESS != setup->wire.error
           && (NULL != setup->probe || MPI_REQUEST_NULL != setup->tell[0]
               || MPI_REQUEST_NULL != setup->tell[1]);
}

void mca_coll_pipering_setup_free(mca_coll_pipering_setup_t *setup)
{
    if (NULL != setup && !is_pending(setup)) {
        mca_coll_pipering_probe_free(setup->probe);
        free(setup->record);
        free(setup->node_of);
        free(setup);
    }
}

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
 * The probe of coll_pipering_probe.h: echoes, then a stream.
 *
 *     gap + beta s   time per block in a stream of blocks of s bytes; parts of
 *                    two sizes follow each other and give both
 *     echo           time of a message of no bytes to the next rank and back, the lower
 *                    quartile
 *     eager, tcp     what the transport sends without asking, and whether it is TCP,
 *                    where the PML is ob1
 *
 * All links of the ring are measured at the same time, as the ring uses them.
 * The cost is bounded: 9 echoes and one stream a link, of 328 KiB between nodes
 * and 1.3 MiB inside.
 */

#include "coll_pipering_probe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "coll_pipering.h"
#include "ompi/mca/bml/base/base.h"
#include "ompi/mca/bml/bml.h"
#include "ompi/mca/pml/base/base.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/op/op.h"

enum { SMALL, LARGE, SIZES };
enum { PREVIOUS, NEXT };

/* Echoes that count. */
#define ECHOES 8

/* Blocks of a stream: so small that only their number counts, and mostly bytes. */
static const size_t block_sizes[MCA_COLL_PIPERING_KINDS][SIZES]
    = {[MCA_COLL_PIPERING_NET] = {64, 16 * 1024}, [MCA_COLL_PIPERING_LOCAL] = {64, 64 * 1024}};

/* A stream: the first part fills the link, the others are timed. */
static const struct {
    int size;
    int blocks;
} parts[] = {{LARGE, 4}, {SMALL, 64}, {LARGE, 8}, {SMALL, 64}, {LARGE, 8}};
#define PARTS ((int) (sizeof(parts) / sizeof(parts[0])))
#define STREAM_BLOCKS 148

/* Costs that are put down to noise of the clock. */
#define LEAST_GAP 1e-7
#define LEAST_BETA 1e-12

/* Doubles that are combined to see what that takes, and how often. */
#define COMBINED 2048
#define COMBINE_TIMES 5

/* More than any header of ob1. */
#define HEADER 256

struct mca_coll_pipering_probe_t {
    mca_coll_pipering_wire_t *wire;
    enum { ECHO, STREAM, MEASURED } step;
    int kind;
    int peer[2]; /* neighbours, -1: none */
    int pings_left, pongs_left;
    ompi_request_t *ping_in, *pong_in, *ping_out, *pong_out;
    bool streaming;
    int arrived, gone;
    ompi_request_t *in[STREAM_BLOCKS], *out[STREAM_BLOCKS];
    double started;
    double echo[ECHOES]; /* times, in order of arrival */
    double ended[PARTS]; /* when the last block of a part was there */
    char buffer[];       /* what comes in, and a block that goes out */
};

/* ---- messages ---- */

double mca_coll_pipering_now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double) ts.tv_sec + 1e-9 * (double) ts.tv_nsec;
}

/* The least of several, since all else is other work. */
static double measure_combining(void)
{
    double vectors[2 * COMBINED] = {0}, least = 1;

    for (int i = 0; i < COMBINE_TIMES; ++i) {
        const double start = mca_coll_pipering_now();
        ompi_op_reduce(MPI_SUM, vectors, vectors + COMBINED, COMBINED, MPI_DOUBLE);
        least = fmin(least, mca_coll_pipering_now() - start);
    }
    return fmax(least / (COMBINED * sizeof(double)), LEAST_BETA);
}

double mca_coll_pipering_combine_cost(void)
{
    static double cost;

    if (0 == cost) {
        cost = measure_combining();
    }
    return cost;
}

int mca_coll_pipering_compare(const void *a, const void *b)
{
    const double x = *(const double *) a, y = *(const double *) b;
    return (x > y) - (x < y);
}

void mca_coll_pipering_wire_fail(mca_coll_pipering_wire_t *wire, int rc)
{
    if (OMPI_SUCCESS == wire->error) {
        wire->error = rc;
    }
}

void mca_coll_pipering_wire_send(mca_coll_pipering_wire_t *wire, void *buffer, size_t size,
                                 int peer, int tag, ompi_request_t **request)
{
    *request = MPI_REQUEST_NULL;
    mca_coll_pipering_wire_fail(wire,
                                MCA_PML_CALL(isend(buffer, size, MPI_BYTE, peer, wire->tag - tag,
                                                   MCA_PML_BASE_SEND_STANDARD, wire->comm,
                                                   request)));
}

void mca_coll_pipering_wire_recv(mca_coll_pipering_wire_t *wire, void *buffer, size_t size,
                                 int peer, int tag, ompi_request_t **request)
{
    *request = MPI_REQUEST_NULL;
    mca_coll_pipering_wire_fail(wire, MCA_PML_CALL(irecv(buffer, size, MPI_BYTE, peer,
                                                         wire->tag - tag, wire->comm, request)));
}

bool mca_coll_pipering_wire_finished(mca_coll_pipering_wire_t *wire, ompi_request_t **request)
{
    if (MPI_REQUEST_NULL == *request) {
        return true;
    }
    if (!mca_common_irregular_is_over(*request)) {
        return false;
    }
    mca_coll_pipering_wire_fail(wire, (*request)->req_status.MPI_ERROR);
    ompi_request_free(request);
    *request = MPI_REQUEST_NULL;
    return true;
}

static bool finished(mca_coll_pipering_probe_t *probe, ompi_request_t **request)
{
    return mca_coll_pipering_wire_finished(probe->wire, request);
}

/* ---- echoes ---- */

static void send_ping(mca_coll_pipering_probe_t *probe)
{
    probe->started = mca_coll_pipering_now();
    mca_coll_pipering_wire_recv(probe->wire, NULL, 0, probe->peer[NEXT], MCA_COLL_PIPERING_TAG_PONG,
                                &probe->pong_in);
    mca_coll_pipering_wire_send(probe->wire, NULL, 0, probe->peer[NEXT], MCA_COLL_PIPERING_TAG_PING,
                                &probe->ping_out);
}

static void await_ping(mca_coll_pipering_probe_t *probe)
{
    mca_coll_pipering_wire_recv(probe->wire, NULL, 0, probe->peer[PREVIOUS],
                                MCA_COLL_PIPERING_TAG_PING, &probe->ping_in);
}

static int answer_ping(mca_coll_pipering_probe_t *probe)
{
    if (0 == probe->pongs_left || !finished(probe, &probe->ping_in)
        || !finished(probe, &probe->pong_out)) {
        return 0;
    }
    mca_coll_pipering_wire_send(probe->wire, NULL, 0, probe->peer[PREVIOUS],
                                MCA_COLL_PIPERING_TAG_PONG, &probe->pong_out);
    if (0 < --probe->pongs_left) {
        await_ping(probe);
    }
    return 1;
}

/* The first echo may set up a connection and does not count. */
static int take_pong(mca_coll_pipering_probe_t *probe)
{
    if (0 == probe->pings_left || !finished(probe, &probe->pong_in)
        || !finished(probe, &probe->ping_out)) {
        return 0;
    }
    if (ECHOES >= probe->pings_left) {
        probe->echo[ECHOES - probe->pings_left] = mca_coll_pipering_now() - probe->started;
    }
    if (0 < --probe->pings_left) {
        send_ping(probe);
    }
    return 1;
}

static int move_echoes(mca_coll_pipering_probe_t *probe)
{
    const int steps = answer_ping(probe) + take_pong(probe);

    if (0 == probe->pings_left && 0 == probe->pongs_left && finished(probe, &probe->ping_out)
        && finished(probe, &probe->pong_out)) {
        probe->step = STREAM;
    }
    return steps;
}

/* The lower quartile: a process that is not scheduled at once is no property of a link. */
static double usual_echo(const mca_coll_pipering_probe_t *probe)
{
    double sorted[ECHOES];

    memcpy(sorted, probe->echo, sizeof(sorted));
    qsort(sorted, ECHOES, sizeof(double), mca_coll_pipering_compare);
    return sorted[ECHOES / 4 - 1];
}

/* ---- the stream ---- */

static size_t stream_bytes(int kind)
{
    size_t bytes = 0;

    for (int i = 0; i < PARTS; ++i) {
        bytes += (size_t) parts[i].blocks * block_sizes[kind][parts[i].size];
    }
    return bytes;
}

static int part_of(int block)
{
    int part = 0;

    for (int end = parts[0].blocks; block >= end; end += parts[part].blocks) {
        ++part;
    }
    return part;
}

/* All is posted at once, so that the link never waits for this process. */
static void begin_stream(mca_coll_pipering_probe_t *probe)
{
    char *in = probe->buffer, *out = probe->buffer + stream_bytes(probe->kind);

    probe->streaming = true;
    for (int i = 0; i < STREAM_BLOCKS && 0 <= probe->peer[PREVIOUS]; ++i) {
        const size_t size = block_sizes[probe->kind][parts[part_of(i)].size];
        mca_coll_pipering_wire_recv(probe->wire, in, size, probe->peer[PREVIOUS],
                                    MCA_COLL_PIPERING_TAG_STREAM, &probe->in[i]);
        in += size;
    }
    for (int i = 0; i < STREAM_BLOCKS && 0 <= probe->peer[NEXT]; ++i) {
        mca_coll_pipering_wire_send(probe->wire, out,
                                    block_sizes[probe->kind][parts[part_of(i)].size],
                                    probe->peer[NEXT], MCA_COLL_PIPERING_TAG_STREAM,
                                    &probe->out[i]);
    }
}

static int move_stream(mca_coll_pipering_probe_t *probe)
{
    int steps = 0;

    if (!probe->streaming) {
        begin_stream(probe);
    }
    while (probe->arrived < STREAM_BLOCKS && finished(probe, &probe->in[probe->arrived])) {
        probe->ended[part_of(probe->arrived++)] = mca_coll_pipering_now();
        ++steps;
    }
    while (probe->gone < STREAM_BLOCKS && finished(probe, &probe->out[probe->gone])) {
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
static double time_block(const mca_coll_pipering_probe_t *probe, int size)
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

void mca_coll_pipering_look_up(ompi_communicator_t *comm, int rank, double *fields)
{
    const char *pml = mca_pml_base_selected_component.pmlm_version.mca_component_name;

    fields[MCA_COLL_PIPERING_EAGER] = fields[MCA_COLL_PIPERING_TCP] = 0;
    if (0 != strcmp("ob1", pml)) {
        return;
    }

    mca_bml_base_endpoint_t *endpoint = mca_bml_base_get_endpoint(
        ompi_comm_peer_lookup(comm, rank));
    if (NULL == endpoint || 0 == mca_bml_base_btl_array_get_size(&endpoint->btl_eager)) {
        return;
    }
    const struct mca_btl_base_module_t *btl
        = mca_bml_base_btl_array_get_index(&endpoint->btl_eager, 0)->btl;
    const char *name = btl->btl_component->btl_version.mca_component_name;
    fields[MCA_COLL_PIPERING_TCP] = 0 == strcmp("tcp", name);
    if (btl->btl_eager_limit > 2 * HEADER) {
        fields[MCA_COLL_PIPERING_EAGER] = (double) (btl->btl_eager_limit - HEADER);
    }
}

/* ---- the probe ---- */

mca_coll_pipering_probe_t *mca_coll_pipering_probe_new(mca_coll_pipering_wire_t *wire, int kind,
                                                       int previous, int next)
{
    mca_coll_pipering_probe_t *probe = calloc(1, sizeof(*probe) + stream_bytes(kind)
                                                     + block_sizes[kind][LARGE]);

    if (NULL == probe) {
        return NULL;
    }
    probe->wire = wire;
    probe->kind = kind;
    probe->peer[PREVIOUS] = previous;
    probe->peer[NEXT] = next;
    probe->ping_in = probe->pong_in = probe->ping_out = probe->pong_out = MPI_REQUEST_NULL;
    for (int i = 0; i < STREAM_BLOCKS; ++i) {
        probe->in[i] = probe->out[i] = MPI_REQUEST_NULL;
    }
    if (0 <= previous) {
        probe->pongs_left = ECHOES + 1;
        await_ping(probe);
    }
    if (0 <= next) {
        probe->pings_left = ECHOES + 1;
        send_ping(probe);
    }
    mca_common_irregular_count(&mca_coll_pipering_component.counters.probes, 1);
    return probe;
}

int mca_coll_pipering_probe_progress(mca_coll_pipering_probe_t *probe)
{
    if (ECHO == probe->step) {
        return move_echoes(probe);
    }
    return STREAM == probe->step ? move_stream(probe) : 0;
}

bool mca_coll_pipering_probe_done(const mca_coll_pipering_probe_t *probe)
{
    return MEASURED == probe->step;
}

int mca_coll_pipering_probe_result(const mca_coll_pipering_probe_t *probe,
                                   double fields[MCA_COLL_PIPERING_FIELDS])
{
    const double small = (double) block_sizes[probe->kind][SMALL];
    const double large = (double) block_sizes[probe->kind][LARGE];
    int known = 0;

    if (0 <= probe->peer[PREVIOUS]) {
        const double time = time_block(probe, SMALL);
        const double beta = (time_block(probe, LARGE) - time) / (large - small);
        known |= MCA_COLL_PIPERING_STREAMED;
        fields[MCA_COLL_PIPERING_BETA] = fmax(beta, LEAST_BETA);
        fields[MCA_COLL_PIPERING_GAP] = fmax(time - beta * small, LEAST_GAP);
    }
    if (0 <= probe->peer[NEXT]) {
        known |= MCA_COLL_PIPERING_ECHOED;
        fields[MCA_COLL_PIPERING_ECHO] = usual_echo(probe);
        mca_coll_pipering_look_up(probe->wire->comm, probe->peer[NEXT], fields);
    }
    return known;
}

void mca_coll_pipering_probe_free(mca_coll_pipering_probe_t *probe)
{
    free(probe);
}

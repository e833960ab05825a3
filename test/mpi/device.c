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
 * Collectives whose buffers are a device's on all ranks, on some, or on one side of the
 * call. The memory is that of accelerator_fake.c: whoever touches it directly dies.
 *
 *   CALL=bcast     only this one
 *   FORM=0         only blocking (0), nonblocking (1) or persistent (2) ones
 *   MOVES=1        no reductions
 *   SERVED=1       the components must have served every call
 */

#include "knob.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opal/constants.h"
#include "opal/mca/accelerator/accelerator.h"

enum { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };
enum { UNTOUCHED = -1, MOST = 64 };

/* ---- memory ---- */

/** A buffer of integers, and what it is to begin with, or what has been got from it. */
typedef struct buffer_t {
    size_t bytes;
    bool on_device;
    int *place; /**< what MPI gets */
    int *image; /**< on the host */
} buffer_t;

static buffer_t buffer_new(size_t ints, bool on_device)
{
    buffer_t b = {.bytes = ints * sizeof(int), .on_device = on_device};
    void *place;

    b.image = tap_memory(b.bytes);
    for (size_t i = 0; i < ints; i++) {
        b.image[i] = UNTOUCHED;
    }
    if (!on_device) {
        place = tap_memory(b.bytes);
    } else if (OPAL_SUCCESS != opal_accelerator.mem_alloc(0, &place, b.bytes)) {
        tap_bail("no device memory for %zu bytes", b.bytes);
    }
    b.place = place;
    return b;
}

static void buffer_free(buffer_t *b)
{
    if (b->on_device) {
        opal_accelerator.mem_release(0, b->place);
    } else {
        free(b->place);
    }
    free(b->image);
}

static void copy(void *to, const void *from, size_t bytes)
{
    opal_accelerator.mem_copy(MCA_ACCELERATOR_NO_DEVICE_ID, MCA_ACCELERATOR_NO_DEVICE_ID, to, from,
                              bytes, MCA_ACCELERATOR_TRANSFER_UNSPEC);
}

/* ---- datatypes ---- */

/** Elements of some integers, in blocks. */
typedef struct kind_t {
    const char *name;
    MPI_Datatype type;
    int ints;  /**< of an element ... */
    int block; /**< ... in blocks of so many ... */
    int step;  /**< ... that begin so many integers one after the other */
    MPI_Op op; /**< adds elements */
} kind_t;

static kind_t plain, blocks;

static int span(const kind_t *kind)
{
    return kind->ints / kind->block * kind->step;
}

/** Where integer k of many elements is. */
static int at(const kind_t *kind, int k)
{
    return k / kind->block * kind->step + k % kind->block;
}

/** Adds elements of `blocks`; MPI may call it with memory of the host only. */
static void add_blocks(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const int *more = in;
    int *sum = inout;

    (void) type;
    for (int k = 0; k < *count * blocks.ints; k++) {
        sum[at(&blocks, k)] += more[at(&blocks, k)];
    }
}

static void make_kinds(void)
{
    MPI_Datatype vector;

    plain = (kind_t){"integers", MPI_INT, 1, 1, 1, MPI_SUM};
    if (0 != tap_number("FLOATS", 0)) {
        /* subnormal ones, which add up as the integers do that have their bits */
        plain = (kind_t){"floats", MPI_FLOAT, 1, 1, 1, MPI_SUM};
    }
    blocks = (kind_t){.name = "blocks", .ints = 12, .block = 3, .step = 5};
    MPI_Type_vector(4, 3, 5, MPI_INT, &vector);
    MPI_Type_create_resized(vector, 0, 20 * sizeof(int), &blocks.type);
    MPI_Type_commit(&blocks.type);
    MPI_Type_free(&vector);
    MPI_Op_create(add_blocks, true, &blocks.op);
}

/* ---- jobs: a call with its buffers ---- */

typedef struct job_t {
    MPI_Comm comm;
    int rank, size;
    kind_t skind, rkind;
    int base; /**< contributions are of some times so many integers */
    bool in_place;
    buffer_t send, recv;
    int *want; /**< of recv in the end */
    bool judged;
    void *sbuf, *rbuf;                         /**< arguments of the call */
    int scount[MOST], rcount[MOST], sdispl[MOST], rdispl[MOST]; /**< in elements */
    MPI_Aint saint[MOST], raint[MOST];         /**< in bytes */
    int sbyte[MOST], rbyte[MOST];              /**< likewise */
    MPI_Datatype stype[MOST], rtype[MOST];
} job_t;

/** Integer k of what a rank has for another. */
static int item(int from, int to, int k)
{
    return 100000 * from + 1000 * to + k % 997;
}

static void put(int *image, const kind_t *kind, int displ, int count, int from, int to)
{
    for (int k = 0; k < count * kind->ints; k++) {
        image[displ * span(kind) + at(kind, k)] = item(from, to, k);
    }
}

/** Counts of parts and where these are, an element between them; the elements of all. */
static int place_parts(int parts, const int *ints, const kind_t *kind, int *count, int *displ)
{
    int end = 0;

    for (int i = 0; i < parts; i++) {
        count[i] = ints[i] / kind->ints;
        displ[i] = end;
        end += count[i] + 1;
    }
    return end;
}

/** Memory for so many elements; their images are untouched. */
static void take(job_t *job, int selements, int relements, bool sdevice, bool rdevice)
{
    const size_t ints = (size_t) (relements * span(&job->rkind) + 1);

    job->send = buffer_new((size_t) (selements * span(&job->skind) + 1), sdevice);
    job->recv = buffer_new(ints, rdevice);
    job->want = tap_memory(ints * sizeof(int));
    job->judged = true;
    job->sbuf = job->in_place ? MPI_IN_PLACE : job->send.place;
    job->rbuf = job->recv.place;
}

/** By now the image of recv is what it begins with; what is wanted begins likewise. */
static void want_as_is(job_t *job)
{
    memcpy(job->want, job->recv.image, job->recv.bytes);
}

static void prepare_gather(job_t *job, bool even, bool sdevice, bool rdevice)
{
    int ints[MOST] = {0};

    for (int r = 0; r < job->size; r++) {
        ints[r] = job->base * (even ? 1 : r % 3);
    }
    int elements = place_parts(job->size, ints, &job->rkind, job->rcount, job->rdispl);
    job->scount[0] = ints[job->rank] / job->skind.ints;
    if (even) {
        elements = job->size * job->rcount[0];
        for (int r = 0; r < job->size; r++) {
            job->rdispl[r] = r * job->rcount[0];
        }
    }
    take(job, job->scount[0], elements, sdevice, rdevice);
    put(job->send.image, &job->skind, 0, job->scount[0], job->rank, 0);
    if (job->in_place) {
        put(job->recv.image, &job->rkind, job->rdispl[job->rank], job->rcount[job->rank],
            job->rank, 0);
    }
    want_as_is(job);
    for (int r = 0; r < job->size; r++) {
        put(job->want, &job->rkind, job->rdispl[r], job->rcount[r], r, 0);
    }
}

static void prepare_allgatherv(job_t *job, bool sdevice, bool rdevice)
{
    prepare_gather(job, false, sdevice, rdevice);
}

static void prepare_allgather(job_t *job, bool sdevice, bool rdevice)
{
    prepare_gather(job, true, sdevice, rdevice);
}

static void prepare_bcast(job_t *job, bool sdevice, bool rdevice)
{
    const int root = job->size - 1;

    job->rcount[0] = job->base / job->rkind.ints;
    take(job, 0, job->rcount[0], sdevice, rdevice);
    if (root == job->rank) {
        put(job->recv.image, &job->rkind, 0, job->rcount[0], root, 0);
    }
    want_as_is(job);
    put(job->want, &job->rkind, 0, job->rcount[0], root, 0);
}

/** What ranks from 0 to `end` contribute, added up, if anything is to come here. */
static void prepare_fold(job_t *job, int end, bool sdevice, bool rdevice)
{
    const kind_t *kind = &job->rkind;

    job->rcount[0] = job->base / kind->ints;
    take(job, job->rcount[0], job->rcount[0], sdevice, rdevice);
    put(job->send.image, kind, 0, job->rcount[0], job->rank, 0);
    if (job->in_place) {
        put(job->recv.image, kind, 0, job->rcount[0], job->rank, 0);
    }
    want_as_is(job);
    for (int k = 0; 0 < end && k < job->rcount[0] * kind->ints; k++) {
        job->want[at(kind, k)] = item(end * (end - 1) / 2, 0, 0) + end * (k % 997);
    }
}

/** The receive buffer means something on the root alone. */
static void prepare_reduce(job_t *job, bool sdevice, bool rdevice)
{
    const bool is_root = 0 == job->rank;

    job->in_place &= is_root;
    prepare_fold(job, is_root ? job->size : 0, sdevice, rdevice);
    job->rbuf = is_root ? job->rbuf : NULL;
}

static void prepare_scan(job_t *job, bool sdevice, bool rdevice)
{
    prepare_fold(job, job->rank + 1, sdevice, rdevice);
}

static void prepare_exscan(job_t *job, bool sdevice, bool rdevice)
{
    prepare_fold(job, job->rank, sdevice, rdevice);
}

static void prepare_allreduce(job_t *job, bool sdevice, bool rdevice)
{
    prepare_fold(job, job->size, sdevice, rdevice);
}

/** One message to and from each of some peers, as many integers there and back. */
static void prepare_exchange(job_t *job, int peers, const int *peer, bool sdevice, bool rdevice)
{
    int ints[MOST] = {0};

    for (int i = 0; i < peers; i++) {
        ints[i] = job->base * ((job->rank + peer[i]) % 3);
        job->stype[i] = job->skind.type;
        job->rtype[i] = job->rkind.type;
    }
    const int selements = place_parts(peers, ints, &job->skind, job->scount, job->sdispl);
    const int relements = place_parts(peers, ints, &job->rkind, job->rcount, job->rdispl);
    take(job, selements, relements, sdevice, rdevice);
    for (int i = 0; i < peers; i++) {
        job->saint[i] = job->sbyte[i] = job->sdispl[i] * span(&job->skind) * (int) sizeof(int);
        job->raint[i] = job->rbyte[i] = job->rdispl[i] * span(&job->rkind) * (int) sizeof(int);
        put(job->send.image, &job->skind, job->sdispl[i], job->scount[i], job->rank, peer[i]);
        if (job->in_place) {
            put(job->recv.image, &job->rkind, job->rdispl[i], job->rcount[i], job->rank, peer[i]);
        }
    }
    want_as_is(job);
    for (int i = 0; i < peers; i++) {
        put(job->want, &job->rkind, job->rdispl[i], job->rcount[i], peer[i], job->rank);
    }
}

static void prepare_alltoall(job_t *job, bool sdevice, bool rdevice)
{
    int peer[MOST] = {0};

    for (int i = 0; i < job->size; i++) {
        peer[i] = i;
    }
    prepare_exchange(job, job->size, peer, sdevice, rdevice);
}

static void prepare_neighbors(job_t *job, bool sdevice, bool rdevice)
{
    const int peer[] = {(job->rank + job->size - 1) % job->size, (job->rank + 1) % job->size};

    prepare_exchange(job, 2, peer, sdevice, rdevice);
}

/* ---- the calls ---- */

/** A call in one of its forms; those that are not blocking give a request. */
#define CALL(name, iname, ...)                                                 \
    (BLOCKING == form      ? MPI_##name(__VA_ARGS__)                           \
     : NONBLOCKING == form ? MPI_##iname(__VA_ARGS__, request)                 \
                           : MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, request))

static int allgatherv(job_t *job, int form, MPI_Request *request)
{
    return CALL(Allgatherv, Iallgatherv, job->sbuf, job->scount[0], job->skind.type, job->rbuf,
                job->rcount, job->rdispl, job->rkind.type, job->comm);
}

static int allgather(job_t *job, int form, MPI_Request *request)
{
    return CALL(Allgather, Iallgather, job->sbuf, job->scount[0], job->skind.type, job->rbuf,
                job->rcount[0], job->rkind.type, job->comm);
}

static int bcast(job_t *job, int form, MPI_Request *request)
{
    return CALL(Bcast, Ibcast, job->rbuf, job->rcount[0], job->rkind.type, job->size - 1,
                job->comm);
}

static int reduce(job_t *job, int form, MPI_Request *request)
{
    return CALL(Reduce, Ireduce, job->sbuf, job->rbuf, job->rcount[0], job->rkind.type,
                job->rkind.op, 0, job->comm);
}

static int scan(job_t *job, int form, MPI_Request *request)
{
    return CALL(Scan, Iscan, job->sbuf, job->rbuf, job->rcount[0], job->rkind.type, job->rkind.op,
                job->comm);
}

static int exscan(job_t *job, int form, MPI_Request *request)
{
    return CALL(Exscan, Iexscan, job->sbuf, job->rbuf, job->rcount[0], job->rkind.type,
                job->rkind.op, job->comm);
}

static int allreduce(job_t *job, int form, MPI_Request *request)
{
    return CALL(Allreduce, Iallreduce, job->sbuf, job->rbuf, job->rcount[0], job->rkind.type,
                job->rkind.op, job->comm);
}

static int alltoallv(job_t *job, int form, MPI_Request *request)
{
    return CALL(Alltoallv, Ialltoallv, job->sbuf, job->scount, job->sdispl, job->skind.type,
                job->rbuf, job->rcount, job->rdispl, job->rkind.type, job->comm);
}

static int alltoallw(job_t *job, int form, MPI_Request *request)
{
    return CALL(Alltoallw, Ialltoallw, job->sbuf, job->scount, job->sbyte, job->stype, job->rbuf,
                job->rcount, job->rbyte, job->rtype, job->comm);
}

static int neighbor_alltoallw(job_t *job, int form, MPI_Request *request)
{
    return CALL(Neighbor_alltoallw, Ineighbor_alltoallw, job->sbuf, job->scount, job->saint,
                job->stype, job->rbuf, job->rcount, job->raint, job->rtype, job->comm);
}

typedef struct call_t {
    const char *name;
    void (*prepare)(job_t *job, bool sdevice, bool rdevice);
    int (*run)(job_t *job, int form, MPI_Request *request);
    bool in_place; /**< may be */
    bool alike;    /**< sends and receives the same kind of elements */
    bool reduces;
} call_t;

static const call_t calls[] = {{"allgatherv", prepare_allgatherv, allgatherv, true, false, false},
                               {"allgather", prepare_allgather, allgather, true, false, false},
                               {"bcast", prepare_bcast, bcast, false, true, false},
                               {"reduce", prepare_reduce, reduce, true, true, true},
                               {"scan", prepare_scan, scan, true, true, true},
                               {"exscan", prepare_exscan, exscan, true, true, true},
                               {"allreduce", prepare_allreduce, allreduce, true, true, true},
                               {"alltoallv", prepare_alltoall, alltoallv, true, false, false},
                               {"alltoallw", prepare_alltoall, alltoallw, true, false, false},
                               {"neighbor_alltoallw", prepare_neighbors, neighbor_alltoallw, false,
                                false, false}};
enum { CALLS = sizeof(calls) / sizeof(calls[0]) };

/* ---- tests ---- */

static const char *const form_names[FORMS] = {"", "nonblocking ", "persistent "};

/** Which buffers are on a device. */
enum { ALL, SOME_RANKS, SEND_ONLY, RECV_ONLY, PLACES };
static const char *const place_names[PLACES] = {"all buffers", "buffers of some ranks",
                                                "what is sent", "what comes"};

/** Runs a prepared call once, from its images; true if the result is right. */
static bool run_once(const call_t *call, job_t *job, int form, MPI_Request *request)
{
    int rc = MPI_SUCCESS;

    copy(job->send.place, job->send.image, job->send.bytes);
    copy(job->recv.place, job->recv.image, job->recv.bytes);
    if (PERSISTENT == form) {
        rc = MPI_Start(request);
    } else {
        rc = call->run(job, form, request);
    }
    if (BLOCKING != form && MPI_SUCCESS == rc) {
        rc = MPI_Wait(request, MPI_STATUS_IGNORE);
    }
    int *got = tap_memory(job->recv.bytes);
    copy(got, job->recv.place, job->recv.bytes);
    const bool right = MPI_SUCCESS == rc && 0 == memcmp(got, job->want, job->recv.bytes);
    free(got);
    return right;
}

static bool run_job(const call_t *call, job_t *job, int form)
{
    MPI_Request request = MPI_REQUEST_NULL;
    bool right = true;

    if (PERSISTENT == form) {
        right = MPI_SUCCESS == call->run(job, form, &request);
    }
    for (int turn = 0; right && turn < 2; turn++) {
        right = run_once(call, job, form, &request);
    }
    if (PERSISTENT == form && MPI_REQUEST_NULL != request) {
        MPI_Request_free(&request);
    }
    return right;
}

/** Calls that the components have served. */
static uint64_t served(void)
{
    return knob_counter("coll_pipering_calls") + knob_counters("coll_mleader_calls_")
           + knob_counter("coll_pipering_alltoall_calls");
}

static void try_call(const call_t *call, int form, const kind_t *skind, const kind_t *rkind,
                     bool in_place, int place, MPI_Comm comm)
{
    static const int bases[] = {120, 24000};
    const bool here = SOME_RANKS != place || 0 == tap_rank % 2;
    bool right = true;

    for (int i = 0; i < 2; i++) {
        job_t job = {.comm = comm,
                     .rank = tap_rank,
                     .size = tap_size,
                     .skind = *skind,
                     .rkind = *rkind,
                     .base = bases[i],
                     .in_place = in_place};
        call->prepare(&job, here && RECV_ONLY != place, here && SEND_ONLY != place);
        right &= run_job(call, &job, form);
        buffer_free(&job.send);
        buffer_free(&job.recv);
        free(job.want);
    }
    tap_check(right, NULL, "%s%s%s, %s as %s, %s on a device", form_names[form], call->name,
              in_place ? " in place" : "", skind->name, rkind->name, place_names[place]);
}

static void try_form(const call_t *call, int form, MPI_Comm comm)
{
    const uint64_t before = served();

    for (int place = 0; place < PLACES; place++) {
        for (int in_place = 0; in_place <= call->in_place; in_place++) {
            try_call(call, form, &plain, &plain, in_place, place, comm);
            try_call(call, form, &blocks, &blocks, in_place, place, comm);
            if (!call->alike) {
                try_call(call, form, &plain, &blocks, in_place, place, comm);
            }
        }
    }
    if (0 != tap_number("SERVED", 0)) {
        tap_check(before < served(), "no call was", "%s%s: served by a component",
                  form_names[form], call->name);
    }
}

int main(int argc, char **argv)
{
    const char *only = getenv("CALL");
    const long only_form = tap_number("FORM", -1);
    const bool moves = 0 != tap_number("MOVES", 0);
    const int periodic = 1;
    MPI_Comm circle;

    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    knob_begin();
    make_kinds();
    TAP_MPI(MPI_Cart_create(MPI_COMM_WORLD, 1, &tap_size, &periodic, false, &circle));
    for (int i = 0; i < CALLS; i++) {
        for (int form = 0; form < FORMS; form++) {
            if ((NULL == only || 0 == strcmp(only, calls[i].name))
                && (0 > only_form || form == only_form) && !(moves && calls[i].reduces)) {
                try_form(&calls[i], form, circle);
            }
        }
    }
    MPI_Comm_free(&circle);
    MPI_Type_free(&blocks.type);
    MPI_Op_free(&blocks.op);
    knob_end();
    return tap_end();
}

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
 * A gather inside a node by single copies: a schedule with one step, and without messages.
 *
 *     rank 0   notice: own at a..   reads 1, 2, 3    readers: 3 of 3, over
 *     rank 1   notice: own at b..   reads 2, 3, 0    readers: 2 of 3
 *     rank 2   notice: own at c..   reads 3, 0, 1 ...
 *
 * A rank puts up a notice (coll_pipering_board.h) that says where its contribution is, reads those
 * of the others, beginning with the next rank, so that no two read the same one at the same time,
 * and waits until all others have read its own. Of a contribution that is split
 * (coll_pipering_plan_pulls.h) it first reads a part, then the others' parts from these; its owner
 * writes its part to the others itself, since it would only wait. What is not there yet is passed
 * over: a rank that is late delays those who need what it has.
 *
 * A contribution that is not dense, or lies on a device, is packed before it is told. To such a
 * place one comes block by block through memory of the host; one that is split, as a whole.
 *
 * Where a rank cannot read another one's memory, it asks in the notice for a message. A rank that
 * cannot attach the board sends its contribution to all, and receives theirs: others look for its
 * message as long as they do not find it on the board. A rank that gives up says so in all notices,
 * and the others give up, too.
 *
 * Cost: a copy of each byte a rank receives, and of each of its own to the receive buffer; one read
 * of a notice for each rank, and one atomic addition. Limits: ranks of one job on one node, at most
 * MCA_COLL_PIPERING_PULLERS.
 */

#include "coll_pipering_pulls.h"

#include "coll_pipering_board.h"
#include "ompi/mca/coll/pipering/engine/coll_pipering_copy.h"
#include "ompi/mca/coll/pipering/engine/coll_pipering_engine_steps.h"
#include "ompi/mca/pml/pml.h"

#include <stdlib.h>
#include <string.h>

typedef mca_coll_pipering_notice_t notice_t;

/* Bytes that are read before other requests are looked at. */
#define BUDGET ((size_t) 1024 * 1024)

/* A block that is read and unpacked while it is in a cache of the second level. */
#define BLOCK ((size_t) 128 * 1024)

/* Another rank. */
typedef struct {
    notice_t *notice; /* NULL: not found yet */
    int place;        /* on the board, -1: not known yet */
    int next;         /* pull from it that is under way */
    size_t done;      /* bytes of this that have been read */
    bool told;        /* it knows that all is read */
    bool off;         /* it is not on the board, and goes by messages */
    bool unable;      /* its memory cannot be read */
    size_t written;   /* bytes of this rank's part of its own split contribution, there */
    bool pushed;      /* they all are, or cannot be */
    ompi_request_t *receive; /* the contribution, asked for as a message */
    ompi_request_t *send;    /* likewise, this rank's own */
} peer_t;

typedef struct {
    mca_coll_pipering_scheduled_t super;
    mca_coll_pipering_rounds_args_t args;
    mca_coll_pipering_splits_t splits;
    bool split; /* some contributions are, whatever this rank does */
    mca_coll_pipering_call_name_t name;
    int me, p;
    bool off;  /* this rank is not on the board */
    int error; /* OMPI_SUCCESS, or why the call is given up */
    bool on_device;
    bool through;   /* what comes in cannot come to its place */
    uint32_t counts; /* a hash of all contributions' bytes: ranks that disagree must not write to
                        each other */
    notice_t *mine; /* NULL: nobody reads from this rank, not yet or not any more */
    bool up;        /* it has been up */
    char *own;      /* the contribution */
    char *block;    /* of what comes `through` */
    char *whole[MCA_COLL_PIPERING_SPLITS]; /* where split contributions are */
    bool complete[MCA_COLL_PIPERING_SPLITS]; /* a message has brought it */
    bool owns_copied; /* the contribution is in the receive buffer */
    bool here;        /* so are all others */
    int delivery;     /* split that is being delivered */
    size_t delivered; /* bytes of it */
    peer_t *peer;     /* [p], in the same memory */
} pulls_t;

static const mca_coll_pipering_layout_t *source_of(const pulls_t *pulls)
{
    return pulls->args.in_place ? pulls->args.recv : pulls->args.send;
}

/* Whether others read from a rank, or write to it: it puts up a notice. */
static bool is_read(const pulls_t *pulls, int rank)
{
    return 0 < pulls->args.bytes[rank] || pulls->split;
}

/* ---- setting up ---- */

/* Memory: own bytes that are not dense on the host, those of split contributions, and a block. */
static int take_memory(pulls_t *pulls, bool packs)
{
    const size_t *bytes = pulls->args.bytes;
    size_t size = packs ? bytes[pulls->me] : 0;

    for (int i = 0; pulls->through && i < pulls->splits.count; ++i) {
        size += pulls->me == pulls->splits.rank[i] ? 0 : bytes[pulls->splits.rank[i]];
    }
    size += pulls->through ? BLOCK : 0;
    char *memory = 0 == size ? NULL : malloc(size);
    pulls->super.memory = memory;
    pulls->super.unpacker = pulls->args.recv->dense ? NULL : OBJ_NEW(opal_convertor_t);
    if ((0 < size && NULL == memory)
        || (!pulls->args.recv->dense && NULL == pulls->super.unpacker)) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    pulls->own = packs ? memory : mca_coll_pipering_dense_place(source_of(pulls), pulls->me);
    memory += packs ? bytes[pulls->me] : 0;
    for (int i = 0; i < pulls->splits.count; ++i) {
        const int rank = pulls->splits.rank[i];
        if (rank == pulls->me) {
            pulls->whole[i] = pulls->own;
        } else if (pulls->through) {
            pulls->whole[i] = memory;
            memory += bytes[rank];
        } else {
            pulls->whole[i] = mca_coll_pipering_dense_place(pulls->args.recv, rank);
        }
    }
    pulls->block = memory;
    return OMPI_SUCCESS;
}

static mca_coll_pipering_place_t place_in(const mca_coll_pipering_layout_t *layout, int rank)
{
    return (mca_coll_pipering_place_t){mca_coll_pipering_contribution(layout, rank),
                                       mca_coll_pipering_contribution_count(layout, rank),
                                       layout->type};
}

/* Brings the rank's contribution to its place in the receive buffer. */
static int copy_own(pulls_t *pulls)
{
    const mca_coll_pipering_layout_t *recv = pulls->args.recv;

    pulls->owns_copied = true;
    if (pulls->args.in_place || 0 == pulls->args.bytes[pulls->me]) {
        return OMPI_SUCCESS;
    }
    const mca_coll_pipering_place_t from = place_in(pulls->args.send, pulls->me);
    const mca_coll_pipering_place_t to = place_in(recv, pulls->me);
    pulls->super.traffic.bytes_copied += pulls->args.bytes[pulls->me];
    return mca_coll_pipering_copy(&from, &to);
}

/* Says where this rank's contribution is, if others read it; false: no notice is free yet. */
static bool put_up(pulls_t *pulls)
{
    if (!is_read(pulls, pulls->me) || pulls->up) {
        return true;
    }
    notice_t *mine = mca_coll_pipering_board_take();
    if (NULL == mine) {
        return false;
    }
    mine->name = pulls->name;
    mine->bytes = pulls->args.bytes[pulls->me];
    mine->own = (uint64_t) (uintptr_t) pulls->own;
    for (int i = 0; i < pulls->splits.count; ++i) {
        mine->split[i] = (uint64_t) (uintptr_t) pulls->whole[i];
    }
    mine->error = pulls->error;
    mine->counts = pulls->counts;
    mca_coll_pipering_board_put_up(mine);
    pulls->mine = mine;
    pulls->up = true;
    return true;
}

/* ---- what comes in ---- */

/* Brings bytes of a contribution from memory of the host to their place. */
static int deliver(pulls_t *pulls, int rank, const char *from, size_t begin, size_t bytes)
{
    return bytes == mca_coll_pipering_scheduled_deliver(&pulls->super, pulls->args.recv, rank, from,
                                                        begin, bytes, pulls->on_device)
               ? OMPI_SUCCESS
               : OMPI_ERROR;
}

/* A pull: bytes of a contribution from a rank that has them. */
typedef struct {
    int split;         /* -1: the whole contribution */
    int rank;          /* whose contribution it is */
    size_t from, size; /* bytes; none: there is nothing to do */
    bool pushed;       /* its owner writes it */
} pull_t;

/* The pulls of a rank: of its own contribution, of its part there, of its parts of the others'. */
static int pulls_of(const pulls_t *pulls)
{
    return 2 + pulls->splits.count;
}

static pull_t part_of(const pulls_t *pulls, int split, int part)
{
    const int rank = pulls->splits.rank[split];
    const size_t bytes = pulls->args.bytes[rank];
    const size_t from = mca_coll_pipering_part_begin(bytes, pulls->p, part);

    return (pull_t){.split = split,
                    .rank = rank,
                    .from = from,
                    .size = mca_coll_pipering_part_begin(bytes, pulls->p, part + 1) - from};
}

static pull_t pull_at(const pulls_t *pulls, int from, int i)
{
    const int split = mca_coll_pipering_split_of(&pulls->splits, from);
    pull_t pull = {.split = -1, .rank = from};

    if (0 == i && 0 > split) {
        pull.size = pulls->args.bytes[from];
    } else if (0 == i) {
        pull = part_of(pulls, split, pulls->me);
    } else if (1 == i && 0 <= split) {
        pull = part_of(pulls, split, from);
        pull.pushed = true;
    } else if (2 <= i && from != pulls->splits.rank[i - 2]
               && pulls->me != pulls->splits.rank[i - 2]) {
        pull = part_of(pulls, i - 2, from);
    }
    return pull;
}

static bool has(uint32_t *set, int i)
{
    return 0 != (__atomic_load_n(set, __ATOMIC_ACQUIRE) >> i & 1);
}

static void add(uint32_t *set, int i)
{
    (void) __atomic_fetch_or(set, UINT32_C(1) << i, __ATOMIC_RELEASE);
}

/* Receives a contribution as a message, unless it is under way. */
static int post_receive(pulls_t *pulls, int rank)
{
    const int split = mca_coll_pipering_split_of(&pulls->splits, rank);
    peer_t *peer = &pulls->peer[rank];
    mca_coll_pipering_place_t to = {NULL, pulls->args.bytes[rank], MPI_BYTE};

    if (MPI_REQUEST_NULL != peer->receive) {
        return OMPI_SUCCESS;
    }
    if (0 <= split) {
        to.buffer = pulls->whole[split];
    } else if (pulls->through) {
        to = place_in(pulls->args.recv, rank);
    } else {
        to.buffer = mca_coll_pipering_dense_place(pulls->args.recv, rank);
    }
    const int rc = MCA_PML_CALL(irecv(to.buffer, to.count, to.type, rank, pulls->args.tag,
                                      pulls->args.caller->comm, &peer->receive));
    peer->receive = OMPI_SUCCESS == rc ? peer->receive : MPI_REQUEST_NULL;
    return rc;
}

/* Sends this rank's contribution. */
static int post_send(pulls_t *pulls, int rank)
{
    ompi_request_t **request = &pulls->peer[rank].send;
    const int rc = MCA_PML_CALL(isend(pulls->own, pulls->args.bytes[pulls->me], MPI_BYTE, rank,
                                      pulls->args.tag, MCA_PML_BASE_SEND_STANDARD,
                                      pulls->args.caller->comm, request));

    *request = OMPI_SUCCESS == rc ? *request : MPI_REQUEST_NULL;
    return rc;
}

/* Asks for a contribution as a message. */
static int ask(pulls_t *pulls, int rank)
{
    const int rc = post_receive(pulls, rank);

    if (OMPI_SUCCESS == rc) {
        (void) __atomic_fetch_or(&pulls->peer[rank].notice->asks[pulls->me / 64],
                                 UINT64_C(1) << (pulls->me % 64), __ATOMIC_RELEASE);
    }
    return rc;
}

/*
 * Whether a pull can begin, from *source on: its bytes are there. *over: it is not needed.
 * A part that its holder cannot be read for comes from the owner.
 */
static bool find_source(pulls_t *pulls, int from, const pull_t *pull, int *holder,
                        uint64_t *source, bool *over)
{
    peer_t *peer = &pulls->peer[from], *owner = &pulls->peer[pull->rank];

    *holder = from;
    *over = 0 == pull->size || (pull->pushed && has(&pulls->mine->pushed, pull->split));
    if (*over || (pull->pushed && !has(&pulls->mine->refused, pull->split))) {
        return false;
    }
    *over = 0 <= pull->split && pulls->complete[pull->split];
    if (*over) {
        return false;
    }
    if (from != pull->rank && !peer->unable && !peer->off) {
        *source = peer->notice->split[pull->split] + pull->from;
        return has(&peer->notice->parts, pull->split);
    }
    *holder = pull->rank;
    if (owner->off) {
        return false; /* its message is under way */
    }
    *source = NULL == owner->notice ? 0 : owner->notice->own + pull->from;
    return NULL != owner->notice;
}

/* Moves the pull from a rank on; *budget is what may be read yet. */
static int advance_pull(pulls_t *pulls, int from, size_t *budget)
{
    peer_t *peer = &pulls->peer[from];
    const pull_t pull = pull_at(pulls, from, peer->next);
    const bool in_blocks = pulls->through && 0 > pull.split;
    uint64_t source = 0;
    int holder, rc = OMPI_SUCCESS;
    bool over;

    const bool ready = find_source(pulls, from, &pull, &holder, &source, &over);
    if (over) {
        peer->next += 1;
        peer->done = 0;
        return OMPI_SUCCESS;
    }
    if (!ready) {
        return OMPI_ERR_WOULD_BLOCK;
    }
    if (pulls->peer[holder].unable) {
        /* the message that brings it brings all */
        rc = ask(pulls, holder);
        peer->next += 1;
        peer->done = 0;
        return rc;
    }
    size_t size = pull.size - peer->done;
    size = size < *budget ? size : *budget;
    size = in_blocks && BLOCK < size ? BLOCK : size;
    char *to = in_blocks         ? pulls->block
               : 0 > pull.split ? mca_coll_pipering_dense_place(pulls->args.recv, from) + peer->done
                                 : pulls->whole[pull.split] + pull.from + peer->done;
    if (!mca_coll_pipering_board_copy(pulls->args.caller->comm, holder, pulls->peer[holder].place,
                                      to, source + peer->done, size, false)) {
        pulls->peer[holder].unable = true;
        peer->done = 0;
        return OMPI_SUCCESS;
    }
    if (in_blocks) {
        rc = deliver(pulls, from, to, peer->done, size);
    }
    pulls->super.traffic.bytes_in += size;
    pulls->super.traffic.bytes_copied += size;
    *budget -= size;
    peer->done += size;
    if (peer->done == pull.size) {
        if (0 <= pull.split && 0 == peer->next) {
            add(&pulls->mine->parts, pull.split);
        }
        peer->next += 1;
        peer->done = 0;
    }
    return rc;
}

/* ---- what others want ---- */

/* Writes this rank's part of its own contribution, if that is split, to another rank. */
static void push(pulls_t *pulls, int to, size_t *budget)
{
    const int split = mca_coll_pipering_split_of(&pulls->splits, pulls->me);
    peer_t *peer = &pulls->peer[to];

    if (0 > split || peer->pushed || 0 == *budget) {
        return;
    }
    const pull_t part = part_of(pulls, split, pulls->me);
    const size_t left = part.size - peer->written, size = left < *budget ? left : *budget;
    const size_t at = part.from + peer->written;
    const bool done = !peer->unable
                      && mca_coll_pipering_board_copy(pulls->args.caller->comm, to, peer->place,
                                                      pulls->own + at,
                                                      peer->notice->split[split] + at, size, true);
    if (done) {
        pulls->super.traffic.bytes_out += size;
        pulls->super.traffic.bytes_copied += size;
        *budget -= size;
        peer->written += size;
    }
    if (!done || size == left) {
        add(done ? &peer->notice->pushed : &peer->notice->refused, split);
        peer->pushed = true;
    }
}

/* Sends this rank's contribution to those who have asked for it. */
static int answer(pulls_t *pulls)
{
    int rc = OMPI_SUCCESS;

    for (int i = 0; NULL != pulls->mine && 64 * i < pulls->p; ++i) {
        uint64_t asks = __atomic_load_n(&pulls->mine->asks[i], __ATOMIC_ACQUIRE);
        for (int to = 64 * i; OMPI_SUCCESS == rc && 0 != asks; ++to, asks >>= 1) {
            if (0 != (asks & 1) && MPI_REQUEST_NULL == pulls->peer[to].send) {
                rc = post_send(pulls, to);
            }
        }
    }
    return rc;
}

/* ---- the step ---- */

/*
 * Ranks disagree on the arguments of the call, or one has given up. Where the other rank's own
 * contribution is as expected, it is the other who has, or is, a reason to complain.
 */
static int judge(const pulls_t *pulls, int rank)
{
    const notice_t *notice = pulls->peer[rank].notice;
    const ompi_status_public_t status = {.MPI_SOURCE = rank,
                                         .MPI_ERROR = MPI_SUCCESS,
                                         ._ucount = (size_t) notice->bytes};

    const int error = __atomic_load_n(&notice->error, __ATOMIC_ACQUIRE);

    if (OMPI_SUCCESS != error) {
        return error;
    }
    if (pulls->args.bytes[rank] != notice->bytes) {
        return mca_common_colltools_judge(pulls->args.caller, &status, pulls->args.bytes[rank]);
    }
    return pulls->counts == notice->counts ? OMPI_SUCCESS : MPI_ERR_OTHER;
}

/*
 * Finds a rank on the board, or its message, which this rank answers by its own; false: neither is
 * there yet.
 */
static bool find_peer(pulls_t *pulls, int rank)
{
    ompi_communicator_t *comm = pulls->args.caller->comm;
    const int last = (rank + pulls->p - 1) % pulls->p;
    peer_t *peer = &pulls->peer[rank];
    int sent = 0, rc;

    if (0 <= peer->place || peer->off) {
        return true;
    }
    peer->place = mca_coll_pipering_board_place(
        ompi_group_get_proc_name(comm->c_local_group, rank).vpid,
        0 <= pulls->peer[last].place ? pulls->peer[last].place + 1 : rank);
    if (0 <= peer->place) {
        return true;
    }
    rc = MCA_PML_CALL(iprobe(rank, pulls->args.tag, comm, &sent, MPI_STATUS_IGNORE));
    if (OMPI_SUCCESS == rc && 0 != sent) {
        peer->off = peer->pushed = true;
        peer->next = 2; /* its own contribution comes as a message */
        rc = post_receive(pulls, rank);
        if (OMPI_SUCCESS == rc) {
            rc = post_send(pulls, rank);
        }
    }
    pulls->error = OMPI_SUCCESS == pulls->error ? rc : pulls->error;
    return peer->off;
}

/* The notice of a rank; false: it is not there yet. */
static bool find_notice(pulls_t *pulls, int rank)
{
    peer_t *peer = &pulls->peer[rank];

    if (NULL == peer->notice && find_peer(pulls, rank) && !peer->off) {
        peer->notice = mca_coll_pipering_board_find(peer->place, &pulls->name);
    }
    return NULL != peer->notice;
}

/* Whether a message that was asked for is there; *rc gets its error. */
static bool has_come(pulls_t *pulls, int rank, int *rc)
{
    ompi_request_t **receive = &pulls->peer[rank].receive;
    const int split = mca_coll_pipering_split_of(&pulls->splits, rank);

    if (MPI_REQUEST_NULL == *receive) {
        return true;
    }
    if (!mca_common_colltools_is_over(*receive)) {
        return false;
    }
    *rc = mca_common_colltools_judge(pulls->args.caller, &(*receive)->req_status,
                                     pulls->args.bytes[rank]);
    ompi_request_free(receive);
    pulls->super.traffic.bytes_in += pulls->args.bytes[rank];
    pulls->super.traffic.blocks_in += 1;
    if (0 <= split && OMPI_SUCCESS == *rc) {
        pulls->complete[split] = true;
        add(&pulls->mine->parts, split);
    }
    return true;
}

/*
 * Moves on with a rank; true: all is read that it has. Parts that one would have which is not on
 * the board come from their owners.
 */
static bool advance_peer(pulls_t *pulls, int rank, size_t *budget, int *rc)
{
    peer_t *peer = &pulls->peer[rank];

    if (!is_read(pulls, rank)) {
        return true;
    }
    if (find_notice(pulls, rank)) {
        *rc = judge(pulls, rank);
        if (OMPI_SUCCESS == *rc) {
            push(pulls, rank, budget);
        }
    } else {
        *rc = pulls->error;
        if (!peer->off) {
            return false;
        }
    }
    while (OMPI_SUCCESS == *rc && peer->next < pulls_of(pulls) && 0 < *budget) {
        *rc = advance_pull(pulls, rank, budget);
    }
    *rc = OMPI_ERR_WOULD_BLOCK == *rc ? OMPI_SUCCESS : *rc;
    return peer->next == pulls_of(pulls)
           && (peer->pushed || 0 > mca_coll_pipering_split_of(&pulls->splits, pulls->me));
}

/* Delivers split contributions that have come through memory of the host; true: all are there. */
static bool deliver_splits(pulls_t *pulls, int *rc)
{
    size_t budget = MCA_COLL_PIPERING_PIECE;

    while (pulls->through && OMPI_SUCCESS == *rc && pulls->delivery < pulls->splits.count) {
        const int rank = pulls->splits.rank[pulls->delivery];
        const size_t left = rank == pulls->me ? 0 : pulls->args.bytes[rank] - pulls->delivered;
        const size_t size = left < budget ? left : budget;
        if (0 == budget) {
            return false;
        }
        if (0 < size) {
            *rc = deliver(pulls, rank, pulls->whole[pulls->delivery] + pulls->delivered,
                          pulls->delivered, size);
        }
        budget -= size;
        pulls->delivered += size;
        if (size == left) {
            pulls->delivery += 1;
            pulls->delivered = 0;
        }
    }
    return true;
}

/* Takes over an error that another rank has given the call up with. */
static void take_error(pulls_t *pulls)
{
    if (NULL != pulls->mine && OMPI_SUCCESS == pulls->error) {
        pulls->error = __atomic_load_n(&pulls->mine->error, __ATOMIC_ACQUIRE);
    }
}

/*
 * Tells all whose memory this rank may read that it does not any more, once, and its error; true:
 * all are told.
 */
static bool tell_all(pulls_t *pulls)
{
    bool all = true;

    for (int r = 0; r < pulls->p; ++r) {
        peer_t *peer = &pulls->peer[r];
        if (r == pulls->me || !is_read(pulls, r) || peer->told || peer->off) {
            continue;
        }
        peer->told = find_notice(pulls, r);
        all &= peer->told;
        if (peer->told && OMPI_SUCCESS != pulls->error) {
            __atomic_store_n(&peer->notice->error, pulls->error, __ATOMIC_RELEASE);
        }
        if (peer->told) {
            (void) __atomic_fetch_add(&peer->notice->readers, 1, __ATOMIC_ACQ_REL);
        }
    }
    return all;
}

/* Ends messages, after an error also those that are under way: memory they may use is kept. */
static void end_messages(pulls_t *pulls)
{
    bool pending = false;

    for (int r = 0; r < pulls->p; ++r) {
        pending |= mca_common_colltools_abandon(&pulls->peer[r].receive, 0, 1, 1, true);
        pending |= mca_common_colltools_abandon(&pulls->peer[r].send, 0, 1, 1, false);
    }
    pulls->super.memory = pending ? NULL : pulls->super.memory;
}

/* Whether nobody reads, or receives, this rank's contribution any more; then its notice goes. */
static bool is_left(pulls_t *pulls)
{
    if (NULL == pulls->mine) {
        return true;
    }
    uint32_t readers = __atomic_load_n(&pulls->mine->readers, __ATOMIC_ACQUIRE);
    for (int r = 0; (uint32_t) pulls->p - 1 > readers && r < pulls->p; ++r) {
        readers += r != pulls->me && find_peer(pulls, r) && pulls->peer[r].off;
    }
    if ((uint32_t) pulls->p - 1 != readers) {
        return false;
    }
    take_error(pulls); /* it came before its rank was a reader that is done */
    for (int r = 0; OMPI_SUCCESS == pulls->error && r < pulls->p; ++r) {
        ompi_request_t *send = pulls->peer[r].send;
        if (!has_come(pulls, r, &pulls->error)
            || (MPI_REQUEST_NULL != send && !mca_common_colltools_is_over(send))) {
            return false;
        }
    }
    mca_coll_pipering_board_take_down(pulls->mine);
    pulls->mine = NULL;
    return true;
}

/* Moves on; true: all that this rank wants is here. */
static bool advance(pulls_t *pulls)
{
    size_t budget = BUDGET;
    bool here = true;
    int rc = OMPI_SUCCESS;

    if (!pulls->owns_copied) {
        rc = copy_own(pulls);
    }
    for (int i = 1; OMPI_SUCCESS == rc && i < pulls->p; ++i) {
        here &= advance_peer(pulls, (pulls->me + i) % pulls->p, &budget, &rc);
    }
    for (int r = 0; OMPI_SUCCESS == rc && r < pulls->p; ++r) {
        here &= has_come(pulls, r, &rc); /* asked of the owner, maybe for a part from another one */
    }
    if (OMPI_SUCCESS == rc && here) {
        here = deliver_splits(pulls, &rc);
    }
    pulls->error = rc;
    return here;
}

/* Moves on, but for the end; says in the notice if that fails. */
static void move(pulls_t *pulls)
{
    take_error(pulls);
    if (OMPI_SUCCESS == pulls->error) {
        pulls->error = answer(pulls);
    }
    if (OMPI_SUCCESS == pulls->error && !pulls->here) {
        pulls->here = advance(pulls);
    }
    if (NULL != pulls->mine && OMPI_SUCCESS != pulls->error) {
        __atomic_store_n(&pulls->mine->error, pulls->error, __ATOMIC_RELEASE);
    }
}

/*
 * The step of a rank that is not on the board: a message to and from each rank that wants its
 * contribution, or whose it wants.
 */
static int pull_off(pulls_t *pulls)
{
    bool over = true;

    for (int r = 0; !pulls->here && OMPI_SUCCESS == pulls->error && r < pulls->p; ++r) {
        if (r != pulls->me && (is_read(pulls, r) || is_read(pulls, pulls->me))) {
            pulls->error = post_send(pulls, r);
            if (OMPI_SUCCESS == pulls->error) {
                pulls->error = post_receive(pulls, r);
            }
        }
    }
    if (!pulls->here && OMPI_SUCCESS == pulls->error) {
        pulls->error = copy_own(pulls);
    }
    pulls->here = true;
    for (int r = 0; OMPI_SUCCESS == pulls->error && r < pulls->p; ++r) {
        ompi_request_t *send = pulls->peer[r].send;
        over &= has_come(pulls, r, &pulls->error)
                && (MPI_REQUEST_NULL == send || mca_common_colltools_is_over(send));
    }
    if (OMPI_SUCCESS == pulls->error && !over) {
        return OMPI_ERR_WOULD_BLOCK;
    }
    end_messages(pulls);
    return pulls->error;
}

/*
 * The step. After an error it goes on until all others know, so that nobody reads what the user
 * frees, or waits for ever; but where Open MPI knows of a process that has failed: then what others
 * may use stays as it is.
 */
static int pull(void *context, int from, int to)
{
    pulls_t *pulls = context;
    const int failure = mca_common_colltools_failure(pulls->args.caller->comm);

    (void) from, (void) to;
    if (OMPI_SUCCESS != failure) {
        pulls->error = failure;
        move(pulls);
        end_messages(pulls);
        pulls->super.memory = NULL;
        return failure;
    }
    if (pulls->off) {
        return pull_off(pulls);
    }
    if (!put_up(pulls)) {
        return OMPI_ERR_WOULD_BLOCK;
    }
    move(pulls);
    if ((OMPI_SUCCESS == pulls->error && !pulls->here) || !tell_all(pulls) || !is_left(pulls)) {
        return OMPI_ERR_WOULD_BLOCK;
    }
    end_messages(pulls);
    return pulls->error;
}

/* ---- making ---- */

static void init(pulls_t *pulls, const mca_coll_pipering_rounds_args_t *args, uint64_t call)
{
    ompi_communicator_t *comm = args->caller->comm;

    pulls->args = *args;
    pulls->me = ompi_comm_rank(comm);
    pulls->p = ompi_comm_size(comm);
    pulls->off = !mca_coll_pipering_board_join();
    pulls->splits = mca_coll_pipering_splits_find(args->bytes, pulls->p);
    pulls->split = 0 < pulls->splits.count;
    pulls->splits.count = pulls->off ? 0 : pulls->splits.count; /* all comes whole */
    pulls->name = (mca_coll_pipering_call_name_t){.comm = MCA_COMMON_COLLTOOLS_COMM_NAME(comm),
                                                  .call = call};
    pulls->counts = mca_common_colltools_hash(MCA_COMMON_COLLTOOLS_HASH, args->bytes,
                                              (size_t) pulls->p * sizeof(*args->bytes));
    for (int r = 0; r < pulls->p; ++r) {
        pulls->peer[r] = (peer_t){.place = -1,
                                  .receive = MPI_REQUEST_NULL,
                                  .send = MPI_REQUEST_NULL};
    }
}

int mca_coll_pipering_pulls_new(const mca_coll_pipering_rounds_args_t *args, uint64_t call,
                                mca_coll_pipering_scheduled_t **made)
{
    const mca_common_colltools_needs_t none = {0, 0, 0}, most = {.steps = 1};
    const size_t p = (size_t) ompi_comm_size(args->caller->comm);
    void *behind;
    pulls_t *pulls = mca_coll_pipering_scheduled_new(args->caller, args->tag, sizeof(*pulls), most,
                                                     p * sizeof(peer_t), &behind);
    if (NULL == pulls) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    *made = &pulls->super;
    pulls->peer = behind;
    init(pulls, args, call);
    const mca_coll_pipering_layout_t *source = source_of(pulls);
    const size_t bytes = args->bytes[pulls->me];
    pulls->on_device = mca_coll_pipering_is_on_device(args->recv, args->contributor);
    pulls->through = !args->recv->dense || pulls->on_device;
    const bool packs = 0 < bytes
                       && (!source->dense || mca_coll_pipering_is_on_device(source, pulls->me));
    pulls->error = take_memory(pulls, packs);
    if (OMPI_SUCCESS == pulls->error && packs) {
        pulls->error = mca_coll_pipering_scheduled_pack(&pulls->super, source, pulls->me,
                                                        pulls->own, bytes);
    }
    mca_common_colltools_schedule_step(&pulls->super.schedule, pull, 0, 0, none);
    return OMPI_SUCCESS;
}

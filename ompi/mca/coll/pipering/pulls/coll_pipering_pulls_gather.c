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
 * A gather inside a node by pulls (coll_pipering_pulls_call.h).
 *
 *     split contribution of rank 0, parts:   | 1 | 2 | 3 |
 *     rank 1   reads part 1 from rank 0, then part 2 from rank 2, and part 3 from rank 3
 *     rank 2   reads part 2 from rank 0, then part 3 from rank 3, and part 1 from rank 1
 *
 * Of a contribution that is split (coll_pipering_plan_pulls.h) a rank first reads a part, then the
 * others' parts from these. The root of a broadcast has a part, too, which it writes to the others
 * itself, since it would only wait.
 *
 * A contribution that fits in a notice is there, and not read from its rank. One that is not dense
 * is packed before it is told. To such a place one comes block by block through other memory; one
 * that is split, as a whole.
 *
 * Cost: a copy of each byte a rank receives, and of each of its own to the receive buffer; one read
 * of a notice for each rank, and one atomic addition. Limits: ranks of one job on one node.
 */

#include "coll_pipering_pulls.h"

#include "coll_pipering_pulls_call.h"
#include "ompi/mca/coll/pipering/engine/coll_pipering_copy.h"
#include "ompi/mca/coll/pipering/engine/coll_pipering_engine_steps.h"

#include <stdlib.h>

#define BLOCK MCA_COLL_PIPERING_PULLS_BLOCK

typedef mca_coll_pipering_notice_t notice_t;
typedef mca_coll_pipering_pulls_call_t call_t;

/* What this rank has read of another one, and written there. */
typedef struct {
    int next;       /* pull from it that is under way */
    size_t done;    /* bytes of this that have been read */
    size_t written; /* bytes of this rank's part of its own split contribution, there */
    bool pushed;    /* they all are */
} progress_t;

typedef struct {
    call_t super;
    bool through;     /* what comes in cannot come to its place */
    char *block;      /* of what comes `through` */
    char *whole[MCA_COLL_PIPERING_SPLITS]; /* where split contributions are */
    bool own_copied;  /* the contribution is in the receive buffer */
    int delivery;     /* split that is being delivered */
    size_t delivered; /* bytes of it */
    progress_t *progress; /* [p], in the same memory */
} gather_t;

static size_t bytes_of(const gather_t *gather, int rank)
{
    return gather->super.args.bytes[rank];
}

static const mca_coll_pipering_splits_t *splits_of(const gather_t *gather)
{
    return gather->super.args.splits;
}

/* ---- setting up ---- */

/* Memory: own bytes that are not dense, those of split contributions, and a block. */
static int take_memory(gather_t *gather, bool packs)
{
    const int me = gather->super.me;
    mca_coll_pipering_scheduled_t *scheduled = &gather->super.super;
    const mca_coll_pipering_layout_t *recv = gather->super.args.recv;
    size_t size = packs ? bytes_of(gather, me) : 0;

    for (int i = 0; gather->through && i < splits_of(gather)->count; ++i) {
        size += me == splits_of(gather)->rank[i] ? 0 : bytes_of(gather, splits_of(gather)->rank[i]);
    }
    size += gather->through ? BLOCK : 0;
    char *memory = 0 == size ? NULL : malloc(size);
    scheduled->memory = memory;
    scheduled->unpacker = gather->through ? OBJ_NEW(opal_convertor_t) : NULL;
    if ((0 < size && NULL == memory) || (gather->through && NULL == scheduled->unpacker)) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    gather->super.own
        = packs ? memory
                : mca_coll_pipering_dense_place(
                      mca_coll_pipering_rounds_source(&gather->super.args), me);
    memory += packs ? bytes_of(gather, me) : 0;
    for (int i = 0; i < splits_of(gather)->count; ++i) {
        const int rank = splits_of(gather)->rank[i];
        if (rank == me) {
            gather->whole[i] = gather->super.own;
        } else if (gather->through) {
            gather->whole[i] = memory;
            memory += bytes_of(gather, rank);
        } else {
            gather->whole[i] = mca_coll_pipering_dense_place(recv, rank);
        }
    }
    gather->block = memory;
    return OMPI_SUCCESS;
}

static void fill(const call_t *call, notice_t *mine)
{
    const gather_t *gather = (const gather_t *) call;

    for (int i = 0; i < splits_of(gather)->count; ++i) {
        mine->split[i] = (uint64_t) (uintptr_t) gather->whole[i];
    }
}

/* Brings the rank's contribution to its place in the receive buffer. */
static int copy_own(gather_t *gather)
{
    const mca_coll_pipering_rounds_args_t *args = &gather->super.args;
    const int me = gather->super.me;

    gather->own_copied = true;
    if (args->in_place || 0 == args->bytes[me]) {
        return OMPI_SUCCESS;
    }
    const mca_coll_pipering_place_t from = mca_coll_pipering_place_of(args->send, me);
    const mca_coll_pipering_place_t to = mca_coll_pipering_place_of(args->recv, me);
    gather->super.super.traffic.bytes_copied += args->bytes[me];
    return mca_coll_pipering_copy(&from, &to);
}

/* ---- what comes in ---- */

/* Brings packed bytes of a contribution to their place. */
static int deliver(gather_t *gather, int rank, const char *from, size_t begin, size_t bytes)
{
    return bytes == mca_coll_pipering_scheduled_deliver(&gather->super.super,
                                                        gather->super.args.recv, rank, from, begin,
                                                        bytes, false)
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
static int pulls_of(const gather_t *gather)
{
    return 2 + splits_of(gather)->count;
}

/* The part of a split contribution that a rank reads first; or writes, as its owner, if it does. */
static pull_t part_of(const gather_t *gather, int split, int reader)
{
    const mca_coll_pipering_splits_t *splits = splits_of(gather);
    const int rank = splits->rank[split], p = gather->super.p;
    const int parts = splits->pushed ? p : p - 1;
    const int part = splits->pushed || reader < rank ? reader : reader - 1;
    const size_t bytes = bytes_of(gather, rank);
    pull_t pull = {.split = split, .rank = rank};

    if (reader != rank || splits->pushed) {
        pull.from = mca_coll_pipering_part_begin(bytes, parts, part);
        pull.size = mca_coll_pipering_part_begin(bytes, parts, part + 1) - pull.from;
    }
    return pull;
}

static pull_t pull_at(const gather_t *gather, int from, int i)
{
    const int split = mca_coll_pipering_split_of(splits_of(gather), from), me = gather->super.me;
    pull_t pull = {.split = -1, .rank = from};

    if (0 == i && 0 > split) {
        pull.size = bytes_of(gather, from);
    } else if (0 == i) {
        pull = part_of(gather, split, me);
    } else if (1 == i && 0 <= split && splits_of(gather)->pushed) {
        pull = part_of(gather, split, from);
        pull.pushed = true;
    } else if (2 <= i && me != splits_of(gather)->rank[i - 2]
               && from != splits_of(gather)->rank[i - 2]) {
        pull = part_of(gather, i - 2, from);
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

/* Reads more of a pull whose bytes are there; `forwarded`: of another one's contribution. */
static int read_more(gather_t *gather, int from, const pull_t *pull, bool forwarded,
                     size_t *budget)
{
    call_t *call = &gather->super;
    progress_t *progress = &gather->progress[from];
    const size_t at = pull->from + progress->done;
    const bool in_blocks = gather->through && 0 > pull->split;
    size_t size = pull->size - progress->done;

    size = size < *budget ? size : *budget;
    size = in_blocks && BLOCK < size ? BLOCK : size;
    char *to = in_blocks ? gather->block
               : 0 > pull->split
                   ? mca_coll_pipering_dense_place(call->args.recv, from) + progress->done
                   : gather->whole[pull->split] + at;
    int rc = forwarded
                 ? mca_coll_pipering_pulls_copy(call, from, to,
                                                call->peer[from].notice->split[pull->split] + at,
                                                size, false)
                 : mca_coll_pipering_pulls_read(call, from, to, at, size);
    if (OMPI_SUCCESS == rc && in_blocks) {
        rc = deliver(gather, from, to, progress->done, size);
    }
    *budget -= size;
    progress->done += size;
    return rc;
}

/*
 * Moves on with what this rank wants of another one, whose notice is up; true: it is all here.
 */
static bool read_from(gather_t *gather, int from, size_t *budget, int *rc)
{
    progress_t *progress = &gather->progress[from];
    notice_t *notice = gather->super.peer[from].notice;

    while (OMPI_SUCCESS == *rc && progress->next < pulls_of(gather)) {
        const pull_t pull = pull_at(gather, from, progress->next);
        const bool forwarded = 2 <= progress->next && 0 < pull.size;
        if ((pull.pushed && !has(&gather->super.mine->pushed, pull.split))
            || (forwarded && !has(&notice->parts, pull.split))) {
            return false; /* it is not there yet */
        }
        if (!pull.pushed && progress->done < pull.size) {
            if (0 == *budget) {
                return false;
            }
            *rc = read_more(gather, from, &pull, forwarded, budget);
            continue;
        }
        if (0 <= pull.split && 0 == progress->next) {
            add(&gather->super.mine->parts, pull.split);
        }
        progress->next += 1;
        progress->done = 0;
    }
    return OMPI_SUCCESS == *rc;
}

/* Writes this rank's part of its own contribution, if that is split, to another rank; true: all. */
static bool write_to(gather_t *gather, int to, size_t *budget, int *rc)
{
    const int split = mca_coll_pipering_split_of(splits_of(gather), gather->super.me);
    const bool writes = 0 <= split && splits_of(gather)->pushed;
    progress_t *progress = &gather->progress[to];

    if (!writes || progress->pushed || 0 == *budget) {
        return !writes || progress->pushed;
    }
    notice_t *notice = gather->super.peer[to].notice;
    const pull_t part = part_of(gather, split, gather->super.me);
    const size_t left = part.size - progress->written, size = left < *budget ? left : *budget;
    const size_t at = part.from + progress->written;
    *rc = mca_coll_pipering_pulls_copy(&gather->super, to, gather->super.own + at,
                                       notice->split[split] + at, size, true);
    if (OMPI_SUCCESS == *rc && size == left) {
        add(&notice->pushed, split);
        progress->pushed = true;
    }
    *budget -= size;
    progress->written += size;
    return progress->pushed;
}

/* Delivers split contributions that have come through other memory; true: all are there. */
static bool deliver_splits(gather_t *gather, int *rc)
{
    size_t budget = MCA_COLL_PIPERING_PIECE;

    while (gather->through && OMPI_SUCCESS == *rc && gather->delivery < splits_of(gather)->count) {
        const int rank = splits_of(gather)->rank[gather->delivery];
        const size_t left = rank == gather->super.me ? 0
                                                     : bytes_of(gather, rank) - gather->delivered;
        const size_t size = left < budget ? left : budget;
        if (0 == budget) {
            return false;
        }
        if (0 < size) {
            *rc = deliver(gather, rank, gather->whole[gather->delivery] + gather->delivered,
                          gather->delivered, size);
        }
        budget -= size;
        gather->delivered += size;
        if (size == left) {
            gather->delivery += 1;
            gather->delivered = 0;
        }
    }
    return true;
}

static bool advance(call_t *call, int *rc)
{
    gather_t *gather = (gather_t *) call;
    size_t budget = MCA_COLL_PIPERING_PULLS_BUDGET;
    bool here = true;

    for (int i = 1; OMPI_SUCCESS == *rc && i < call->p; ++i) {
        const int rank = (call->me + i) % call->p;
        if (!mca_coll_pipering_pulls_is_read(call, rank)) {
            continue;
        }
        const bool found = mca_coll_pipering_pulls_find(call, rank, rc);
        here &= found && write_to(gather, rank, &budget, rc);
        here &= found && OMPI_SUCCESS == *rc && read_from(gather, rank, &budget, rc);
    }
    if (OMPI_SUCCESS == *rc && !gather->own_copied) {
        *rc = copy_own(gather);
    }
    return OMPI_SUCCESS == *rc && here && deliver_splits(gather, rc);
}

/* ---- making ---- */

int mca_coll_pipering_pulls_gather_new(const mca_coll_pipering_rounds_args_t *args,
                                       const mca_coll_pipering_call_name_t *name,
                                       mca_coll_pipering_scheduled_t **made)
{
    const size_t p = (size_t) ompi_comm_size(args->caller->comm);
    const mca_common_colltools_needs_t most = {.steps = 1};
    void *behind;
    gather_t *gather = mca_coll_pipering_pulls_call_new(args, name, NULL, 0, sizeof(*gather), most,
                                                        p * sizeof(progress_t), &behind);

    if (NULL == gather) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    call_t *call = &gather->super;
    *made = &call->super;
    gather->progress = memset(behind, 0, p * sizeof(progress_t));
    call->all = 0 < args->splits->count;
    call->advance = advance;
    call->fill = fill;
    const mca_coll_pipering_layout_t *source = mca_coll_pipering_rounds_source(&gather->super.args);
    const size_t bytes = args->bytes[call->me];
    gather->through = !args->recv->dense;
    const bool packs = 0 < bytes && !source->dense;
    call->error = take_memory(gather, packs);
    if (OMPI_SUCCESS == call->error && packs) {
        call->error = mca_coll_pipering_scheduled_pack(&call->super, source, call->me, call->own,
                                                       bytes);
    }
    return OMPI_SUCCESS;
}

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
 * The step of coll_pipering_pulls_call.h.
 */

#include "coll_pipering_pulls_call.h"

#include <ctype.h>

#include "ompi/mca/common/colltools/common_colltools_help.h"
#include "opal/util/output.h"

typedef mca_coll_pipering_notice_t notice_t;
typedef mca_coll_pipering_pulls_peer_t peer_t;
typedef mca_coll_pipering_pulls_call_t call_t;

/* ---- others ---- */

/*
 * Ranks disagree on the arguments of the call, or one has given up. Where the other rank's own
 * contribution is as expected, it is the other who has, or is, a reason to complain.
 */
static int judge(const call_t *call, int rank)
{
    const mca_common_colltools_caller_t *caller = call->args.caller;
    const notice_t *notice = call->peer[rank].notice;
    const ompi_status_public_t status = {.MPI_SOURCE = mca_coll_pipering_pulls_rank(call, rank),
                                         .MPI_ERROR = MPI_SUCCESS,
                                         ._ucount = (size_t) notice->bytes};
    const size_t bytes = mca_coll_pipering_pulls_bytes(call, rank);
    const int error = __atomic_load_n(&notice->error, __ATOMIC_ACQUIRE);

    if (OMPI_SUCCESS != error) {
        return error;
    }
    if (bytes != notice->bytes) {
        return mca_common_colltools_judge(caller, &status, bytes);
    }
    if (call->counts != notice->counts) {
        mca_common_colltools_show_help("help-mca-common-colltools.txt", "other-counts",
                                       toupper((unsigned char) caller->name[0]), caller->name + 1,
                                       caller->comm->c_name, ompi_comm_rank(caller->comm),
                                       status.MPI_SOURCE);
        return MPI_ERR_OTHER;
    }
    return OMPI_SUCCESS;
}

/* The notice of a rank; false: it is not there yet. */
static bool find_notice(call_t *call, int rank)
{
    peer_t *peer = &call->peer[rank];

    if (NULL == peer->notice) {
        peer->notice = mca_coll_pipering_board_find(peer->place, &call->name);
    }
    return NULL != peer->notice;
}

bool mca_coll_pipering_pulls_find(call_t *call, int rank, int *rc)
{
    const bool found = find_notice(call, rank);

    if (found) {
        *rc = judge(call, rank);
    }
    return found && OMPI_SUCCESS == *rc;
}

/* Bytes that have been copied from, or to, another rank. */
static void count(call_t *call, size_t bytes, bool to)
{
    call->super.traffic.bytes_in += to ? 0 : bytes;
    call->super.traffic.bytes_out += to ? bytes : 0;
    call->super.traffic.bytes_copied += bytes;
    call->super.schedule.stepped += 1;
}

int mca_coll_pipering_pulls_copy(call_t *call, int rank, char *here, uint64_t there, size_t bytes,
                                 bool to)
{
    ompi_communicator_t *comm = call->args.caller->comm;

    if (0 < bytes
        && !mca_coll_pipering_board_copy(call->peer[rank].place, here, there, bytes, to)) {
        static bool said;
        if (!said) {
            said = true;
            opal_output(0, "coll/pipering: rank %d of %s cannot %s memory of rank %d on its node, "
                        "though it could in MPI_Init: this call fails, and so will others.",
                        ompi_comm_rank(comm), comm->c_name, to ? "write" : "read",
                        mca_coll_pipering_pulls_rank(call, rank));
        }
        return OMPI_ERROR;
    }
    count(call, bytes, to);
    return OMPI_SUCCESS;
}

int mca_coll_pipering_pulls_read(call_t *call, int rank, char *here, size_t from, size_t bytes)
{
    const notice_t *notice = call->peer[rank].notice;

    if (MCA_COLL_PIPERING_PULLS_SMALL < notice->bytes) {
        return mca_coll_pipering_pulls_copy(call, rank, here, notice->own + from, bytes, false);
    }
    (void) memcpy(here, notice->small + from, bytes);
    count(call, bytes, false);
    return OMPI_SUCCESS;
}

/* ---- the notice ---- */

/* Says where this rank's contribution is, if others read it; false: no notice is free yet. */
static bool put_up(call_t *call)
{
    if (!mca_coll_pipering_pulls_is_read(call, call->me) || call->up) {
        return true;
    }
    notice_t *mine = mca_coll_pipering_board_take(&call->name);
    if (NULL == mine) {
        return false;
    }
    mine->bytes = mca_coll_pipering_pulls_bytes(call, call->me);
    mine->own = (uint64_t) (uintptr_t) call->own;
    mine->error = call->error;
    mine->counts = call->counts;
    if (OMPI_SUCCESS == call->error && 0 < mine->bytes
        && MCA_COLL_PIPERING_PULLS_SMALL >= mine->bytes) {
        (void) memcpy(mine->small, call->own, mine->bytes);
    }
    call->fill(call, mine);
    mca_coll_pipering_board_put_up(mine);
    call->mine = mine;
    call->up = true;
    return true;
}

/* Takes over an error that another rank has given the call up with. */
static void take_error(call_t *call)
{
    if (NULL != call->mine && OMPI_SUCCESS == call->error) {
        call->error = __atomic_load_n(&call->mine->error, __ATOMIC_ACQUIRE);
    }
}

/*
 * Tells all whose memory this rank may read that it does not any more, once, and its error; true:
 * all are told.
 */
static bool tell_all(call_t *call)
{
    bool all = true;

    for (int r = 0; r < call->p; ++r) {
        peer_t *peer = &call->peer[r];
        if (r == call->me || !mca_coll_pipering_pulls_is_read(call, r) || peer->told) {
            continue;
        }
        peer->told = find_notice(call, r);
        all &= peer->told;
        if (peer->told && OMPI_SUCCESS != call->error) {
            __atomic_store_n(&peer->notice->error, call->error, __ATOMIC_RELEASE);
        }
        if (peer->told) {
            (void) __atomic_fetch_add(&peer->notice->readers, 1, __ATOMIC_ACQ_REL);
        }
    }
    return all;
}

/* Whether nobody reads this rank's contribution any more; then its notice goes. */
static bool is_left(call_t *call)
{
    if (NULL != call->mine
        && (uint32_t) call->p - 1 != __atomic_load_n(&call->mine->readers, __ATOMIC_ACQUIRE)) {
        return false;
    }
    if (NULL != call->mine) {
        take_error(call); /* it came before its rank was a reader that is done */
        mca_coll_pipering_board_take_down(call->mine);
        call->mine = NULL;
    }
    return true;
}

/* ---- the step ---- */

/* Moves on, but for the end; says in the notice if that fails. */
static void move(call_t *call)
{
    take_error(call);
    if (OMPI_SUCCESS == call->error && !call->here) {
        call->here = call->advance(call, &call->error);
    }
    if (NULL != call->mine && OMPI_SUCCESS != call->error) {
        __atomic_store_n(&call->mine->error, call->error, __ATOMIC_RELEASE);
    }
}

/*
 * After an error the step goes on until all others know, so that nobody reads what the user frees,
 * or waits for ever.
 */
static int pull(void *context, int from, int to)
{
    call_t *call = context;

    (void) from, (void) to;
    if (!put_up(call)) {
        return OMPI_ERR_WOULD_BLOCK;
    }
    move(call);
    if ((OMPI_SUCCESS == call->error && !call->here) || !tell_all(call) || !is_left(call)) {
        return OMPI_ERR_WOULD_BLOCK;
    }
    return call->error;
}

void *mca_coll_pipering_pulls_call_new(const mca_coll_pipering_rounds_args_t *args,
                                       const mca_coll_pipering_call_name_t *name,
                                       const int *member, int count, size_t size,
                                       mca_common_colltools_needs_t most, size_t more,
                                       void **behind)
{
    const mca_common_colltools_needs_t none = {0, 0, 0};
    ompi_communicator_t *comm = args->caller->comm;
    const int p = NULL == member ? ompi_comm_size(comm) : count;
    const size_t peers = (size_t) p * sizeof(peer_t);
    void *after;
    call_t *call = mca_coll_pipering_scheduled_new(args->caller, args->tag, size, most,
                                                   peers + more, &after);

    if (NULL == call) {
        return NULL;
    }
    call->args = *args;
    call->p = p;
    call->member = member;
    call->name = *name;
    call->counts = mca_common_colltools_hash(MCA_COMMON_COLLTOOLS_HASH, args->bytes,
                                             (size_t) ompi_comm_size(comm)
                                                 * sizeof(*args->bytes));
    call->peer = after;
    *behind = call->peer + p;
    for (int r = 0; r < p; ++r) {
        const int rank = mca_coll_pipering_pulls_rank(call, r);
        const uint32_t process = ompi_group_get_proc_name(comm->c_local_group, rank).vpid;
        const int guess = 0 == r ? 0 : call->peer[r - 1].place + 1;
        call->me = ompi_comm_rank(comm) == rank ? r : call->me;
        call->peer[r] = (peer_t){
            .place = args->reads ? mca_coll_pipering_board_place(process, guess) : 0};
    }
    if (args->reads) {
        mca_common_colltools_schedule_step(&call->super.schedule, pull, 0, 0, none);
    }
    return call;
}

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
 * The steps of an exchange's schedule: copies inside the process, and the pool of messages that
 * are packed in an exchange with MPI_IN_PLACE.
 *
 *     pair      0 packed   1         2 packed   3 packed
 *     pool      [ 0 |      2    |    3  ]                    pair 4 waits for the room of pair 0
 *
 * Each pair of ranks exchanges two messages, which share one buffer on either rank. One of the two
 * ranks packs its message into the pool first, so that the message of the other rank can overwrite
 * the buffer. Messages take and give back room in the order of pairs. All ranks have this order in
 * common and the pool holds the largest message, so the oldest pair can always proceed and no
 * ranks wait for each other in a circle, however small the pool is.
 *
 * Cost: one of the two messages of each pair is copied once more. Limits: a rank may wait for room
 * in its pool, while its later pairs cannot start.
 *
 * Neither MPI_IN_PLACE nor the pool is in the paper (Balaji et al., section 4.2.2).
 */

#include "coll_pipering_alltoall.h"

int mca_coll_pipering_exchange_copy(void *context, int step, int to)
{
    const mca_coll_pipering_move_t *move
        = &((const mca_coll_pipering_exchange_t *) context)->move[step];

    (void) to;
    return mca_coll_pipering_copy(&move->from, &move->to);
}

/* Gives the room of completed pairs back, oldest first. */
static void give_back(mca_coll_pipering_exchange_t *exchange)
{
    const mca_common_colltools_schedule_t *schedule = &exchange->schedule;

    while (exchange->given < schedule->steps_done
           && (uint32_t) schedule->step[exchange->given].to < schedule->sends.done) {
        ++exchange->given;
        const char *next = exchange->copies; /* or what the next step has packed */
        if (exchange->given < schedule->steps_done) {
            next = schedule->sends.message[schedule->step[exchange->given].to].buffer;
        }
        mca_coll_pipering_pool_give(&exchange->pool, (size_t) (next - exchange->copies));
    }
}

int mca_coll_pipering_exchange_pack(void *context, int step, int send)
{
    mca_coll_pipering_exchange_t *exchange = context;
    mca_common_colltools_message_t *message = &exchange->schedule.sends.message[send];
    const mca_common_colltools_message_t *packed = &exchange->packed[step];
    size_t offset;

    give_back(exchange);
    if (!mca_coll_pipering_pool_take(&exchange->pool, message->bytes, &offset)) {
        return OMPI_ERR_WOULD_BLOCK;
    }
    message->buffer = exchange->copies + offset;

    const mca_coll_pipering_place_t from = {packed->buffer, packed->count, packed->type};
    const mca_coll_pipering_place_t to = {message->buffer, message->count, message->type};
    return mca_coll_pipering_copy(&from, &to);
}

void mca_coll_pipering_exchange_begin(mca_coll_pipering_exchange_t *exchange)
{
    exchange->pool = (mca_coll_pipering_pool_t){.size = exchange->pool.size};
    exchange->given = 0;
    mca_common_colltools_schedule_begin(&exchange->schedule);
}

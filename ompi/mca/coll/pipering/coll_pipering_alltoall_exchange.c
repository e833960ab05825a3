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
 * How the messages of an exchange move. Three ways:
 *
 *     together   every receive is posted, then sends start in the order of the plan, at
 *                most a window of them under way
 *     pairs      in place: one of the two packs what it sends into a pool, so that what the
 *                other sends from its buffer can come in; that one receives when it has
 *                sent. Both ranks come to their pair in the same order among all pairs, so
 *                the oldest one can always go on, however little room there is
 *     steps      to me + i and from me - i, zero bytes too, then the next i: the round
 *                robin that the paper compares with
 *
 * A message that fails, or has another length than its receiver expects, does not stop the
 * others, on which ranks may wait; the first error is that of the call.
 *
 * Cost: a look at each send that is under way, per call of the progress function.
 * Limits: messages with one peer are told apart by their order alone. Balaji et al. 4.2.2.
 */

#include "coll_pipering_alltoall.h"
#include "coll_pipering_copy.h"

#include <stdlib.h>

#include "ompi/mca/pml/pml.h"
#include "opal/runtime/opal_progress.h"

static void note(mca_coll_pipering_exchange_t *exchange, int rc)
{
    if (OMPI_SUCCESS == exchange->error) {
        exchange->error = rc;
    }
}

/* `received` is the message that comes, NULL for one that goes. */
static bool finished(mca_coll_pipering_exchange_t *exchange, ompi_request_t **request,
                     const mca_coll_pipering_message_t *received)
{
    if (MPI_REQUEST_NULL == *request) {
        return true;
    }
    if (!mca_common_irregular_is_over(*request)) {
        return false;
    }
    /* the user is told once; where ranks differ in representation, bytes are theirs */
    const bool any = NULL == received || OMPI_SUCCESS != exchange->error
                     || MCA_COMMON_IRREGULAR_HETEROGENEOUS;
    note(exchange, mca_common_irregular_judge(&exchange->caller, &(*request)->req_status,
                                              any ? MCA_COMMON_IRREGULAR_ANY_LENGTH
                                                  : received->bytes));
    ompi_request_free(request);
    *request = MPI_REQUEST_NULL;
    return true;
}

static void post_receive(mca_coll_pipering_exchange_t *exchange,
                         const mca_coll_pipering_message_t *message,
                         ompi_request_t **request)
{
    const int rc = MCA_PML_CALL(irecv(message->buffer, message->count, message->type,
                                      message->peer, exchange->tag, exchange->comm,
                                      request));
    if (OMPI_SUCCESS != rc) {
        *request = MPI_REQUEST_NULL;
        note(exchange, rc);
    }
}

static void post_send(mca_coll_pipering_exchange_t *exchange,
                      const mca_coll_pipering_message_t *message, ompi_request_t **request)
{
    const int rc = MCA_PML_CALL(isend(message->buffer, message->count, message->type,
                                      message->peer, exchange->tag, MCA_PML_BASE_SEND_STANDARD,
                                      exchange->comm, request));
    if (OMPI_SUCCESS != rc) {
        *request = MPI_REQUEST_NULL;
        note(exchange, rc);
    }
}

/* ---- together ---- */

static void begin_together(mca_coll_pipering_exchange_t *exchange)
{
    for (size_t i = 0; i < exchange->ins; ++i) {
        post_receive(exchange, &exchange->in[i], &exchange->requests[i]);
    }
    for (; exchange->begun < exchange->window; ++exchange->begun) {
        post_send(exchange, &exchange->out[exchange->begun],
                  &exchange->requests[exchange->ins + exchange->begun]);
    }
}

static bool move_together(mca_coll_pipering_exchange_t *exchange, int *steps)
{
    const size_t requests = exchange->ins + exchange->window;

    for (size_t i = exchange->ins; i < requests && exchange->begun < exchange->outs; ++i) {
        if (finished(exchange, &exchange->requests[i], NULL)) {
            post_send(exchange, &exchange->out[exchange->begun++], &exchange->requests[i]);
            ++*steps;
        }
    }
    if (exchange->begun < exchange->outs) {
        return false;
    }
    while (exchange->done < requests
           && finished(exchange, &exchange->requests[exchange->done],
                       exchange->done < exchange->ins ? &exchange->in[exchange->done] : NULL)) {
        ++exchange->done;
        ++*steps;
    }
    return requests == exchange->done;
}

/* ---- pairs ---- */

/* A pair's current direction is over: copied, it receives first, and else in the end. */
static bool pair_finished(mca_coll_pipering_exchange_t *exchange, size_t i)
{
    const mca_coll_pipering_message_t *message = &exchange->out[i];

    return finished(exchange, &exchange->requests[i],
                    message->copied != message->turned ? message : NULL);
}

/* The first direction: what is copied goes out when what takes its place has come in. */
static void begin_pair(mca_coll_pipering_exchange_t *exchange)
{
    const size_t i = exchange->begun++;
    mca_coll_pipering_message_t *message = &exchange->out[i];

    message->turned = false;
    if (!message->copied) {
        post_send(exchange, message, &exchange->requests[i]);
        return;
    }
    const mca_coll_pipering_place_t from = {message->buffer, message->count, message->type};
    const mca_coll_pipering_place_t copy = {exchange->copies + exchange->copy[i], message->bytes,
                                            MPI_PACKED};
    const int rc = mca_coll_pipering_copy(&from, &copy);
    if (OMPI_SUCCESS != rc) {
        note(exchange, rc);
    }
    post_receive(exchange, message, &exchange->requests[i]);
}

/* The second one. */
static void turn_pair(mca_coll_pipering_exchange_t *exchange, size_t i)
{
    mca_coll_pipering_message_t *message = &exchange->out[i];
    message->turned = true;
    if (!message->copied) {
        post_receive(exchange, message, &exchange->requests[i]);
        return;
    }
    const mca_coll_pipering_message_t copy = {.buffer = exchange->copies + exchange->copy[i],
                                              .type = MPI_PACKED,
                                              .count = message->bytes,
                                              .bytes = message->bytes,
                                              .peer = message->peer};
    post_send(exchange, &copy, &exchange->requests[i]);
}

/* Where the oldest copy is that is still wanted; 0: there is none. */
static size_t oldest_copy(const mca_coll_pipering_exchange_t *exchange)
{
    for (size_t i = exchange->done; i < exchange->begun; ++i) {
        if (exchange->out[i].copied) {
            return exchange->copy[i];
        }
    }
    return 0;
}

/* Gives the room of copies back in the order in which it was taken. */
static int end_pairs(mca_coll_pipering_exchange_t *exchange)
{
    int steps = 0;

    while (exchange->done < exchange->begun && exchange->out[exchange->done].turned
           && pair_finished(exchange, exchange->done)) {
        const bool copied = exchange->out[exchange->done++].copied;
        if (copied) {
            mca_coll_pipering_pool_give(&exchange->pool, oldest_copy(exchange));
        }
        ++steps;
    }
    return steps;
}

static bool has_room(mca_coll_pipering_exchange_t *exchange)
{
    const mca_coll_pipering_message_t *next = &exchange->out[exchange->begun];

    return !next->copied
           || mca_coll_pipering_pool_take(&exchange->pool, next->bytes,
                                          &exchange->copy[exchange->begun]);
}

static bool move_pairs(mca_coll_pipering_exchange_t *exchange, int *steps)
{
    for (size_t i = exchange->done; i < exchange->begun; ++i) {
        if (!exchange->out[i].turned && pair_finished(exchange, i)) {
            turn_pair(exchange, i);
            ++*steps;
        }
    }
    *steps += end_pairs(exchange);
    while (exchange->begun < exchange->outs
           && exchange->begun - exchange->done < exchange->window && has_room(exchange)) {
        begin_pair(exchange);
        ++*steps;
    }
    return exchange->outs == exchange->done;
}

/* ---- steps ---- */

static bool move_steps(mca_coll_pipering_exchange_t *exchange, int *steps)
{
    ompi_request_t **request = exchange->requests;

    while (finished(exchange, &request[0],
                    0 == exchange->begun ? NULL : &exchange->in[exchange->begun - 1])
           && finished(exchange, &request[1], NULL)) {
        if (exchange->outs == exchange->begun) {
            return true;
        }
        post_receive(exchange, &exchange->in[exchange->begun], &request[0]);
        post_send(exchange, &exchange->out[exchange->begun], &request[1]);
        ++exchange->begun;
        ++*steps;
    }
    return false;
}

/* ---- the life of an exchange ---- */

bool mca_coll_pipering_exchange_move(mca_coll_pipering_exchange_t *exchange, int *steps)
{
    switch (exchange->way) {
    case MCA_COLL_PIPERING_PAIRS:
        return move_pairs(exchange, steps);
    case MCA_COLL_PIPERING_STEPS:
        return move_steps(exchange, steps);
    default:
        return move_together(exchange, steps);
    }
}

static int copy_own(const mca_coll_pipering_exchange_t *exchange)
{
    const mca_coll_pipering_message_t *out = &exchange->own_out, *in = &exchange->own_in;
    const mca_coll_pipering_place_t from = {out->buffer, out->count, out->type};
    const mca_coll_pipering_place_t to = {in->buffer, in->count, in->type};

    return 0 == out->bytes ? OMPI_SUCCESS : mca_coll_pipering_copy(&from, &to);
}

void mca_coll_pipering_exchange_begin(mca_coll_pipering_exchange_t *exchange)
{
    int steps = 0;

    exchange->begun = exchange->done = 0;
    exchange->error = OMPI_SUCCESS;
    for (size_t i = 0; i < exchange->queue; ++i) {
        exchange->requests[i] = MPI_REQUEST_NULL;
    }
    if (MCA_COLL_PIPERING_TOGETHER == exchange->way) {
        begin_together(exchange);
    } else {
        (void) mca_coll_pipering_exchange_move(exchange, &steps);
    }
    note(exchange, copy_own(exchange));
}

/* All pairs have begun, and are on their second direction. */
static bool all_turned(const mca_coll_pipering_exchange_t *exchange)
{
    bool turned = exchange->begun == exchange->outs;

    for (size_t i = exchange->done; turned && i < exchange->begun; ++i) {
        turned = exchange->out[i].turned;
    }
    return turned;
}

/* The request without which nothing goes on; NULL: there are several, or none is left. */
static ompi_request_t *awaited(const mca_coll_pipering_exchange_t *exchange)
{
    size_t first = 0, end = 2;

    if (MCA_COLL_PIPERING_TOGETHER == exchange->way) {
        first = exchange->done;
        end = exchange->begun < exchange->outs ? first : exchange->queue;
    } else if (MCA_COLL_PIPERING_PAIRS == exchange->way) {
        first = exchange->done;
        end = all_turned(exchange) ? exchange->begun : first;
    }
    while (first < end && MPI_REQUEST_NULL == exchange->requests[first]) {
        ++first;
    }
    return first < end ? exchange->requests[first] : NULL;
}

/*
 * For the messages themselves: by way of the progress function what has come in would be
 * seen one round of opal_progress later.
 */
void mca_coll_pipering_exchange_wait(mca_coll_pipering_exchange_t *exchange)
{
    int steps = 0;

    while (!mca_coll_pipering_exchange_move(exchange, &steps)) {
        ompi_request_t *request = awaited(exchange);
        if (NULL != request) {
            ompi_request_wait_completion(request);
        } else {
            opal_progress();
        }
    }
}

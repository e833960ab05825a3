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
 * The engine of common_colltools_schedule.h: completions drive it.
 *
 * The needs of an entry are prefixes of lists, so each list has a count of entries that are
 * over in a row, `done`, and nothing else is remembered of them. Requests are looked at in their
 * order; out of order only while a full window keeps the next message back, or for answers.
 */

#include "ompi/mca/common/colltools/common_colltools_schedule.h"

#include "ompi/mca/pml/pml.h"
#include "opal/runtime/opal_progress.h"

typedef mca_common_colltools_schedule_t schedule_t;
typedef mca_common_colltools_messages_t messages_t;
typedef mca_common_colltools_message_t message_t;
typedef mca_common_colltools_needs_t needs_t;

static inline void note(schedule_t *schedule, int rc)
{
    if (OMPI_SUCCESS == schedule->error) {
        schedule->error = rc;
    }
}

static inline bool is_stopped(const schedule_t *schedule)
{
    return OMPI_SUCCESS != schedule->error && !schedule->goes_on;
}

static inline bool are_met(const schedule_t *schedule, const needs_t *needs)
{
    return needs->receives <= schedule->receives.done && needs->sends <= schedule->sends.done
           && needs->steps <= schedule->steps_done;
}

/* ---- messages ---- */

static inline void post(schedule_t *schedule, const message_t *message, bool sends,
                        ompi_request_t **request)
{
    const int rc = sends ? MCA_PML_CALL(isend(message->buffer, message->count, message->type,
                                              message->peer, schedule->tag,
                                              schedule->synchronous ? MCA_PML_BASE_SEND_SYNCHRONOUS
                                                                    : MCA_PML_BASE_SEND_STANDARD,
                                              schedule->caller->comm, request))
                         : MCA_PML_CALL(irecv(message->buffer, message->count, message->type,
                                              message->peer, schedule->tag, schedule->caller->comm,
                                              request));
    if (OPAL_UNLIKELY(OMPI_SUCCESS != rc)) {
        *request = MPI_REQUEST_NULL;
        note(schedule, rc);
    }
}

/* A request that is over is freed and becomes MPI_REQUEST_NULL. */
static inline bool finish(schedule_t *schedule, ompi_request_t **request, size_t expected)
{
    if (MPI_REQUEST_NULL == *request) {
        return true;
    }
    if (!mca_common_colltools_is_over(*request)) {
        return false;
    }
    if (OMPI_SUCCESS == schedule->error) { /* the user is told once */
        schedule->error = mca_common_colltools_judge(
            schedule->caller, &(*request)->req_status,
            schedule->any_length ? MCA_COMMON_COLLTOOLS_ANY_LENGTH : expected);
    }
    ompi_request_free(request);
    *request = MPI_REQUEST_NULL;
    return true;
}

/* ---- answers ---- */

static inline bool has_answer(const schedule_t *schedule, const message_t *message)
{
    return schedule->answers && NULL != message->answer;
}

/* Of a message with an answer: the direction under way is the one that comes in. */
static inline bool is_receiving(const message_t *message)
{
    return message->receives_first != message->answered;
}

/* Starts the first or the second direction of a message with an answer. */
static void start_direction(schedule_t *schedule, message_t *message, bool second,
                            ompi_request_t **request)
{
    message->answered = second;
    if (is_receiving(message)) {
        post(schedule, message->answer, false, request);
    } else {
        post(schedule, message, true, request);
    }
}

/* Looks at a message with an answer: true if both directions are over. */
static bool finish_both(schedule_t *schedule, message_t *message, ompi_request_t **request,
                        int *progress)
{
    while (finish(schedule, request,
                  is_receiving(message) ? message->answer->bytes
                                        : MCA_COMMON_COLLTOOLS_ANY_LENGTH)) {
        ++*progress;
        if (message->answered) {
            return true;
        }
        start_direction(schedule, message, true, request);
    }
    return false;
}

/* ---- lists ---- */

static inline bool is_full(const messages_t *list)
{
    return list->begun - list->over == list->window;
}

/* Looks at what is under way: answers begin, and what is over makes room in the window. */
static int take(schedule_t *schedule, messages_t *list, bool sends)
{
    const bool all = sends && (schedule->answers || (list->begun < list->count && is_full(list)));
    int progress = 0;

    for (uint32_t i = list->done; i < list->begun; ++i) {
        message_t *message = &list->message[i];
        ompi_request_t **request = &list->request[i];
        if (message->over) {
            continue;
        }
        if (sends && has_answer(schedule, message)
                ? finish_both(schedule, message, request, &progress)
                : finish(schedule, request,
                         sends ? MCA_COMMON_COLLTOOLS_ANY_LENGTH : message->bytes)) {
            message->over = true;
            ++list->over;
            ++progress;
        } else if (!all) {
            break;
        }
    }
    while (list->done < list->begun && list->message[list->done].over) {
        ++list->done;
    }
    return progress;
}

static int start(schedule_t *schedule, messages_t *list, bool sends)
{
    const uint32_t before = list->begun;

    while (list->begun < list->count && !is_full(list)
           && are_met(schedule, &list->message[list->begun].needs)) {
        message_t *message = &list->message[list->begun];
        ompi_request_t **request = &list->request[list->begun++];
        message->over = false;
        if (sends && has_answer(schedule, message)) {
            start_direction(schedule, message, false, request);
        } else {
            post(schedule, message, sends, request);
        }
    }
    return (int) (list->begun - before);
}

/* ---- steps ---- */

static inline bool may_step(const schedule_t *schedule)
{
    return schedule->steps_done < schedule->steps
           && are_met(schedule, &schedule->step[schedule->steps_done].needs);
}

/* Runs the next step; false: it is not over. */
static bool run_step(schedule_t *schedule)
{
    const mca_common_colltools_step_t *step = &schedule->step[schedule->steps_done];
    const int rc = step->run(schedule->context, step->from, step->to);

    if (OMPI_ERR_WOULD_BLOCK == rc) {
        return false;
    }
    if (OMPI_SUCCESS != rc) {
        note(schedule, rc);
    }
    ++schedule->steps_done;
    return true;
}

/* ---- the life of a schedule ---- */

static inline bool is_done(const schedule_t *schedule)
{
    return schedule->receives.done == schedule->receives.count
           && schedule->sends.done == schedule->sends.count
           && schedule->steps_done == schedule->steps;
}

void mca_common_colltools_schedule_begin(schedule_t *schedule)
{
    schedule->receives.begun = schedule->receives.done = schedule->receives.over = 0;
    schedule->sends.begun = schedule->sends.done = schedule->sends.over = 0;
    schedule->steps_done = 0;
    schedule->error = OMPI_SUCCESS;
    (void) start(schedule, &schedule->receives, false);
    if (!is_stopped(schedule)) {
        (void) start(schedule, &schedule->sends, true);
    }
}

/*
 * Steps come first: they are often what messages need. One that is not over is called again
 * when messages have moved.
 */
bool mca_common_colltools_schedule_move(schedule_t *schedule, int *progress)
{
    for (int moved = 1; 0 < moved && !is_stopped(schedule); *progress += moved) {
        schedule->stepped = 0;
        moved = may_step(schedule) && run_step(schedule);
        *progress += schedule->stepped;
        moved += take(schedule, &schedule->receives, false);
        moved += take(schedule, &schedule->sends, true);
        if (is_stopped(schedule)) {
            break;
        }
        moved += start(schedule, &schedule->receives, false);
        moved += start(schedule, &schedule->sends, true);
        if (is_done(schedule)) {
            *progress += moved;
            return true;
        }
    }
    return is_stopped(schedule);
}

/* ---- waiting ---- */

/* Whether an entry waits for the next receive that is over, or else for the next send. */
static inline bool waits_for(const schedule_t *schedule, const needs_t *needs, bool receive)
{
    return receive ? needs->receives > schedule->receives.done
                   : needs->sends > schedule->sends.done;
}

/* Whether nothing begins before that. */
static bool all_wait_for(const schedule_t *schedule, bool receive)
{
    const messages_t *receives = &schedule->receives, *sends = &schedule->sends;

    return (receives->begun == receives->count
            || waits_for(schedule, &receives->message[receives->begun].needs, receive))
           && (sends->begun == sends->count
               || waits_for(schedule, &sends->message[sends->begun].needs, receive))
           && (schedule->steps_done == schedule->steps
               || waits_for(schedule, &schedule->step[schedule->steps_done].needs, receive));
}

/* Whether the second direction of a message is still to begin. */
static bool awaits_answers(const schedule_t *schedule)
{
    const messages_t *sends = &schedule->sends;

    for (uint32_t i = sends->done; schedule->answers && i < sends->begun; ++i) {
        const message_t *message = &sends->message[i];
        if (!message->over && NULL != message->answer && !message->answered) {
            return true;
        }
    }
    return false;
}

/*
 * The request without which nothing can begin; NULL: there are several, or something else
 * has to happen. Receives come first, since their errors are those that are likely.
 */
static ompi_request_t *awaited(const schedule_t *schedule)
{
    const messages_t *receives = &schedule->receives, *sends = &schedule->sends;
    const bool receive = receives->done < receives->begun;

    if ((!receive && sends->done == sends->begun) || !all_wait_for(schedule, receive)
        || awaits_answers(schedule)) {
        return NULL;
    }
    return receive ? receives->request[receives->done] : sends->request[sends->done];
}

/*
 * For the messages themselves: a progress function would see what has come in one round of
 * opal_progress later.
 */
int mca_common_colltools_schedule_wait(schedule_t *schedule)
{
    int progress = 0;

    while (!mca_common_colltools_schedule_move(schedule, &progress)) {
        ompi_request_t *request = awaited(schedule);
        if (NULL != request && MPI_REQUEST_NULL != request) {
            ompi_request_wait_completion(request);
        } else {
            opal_progress();
        }
    }
    return schedule->error;
}

bool mca_common_colltools_schedule_fini(schedule_t *schedule)
{
    messages_t *receives = &schedule->receives, *sends = &schedule->sends;
    bool pending = false;

    for (uint32_t i = sends->done; i < sends->begun; ++i) {
        const message_t *message = &sends->message[i];
        if (!message->over) {
            pending |= mca_common_colltools_abandon(&sends->request[i], 0, 1, 1,
                                                    has_answer(schedule, message)
                                                        && is_receiving(message));
        }
    }
    if (receives->done < receives->begun) {
        pending |= mca_common_colltools_abandon(receives->request, receives->done, receives->begun,
                                                receives->count, true);
    }
    receives->done = receives->begun;
    sends->done = sends->begun;
    return pending;
}

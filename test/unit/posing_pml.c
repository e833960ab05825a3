/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

#include "posing_pml.h"

#include <string.h>

#include "tap.h"

/* A message; it lives until both of its requests are complete. */
typedef struct message_t {
    int from, to, tag;
    const char *data; /* a copy, or the sender's memory */
    size_t bytes;
    char *copy;
    ompi_request_t *send, *receive; /* NULL: complete, or not there yet */
    bool matched, moved;
} message_t;

/* A list in the order of posting. */
typedef struct list_t {
    void **item;
    size_t count, room;
} list_t;

struct posing_world_t {
    list_t messages, receives, requests; /* receives: those that are not matched */
};

ompi_datatype_t posing_byte = {.size = 1};
ompi_request_t posing_no_request;
posing_posted_fn_t *posing_posted;
posing_idle_fn_t *posing_idle;
int posing_told;

static void append(list_t *list, void *item)
{
    if (list->room == list->count) {
        list->room = 2 * list->room + 16;
        list->item = realloc(list->item, list->room * sizeof(*list->item));
        if (NULL == list->item) {
            tap_bail("no memory");
        }
    }
    list->item[list->count++] = item;
}

static void withdraw(list_t *list, const void *item)
{
    size_t i = 0;

    while (item != list->item[i]) {
        i++;
    }
    memmove(&list->item[i], &list->item[i + 1], (--list->count - i) * sizeof(*list->item));
}

ompi_communicator_t *posing_open(int size, uint64_t seed)
{
    ompi_communicator_t *comm = tap_memory((size_t) size * sizeof(*comm));
    posing_world_t *world = tap_memory(sizeof(*world));

    memset(world, 0, sizeof(*world));
    tap_state = seed; /* of this file */
    for (int r = 0; r < size; r++) {
        comm[r] = (ompi_communicator_t){.rank = r, .size = size, .c_name = "posed",
                                        .world = world, .refuse = -1, .spoil = -1};
    }
    return comm;
}

static void free_message(message_t *message)
{
    free(message->copy);
    free(message);
}

int posing_close(ompi_communicator_t *comm)
{
    posing_world_t *world = comm->world;
    const int left = (int) (world->requests.count + world->messages.count);

    for (size_t i = 0; i < world->requests.count; i++) {
        free(world->requests.item[i]);
    }
    for (size_t i = 0; i < world->messages.count; i++) {
        free_message(world->messages.item[i]);
    }
    free(world->messages.item);
    free(world->receives.item);
    free(world->requests.item);
    free(world);
    free(comm);
    return left;
}

void posing_tell(const char *topic, ...)
{
    (void) topic;
    posing_told++;
}

/* ---- requests ---- */

static void set_state(ompi_request_t *request, posing_state_t state)
{
    request->state = state;
    if (NULL != request->told) {
        *request->told = state;
    }
}

static void delete_request(ompi_request_t *request)
{
    withdraw(&request->comm->world->requests, request);
    free(request);
}

static void complete(ompi_request_t *request)
{
    if (request->abandoned) {
        delete_request(request);
    } else {
        set_state(request, POSING_COMPLETE);
    }
}

/* NULL: refused, with the error in *rc. */
static ompi_request_t *new_request(ompi_communicator_t *comm, const posing_post_t *post, int *rc)
{
    posing_state_t *told = NULL == posing_posted ? NULL : posing_posted(comm, post);
    const int number = comm->posts++;

    *rc = OMPI_SUCCESS;
    if (number == comm->refuse) {
        if (NULL != told) {
            *told = POSING_FREED;
        }
        *rc = comm->refusal;
        return NULL;
    }
    ompi_request_t *request = tap_memory(sizeof(*request));
    *request = (ompi_request_t){.comm = comm, .told = told, .memory = (char *) post->memory,
                                .bytes = post->bytes, .peer = post->peer, .tag = post->tag,
                                .receive = post->receive};
    request->req_status.MPI_SOURCE = post->peer;
    if (number == comm->spoil) {
        request->req_status.MPI_ERROR = comm->spoiled;
    }
    append(&comm->world->requests, request);
    set_state(request, POSING_PENDING);
    return request;
}

static void match(message_t *message, ompi_request_t *receive)
{
    message->receive = receive;
    message->matched = receive->matched = true;
}

int posing_isend(const void *memory, size_t count, ompi_datatype_t *type, int to, int tag, int mode,
                 ompi_communicator_t *comm, ompi_request_t **request)
{
    const posing_post_t post = {.memory = memory, .bytes = count * type->size, .peer = to,
                                .tag = tag, .synchronous = MCA_PML_BASE_SEND_SYNCHRONOUS == mode};
    list_t *receives = &comm->world->receives;
    int rc;

    *request = new_request(comm, &post, &rc);
    if (NULL == *request) {
        return rc;
    }
    message_t *message = tap_memory(sizeof(*message));
    *message = (message_t){.from = comm->rank, .to = to, .tag = tag, .data = memory,
                           .bytes = post.bytes, .send = *request};
    if (!post.synchronous && tap_once_in(2)) {
        message->copy = tap_memory(post.bytes);
        message->data = memcpy(message->copy, memory, post.bytes);
    }
    append(&comm->world->messages, message);
    for (size_t i = 0; i < receives->count; i++) {
        ompi_request_t *receive = receives->item[i];
        if (to == receive->comm->rank && comm->rank == receive->peer && tag == receive->tag) {
            match(message, receive);
            withdraw(receives, receive);
            break;
        }
    }
    return OMPI_SUCCESS;
}

int posing_irecv(void *memory, size_t count, ompi_datatype_t *type, int from, int tag,
                 ompi_communicator_t *comm, ompi_request_t **request)
{
    const posing_post_t post = {.memory = memory, .bytes = count * type->size, .peer = from,
                                .tag = tag, .receive = true};
    const list_t *messages = &comm->world->messages;
    int rc;

    *request = new_request(comm, &post, &rc);
    if (NULL == *request) {
        return rc;
    }
    for (size_t i = 0; i < messages->count; i++) {
        message_t *message = messages->item[i];
        if (!message->matched && from == message->from && comm->rank == message->to
            && tag == message->tag) {
            match(message, *request);
            return OMPI_SUCCESS;
        }
    }
    append(&comm->world->receives, *request);
    return OMPI_SUCCESS;
}

int ompi_request_cancel(ompi_request_t *request)
{
    if (!request->receive) {
        tap_bail("a send is cancelled");
    }
    if (!request->matched && POSING_PENDING == request->state) {
        withdraw(&request->comm->world->receives, request);
        set_state(request, POSING_COMPLETE);
    }
    return OMPI_SUCCESS;
}

void ompi_request_free(ompi_request_t **request)
{
    const bool over = POSING_COMPLETE == (*request)->state;

    (*request)->comm->errors += over && MPI_SUCCESS != (*request)->req_status.MPI_ERROR;
    set_state(*request, POSING_FREED);
    (*request)->told = NULL;
    if (over) {
        delete_request(*request);
    } else {
        (*request)->abandoned = true;
    }
    *request = MPI_REQUEST_NULL;
}

bool posing_touches(const ompi_communicator_t *comm)
{
    const list_t *requests = &comm->world->requests;

    for (size_t i = 0; i < requests->count; i++) {
        const ompi_request_t *request = requests->item[i];
        if (request->comm->rank == comm->rank && POSING_COMPLETE != request->state
            && (request->matched || !request->receive)) {
            return true;
        }
    }
    return false;
}

/* ---- events ---- */

static void move_data(message_t *message)
{
    ompi_request_t *receive = message->receive;
    const bool fits = message->bytes <= receive->bytes;

    memcpy(receive->memory, message->data, fits ? message->bytes : receive->bytes);
    receive->req_status._ucount = fits ? message->bytes : receive->bytes;
    if (!fits) {
        receive->req_status.MPI_ERROR = MPI_ERR_TRUNCATE;
    }
    message->moved = true;
}

/* Does one of what a message can do next; false: nothing. */
static bool advance(message_t *message)
{
    const bool may_send = NULL != message->send && (message->moved || NULL != message->copy);
    const bool may_move = message->matched && !message->moved;
    const bool may_receive = message->moved && NULL != message->receive;

    if (may_send && (!(may_move || may_receive) || tap_once_in(2))) {
        complete(message->send);
        message->send = NULL;
    } else if (may_move) {
        move_data(message);
    } else if (may_receive) {
        complete(message->receive);
        message->receive = NULL;
    } else {
        return false;
    }
    return true;
}

bool posing_event(ompi_communicator_t *comm)
{
    list_t *messages = &comm->world->messages;
    const size_t count = messages->count, first = 0 == count ? 0 : tap_below(count);

    for (size_t i = 0; i < count; i++) {
        message_t *message = messages->item[(first + i) % count];
        if (advance(message)) {
            if (message->moved && NULL == message->send && NULL == message->receive) {
                withdraw(messages, message);
                free_message(message);
            }
            return true;
        }
    }
    return false;
}

bool posing_play(ompi_communicator_t *comm, bool (*step)(int rank))
{
    bool over[POSING_MOST] = {false};
    int left = comm->size;

    for (long idle_turns = 0; 0 < left && 400000 > idle_turns; idle_turns++) {
        const int r = tap_between(0, comm->size - 1);

        if (posing_event(comm)) {
            idle_turns = 0;
        }
        if (!over[r]) {
            over[r] = step(r);
            left -= over[r];
        }
    }
    while (posing_event(comm)) {
    }
    return 0 == left;
}

void opal_progress(void)
{
    posing_idle(NULL);
}

void ompi_request_wait_completion(ompi_request_t *request)
{
    while (!REQUEST_COMPLETE(request)) {
        posing_idle(request);
    }
}

/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

#include "posing.h"

#include <string.h>

#include "tap.h"

/* A message on its way. In a list of one writer and one reader, the first one is old. */
typedef struct message_t {
    struct message_t *next;
    const char *from; /* copy, or the sender's memory */
    size_t bytes;
    int tag;
    ompi_request_t *sender; /* that waits for it, or NULL */
    unsigned clock[POSING_RANKS];
    char copy[];
} message_t;

struct posing_channel_t {
    message_t *first; /* the reader's */
    message_t *last;  /* the writer's */
};

ompi_datatype_t posing_byte = {.size = 1};
static ompi_request_t no_request = {.done = true};
ompi_request_t *const posing_no_request = &no_request;
__thread ompi_communicator_t *posing_me;
void (*posing_idle)(void);
void (*posing_progress)(ompi_communicator_t *comm);
posing_touch_fn_t *posing_touch;

__attribute__((noreturn)) static void give_up(const char *why)
{
    printf("Bail out! posing.c: %s\n", why);
    fflush(stdout);
    abort();
}

size_t mca_common_irregular_pack(opal_convertor_t *packer, char *packed, size_t bytes,
                                 bool on_device)
{
    (void) packer;
    (void) packed;
    (void) bytes;
    (void) on_device;
    give_up("a convertor is wanted");
}

size_t mca_common_irregular_unpack(opal_convertor_t *unpacker, const char *packed, size_t bytes,
                                   bool on_device)
{
    (void) unpacker;
    (void) packed;
    (void) bytes;
    (void) on_device;
    give_up("a convertor is wanted");
}

/* ---- clocks ---- */

void posing_learn(ompi_communicator_t *comm, const unsigned *clock)
{
    for (int r = 0; r < comm->size; r++) {
        comm->clock[r] = clock[r] > comm->clock[r] ? clock[r] : comm->clock[r];
    }
}

void posing_tick(ompi_communicator_t *comm)
{
    comm->clock[comm->rank]++;
}

/* ---- communicators ---- */

static message_t *new_message(size_t bytes)
{
    message_t *message = tap_memory(sizeof(*message) + bytes);

    memset(message, 0, sizeof(*message));
    message->bytes = bytes;
    return message;
}

void posing_open(ompi_communicator_t *comm, int size, uint64_t seed)
{
    posing_channel_t *channel = tap_memory((size_t) (size * size) * sizeof(*channel));

    for (int i = 0; i < size * size; i++) {
        channel[i].first = channel[i].last = new_message(0);
    }
    memset(comm, 0, (size_t) size * sizeof(*comm));
    for (int r = 0; r < size; r++) {
        comm[r].rank = r;
        comm[r].size = size;
        comm[r].channel = channel;
        comm[r].coin = seed + (uint64_t) r;
        comm[r].clock[r] = 1;
    }
}

bool posing_close(ompi_communicator_t *comm)
{
    bool empty = true;

    for (int i = 0; i < comm->size * comm->size; i++) {
        while (NULL != comm->channel[i].first) {
            message_t *next = comm->channel[i].first->next;

            empty &= NULL == next;
            free(comm->channel[i].first);
            comm->channel[i].first = next;
        }
    }
    free(comm->channel);
    return empty;
}

static posing_channel_t *channel_of(const ompi_communicator_t *comm, int from, int to)
{
    return &comm->channel[from * comm->size + to];
}

static bool flip(ompi_communicator_t *comm)
{
    comm->coin = comm->coin * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return 0 != comm->coin >> 63;
}

/* ---- sends and receives ---- */

static ompi_request_t *new_request(ompi_communicator_t *comm, const void *memory, size_t bytes,
                                   int peer, int tag)
{
    ompi_request_t *request = tap_memory(sizeof(*request));

    memset(request, 0, sizeof(*request));
    request->comm = comm;
    request->memory = memory;
    request->bytes = request->req_status._ucount = bytes;
    request->peer = peer;
    request->tag = tag;
    return request;
}

static void touch(ompi_request_t *request, bool begin)
{
    if (NULL != posing_touch && begin != request->touches) {
        posing_touch(request->comm, request->memory, request->bytes, request->receive, begin);
    }
    request->touches = begin;
}

int posing_isend(const void *memory, size_t bytes, ompi_datatype_t *type, int to, int tag, int mode,
                 ompi_communicator_t *comm, ompi_request_t **request)
{
    const bool late = flip(comm);
    message_t *message = new_message(late ? 0 : bytes);
    posing_channel_t *channel = channel_of(comm, comm->rank, to);
    message_t *last = channel->last;

    (void) type;
    (void) mode;
    *request = new_request(comm, memory, bytes, to, tag);
    touch(*request, true);
    message->from = memory;
    message->bytes = bytes;
    message->tag = tag;
    if (late) {
        message->sender = *request;
    } else {
        message->from = memcpy(message->copy, memory, bytes);
        (*request)->done = true;
        touch(*request, false);
    }
    memcpy(message->clock, comm->clock, sizeof(comm->clock));
    posing_tick(comm);
    channel->last = message;
    __atomic_store_n(&last->next, message, __ATOMIC_RELEASE);
    return OMPI_SUCCESS;
}

int posing_irecv(void *memory, size_t bytes, ompi_datatype_t *type, int from, int tag,
                 ompi_communicator_t *comm, ompi_request_t **request)
{
    ompi_request_t **end = &comm->posted;

    (void) type;
    *request = new_request(comm, memory, bytes, from, tag);
    (*request)->receive = true;
    touch(*request, true);
    memcpy((*request)->posted, comm->clock, sizeof(comm->clock));
    posing_tick(comm);
    while (NULL != *end) {
        end = &(*end)->next;
    }
    *end = *request;
    return OMPI_SUCCESS;
}

/* Takes a message for a receive, if there is one. */
static bool take(ompi_communicator_t *comm, ompi_request_t *request)
{
    posing_channel_t *channel = channel_of(comm, request->peer, comm->rank);
    message_t *message = __atomic_load_n(&channel->first->next, __ATOMIC_ACQUIRE);

    if (NULL == message) {
        return false;
    }
    if (message->bytes != request->bytes || message->tag != request->tag) {
        give_up("a receive of other size or tag than the message");
    }
    free(channel->first);
    channel->first = message;
    memcpy((char *) request->memory, message->from, message->bytes);
    memcpy(request->clock, message->clock, sizeof(message->clock));
    __atomic_store_n(&request->done, true, __ATOMIC_RELEASE);
    if (NULL != message->sender) {
        memcpy(message->sender->clock, request->posted, sizeof(request->posted));
        __atomic_store_n(&message->sender->done, true, __ATOMIC_RELEASE);
    }
    return true;
}

/* Takes what has come for receives of a rank; those from the same sender keep their order. */
static void poll(ompi_communicator_t *comm)
{
    bool waits[POSING_RANKS] = {false};

    for (ompi_request_t **at = &comm->posted; NULL != *at;) {
        ompi_request_t *request = *at;

        if (!waits[request->peer] && take(comm, request)) {
            *at = request->next;
        } else {
            waits[request->peer] = true;
            at = &request->next;
        }
    }
}

void opal_progress(void)
{
    poll(posing_me);
    if (NULL != posing_progress) {
        posing_progress(posing_me);
    }
    posing_idle();
}

void ompi_request_wait_completion(ompi_request_t *request)
{
    while (!mca_common_irregular_is_over(request)) {
        opal_progress();
    }
}

void ompi_request_free(ompi_request_t **request)
{
    posing_learn((*request)->comm, (*request)->clock);
    touch(*request, false);
    free(*request);
    *request = MPI_REQUEST_NULL;
}

bool mca_common_irregular_abandon(ompi_request_t **requests, uint64_t from, uint64_t to,
                                  unsigned window, bool cancel)
{
    (void) requests;
    (void) from;
    (void) to;
    (void) window;
    (void) cancel;
    give_up("requests are abandoned");
}

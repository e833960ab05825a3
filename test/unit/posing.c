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
typedef struct posing_message_t {
    struct posing_message_t *next;
    char *copy;             /* NULL: it is in the sender's memory still */
    size_t bytes;
    ompi_request_t *sender; /* that waits for it, or NULL */
    uint64_t arrives;       /* the moment in which it is there */
    unsigned clock[POSING_RANKS];
} message_t;

struct posing_channel_t {
    message_t *first; /* the reader's */
    message_t *last;  /* the writer's */
};

ompi_datatype_t posing_byte = {.size = 1};
static ompi_request_t no_request = {.done = true};
ompi_request_t *const posing_no_request = &no_request;
__thread ompi_communicator_t *posing_me;
bool posing_lenient;
unsigned long posing_fails;
uint64_t posing_now;
void (*posing_idle)(void);
void (*posing_progress)(ompi_communicator_t *comm);
posing_touch_fn_t *posing_touch;

/* ---- datatypes ---- */

static void copy_out(const ompi_datatype_t *type, const char *memory, size_t from, char *packed,
                     size_t bytes)
{
    if (0 == type->hole && 0 < bytes) {
        memcpy(packed, memory + type->shift + from, bytes);
        return;
    }
    for (size_t k = 0; k < bytes; k++) {
        packed[k] = memory[posing_offset(type, from + k)];
    }
}

static void copy_in(const ompi_datatype_t *type, char *memory, size_t from, const char *packed,
                    size_t bytes)
{
    if (0 == type->hole && 0 < bytes) {
        memcpy(memory + type->shift + from, packed, bytes);
        return;
    }
    for (size_t k = 0; k < bytes; k++) {
        memory[posing_offset(type, from + k)] = packed[k];
    }
}

int ompi_datatype_copy_content_same_ddt(const ompi_datatype_t *type, size_t count, char *to,
                                        char *from)
{
    for (size_t k = 0; k < count * (size_t) type->size; k++) {
        to[posing_offset(type, k)] = from[posing_offset(type, k)];
    }
    return OMPI_SUCCESS;
}

void ompi_op_reduce(const ompi_op_t *op, const char *from, char *to, size_t count,
                    const ompi_datatype_t *type)
{
    for (size_t i = 0; i < count; i++) {
        const ptrdiff_t at = posing_offset(type, i * (size_t) type->size);

        op->function(from + at, to + at);
    }
}

static size_t piece_of(const ompi_datatype_t *type)
{
    return (size_t) (0 == type->piece ? type->size : type->piece);
}

void opal_convertor_set_position(opal_convertor_t *convertor, size_t *position)
{
    if (convertor->send) {
        *position -= *position % piece_of(convertor->type);
    }
    convertor->position = *position;
}

/* How many of `bytes` bytes a convertor still wants. */
static size_t wants(const opal_convertor_t *convertor, size_t bytes)
{
    if (!posing_lenient) {
        tap_bail("a convertor is wanted");
    }
    return bytes < convertor->bytes - convertor->position ? bytes
                                                          : convertor->bytes - convertor->position;
}

size_t mca_common_colltools_pack(opal_convertor_t *packer, char *packed, size_t bytes)
{
    bytes = wants(packer, bytes);
    bytes -= bytes % piece_of(packer->type);
    copy_out(packer->type, packer->memory, packer->position, packed, bytes);
    packer->position += bytes;
    return bytes;
}

size_t mca_common_colltools_unpack(opal_convertor_t *unpacker, const char *packed, size_t bytes,
                                   bool on_device)
{
    bytes = wants(unpacker, bytes);
    (void) on_device;
    copy_in(unpacker->type, unpacker->memory, unpacker->position, packed, bytes);
    unpacker->position += bytes;
    return bytes;
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

/* ---- links that take time ---- */

static uint64_t link_is_free[POSING_RANKS][POSING_RANKS];

/* When that has arrived which a link is to carry from now on, for so many moments. */
static uint64_t carry(int from, int to, uint64_t moments)
{
    uint64_t *is_free = &link_is_free[from][to];

    if (0 < posing_now) {
        *is_free = (*is_free > posing_now ? *is_free : posing_now) + moments;
    }
    return *is_free;
}

/* ---- communicators ---- */

static message_t *new_message(size_t bytes)
{
    message_t *message = tap_memory(sizeof(*message));

    memset(message, 0, sizeof(*message));
    message->bytes = bytes;
    return message;
}

static void free_message(message_t *message)
{
    free(message->copy);
    free(message);
}

void posing_open(ompi_communicator_t *comm, int size, uint64_t seed)
{
    const int channels = size * size * POSING_TAGS;
    posing_channel_t *channel = tap_memory((size_t) channels * sizeof(*channel));

    for (int i = 0; i < channels; i++) {
        channel[i].first = channel[i].last = new_message(0);
    }
    memset(comm, 0, (size_t) size * sizeof(*comm));
    memset(link_is_free, 0, sizeof(link_is_free));
    for (int r = 0; r < size; r++) {
        comm[r].rank = r;
        comm[r].size = size;
        comm[r].c_name = "posed";
        comm[r].channel = channel;
        comm[r].coin = seed + (uint64_t) r;
        comm[r].clock[r] = 1;
    }
}

bool posing_close(ompi_communicator_t *comm)
{
    bool empty = true;

    for (int i = 0; i < comm->size * comm->size * POSING_TAGS; i++) {
        while (NULL != comm->channel[i].first) {
            message_t *next = comm->channel[i].first->next;

            empty &= NULL == next;
            free_message(comm->channel[i].first);
            comm->channel[i].first = next;
        }
    }
    free(comm->channel);
    return empty;
}

static posing_channel_t *channel_of(const ompi_communicator_t *comm, int from, int to, int tag)
{
    if (-POSING_TAGS >= tag || 0 < tag) {
        tap_bail("a tag of no channel");
    }
    return &comm->channel[(from * comm->size + to) * POSING_TAGS - tag];
}

static bool flip(ompi_communicator_t *comm)
{
    comm->coin = comm->coin * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return 0 != comm->coin >> 63;
}

/* ---- sends and receives ---- */

static ompi_request_t *new_request(ompi_communicator_t *comm, const void *memory, size_t count,
                                   const ompi_datatype_t *type)
{
    ompi_request_t *request = tap_memory(sizeof(*request));

    memset(request, 0, sizeof(*request));
    request->comm = comm;
    request->memory = memory;
    request->type = type;
    request->bytes = count * (size_t) type->size;
    return request;
}

static void touch(ompi_request_t *request, bool begin)
{
    if (NULL != posing_touch && begin != request->touches) {
        posing_touch(request->comm, request->memory, request->bytes, request->receive, begin);
    }
    request->touches = begin;
}

/* The sender's memory is not looked at any more. */
static void copy_message(message_t *message, const ompi_request_t *sender)
{
    message->copy = tap_memory(message->bytes);
    copy_out(sender->type, sender->memory, 0, message->copy, message->bytes);
}

int posing_isend(const void *memory, size_t count, ompi_datatype_t *type, int to, int tag, int mode,
                 ompi_communicator_t *comm, ompi_request_t **request)
{
    const bool late = 0 == posing_now && flip(comm);
    const bool waits = late || MCA_PML_BASE_SEND_SYNCHRONOUS == mode;
    posing_channel_t *channel = channel_of(comm, comm->rank, to, tag);
    message_t *message, *last = channel->last;

    if (0 < posing_fails && 0 == --posing_fails) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    *request = new_request(comm, memory, count, type);
    message = new_message((*request)->bytes);
    touch(*request, true);
    if (!late) {
        copy_message(message, *request);
        touch(*request, false);
    }
    if (waits) {
        message->sender = *request;
        (*request)->message = message;
    }
    (*request)->done = !waits;
    message->arrives = carry(comm->rank, to, 1);
    memcpy(message->clock, comm->clock, sizeof(comm->clock));
    posing_tick(comm);
    channel->last = message;
    __atomic_store_n(&last->next, message, __ATOMIC_RELEASE);
    return OMPI_SUCCESS;
}

int posing_irecv(void *memory, size_t count, ompi_datatype_t *type, int from, int tag,
                 ompi_communicator_t *comm, ompi_request_t **request)
{
    ompi_request_t **end = &comm->posted;

    *request = new_request(comm, memory, count, type);
    (*request)->receive = true;
    (*request)->from = from;
    (*request)->tag = tag;
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
    posing_channel_t *channel = channel_of(comm, request->from, comm->rank, request->tag);
    message_t *message = __atomic_load_n(&channel->first->next, __ATOMIC_ACQUIRE);

    if (NULL == message || message->arrives > posing_now) {
        return false;
    }
    if (message->bytes > request->bytes) {
        tap_bail("a receive of fewer bytes than the message");
    }
    free_message(channel->first);
    channel->first = message;
    if (NULL == message->copy) {
        copy_message(message, message->sender);
    }
    copy_in(request->type, (char *) request->memory, 0, message->copy, message->bytes);
    memcpy(request->clock, message->clock, sizeof(message->clock));
    request->req_status._ucount = message->bytes;
    request->req_status.MPI_SOURCE = request->from;
    __atomic_store_n(&request->done, true, __ATOMIC_RELEASE);
    if (NULL != message->sender) {
        memcpy(message->sender->clock, request->posted, sizeof(request->posted));
        message->sender->over = carry(comm->rank, request->from, 0);
        __atomic_store_n(&message->sender->done, true, __ATOMIC_RELEASE);
    }
    return true;
}

/*
 * Takes what has come for receives of a rank, or some of it where that is `lazy`; those from the
 * same sender with the same tag keep their order.
 */
static int poll(ompi_communicator_t *comm, bool lazy)
{
    bool waits[POSING_RANKS][POSING_TAGS] = {{false}};
    int taken = 0;

    for (ompi_request_t **at = &comm->posted; NULL != *at;) {
        ompi_request_t *request = *at;
        bool *wait = &waits[request->from][-request->tag];

        if (!*wait && (!lazy || flip(comm)) && take(comm, request)) {
            *at = request->next;
            taken++;
        } else {
            *wait = true;
            at = &request->next;
        }
    }
    return taken;
}

int posing_poll(ompi_communicator_t *comm)
{
    return poll(comm, 0 == posing_now);
}

/* ---- ends of requests ---- */

/* A receive is withdrawn; a message is sent still, from a copy. */
static void withdraw(ompi_request_t *request)
{
    if (!posing_lenient) {
        tap_bail("a request is freed before it is over");
    }
    if (request->receive) {
        ompi_request_t **at = &request->comm->posted;

        while (*at != request) {
            at = &(*at)->next;
        }
        *at = request->next;
        return;
    }
    if (NULL == request->message->copy) {
        copy_message(request->message, request);
    }
    request->message->sender = NULL;
}

int ompi_request_free(ompi_request_t **request)
{
    if (mca_common_colltools_is_over(*request)) {
        posing_learn((*request)->comm, (*request)->clock);
        touch(*request, false);
    } else {
        withdraw(*request);
    }
    free(*request);
    *request = MPI_REQUEST_NULL;
    return OMPI_SUCCESS;
}

bool mca_common_colltools_abandon(ompi_request_t **requests, uint64_t from, uint64_t to,
                                  unsigned window, bool cancel)
{
    (void) cancel;
    if (!posing_lenient) {
        tap_bail("requests are abandoned");
    }
    for (uint64_t k = from; k < to; k++) {
        if (MPI_REQUEST_NULL != requests[k % window]) {
            ompi_request_free(&requests[k % window]);
        }
    }
    return false;
}

void opal_progress(void)
{
    poll(posing_me, false);
    if (NULL != posing_progress) {
        posing_progress(posing_me);
    }
    posing_idle();
}

void ompi_request_wait_completion(ompi_request_t *request)
{
    while (!mca_common_colltools_is_over(request)) {
        opal_progress();
    }
}

/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

#include "call.h"

#include "dice.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#define GUARD 192
#define NOBODY (-1)

const char *form_name(form_t form)
{
    static const char *const names[FORMS] = {"blocking", "nonblocking", "persistent"};

    return names[form];
}

/* ---- calls ---- */

int call_init(call_t *call)
{
    call->form = PERSISTENT;
    return call->class->issue(call, PERSISTENT);
}

int call_start(call_t *call, form_t form)
{
    int code;

    call->form = form;
    call->request = MPI_REQUEST_NULL;
    code = call->class->issue(call, form);
    return MPI_SUCCESS == code && PERSISTENT == form ? MPI_Start(&call->request) : code;
}

int call_wait(call_t *call)
{
    return MPI_Wait(&call->request, MPI_STATUS_IGNORE);
}

int call_run(call_t *call, form_t form)
{
    const int code = call_start(call, form);

    return MPI_SUCCESS == code ? call_wait(call) : code;
}

void call_reset(call_t *call)
{
    call->class->reset(call);
}

bool call_right(call_t *call)
{
    call->fault[0] = '\0';
    return call->class->right(call);
}

bool call_has_data(const call_t *call)
{
    return call->class->has_data(call);
}

void call_orphan(call_t *call)
{
    call->class->orphan(call);
}

void call_free(call_t *call)
{
    if (NULL == call) {
        return;
    }
    if (PERSISTENT == call->form && MPI_REQUEST_NULL != call->request) {
        MPI_Request_free(&call->request);
    }
    call->class->free(call);
}

/* ---- buffers ---- */

void call_pattern(uint64_t key, int rank, size_t k, unsigned char *to, size_t length)
{
    uint64_t base = dice_mix(key ^ dice_mix((uint64_t) (int64_t) rank));

    for (size_t i = 0; i < length;) {
        uint64_t word = dice_mix(base + (k + i) / 8);
        size_t skip = (k + i) % 8, part = 8 - skip < length - i ? 8 - skip : length - i;

        word >>= 8 * skip;
        memcpy(to + i, &word, part);
        i += part;
    }
}

static void copy(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

memory_t image_memory = {.take = tap_memory, .give = free, .copy = copy};

image_t image_new(uint64_t key, ptrdiff_t low, ptrdiff_t high)
{
    image_t image = {.length = (size_t) (high - low) + 2 * GUARD, .origin = GUARD - low};

    image.memory = image_memory.take(image.length);
    image.before = tap_memory(image.length);
    image.after = tap_memory(image.length);
    call_pattern(key, NOBODY, 0, image.before, image.length);
    memcpy(image.after, image.before, image.length);
    return image;
}

void image_free(image_t *image)
{
    if (NULL != image->memory) {
        image_memory.give(image->memory);
    }
    free(image->before);
    free(image->after);
}

void image_reset(image_t *image)
{
    if (NULL != image->memory) {
        image_memory.copy(image->memory, image->before, image->length);
    }
}

void *image_address(const image_t *image)
{
    return image->memory + image->origin;
}

MPI_Datatype image_absolute(const image_t *image, MPI_Datatype type)
{
    MPI_Datatype absolute = MPI_DATATYPE_NULL;
    MPI_Aint address;
    int one = 1;

    if (tap_memory == image_memory.take) {
        MPI_Get_address(image_address(image), &address);
        MPI_Type_create_hindexed(1, &one, &address, type, &absolute);
        MPI_Type_commit(&absolute);
        (void) MPI_Type_c2f(absolute); /* as in layout.c */
    }
    return absolute;
}

bool image_right(const image_t *image, ptrdiff_t *place)
{
    unsigned char *got = tap_memory(image->length);
    size_t i = 0;

    image_memory.copy(got, image->memory, image->length);
    const bool right = 0 == memcmp(got, image->after, image->length);
    while (!right && got[i] == image->after[i]) {
        i++;
    }
    free(got);
    *place = (ptrdiff_t) i - image->origin;
    return right;
}

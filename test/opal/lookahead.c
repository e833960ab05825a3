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
 * Contexts of convertors, and looking ahead on a second one: the segments are
 * those of the type map, the convertor has not moved, and it can go on behind
 * them. Random datatypes, from any place in them.
 */

#include <string.h>

#include "opal/constants.h"
#include "opal/datatype/opal_convertor_lookahead.h"
#include "tap.h"
#include "types.h"

#define MOST OPAL_DATATYPE_LOOKAHEAD_SEGMENTS_MOST

static size_t pack(opal_convertor_t *convertor, unsigned char *room, size_t bytes)
{
    struct iovec iov = {.iov_base = room, .iov_len = bytes};
    uint32_t count = 1;

    opal_convertor_pack(convertor, &iov, &count, &bytes);
    return bytes;
}

/* A sender which has packed some bytes, in pieces. */
static opal_convertor_t *sender_at(const layout_t *layout, size_t wanted)
{
    opal_convertor_t *convertor = layout_convertor(layout, CONVERTOR_SEND);
    unsigned char *room = tap_memory(layout->bytes);

    for (int piece = 3; 0 < piece && convertor->bConverted < wanted; --piece) {
        (void) pack(convertor, room, (wanted - convertor->bConverted) / (size_t) piece);
    }
    free(room);
    return convertor;
}

/* All that is left is what the type map says. */
static bool packs_rest(opal_convertor_t *convertor, const layout_t *layout)
{
    unsigned char *room = tap_memory(layout->bytes);
    size_t at = convertor->bConverted, bytes;
    bool right = true;

    while (at < layout->bytes && right) {
        bytes = pack(convertor, room, 16 + tap_below(layout->bytes));
        right = 0 != bytes && at + bytes <= layout->bytes;
        for (size_t i = 0; right && i < bytes; ++i) {
            right = room[i] == layout->base[layout->offset[at + i]];
        }
        at += bytes;
    }
    free(room);
    return right;
}

/* The segments are the map's bytes from `at` on. */
static bool are_mapped(const layout_t *layout, size_t at, const struct iovec *iov, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        for (size_t byte = 0; byte < iov[i].iov_len; ++byte, ++at) {
            if (at >= layout->bytes
                || (unsigned char *) iov[i].iov_base + byte != layout->base + layout->offset[at]) {
                return false;
            }
        }
    }
    return true;
}

/* Nothing more would have fit, and no two segments are one. */
static bool are_most(const layout_t *layout, size_t at, const struct iovec *iov, uint32_t count,
                     uint32_t most, size_t bytes, size_t max_bytes)
{
    const size_t end = at + bytes;
    const bool contiguous = 0 != (layout->type->datatype->flags & OPAL_DATATYPE_FLAG_CONTIGUOUS);

    for (uint32_t i = 1; i < count; ++i) {
        if ((char *) iov[i - 1].iov_base + iov[i - 1].iov_len == (char *) iov[i].iov_base) {
            return false;
        }
    }
    return end == layout->bytes || (contiguous ? bytes == max_bytes : bytes + 16 > max_bytes)
           || (most == count && layout->offset[end] != layout->offset[end - 1] + 1);
}

static tap_tally_t mapped, most_of_it, unmoved, behind;

static void try_lookahead(const layout_t *layout, int type)
{
    const size_t wanted = tap_once_in(4) ? 0 : tap_below(layout->bytes);
    opal_convertor_t *convertor = sender_at(layout, wanted);
    const size_t at = convertor->bConverted;
    const size_t max_bytes = 16 + tap_below(tap_once_in(2) ? layout->bytes : 200);
    const uint32_t most = 1 + (uint32_t) tap_below(MOST);
    opal_convertor_ctx_t before, after;
    struct iovec iov[MOST];
    uint32_t count = most;
    size_t bytes;
    int rc;

    opal_convertor_ctx_init(&before);
    opal_convertor_ctx_init(&after);
    opal_convertor_ctx_save(convertor, &before);
    rc = opal_convertor_lookahead(convertor, iov, &count, max_bytes, &bytes, &after);
    if (OPAL_ERR_NOT_SUPPORTED != rc) {
        tap_try(&mapped, OPAL_SUCCESS == rc && are_mapped(layout, at, iov, count),
                "type %d, %u segments from %zu", type, count, at);
        tap_try(&most_of_it, 0 != bytes && bytes <= max_bytes && count <= most
                    && are_most(layout, at, iov, count, most, bytes, max_bytes),
                "type %d, %u of %u segments, %zu of %zu bytes", type, count, most, bytes,
                max_bytes);
        tap_try(&unmoved, convertor->bConverted == at && packs_rest(convertor, layout),
                "type %d from %zu", type, at);
        opal_convertor_ctx_restore(convertor, &after);
        tap_try(&behind, convertor->bConverted == at + bytes && packs_rest(convertor, layout),
                "type %d from %zu, %zu bytes", type, at, bytes);
    } else {
        tap_try(&unmoved, 0 != (convertor->flags & CONVERTOR_NO_OP), "type %d", type);
    }
    opal_convertor_ctx_release(&before);
    opal_convertor_ctx_release(&after);
    OBJ_RELEASE(convertor);
}

/* ---- saved, moved, restored ---- */

static tap_tally_t returned, refused;

static void try_context(const layout_t *layout, int type)
{
    opal_convertor_t *convertor = sender_at(layout, tap_below(layout->bytes));
    const size_t at = convertor->bConverted;
    opal_convertor_ctx_t ctx;
    size_t elsewhere;

    opal_convertor_ctx_init(&ctx);
    if (OPAL_SUCCESS == opal_convertor_ctx_save(convertor, &ctx)) {
        for (int i = 0; i < 3; ++i) {
            elsewhere = tap_below(layout->bytes + 1);
            opal_convertor_set_position(convertor, &elsewhere);
        }
        opal_convertor_ctx_restore(convertor, &ctx);
        tap_try(&returned, convertor->bConverted == at && packs_rest(convertor, layout),
                "type %d at %zu", type, at);
    }
    elsewhere = layout->bytes;
    opal_convertor_set_position(convertor, &elsewhere);
    tap_try(&refused, OPAL_ERR_NOT_AVAILABLE == opal_convertor_ctx_save(convertor, &ctx),
            "type %d", type);
    opal_convertor_ctx_release(&ctx);
    OBJ_RELEASE(convertor);
}

/* ---- raw, resumed anywhere ---- */

static tap_tally_t raw;

static void try_raw(const layout_t *layout, int type)
{
    opal_convertor_t *convertor;
    struct iovec iov[MOST];
    size_t at, bytes;
    bool right = true;
    uint32_t count;
    int done = 0;

    if (0 != (layout->type->datatype->flags & OPAL_DATATYPE_FLAG_CONTIGUOUS)) {
        return;
    }
    convertor = sender_at(layout, tap_below(layout->bytes));
    at = convertor->bConverted;
    while (0 == done && right) {
        count = 1 + (uint32_t) tap_below(MOST);
        done = opal_convertor_raw(convertor, iov, &count, &bytes);
        right = (0 != count || 1 == done) && are_mapped(layout, at, iov, count);
        at += bytes;
    }
    tap_try(&raw, right && at == layout->bytes, "type %d", type);
    OBJ_RELEASE(convertor);
}

static void test_random(int types)
{
    for (int i = 0; i < types; ++i) {
        types_t *type = types_random();
        layout_t layout;

        layout_create(&layout, type, 1 + (tap_once_in(2) ? 0 : tap_below(5)));
        tap_garbage(layout.memory, layout.size);
        for (int j = 0; j < 20; ++j) {
            try_lookahead(&layout, i);
            try_context(&layout, i);
            try_raw(&layout, i);
        }
        layout_destroy(&layout);
        types_free(type);
    }
    tally_ok(&mapped, 1000, "segments ahead are in the order of the type map");
    tally_ok(&most_of_it, 1000, "as many as fit, and none that could be one");
    tally_ok(&unmoved, 1000, "the convertor does not move");
    tally_ok(&behind, 1000, "it can go on behind them");
    tally_ok(&returned, 1000, "a context brings a convertor back to where it was saved");
    tally_ok(&refused, 1000, "a completed convertor has no context");
    tally_ok(&raw, 1000, "opal_convertor_raw starts anywhere");
}

/* ---- dense or sparse ---- */

/* Sends a layout by segments or by packing; the bytes taken as segments. */
static size_t send_all(const layout_t *layout, size_t fragment, bool *right)
{
    opal_convertor_t *convertor = layout_convertor(layout, CONVERTOR_SEND);
    unsigned char *room = tap_memory(fragment);
    struct iovec iov[MOST];
    size_t at = 0, taken = 0, bytes;
    uint32_t count;

    *right = true;
    while (at < layout->bytes && *right) {
        count = MOST;
        if (opal_convertor_take_segments(convertor, iov, &count, fragment, &bytes)) {
            *right = are_mapped(layout, at, iov, count)
                     && (bytes >= fragment / 2 || at + bytes == layout->bytes)
                     && bytes >= count * (size_t) opal_datatype_lookahead_min_segment;
            taken += bytes;
        } else {
            *right = convertor->bConverted == at;
            bytes = pack(convertor, room, fragment);
            for (size_t i = 0; *right && i < bytes; ++i) {
                *right = room[i] == layout->base[layout->offset[at + i]];
            }
        }
        at += bytes;
    }
    *right &= at == layout->bytes;
    OBJ_RELEASE(convertor);
    free(room);
    return taken;
}

static void test_dense(int mode, const char *name)
{
    types_t *dense = types_blocks(100, 2000, 4000, 500), *sparse = types_blocks(4000, 1, 100, 50);
    layout_t layout;
    bool right;
    size_t taken;

    opal_datatype_lookahead = mode;
    opal_datatype_lookahead_min_segment = 1024;
    layout_create(&layout, dense, 2);
    tap_garbage(layout.memory, layout.size);
    /* in 22 fragments, none so short that it is packed for that */
    taken = send_all(&layout, layout.bytes / 22 + 1, &right);
    ok(right, "%s: dense data is sent as it is", name);
    is(taken, OPAL_DATATYPE_LOOKAHEAD_OFF == mode ? 0 : layout.bytes, "%s: by segments", name);
    taken = send_all(&layout, 200000, &right);
    ok(right && 15 * 4000 >= taken, "%s: too few bytes in 15 segments are packed", name);
    layout_destroy(&layout);
    layout_create(&layout, sparse, 2);
    tap_garbage(layout.memory, layout.size);
    taken = send_all(&layout, 30000, &right);
    ok(right && 0 == taken, "%s: sparse data is packed", name);
    layout_destroy(&layout);
    types_free(dense);
    types_free(sparse);
}

/* A fragment that is asked for all that is left has it all: it may be a whole message. */
static void test_short(void)
{
    tap_tally_t tally = {0};

    opal_datatype_lookahead = OPAL_DATATYPE_LOOKAHEAD_DUAL;
    opal_datatype_lookahead_min_segment = 0;
    for (int i = 0; i < 200; ++i) {
        types_t *type = types_blocks(1 + tap_below(40), 10, 50, 20);
        struct iovec iov[MOST];
        uint32_t count = MOST;
        layout_t layout;
        opal_convertor_t *convertor;
        size_t bytes;

        layout_create(&layout, type, 1);
        convertor = layout_convertor(&layout, CONVERTOR_SEND);
        if (opal_convertor_take_segments(convertor, iov, &count, layout.bytes, &bytes)) {
            tap_try(&tally, bytes == layout.bytes, "%zu of %zu bytes", bytes, layout.bytes);
        } else {
            tap_try(&tally, 0 == convertor->bConverted, "moved");
        }
        OBJ_RELEASE(convertor);
        layout_destroy(&layout);
        types_free(type);
    }
    tally_ok(&tally, 200, "no message is cut short");
}

int main(void)
{
    tap_start();
    types_start(tap_random());
    test_random(200);
    test_dense(OPAL_DATATYPE_LOOKAHEAD_OFF, "off");
    test_dense(OPAL_DATATYPE_LOOKAHEAD_RESEARCH, "research");
    test_dense(OPAL_DATATYPE_LOOKAHEAD_DUAL, "dual");
    test_short();
    types_stop();
    return tap_end();
}

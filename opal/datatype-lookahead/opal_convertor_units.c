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
 * Packs and unpacks datatypes by their lists of units (opal_datatype_units.h).
 *
 *     fragment      |-----------------------------|
 *     units      |....|....|....|....|....|....|....|
 *                 head  \________list________/  tail
 *
 * Whole units are copied by the list. The rest of a unit at the beginning of a fragment
 * and the first part of one at its end are copied by the engine's own functions, which
 * can stop at or in an element. At the end of each fragment the convertor's stack is set
 * as those functions would have left it, so that all other code finds the convertor as
 * it expects it.
 *
 * Cost: two loads and a store for each unit; for each fragment a search in the index of
 * the description, O(log(entries) + stride).
 */

#include "opal_config.h"

#include <stddef.h>
#include <string.h>

#include "opal/datatype/opal_convertor_units.h"
#include "opal/datatype/opal_datatype_prototypes.h"

typedef void (*copy_fct_t)(const int32_t *disp, size_t count, unsigned char *memory,
                           unsigned char *packed);

/* Compilers turn each memcpy into one move. */
#define UNITS_OF(bytes)                                                                        \
    static void pack_units_of_##bytes(const int32_t *restrict disp, size_t count,              \
                                      unsigned char *restrict memory,                          \
                                      unsigned char *restrict packed)                          \
    {                                                                                          \
        for (size_t i = 0; i < count; ++i) {                                                   \
            memcpy(packed + i * bytes, memory + disp[i], bytes);                               \
        }                                                                                      \
    }                                                                                          \
                                                                                               \
    static void unpack_units_of_##bytes(const int32_t *restrict disp, size_t count,            \
                                        unsigned char *restrict memory,                        \
                                        unsigned char *restrict packed)                        \
    {                                                                                          \
        for (size_t i = 0; i < count; ++i) {                                                   \
            memcpy(memory + disp[i], packed + i * bytes, bytes);                               \
        }                                                                                      \
    }

UNITS_OF(1)
UNITS_OF(2)
UNITS_OF(4)
UNITS_OF(8)
UNITS_OF(16)

/** One direction: functions that copy by the list, by size of the unit, and the engine's own. */
typedef struct way_t {
    copy_fct_t copies[OPAL_DATATYPE_UNIT_MOST + 1];
    convertor_advance_fct_t engine;
} way_t;

static const way_t packing = {{[1] = pack_units_of_1, [2] = pack_units_of_2, [4] = pack_units_of_4,
                               [8] = pack_units_of_8, [16] = pack_units_of_16},
                              opal_generic_simple_pack};
static const way_t unpacking = {{[1] = unpack_units_of_1, [2] = unpack_units_of_2,
                                 [4] = unpack_units_of_4, [8] = unpack_units_of_8,
                                 [16] = unpack_units_of_16},
                                opal_generic_simple_unpack};

/* The rest of a fragment's packed memory. */
typedef struct room_t {
    unsigned char *at;
    size_t bytes;
} room_t;

/* Copies `bytes` bytes, or fewer, by the engine. */
static void go_by_engine(opal_convertor_t *convertor, const way_t *way, room_t *room,
                         size_t bytes)
{
    struct iovec iov = {.iov_base = (IOVBASE_TYPE *) room->at, .iov_len = bytes};
    uint32_t count = 1;

    way->engine(convertor, &iov, &count, &bytes);
    room->at += bytes;
    room->bytes -= bytes;
}

/* Copies `count` units by the list, from the position, which is between two units. */
static void go_by_list(opal_convertor_t *convertor, const way_t *way,
                       const opal_datatype_units_t *units, room_t *room, size_t count)
{
    const opal_datatype_t *datatype = convertor->pDesc;
    const size_t copy = convertor->bConverted / datatype->size;
    unsigned char *memory = convertor->pBaseBuf + (ptrdiff_t) copy * (datatype->ub - datatype->lb);
    size_t first = (convertor->bConverted - copy * datatype->size) / units->size, now;

    convertor->bConverted += count * units->size;
    room->bytes -= count * units->size;
    for (; 0 < count; count -= now, first = 0, memory += datatype->ub - datatype->lb) {
        now = units->count - first < count ? units->count - first : count;
        way->copies[units->size](units->disp + first, now, memory, room->at);
        room->at += now * units->size;
    }
}

static inline bool is_done(const opal_convertor_t *convertor)
{
    return convertor->bConverted == convertor->local_size;
}

/*
 * Sets the convertor to its position behind the last unit. Inside of an element, a receiver stops
 * with the first bytes of it; a sender goes back to its beginning, and packs it again.
 */
static void stop(opal_convertor_t *convertor, room_t *room)
{
    const size_t reached = convertor->bConverted;

    if (is_done(convertor)) {
        convertor->partial_length = 0;
        return;
    }
    opal_convertor_stand_at(convertor, reached);
    room->at -= reached - convertor->bConverted;
    room->bytes += reached - convertor->bConverted;
}

/* Packs or unpacks a fragment; iov_len becomes the number of bytes done. */
static void advance_in(opal_convertor_t *convertor, const way_t *way,
                       const opal_datatype_units_t *units, struct iovec *iov)
{
    const size_t left = convertor->local_size - convertor->bConverted;
    const size_t begun = convertor->bConverted % units->size;
    room_t room = {.at = (unsigned char *) iov->iov_base,
                   .bytes = iov->iov_len < left ? iov->iov_len : left};
    size_t head = 0 == begun ? 0 : units->size - begun, whole;

    if (0 != head) {
        go_by_engine(convertor, way, &room, head < room.bytes ? head : room.bytes);
    }
    whole = 0 == convertor->bConverted % units->size ? room.bytes / units->size : 0;
    if (0 != whole) {
        go_by_list(convertor, way, units, &room, whole);
        stop(convertor, &room);
    }
    if (0 != room.bytes && !is_done(convertor)) {
        go_by_engine(convertor, way, &room, room.bytes);
    }
    iov->iov_len = (size_t) (room.at - (unsigned char *) iov->iov_base);
}

static int32_t advance(opal_convertor_t *convertor, const way_t *way, struct iovec *iov,
                       uint32_t *iov_count, size_t *max_data)
{
    const opal_datatype_units_t *units = opal_datatype_units_get(convertor->pDesc);
    const size_t before = convertor->bConverted;
    uint32_t i;

    for (i = 0; i < *iov_count && !is_done(convertor); ++i) {
        advance_in(convertor, way, units, iov + i);
    }
    *iov_count = i;
    *max_data = convertor->bConverted - before;
    if (is_done(convertor)) {
        convertor->flags |= CONVERTOR_COMPLETED;
        return 1;
    }
    return 0;
}

int32_t opal_convertor_pack_units(opal_convertor_t *convertor, struct iovec *iov,
                                  uint32_t *iov_count, size_t *max_data)
{
    return advance(convertor, &packing, iov, iov_count, max_data);
}

int32_t opal_convertor_unpack_units(opal_convertor_t *convertor, struct iovec *iov,
                                    uint32_t *iov_count, size_t *max_data)
{
    return advance(convertor, &unpacking, iov, iov_count, max_data);
}

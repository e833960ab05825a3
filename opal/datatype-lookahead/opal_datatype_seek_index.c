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
 * Makes, publishes and searches the index of opal_datatype_seek_index.h.
 *
 * Cost: to make it reads every entry twice, since each entry is the child of exactly
 * one body; to find is two searches, of O(log(bodies)) and O(log(marks)).
 */

#include "opal_config.h"

#include <stddef.h>
#include <stdlib.h>

#include "opal/datatype/opal_datatype_internal.h"
#include "opal/datatype/opal_datatype_seek_index.h"
#include "opal/sys/atomic.h"

size_t opal_datatype_seek_child_bytes(const dt_elem_desc_t *entry)
{
    if (OPAL_DATATYPE_LOOP == entry->elem.common.type) {
        return entry->loop.loops * (entry + entry->loop.items)->end_loop.size;
    }
    return entry->elem.count * entry->elem.blocklen
           * opal_datatype_basicDatatypes[entry->elem.common.type]->size;
}

static inline uint32_t next_child(const dt_elem_desc_t *desc, uint32_t entry)
{
    return OPAL_DATATYPE_LOOP == desc[entry].elem.common.type ? entry + desc[entry].loop.items + 1
                                                              : entry + 1;
}

/* The number of marks of a body. */
static size_t count_marks(const dt_elem_desc_t *desc, uint32_t begin, uint32_t stride)
{
    size_t children = 0;

    for (uint32_t i = begin; OPAL_DATATYPE_END_LOOP != desc[i].elem.common.type;
         i = next_child(desc, i)) {
        ++children;
    }
    return stride < children ? (children + stride - 1) / stride : 0;
}

static opal_datatype_seek_mark_t *set_marks(opal_datatype_seek_mark_t *mark,
                                            const dt_elem_desc_t *desc, uint32_t begin,
                                            uint32_t stride)
{
    size_t bytes = 0;
    uint32_t left = 1; /* children up to the next mark */

    for (uint32_t i = begin; OPAL_DATATYPE_END_LOOP != desc[i].elem.common.type;
         i = next_child(desc, i)) {
        if (0 == --left) {
            *mark++ = (opal_datatype_seek_mark_t){.bytes = bytes, .entry = i};
            left = stride;
        }
        bytes += opal_datatype_seek_child_bytes(desc + i);
    }
    return mark;
}

/* A body begins at the beginning of the description and behind each LOOP. */
static inline bool begins_body(const dt_elem_desc_t *desc, uint32_t entry)
{
    return 0 == entry || OPAL_DATATYPE_LOOP == desc[entry - 1].elem.common.type;
}

opal_datatype_seek_index_t *opal_datatype_seek_index_create(const dt_type_desc_t *description,
                                                            uint32_t stride)
{
    const dt_elem_desc_t *desc = description->desc;
    opal_datatype_seek_index_t *index;
    opal_datatype_seek_mark_t *mark;
    size_t bodies = 0, marks = 0, here;

    for (uint32_t i = 0; i < description->used; ++i) {
        here = begins_body(desc, i) ? count_marks(desc, i, stride) : 0;
        bodies += 0 != here;
        marks += here;
    }
    index = malloc(sizeof(*index) + bodies * sizeof(index->bodies[0]) + marks * sizeof(*mark));
    if (NULL == index) {
        return NULL;
    }
    index->count = 0;
    mark = (opal_datatype_seek_mark_t *) (index->bodies + bodies);
    for (uint32_t i = 0; i < description->used; ++i) {
        here = begins_body(desc, i) ? count_marks(desc, i, stride) : 0;
        if (0 != here) {
            index->bodies[index->count++] = (opal_datatype_seek_body_t){
                .begin = i, .count = (uint32_t) here, .marks = mark};
            mark = set_marks(mark, desc, i, stride);
        }
    }
    return index;
}

static const opal_datatype_seek_body_t *find_body(const opal_datatype_seek_index_t *index,
                                                  uint32_t begin)
{
    uint32_t low = 0, high = index->count, middle;

    while (low < high) {
        middle = low + (high - low) / 2;
        if (index->bodies[middle].begin < begin) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < index->count && begin == index->bodies[low].begin ? index->bodies + low : NULL;
}

/* The index of the mark if all marks were equally far apart. */
static inline uint32_t guess(const opal_datatype_seek_body_t *body, size_t bytes)
{
    const uint32_t last = body->count - 1;
    const size_t most = body->marks[last].bytes;

    return bytes < most ? (uint32_t) ((double) bytes / (double) most * last) : last;
}

/*
 * The index of the last mark at or before a byte of the body. Marks of a long description are
 * far apart in memory, so the search starts at the guess, with growing steps.
 */
static uint32_t find_mark(const opal_datatype_seek_body_t *body, size_t bytes)
{
    const opal_datatype_seek_mark_t *marks = body->marks;
    uint32_t low = guess(body, bytes), high = low, middle, step = 1;

    while (marks[low].bytes > bytes) {
        high = low;
        low = step < low ? low - step : 0;
        step *= 2;
    }
    while (low == high) {
        high = step < body->count - low ? low + step : body->count;
        if (high < body->count && marks[high].bytes <= bytes) {
            low = high;
            step *= 2;
        }
    }
    /* The mark wanted is in low .. high - 1. */
    while (1 < high - low) {
        middle = low + (high - low) / 2;
        if (marks[middle].bytes <= bytes) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

const opal_datatype_seek_mark_t *
opal_datatype_seek_index_find(const opal_datatype_seek_index_t *index, uint32_t begin,
                              size_t bytes)
{
    const opal_datatype_seek_body_t *body = find_body(index, begin);

    return NULL == body ? NULL : body->marks + find_mark(body, bytes);
}

const opal_datatype_seek_index_t *opal_datatype_seek_index_get(const opal_datatype_t *datatype)
{
    const intptr_t index = datatype->seek_index;

    opal_atomic_rmb();
    return (const opal_datatype_seek_index_t *) index;
}

/* Threads may make an index at the same time; the first one that is published stays. */
const opal_datatype_seek_index_t *opal_datatype_seek_index_need(const opal_datatype_t *datatype,
                                                                uint32_t stride)
{
    opal_atomic_intptr_t *place = &((opal_datatype_t *) datatype)->seek_index;
    const opal_datatype_seek_index_t *index = opal_datatype_seek_index_get(datatype);
    opal_datatype_seek_index_t *made;
    intptr_t none = 0;

    if (NULL != index) {
        return index;
    }
    made = opal_datatype_seek_index_create(&datatype->opt_desc, stride);
    if (NULL == made) {
        return NULL;
    }
    opal_atomic_wmb();
    if (opal_atomic_compare_exchange_strong_ptr(place, &none, (intptr_t) made)) {
        return made;
    }
    free(made);
    return opal_datatype_seek_index_get(datatype);
}

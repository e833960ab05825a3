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
 * Makes and publishes the list of opal_datatype_units.h.
 *
 * Cost: one pass over the entries for the size of a unit, one for the list.
 */

#include "opal_config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "opal/datatype/opal_datatype_internal.h"
#include "opal/datatype/opal_datatype_units.h"
#include "opal/sys/atomic.h"

/* Values of datatype->units that are no list; a list is a pointer, LISTS or more. */
enum { NEVER_USED, USED_ONCE, HAS_NONE, LISTS };

static inline const opal_datatype_units_t *list_of(intptr_t state)
{
    return LISTS <= (uintptr_t) state ? (const opal_datatype_units_t *) state : NULL;
}

/* The size of the largest unit that divides all blocks. */
static uint32_t unit_of(const dt_type_desc_t *description)
{
    const ddt_elem_desc_t *elem;
    size_t bits = OPAL_DATATYPE_UNIT_MOST;

    for (uint32_t i = 0; i < description->used; ++i) {
        elem = &description->desc[i].elem;
        if (0 != (elem->common.flags & OPAL_DATATYPE_FLAG_DATA)) {
            bits |= elem->blocklen * opal_datatype_basicDatatypes[elem->common.type]->size;
        }
    }
    return (uint32_t) (bits & (~bits + 1));
}

static inline bool spans_little(const opal_datatype_t *datatype)
{
    return INT32_MIN <= datatype->true_lb && INT32_MAX >= datatype->true_ub;
}

/* Appends the units of all blocks of an entry of data. */
static int32_t *list_entry(int32_t *place, const ddt_elem_desc_t *elem, ptrdiff_t disp,
                           uint32_t unit)
{
    const size_t block = elem->blocklen * opal_datatype_basicDatatypes[elem->common.type]->size;

    disp += elem->disp;
    for (uint32_t i = 0; i < elem->count; ++i, disp += elem->extent) {
        for (size_t byte = 0; byte < block; byte += unit) {
            *place++ = (int32_t) (disp + (ptrdiff_t) byte);
        }
    }
    return place;
}

/* Appends the units of a body: the description, or one iteration of a loop. */
static int32_t *list_body(int32_t *place, const dt_elem_desc_t *entry, ptrdiff_t disp,
                          uint32_t unit)
{
    while (OPAL_DATATYPE_END_LOOP != entry->elem.common.type) {
        if (OPAL_DATATYPE_LOOP != entry->elem.common.type) {
            place = list_entry(place, &entry->elem, disp, unit);
            ++entry;
            continue;
        }
        for (uint32_t i = 0; i < entry->loop.loops; ++i) {
            place = list_body(place, entry + 1, disp + (ptrdiff_t) i * entry->loop.extent, unit);
        }
        entry += entry->loop.items + 1;
    }
    return place;
}

/* Makes the list; NULL: no memory. */
static opal_datatype_units_t *create(const opal_datatype_t *datatype, uint32_t unit)
{
    const size_t count = datatype->size / unit;
    opal_datatype_units_t *units = malloc(sizeof(*units) + count * sizeof(units->disp[0]));

    if (NULL != units) {
        units->count = count;
        units->size = unit;
        list_body(units->disp, datatype->opt_desc.desc, 0, unit);
    }
    return units;
}

/* 0: a list does not pay. A description of one entry is a vector: the engine has one loop, too. */
static uint32_t worthwhile_unit(const opal_datatype_t *datatype, size_t most)
{
    const dt_type_desc_t *description = &datatype->opt_desc;
    uint32_t unit;

    if (2 > description->used || !spans_little(datatype)
        || datatype->size / OPAL_DATATYPE_UNIT_MOST > most * description->used) {
        return 0;
    }
    unit = unit_of(description);
    return datatype->size / unit <= most * description->used ? unit : 0;
}

/* Threads may publish at the same time; the first one stays. Returns it. */
static intptr_t publish(const opal_datatype_t *datatype, intptr_t before, intptr_t after)
{
    opal_atomic_intptr_t *place = &((opal_datatype_t *) datatype)->units;

    opal_atomic_wmb();
    if (opal_atomic_compare_exchange_strong_ptr(place, &before, after)) {
        return after;
    }
    opal_atomic_rmb();
    return before;
}

static const opal_datatype_units_t *make(const opal_datatype_t *datatype, size_t most)
{
    const uint32_t unit = worthwhile_unit(datatype, most);
    opal_datatype_units_t *units;
    intptr_t state;

    if (0 == unit) {
        return list_of(publish(datatype, USED_ONCE, HAS_NONE));
    }
    units = create(datatype, unit);
    if (NULL == units) {
        return NULL;
    }
    state = publish(datatype, USED_ONCE, (intptr_t) units);
    if ((intptr_t) units != state) {
        free(units);
    }
    return list_of(state);
}

const opal_datatype_units_t *opal_datatype_units_get(const opal_datatype_t *datatype)
{
    const intptr_t state = datatype->units;

    opal_atomic_rmb();
    return list_of(state);
}

const opal_datatype_units_t *opal_datatype_units_use(const opal_datatype_t *datatype, size_t most)
{
    switch (datatype->units) {
    case NEVER_USED:
        (void) publish(datatype, NEVER_USED, USED_ONCE);
        return NULL;
    case USED_ONCE:
        return make(datatype, most);
    case HAS_NONE:
        return NULL;
    default:
        return opal_datatype_units_get(datatype);
    }
}

void opal_datatype_units_release(opal_datatype_t *datatype)
{
    free((void *) list_of(datatype->units));
    datatype->units = NEVER_USED;
}

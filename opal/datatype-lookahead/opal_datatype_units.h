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
 * The list of units of a datatype of small blocks.
 *
 * A description has an entry of 32 bytes for each block or two. To decode an entry
 * costs more than to move the 8 bytes of a block of a single double. So small blocks
 * are cut into units of one size, a power of two up to 16 that divides all blocks, and
 * the list has the displacement of each unit:
 *
 *     blocks   |aabb|  |cc|      |ddee|   |ff|
 *     units     a b     c         d e      f      disp 0 2 6 12 14 19
 *
 * Then packing is one loop over the list, and a division finds a position in it.
 *
 * A list is made when a datatype is used for the second time, in two passes over its
 * description, and has 4 bytes for each unit. It never changes afterwards, so that any
 * number of threads may read it. A datatype has no list if it would have too many units
 * for its description, as with long blocks and loops of many iterations, or if it spans
 * 2 GiB. An element may have several units, for instance a double among integers.
 */

#ifndef OPAL_DATATYPE_UNITS_H
#define OPAL_DATATYPE_UNITS_H

#include "opal_config.h"

#include <stddef.h>
#include <stdint.h>

#include "opal/datatype/opal_datatype.h"

BEGIN_C_DECLS

/** The most bytes of a unit. */
#define OPAL_DATATYPE_UNIT_MOST 16

typedef struct opal_datatype_units_t {
    size_t count;   /**< number of units of one copy of the datatype */
    uint32_t size;  /**< bytes of a unit: 1, 2, 4, 8 or 16 */
    int32_t disp[]; /**< bytes from the datatype's origin to each unit, in packed order */
} opal_datatype_units_t;

/**
 * The units of a committed datatype, NULL if it has none (yet); to be called whenever a
 * convertor is prepared for it. They live as long as the datatype. A list is made only if
 * it has at most `most` units for each entry of the description.
 */
OPAL_DECLSPEC const opal_datatype_units_t *
opal_datatype_units_use(const opal_datatype_t *datatype, size_t most);

/** The units of a datatype, NULL if it has none. */
OPAL_DECLSPEC const opal_datatype_units_t *
opal_datatype_units_get(const opal_datatype_t *datatype);

/** Frees the units of a datatype, at its end. */
void opal_datatype_units_release(opal_datatype_t *datatype);

END_C_DECLS

#endif

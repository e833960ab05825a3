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
 * A description has an entry of 32 bytes for each block, or for each two of
 * them. To decode it costs more than to move the 8 bytes of a block that is a
 * single double. Where blocks are small, they are cut into units of one size, a
 * power of two up to 16 that divides them all, and the list says where these are:
 *
 *     blocks   |aabb|  |cc|      |ddee|   |ff|
 *     units     a b     c         d e      f      disp 0 2 6 12 14 19
 *
 * To pack is one loop over the list then, and where a position is in it is one
 * division.
 *
 * Made when a datatype is used for the second time, in two passes over its
 * description; 4 bytes for each unit. Never changed afterwards, so that any
 * number of threads may read it. A datatype has none if its units would be too
 * many for its description, which long blocks and loops of many turns are, or if it
 * spans 2 GiB. An element may be of several units, a double among integers say.
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
    size_t count;   /**< units of one copy of the datatype */
    uint32_t size;  /**< bytes of a unit: 1, 2, 4, 8 or 16 */
    int32_t disp[]; /**< bytes between the datatype's origin and the unit, in packed order */
} opal_datatype_units_t;

/**
 * To be called each time that a convertor is prepared for a committed datatype: its
 * units, NULL if it has none (yet). They live as long as the datatype. `most` is the
 * number of units for each entry of the description up to which there is a list.
 */
OPAL_DECLSPEC const opal_datatype_units_t *
opal_datatype_units_use(const opal_datatype_t *datatype, size_t most);

/** The units of a datatype, NULL if it has none. */
OPAL_DECLSPEC const opal_datatype_units_t *
opal_datatype_units_get(const opal_datatype_t *datatype);

/** At the end of a datatype. */
void opal_datatype_units_release(opal_datatype_t *datatype);

END_C_DECLS

#endif

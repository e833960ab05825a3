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
 * Index of a datatype's description: finds the entry of a packed byte.
 *
 * A description is a list of entries and loops; the body of a loop is such a list
 * again. An entry or a whole loop is one child of its list. For every list with more
 * than `stride` children the index has a body: the packed bytes before every
 * stride-th child.
 *
 *     children   e0 e1 .. e15 e16 .. LOOP(..)  ..  e31 e32 ..
 *     marks      0            |                     |
 *                             packed bytes before e16, before e32
 *
 * An index is made once for a datatype, and has 16 bytes for every `stride` entries of
 * 32 bytes. It never changes afterwards, so that any number of threads may read it.
 */

#ifndef OPAL_DATATYPE_SEEK_INDEX_H
#define OPAL_DATATYPE_SEEK_INDEX_H

#include "opal_config.h"

#include <stddef.h>
#include <stdint.h>

#include "opal/datatype/opal_datatype.h"

BEGIN_C_DECLS

typedef struct opal_datatype_seek_mark_t {
    size_t bytes;   /**< packed bytes from the beginning of the body to the child */
    uint32_t entry; /**< the child's (first) entry in the description */
} opal_datatype_seek_mark_t;

typedef struct opal_datatype_seek_body_t {
    uint32_t begin;                         /**< first entry of the loop's body */
    uint32_t count;                         /**< number of marks */
    const opal_datatype_seek_mark_t *marks; /**< ascending, the first at 0 bytes */
} opal_datatype_seek_body_t;

typedef struct opal_datatype_seek_index_t {
    uint32_t count;                     /**< number of bodies */
    opal_datatype_seek_body_t bodies[]; /**< ascending by begin; their marks are behind them */
} opal_datatype_seek_index_t;

/** Makes the index of a description; NULL: no memory. */
opal_datatype_seek_index_t *opal_datatype_seek_index_create(const dt_type_desc_t *description,
                                                            uint32_t stride);

/**
 * The last mark at or before a byte of the body that begins at entry `begin`; NULL: the
 * body has too few children for marks.
 */
const opal_datatype_seek_mark_t *
opal_datatype_seek_index_find(const opal_datatype_seek_index_t *index, uint32_t begin,
                              size_t bytes);

/** The index of a datatype if one has been made, or NULL. */
const opal_datatype_seek_index_t *opal_datatype_seek_index_get(const opal_datatype_t *datatype);

/** The index of a datatype, which is made if there is none; NULL: no memory. */
const opal_datatype_seek_index_t *opal_datatype_seek_index_need(const opal_datatype_t *datatype,
                                                                uint32_t stride);

/** Packed bytes of an entry of data or of all iterations of a loop. */
size_t opal_datatype_seek_child_bytes(const dt_elem_desc_t *entry);

END_C_DECLS

#endif

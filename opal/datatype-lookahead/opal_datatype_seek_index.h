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
 * Index of a datatype's description: where in the description is this byte?
 *
 * A description is a list of entries, and loops of entries in it. For every
 * list with more than `stride` children (an entry, or a whole loop, is one
 * child) the index has a body: the packed bytes before every stride-th child.
 *
 *     children   e0 e1 .. e15 e16 .. LOOP(..)  ..  e31 e32 ..
 *     marks      0            |                     |
 *                             packed bytes before e16, before e32
 *
 * Made once for a datatype, in one pass over its description; 16 bytes for
 * every `stride` entries of 32 bytes. Never changed afterwards, so that any
 * number of threads may read it.
 */

#ifndef OPAL_DATATYPE_SEEK_INDEX_H
#define OPAL_DATATYPE_SEEK_INDEX_H

#include "opal_config.h"

#include <stddef.h>
#include <stdint.h>

#include "opal/datatype/opal_datatype.h"

BEGIN_C_DECLS

typedef struct opal_datatype_seek_mark_t {
    size_t bytes;   /**< packed bytes between the begin of the body and the child */
    uint32_t entry; /**< the child's (first) entry in the description */
} opal_datatype_seek_mark_t;

typedef struct opal_datatype_seek_body_t {
    uint32_t begin;                         /**< first entry of the loop's body */
    uint32_t count;                         /**< marks */
    const opal_datatype_seek_mark_t *marks; /**< ascending, the first is of 0 bytes */
} opal_datatype_seek_body_t;

typedef struct opal_datatype_seek_index_t {
    uint32_t count;                     /**< bodies */
    opal_datatype_seek_body_t bodies[]; /**< ascending by begin; their marks are behind them */
} opal_datatype_seek_index_t;

/** Makes the index of a description, NULL without memory. */
opal_datatype_seek_index_t *opal_datatype_seek_index_create(const dt_type_desc_t *description,
                                                            uint32_t stride);

/**
 * The last mark at or before a byte of the body which begins at entry `begin`,
 * NULL if the body has too few children for marks.
 */
const opal_datatype_seek_mark_t *
opal_datatype_seek_index_find(const opal_datatype_seek_index_t *index, uint32_t begin,
                              size_t bytes);

/** The index that other convertors of the datatype have made, or NULL. */
const opal_datatype_seek_index_t *opal_datatype_seek_index_get(const opal_datatype_t *datatype);

/** The same, which makes it if nobody has; NULL without memory. */
const opal_datatype_seek_index_t *opal_datatype_seek_index_need(const opal_datatype_t *datatype,
                                                                uint32_t stride);

/** Packed bytes of an entry of data or of all iterations of a loop. */
size_t opal_datatype_seek_child_bytes(const dt_elem_desc_t *entry);

END_C_DECLS

#endif

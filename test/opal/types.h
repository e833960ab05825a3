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
 * Random datatypes for the tests of opal/datatype, each with its type map,
 * which is made beside the datatype and not from it.
 */

#ifndef PIPERING_TEST_TYPES_H
#define PIPERING_TEST_TYPES_H

#include "opal_config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "opal/datatype/opal_convertor.h"
#include "opal/datatype/opal_datatype.h"

/** A predefined element of a type map. */
typedef struct types_element_t {
    ptrdiff_t disp;
    size_t size;
} types_element_t;

/** A datatype and its type map. */
typedef struct types_t {
    opal_datatype_t *datatype;
    types_element_t *map;
    size_t elements, room;
    size_t bytes;
    ptrdiff_t low, high; /**< of the map */
} types_t;

/** A committed datatype: a random tree of loops, structs and blocks. */
types_t *types_random(void);

/** Many blocks of 1 to 3 doubles at irregular displacements: as many entries. */
types_t *types_irregular(size_t blocks);

/** `times` times the irregular one, with a gap, and a tail: a loop with a long body. */
types_t *types_nested_irregular(size_t blocks, int times);

/** Blocks of random sizes, at random distances. */
types_t *types_blocks(size_t blocks, size_t least, size_t most, size_t gap);

void types_free(types_t *type);

/** Where `count` copies of a datatype lie in memory, and a buffer for them. */
typedef struct layout_t {
    const types_t *type;
    size_t count;
    size_t bytes;         /**< packed */
    ptrdiff_t *offset;    /**< of each packed byte from the base */
    unsigned char *start; /**< of each packed byte: it begins an element */
    unsigned char *memory;
    unsigned char *base; /**< what MPI calls the buffer */
    size_t size;         /**< of memory */
    bool overlaps;       /**< no type to receive with */
} layout_t;

void layout_create(layout_t *layout, const types_t *type, size_t count);
void layout_destroy(layout_t *layout);

/** Prepares a convertor of the layout for `CONVERTOR_SEND` or `CONVERTOR_RECV`. */
opal_convertor_t *layout_convertor(const layout_t *layout, uint32_t direction);

/** opal_init; types are those of the seed. */
void types_start(uint64_t seed);
void types_stop(void);

#endif

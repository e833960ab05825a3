/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

/** @file Layouts: loops by hand over their blocks, the check of what was moved, names. */

#include "ddt.h"

#include <stdlib.h>
#include <string.h>

#include "bench.h"

/* As in code that was written for its data: small blocks do not call memcpy. */
static inline void copy_block(unsigned char *to, const unsigned char *from, size_t length)
{
    switch (length) {
    case 4:
        memcpy(to, from, 4);
        break;
    case 8:
        memcpy(to, from, 8);
        break;
    case 12:
        memcpy(to, from, 12);
        break;
    case 16:
        memcpy(to, from, 16);
        break;
    case 24:
        memcpy(to, from, 24);
        break;
    default:
        memcpy(to, from, length);
    }
}

static inline size_t move_block(unsigned char *memory, unsigned char *packed, size_t length,
                                bool out)
{
    if (out) {
        copy_block(packed, memory, length);
    } else {
        copy_block(memory, packed, length);
    }
    return length;
}

static inline size_t move_box(const ddt_part_t *part, unsigned char *memory,
                              unsigned char *packed, bool out)
{
    const size_t *count = part->count;
    const ptrdiff_t *stride = part->stride;
    unsigned char *at = packed;

    for (size_t i = 0; i < count[0]; ++i) {
        for (size_t j = 0; j < count[1]; ++j) {
            for (size_t k = 0; k < count[2]; ++k) {
                unsigned char *row = memory + (ptrdiff_t) i * stride[0]
                                     + (ptrdiff_t) j * stride[1] + (ptrdiff_t) k * stride[2];
                for (size_t l = 0; l < count[3]; ++l) {
                    at += move_block(row + (ptrdiff_t) l * stride[3], at, part->length, out);
                }
            }
        }
    }
    return (size_t) (at - packed);
}

static inline size_t move_list(const ddt_part_t *part, unsigned char *memory,
                               unsigned char *packed, bool out)
{
    const ptrdiff_t unit = (ptrdiff_t) part->unit;
    unsigned char *at = packed;

    if (NULL == part->lengths) {
        for (size_t i = 0; i < part->blocks; ++i) {
            at += move_block(memory + part->displs[i] * unit, at, part->length, out);
        }
    } else {
        for (size_t i = 0; i < part->blocks; ++i) {
            at += move_block(memory + part->displs[i] * unit, at,
                             (size_t) part->lengths[i] * part->unit, out);
        }
    }
    return (size_t) (at - packed);
}

static inline void move(const ddt_layout_t *layout, unsigned char *memory, unsigned char *packed,
                        bool out)
{
    for (int i = 0; i < layout->part_count; ++i) {
        const ddt_part_t *part = &layout->parts[i];
        unsigned char *from = memory + part->offset;

        packed += NULL == part->displs ? move_box(part, from, packed, out)
                                       : move_list(part, from, packed, out);
    }
}

void ddt_pack(const ddt_layout_t *layout, const unsigned char *memory, unsigned char *packed)
{
    move(layout, (unsigned char *) memory, packed, true);
}

void ddt_unpack(const ddt_layout_t *layout, unsigned char *memory, const unsigned char *packed)
{
    move(layout, memory, (unsigned char *) packed, false);
}

void ddt_add_box(ddt_layout_t *layout, ptrdiff_t offset, size_t length, const size_t *count,
                 const ptrdiff_t *stride)
{
    ddt_part_t *part = &layout->parts[layout->part_count++];

    part->offset = offset;
    part->length = length;
    for (int i = 0; i < DDT_DIMS; ++i) {
        part->count[i] = 0 == count[i] ? 1 : count[i];
        part->stride[i] = stride[i];
        length *= part->count[i];
    }
    layout->bytes += length;
}

void ddt_add_list(ddt_layout_t *layout, ptrdiff_t offset, size_t unit, const int *displs,
                  const int *lengths, size_t length, size_t blocks)
{
    ddt_part_t *part = &layout->parts[layout->part_count++];

    part->offset = offset;
    part->unit = unit;
    part->displs = displs;
    part->lengths = lengths;
    part->length = length;
    part->blocks = blocks;
    layout->bytes += NULL == lengths ? length * blocks : 0;
    for (size_t i = 0; NULL != lengths && i < blocks; ++i) {
        layout->bytes += (size_t) lengths[i] * unit;
    }
}

static const ddt_kind_t *find_kind(const ddt_kind_t *kinds, const char *name, size_t length)
{
    for (; NULL != kinds->name; ++kinds) {
        if (strlen(kinds->name) == length && 0 == strncmp(kinds->name, name, length)) {
            return kinds;
        }
    }
    return NULL;
}

bool ddt_layout_create(ddt_layout_t *layout, const char *name)
{
    const size_t length = strcspn(name, ":");
    const ddt_kind_t *kind = find_kind(ddt_synthetic, name, length);
    double size;

    if (NULL == kind) {
        kind = find_kind(ddt_apps, name, length);
    }
    if (NULL == kind || (NULL == kind->size) != ('\0' == name[length])) {
        return false;
    }
    size = NULL == kind->size ? (double) kind->variant : bench_number(name + length + 1);
    memset(layout, 0, sizeof(*layout));
    layout->name = name;
    layout->type = MPI_DATATYPE_NULL;
    if (0.0 > size || 1073741824.0 < size || !kind->make(layout, (size_t) size)) {
        ddt_layout_free(layout);
        return false;
    }
    MPI_Type_commit(&layout->type);
    return true;
}

void ddt_layout_free(ddt_layout_t *layout)
{
    if (MPI_DATATYPE_NULL != layout->type) {
        MPI_Type_free(&layout->type);
    }
    free(layout->displs);
    free(layout->lengths);
}

static void print_kinds(FILE *out, const ddt_kind_t *kinds)
{
    for (; NULL != kinds->name; ++kinds) {
        fprintf(out, NULL == kinds->size ? "  %s\n" : "  %s:%s\n", kinds->name, kinds->size);
    }
}

void ddt_layout_names(FILE *out)
{
    print_kinds(out, ddt_synthetic);
    print_kinds(out, ddt_apps);
}

void ddt_fill(unsigned char *packed, size_t bytes, uint64_t seed)
{
    uint64_t *words = (uint64_t *) packed;

    for (size_t i = 0; i < (bytes + 7) / 8; ++i) {
        words[i] = (seed << 32 ^ i) * UINT64_C(0x9e3779b97f4a7c15);
    }
}

bool ddt_check(const ddt_layout_t *layout, unsigned char *memory, unsigned char *scratch,
               uint64_t seed)
{
    const size_t room = (layout->bytes + 7) / 8 * 8;
    bool good;

    ddt_fill(scratch, layout->bytes, seed);
    ddt_pack(layout, memory, scratch + room);
    good = 0 == memcmp(scratch, scratch + room, layout->bytes);
    memset(scratch, DDT_POISON, layout->bytes);
    ddt_unpack(layout, memory, scratch);
    if (DDT_POISON != memory[0] || 0 != memcmp(memory, memory + 1, layout->span - 1)) {
        memset(memory, DDT_POISON, layout->span);
        good = false;
    }
    return good;
}

uint32_t ddt_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

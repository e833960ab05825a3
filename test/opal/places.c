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
 * Vectors of small blocks, packed and unpacked at places that are not aligned, as a
 * fragment's data is behind a header: every byte is where it belongs, none around them
 * is touched, and blocks are not copied one by one with memcpy().
 */

#include "types.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

#define MOST_BYTES 8192 /* of memory and of packed data */
#define AROUND 64

#if defined(__x86_64__) || defined(__i386__) || defined(__aarch64__) || defined(__powerpc64__) \
    || defined(__s390x__)
#    define ANYWHERE true
#else
#    define ANYWHERE false
#endif

static const opal_datatype_t *const leaves[]
    = {&opal_datatype_int1,           &opal_datatype_int2,        &opal_datatype_int4,
       &opal_datatype_int8,           &opal_datatype_uint1,       &opal_datatype_uint2,
       &opal_datatype_uint4,          &opal_datatype_uint8,       &opal_datatype_float4,
       &opal_datatype_float8,         &opal_datatype_float16,     &opal_datatype_float_complex,
       &opal_datatype_double_complex, &opal_datatype_bool,        &opal_datatype_wchar,
       &opal_datatype_long_double_complex};

#define LEAVES (sizeof(leaves) / sizeof(leaves[0]))

/* `blocks` times `length` elements; stride in elements, and a few bytes more. */
typedef struct vector_t {
    const opal_datatype_t *leaf;
    size_t blocks, length, stride, more;
    size_t memory_at, packed_at; /* bytes behind an aligned place */
    size_t cut;                  /* elements in the first fragment, 0: one fragment */
} vector_t;

static union {
    unsigned char bytes[MOST_BYTES];
    long double aligned;
} memory, packed, expected;

static size_t single_copies;

static void *count_copy(void *to, const void *from, size_t bytes, opal_convertor_t *convertor)
{
    (void) convertor;
    ++single_copies;
    return memcpy(to, from, bytes);
}

static opal_datatype_t *type_of(const vector_t *vector)
{
    opal_datatype_t *type = opal_datatype_create(4);
    const ptrdiff_t stride = (ptrdiff_t) (vector->stride * vector->leaf->size + vector->more);

    if (vector->length == vector->stride && 0 == vector->more) {
        opal_datatype_add(type, vector->leaf, vector->blocks * vector->length, 0,
                          (ptrdiff_t) vector->leaf->size);
    } else {
        opal_datatype_t *block = opal_datatype_create(2);

        opal_datatype_add(block, vector->leaf, vector->length, 0,
                          (ptrdiff_t) vector->leaf->size);
        opal_datatype_add(type, block, vector->blocks, 0, stride);
        opal_datatype_destroy(&block);
    }
    opal_datatype_commit(type);
    return type;
}

/* The same without the engine, between memory and packed data. */
static void copy_plainly(const vector_t *vector, unsigned char *plain, unsigned char *dense,
                         bool packs)
{
    const size_t size = vector->leaf->size, bytes = vector->length * size;

    for (size_t i = 0; i < vector->blocks; ++i) {
        unsigned char *block = plain + i * (vector->stride * size + vector->more);
        memcpy(packs ? dense + i * bytes : block, packs ? block : dense + i * bytes, bytes);
    }
}

static bool advance(opal_convertor_t *convertor, unsigned char *at, size_t bytes, bool packs)
{
    struct iovec iov = {.iov_base = (void *) at, .iov_len = bytes};
    size_t moved = bytes;
    uint32_t count = 1;

    if (packs) {
        opal_convertor_pack(convertor, &iov, &count, &moved);
    } else {
        opal_convertor_unpack(convertor, &iov, &count, &moved);
    }
    return moved == bytes;
}

/* In one or two fragments, these at any place too. */
static bool run(const vector_t *vector, bool packs)
{
    opal_datatype_t *type = type_of(vector);
    opal_convertor_t *convertor = opal_convertor_create(opal_local_arch, 0);
    const size_t bytes = type->size, first = vector->cut * vector->leaf->size;
    unsigned char *base = memory.bytes + AROUND + vector->memory_at;
    unsigned char *dense = packed.bytes + AROUND + vector->packed_at;
    bool right = true;

    if (packs) {
        opal_convertor_prepare_for_send(convertor, type, 1, base);
    } else {
        opal_convertor_prepare_for_recv(convertor, type, 1, base);
    }
    convertor->cbmemcpy = count_copy;
    single_copies = 0;
    if (0 != first) {
        right = advance(convertor, dense, first, packs);
    }
    right = right && advance(convertor, dense + first, bytes - first, packs);
    OBJ_RELEASE(convertor);
    opal_datatype_destroy(&type);
    return right;
}

static bool is_right(const vector_t *vector, bool packs)
{
    unsigned char *plain = memory.bytes + AROUND + vector->memory_at;
    unsigned char *dense = packed.bytes + AROUND + vector->packed_at;

    tap_garbage(memory.bytes, MOST_BYTES);
    tap_garbage(packed.bytes, MOST_BYTES);
    if (packs) {
        memcpy(expected.bytes, packed.bytes, MOST_BYTES);
        copy_plainly(vector, plain, expected.bytes + (dense - packed.bytes), true);
        return run(vector, true) && 0 == memcmp(expected.bytes, packed.bytes, MOST_BYTES);
    }
    memcpy(expected.bytes, memory.bytes, MOST_BYTES);
    copy_plainly(vector, expected.bytes + (plain - memory.bytes), dense, false);
    return run(vector, false) && 0 == memcmp(expected.bytes, memory.bytes, MOST_BYTES);
}

static tap_tally_t placed, fast;

static void try_vector(const vector_t *vector)
{
    const bool loops = ANYWHERE && 9 > vector->length && 0 == vector->more && 0 == vector->cut
                       && vector->length < vector->stride;

    for (int packs = 0; packs < 2; ++packs) {
        tap_try(&placed, is_right(vector, packs),
                "%s of %zu x %zu of %zu bytes, stride %zu + %zu, at %zu and %zu, cut at %zu",
                packs ? "pack" : "unpack", vector->blocks, vector->length, vector->leaf->size,
                vector->stride, vector->more, vector->memory_at, vector->packed_at, vector->cut);
        if (loops) {
            tap_try(&fast, 0 == single_copies, "%zu copies of %zu blocks of %zu, at %zu and %zu",
                    single_copies, vector->blocks, vector->length, vector->memory_at,
                    vector->packed_at);
        }
    }
}

/* Elements with padding, which is not moved as a value. */
static bool is_padded(const opal_datatype_t *leaf)
{
    return &opal_datatype_float16 == leaf || &opal_datatype_long_double_complex == leaf;
}

/* All places of either side, blocks of every length that the loops know and one more. */
static void test_places(void)
{
    for (size_t leaf = 0; leaf < LEAVES; ++leaf) {
        if (!ANYWHERE && is_padded(leaves[leaf])) {
            continue;
        }
        for (size_t length = 1; length < 10; ++length) {
            for (size_t place = 0; place < 32; ++place) {
                const size_t blocks = 2 + tap_below(6);
                const size_t cut = 0 == place % 3 ? 1 + tap_below(blocks * length - 1) : 0;

                try_vector(&(vector_t){.leaf = leaves[leaf],
                                       .blocks = blocks,
                                       .length = length,
                                       .stride = length + tap_below(3),
                                       .more = 0 == place % 5 ? 1 + tap_below(8) : 0,
                                       .memory_at = 0 == place % 2 ? 0 : tap_below(16),
                                       .packed_at = place / 2,
                                       .cut = cut});
            }
        }
    }
    tally_ok(&placed, 2 * (LEAVES - 2) * 9 * 32, "data is where it belongs");
    tally_ok(&fast, ANYWHERE ? LEAVES * 9 * 8 : 0, "small blocks are not copied one by one");
}

int main(void)
{
    tap_start();
    types_start(tap_random());
    test_places();
    types_stop();
    return tap_end();
}

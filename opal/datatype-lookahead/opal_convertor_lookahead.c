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
 * Looks ahead with a second context (Balaji et al. 2007, Section 4.1).
 *
 *     memory   ..####....######..##....########
 *     iov        [0]     [1]     [2]   [3]       *iov_count, *bytes
 *                ^                            ^
 *                convertor                    after
 *
 * Cost: O(blocks seen), which is the number of segments unless blocks touch, and
 * two divisions in all. No allocation for up to three levels of nested loops.
 */

#include "opal_config.h"

#include <stddef.h>

#include "opal/constants.h"
#include "opal/datatype/opal_convertor_lookahead.h"
#include "opal/datatype/opal_datatype_internal.h"

typedef struct look_t {
    const opal_convertor_t *convertor;
    opal_convertor_ctx_t *ctx;
    struct iovec *iov;
    uint32_t count, most; /**< segments so far, and at most */
    size_t bytes, max_bytes;
} look_t;

/* Adds a piece of memory to the last segment, or as a new one; false: no room for a new one. */
static inline bool add_piece(look_t *look, ptrdiff_t disp, size_t length)
{
    char *base = (char *) look->convertor->pBaseBuf + disp;
    struct iovec *last = look->iov + look->count - 1;

    if (0 != look->count && (char *) last->iov_base + last->iov_len == base) {
        last->iov_len += length;
    } else if (look->count == look->most) {
        return false;
    } else {
        look->iov[look->count++] = (struct iovec){.iov_base = base, .iov_len = length};
    }
    look->bytes += length;
    return true;
}

/* Looks at the rest of the entry on top of the stack; true if it has reached its end. */
static bool look_at_blocks(look_t *look, const ddt_elem_desc_t *elem, size_t left_in_block)
{
    const size_t size = opal_datatype_basicDatatypes[elem->common.type]->size;
    const ptrdiff_t gap = elem->extent - (ptrdiff_t) (elem->blocklen * size);
    dt_stack_t *top = look->ctx->stack + look->ctx->stack_pos;

    while (0 != top->count) {
        size_t elements = left_in_block;

        if (elements * size > look->max_bytes - look->bytes) {
            elements = (look->max_bytes - look->bytes) / size;
        }
        if (0 == elements || !add_piece(look, top->disp + elem->disp, elements * size)) {
            return false;
        }
        top->count -= elements;
        top->disp += (ptrdiff_t) (elements * size);
        if (elements != left_in_block) {
            return false;
        }
        top->disp += gap;
        left_in_block = elem->blocklen;
    }
    return true;
}

enum { AT_DATA, AT_END, NO_MEMORY };

/* Puts the next entry of data on the stack, starting with `entry`. */
static int next_data(look_t *look, uint32_t entry)
{
    const opal_datatype_t *datatype = look->convertor->pDesc;
    const dt_elem_desc_t *desc = look->convertor->use_desc->desc;
    opal_convertor_ctx_t *ctx = look->ctx;
    dt_stack_t *loop;

    for (;; ++entry) {
        loop = ctx->stack + ctx->stack_pos;
        if (OPAL_DATATYPE_END_LOOP == desc[entry].elem.common.type) {
            if (0 != --loop->count) {
                loop->disp += -1 == loop->index ? datatype->ub - datatype->lb
                                                : desc[loop->index].loop.extent;
                entry = (uint32_t) loop->index;
            } else if (0 == ctx->stack_pos) {
                return AT_END;
            } else {
                ctx->stack_pos--;
            }
            continue;
        }
        if (!opal_convertor_ctx_reserve(ctx, ctx->stack_pos + 2)) {
            return NO_MEMORY;
        }
        loop = ctx->stack + ctx->stack_pos++;
        if (OPAL_DATATYPE_LOOP == desc[entry].elem.common.type) {
            SAVE_STACK(loop + 1, (int32_t) entry, OPAL_DATATYPE_LOOP, desc[entry].loop.loops,
                       loop->disp);
        } else {
            SAVE_STACK(loop + 1, (int32_t) entry, (int16_t) desc[entry].elem.common.type,
                       desc[entry].elem.count * desc[entry].elem.blocklen, loop->disp);
            return AT_DATA;
        }
    }
}

/* Looks at data with gaps: the stack has the loops, and an entry of data on top of them. */
static int look_at_entries(look_t *look)
{
    const dt_elem_desc_t *desc = look->convertor->use_desc->desc;
    opal_convertor_ctx_t *ctx = look->ctx;
    const dt_stack_t *top = ctx->stack + ctx->stack_pos;
    const ddt_elem_desc_t *elem = &desc[top->index].elem;
    size_t in_block;
    int at = AT_DATA;

    if (OPAL_DATATYPE_LOOP == elem->common.type) { /* at the very beginning */
        at = next_data(look, (uint32_t) top->index + 1);
        top = ctx->stack + ctx->stack_pos;
        elem = &desc[top->index].elem;
        in_block = elem->blocklen;
    } else {
        in_block = top->count % elem->blocklen;
        in_block = 0 == in_block ? elem->blocklen : in_block;
    }
    while (AT_DATA == at && look_at_blocks(look, elem, in_block)) {
        top = ctx->stack + ctx->stack_pos--;
        at = next_data(look, (uint32_t) top->index + 1);
        if (AT_DATA == at) {
            elem = &desc[ctx->stack[ctx->stack_pos].index].elem;
            in_block = elem->blocklen;
        }
    }
    return NO_MEMORY == at ? OPAL_ERR_OUT_OF_RESOURCE : OPAL_SUCCESS;
}

/* Looks at a datatype of one block: the stack has the copies left, and the bytes of the block. */
static int look_at_copies(look_t *look)
{
    const opal_datatype_t *datatype = look->convertor->pDesc;
    dt_stack_t *copy = look->ctx->stack, *block = copy + 1;
    size_t length;

    if (OPAL_DATATYPE_UINT1 != block->type) {
        block->count *= opal_datatype_basicDatatypes[block->type]->size;
        block->type = OPAL_DATATYPE_UINT1;
    }
    while (0 != copy->count && look->bytes < look->max_bytes) {
        length = look->max_bytes - look->bytes;
        length = block->count < length ? block->count : length;
        if (!add_piece(look, datatype->true_lb + copy->disp + block->disp, length)) {
            break;
        }
        block->count -= length;
        block->disp += (ptrdiff_t) length;
        if (0 == block->count) {
            copy->count--;
            copy->disp += datatype->ub - datatype->lb;
            block->count = datatype->size;
            block->disp = 0;
        }
    }
    return OPAL_SUCCESS;
}

static bool may_look(const opal_convertor_t *convertor)
{
    return CONVERTOR_HOMOGENEOUS
               == (convertor->flags
                   & (CONVERTOR_HOMOGENEOUS | CONVERTOR_NO_OP | CONVERTOR_WITH_CHECKSUM
                      | CONVERTOR_ACCELERATOR))
           && 0 == convertor->partial_length && &convertor->pDesc->opt_desc == convertor->use_desc;
}

int opal_convertor_lookahead(const opal_convertor_t *convertor, struct iovec *iov,
                             uint32_t *iov_count, size_t max_bytes, size_t *bytes,
                             opal_convertor_ctx_t *after)
{
    look_t look = {.convertor = convertor, .ctx = after, .iov = iov, .most = *iov_count,
                   .max_bytes = max_bytes};
    int rc;

    *iov_count = 0;
    *bytes = 0;
    if (!may_look(convertor)) {
        return OPAL_ERR_NOT_SUPPORTED;
    }
    rc = opal_convertor_ctx_save(convertor, after);
    if (OPAL_SUCCESS != rc) {
        return rc;
    }
    rc = 0 != (convertor->flags & OPAL_DATATYPE_FLAG_CONTIGUOUS) ? look_at_copies(&look)
                                                                  : look_at_entries(&look);
    after->bConverted += look.bytes;
    *iov_count = look.count;
    *bytes = look.bytes;
    return rc;
}

static bool is_dense(uint32_t count, size_t bytes, size_t max_bytes, size_t left)
{
    if (0 == bytes || bytes < count * (size_t) opal_datatype_lookahead_min_segment) {
        return false;
    }
    return left <= max_bytes ? bytes == left : bytes >= max_bytes / 2;
}

/* Segments of a first look: if all together are smaller than a dense one, the data is packed. */
#define FIRST_LOOK 3

/* Data that begins with tiny segments is packed, whatever follows; a full look would not pay. */
static bool begins_sparse(const opal_convertor_t *convertor, struct iovec *iov, uint32_t iov_count,
                          size_t max_bytes, opal_convertor_ctx_t *after)
{
    uint32_t count = FIRST_LOOK;
    size_t bytes;

    return OPAL_DATATYPE_LOOKAHEAD_DUAL == opal_datatype_lookahead && FIRST_LOOK < iov_count
           && OPAL_SUCCESS
                  == opal_convertor_lookahead(convertor, iov, &count, max_bytes, &bytes, after)
           && FIRST_LOOK == count && bytes < (size_t) opal_datatype_lookahead_min_segment;
}

/*
 * With one context only (RESEARCH), the look-ahead moves the convertor, which must then search
 * for its old position to pack.
 */
bool opal_convertor_take_segments(opal_convertor_t *convertor, struct iovec *iov,
                                  uint32_t *iov_count, size_t max_bytes, size_t *bytes)
{
    const uint32_t most = (uint32_t) opal_datatype_lookahead_segments;
    size_t here = convertor->bConverted, seen = 0;
    opal_convertor_ctx_t after;
    bool dense;

    if (OPAL_DATATYPE_LOOKAHEAD_OFF == opal_datatype_lookahead
        || 0 != (convertor->flags & CONVERTOR_RECV)
        || max_bytes < (size_t) opal_datatype_lookahead_min_segment) {
        return false;
    }
    *iov_count = most < *iov_count ? most : *iov_count;
    opal_convertor_ctx_init(&after);
    dense = !begins_sparse(convertor, iov, *iov_count, max_bytes, &after)
            && OPAL_SUCCESS
                   == opal_convertor_lookahead(convertor, iov, iov_count, max_bytes, &seen, &after)
            && is_dense(*iov_count, seen, max_bytes, convertor->local_size - here);
    if (dense) {
        opal_convertor_ctx_restore(convertor, &after);
        *bytes = seen;
    } else if (OPAL_DATATYPE_LOOKAHEAD_RESEARCH == opal_datatype_lookahead && 0 != seen) {
        opal_convertor_ctx_restore(convertor, &after);
        (void) opal_convertor_set_position(convertor, &here);
    }
    opal_convertor_ctx_release(&after);
    return dense;
}

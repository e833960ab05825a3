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
 * The second context of a convertor.
 *
 * A context is the position of a convertor in its datatype: its stack, and the
 * number of bytes before it. With a second context the convertor can look ahead
 * without losing its position, and can return to an earlier position without a
 * search (Balaji et al. 2007, Section 4.1 and Figure 9):
 *
 *     description   ====[1]-------------[2]...........
 *                        |               |
 *                        first context:  second context:
 *                        packs here      looks ahead here
 *
 * It has two uses. A caller that can send segments of memory without packing looks
 * at the next ones: if they are dense, it takes them and continues behind them; if
 * they are sparse, it packs. And opal_convertor_set_position() to an earlier position,
 * which fragments that arrive out of order need, restores a context that was saved
 * when the convertor left this position, or uses the index of the datatype's
 * description (opal_datatype_seek_index.h), instead of a walk from the beginning.
 *
 * This is for convertors of homogeneous peers, which use the optimized description.
 * Others work as before.
 */

#ifndef OPAL_CONVERTOR_LOOKAHEAD_H
#define OPAL_CONVERTOR_LOOKAHEAD_H

#include "opal_config.h"

#include <stdbool.h>
#include <stddef.h>

#include "opal/datatype/opal_convertor.h"

/* Open MPI 6.0 has no checksums, and other names for the engine's functions. */
#ifndef CONVERTOR_WITH_CHECKSUM
#    define CONVERTOR_WITH_CHECKSUM 0
#    define opal_generic_simple_pack opal_generic_inlined_pack
#    define opal_generic_simple_unpack opal_generic_inlined_unpack
#endif

BEGIN_C_DECLS

/** Values of the variable opal_datatype_lookahead. */
enum {
    OPAL_DATATYPE_LOOKAHEAD_OFF,      /**< no look-ahead, no second context */
    OPAL_DATATYPE_LOOKAHEAD_RESEARCH, /**< look ahead with one context, search back: a baseline */
    OPAL_DATATYPE_LOOKAHEAD_DUAL      /**< look ahead and seek with a second context */
};

/** The most segments of a look-ahead: those of a BTL's descriptor, without its header. */
#define OPAL_DATATYPE_LOOKAHEAD_SEGMENTS_MOST 15

/** The most contexts that a convertor remembers; they are searched one by one. */
#define OPAL_DATATYPE_SEEK_CHECKPOINTS_MOST 64

/** The variables; opal_convertor_lookahead_params.c has their meaning. */
OPAL_DECLSPEC extern int opal_datatype_lookahead;
OPAL_DECLSPEC extern int opal_datatype_lookahead_segments;
OPAL_DECLSPEC extern int opal_datatype_lookahead_min_segment;
OPAL_DECLSPEC extern int opal_datatype_seek_checkpoints;
OPAL_DECLSPEC extern int opal_datatype_seek_index_stride;
OPAL_DECLSPEC extern int opal_datatype_units_per_entry;

/** Registers the variables; an illegal value is reported and replaced by the default. */
int opal_datatype_lookahead_register_params(void);

/**
 * A context. Between init and release it may be saved into any number of times. It
 * must not be copied.
 */
typedef struct opal_convertor_ctx_t {
    size_t bConverted;
    size_t partial_length;
    uint32_t stack_pos;
    uint32_t stack_size;
    dt_stack_t *stack; /**< static_stack, or allocated */
    dt_stack_t static_stack[DT_STATIC_STACK_SIZE];
} opal_convertor_ctx_t;

static inline void opal_convertor_ctx_init(opal_convertor_ctx_t *ctx)
{
    ctx->bConverted = SIZE_MAX;
    ctx->stack_size = DT_STATIC_STACK_SIZE;
    ctx->stack = ctx->static_stack;
}

OPAL_DECLSPEC void opal_convertor_ctx_release(opal_convertor_ctx_t *ctx);

/** Makes room for a stack of this depth, and keeps its entries. False: no memory. */
bool opal_convertor_ctx_reserve(opal_convertor_ctx_t *ctx, uint32_t depth);

/**
 * Saves the convertor's position. OPAL_ERR_NOT_AVAILABLE if it has none: completed,
 * without a stack, or cloned and not positioned yet; OPAL_ERR_OUT_OF_RESOURCE: no
 * memory for a deep stack.
 */
OPAL_DECLSPEC int opal_convertor_ctx_save(const opal_convertor_t *convertor,
                                          opal_convertor_ctx_t *ctx);

/** Restores a saved position; datatype and count of the convertor must be those of the save. */
OPAL_DECLSPEC void opal_convertor_ctx_restore(opal_convertor_t *convertor,
                                              const opal_convertor_ctx_t *ctx);

/**
 * Looks at the next segments of memory with a second context; the convertor does not
 * move.
 *
 * Segments are in the order of the type map; segments that touch are joined. Looks at
 * most at *iov_count segments and max_bytes bytes. Afterwards *iov_count and *bytes are
 * the numbers seen, and `after`, which must have been initialized, is the context behind
 * them. 0 bytes only if not even one element fits. OPAL_ERR_NOT_SUPPORTED if the data
 * may not be sent as it is in memory (heterogeneous peers, checksums, devices), has no
 * gaps, or begins inside of an element; other errors as in opal_convertor_ctx_save().
 */
OPAL_DECLSPEC int opal_convertor_lookahead(const opal_convertor_t *convertor, struct iovec *iov,
                                           uint32_t *iov_count, size_t max_bytes, size_t *bytes,
                                           opal_convertor_ctx_t *after);

/**
 * Takes the next segments of a sender if they are dense, and moves the convertor behind
 * them. Looks at most at opal_datatype_lookahead_segments or *iov_count segments. They are
 * dense if they have at least opal_datatype_lookahead_min_segment bytes on average and
 * at least half of max_bytes in all (or the whole rest, if this is no more than max_bytes);
 * but not if the first few are tiny. False if the caller should pack; then the convertor
 * is not moved.
 */
OPAL_DECLSPEC bool opal_convertor_take_segments(opal_convertor_t *convertor, struct iovec *iov,
                                                uint32_t *iov_count, size_t max_bytes,
                                                size_t *bytes);

/** True if opal_convertor_set_position() of this non-contiguous convertor uses contexts. */
static inline bool opal_convertor_seeks(const opal_convertor_t *convertor)
{
    return OPAL_DATATYPE_LOOKAHEAD_DUAL == opal_datatype_lookahead
           && 0 != (convertor->flags & CONVERTOR_HOMOGENEOUS)
           && &convertor->pDesc->opt_desc == convertor->use_desc;
}

/** Moves such a convertor to another position, before its end. */
int opal_convertor_seek(opal_convertor_t *convertor, size_t position);

/**
 * Sets the stack of such a convertor, whatever it was, for a position before its end, with
 * the index of the description, which is made if there is none.
 */
void opal_convertor_stand_at(opal_convertor_t *convertor, size_t position);

END_C_DECLS

#endif

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
 * A context is where a convertor stands in its datatype: its stack, and the
 * bytes before it. With a second one the convertor can look ahead and still
 * know where it was, and can return to where it was without a search (Balaji et
 * al. 2007, Section 4.1 and Figure 9):
 *
 *     description   ====[1]-------------[2]...........
 *     first context     |                |
 *                       what is packed   what the second one looks at
 *
 * Two things are built on it. A caller that can send segments of memory as they
 * are looks at the next ones: dense, it takes them and goes on behind them;
 * sparse, it packs. And opal_convertor_set_position() to a place behind, which
 * fragments that arrive out of order need, takes a context saved when the
 * position jumped away from there, or the index of the datatype's description
 * (opal_datatype_seek_index.h), instead of a walk from the beginning.
 *
 * For convertors of homogeneous peers, which use the optimized description.
 * Others work as ever.
 */

#ifndef OPAL_CONVERTOR_LOOKAHEAD_H
#define OPAL_CONVERTOR_LOOKAHEAD_H

#include "opal_config.h"

#include <stdbool.h>
#include <stddef.h>

#include "opal/datatype/opal_convertor.h"
#include "opal/datatype/opal_datatype_units.h"

BEGIN_C_DECLS

/** Values of the variable opal_datatype_lookahead. */
enum {
    OPAL_DATATYPE_LOOKAHEAD_OFF,      /**< as without any of this */
    OPAL_DATATYPE_LOOKAHEAD_RESEARCH, /**< look ahead with one context, search back: a baseline */
    OPAL_DATATYPE_LOOKAHEAD_DUAL      /**< look ahead and seek with a second context */
};

/** The most segments of a look-ahead, as many as a descriptor of a BTL has besides its header. */
#define OPAL_DATATYPE_LOOKAHEAD_SEGMENTS_MOST 15

/** The most contexts that a convertor remembers; they are searched one by one. */
#define OPAL_DATATYPE_SEEK_CHECKPOINTS_MOST 64

/** The variables, see opal_convertor_lookahead_params.c; opal_datatype_units.h has the units. */
OPAL_DECLSPEC extern int opal_datatype_lookahead;
OPAL_DECLSPEC extern int opal_datatype_lookahead_segments;
OPAL_DECLSPEC extern int opal_datatype_lookahead_min_segment;
OPAL_DECLSPEC extern int opal_datatype_seek_checkpoints;
OPAL_DECLSPEC extern int opal_datatype_seek_index_stride;
OPAL_DECLSPEC extern int opal_datatype_units_per_entry;

/** Registers them; a bad value is reported and its default used. */
int opal_datatype_lookahead_register_params(void);

/**
 * Where a convertor stands. Between init and release it may be saved into any
 * number of times. It must not be copied.
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

/** Room for a stack of this depth; what is on the stack stays. False without memory. */
bool opal_convertor_ctx_reserve(opal_convertor_ctx_t *ctx, uint32_t depth);

/**
 * Remembers where the convertor stands. OPAL_ERR_NOT_AVAILABLE if it stands
 * nowhere: completed, without a stack, or cloned and not positioned yet;
 * OPAL_ERR_OUT_OF_RESOURCE without memory for a deep stack.
 */
OPAL_DECLSPEC int opal_convertor_ctx_save(const opal_convertor_t *convertor,
                                          opal_convertor_ctx_t *ctx);

/** Puts the convertor to there; it must have the datatype and count that it had then. */
OPAL_DECLSPEC void opal_convertor_ctx_restore(opal_convertor_t *convertor,
                                              const opal_convertor_ctx_t *ctx);

/**
 * Looks at the next segments of memory, with a second context: the convertor
 * does not move.
 *
 * Segments come in the order of the type map, those that touch are one. No more
 * than *iov_count of them, and no more than max_bytes; then or at the end of the
 * data *iov_count, *bytes and `after`, which has been initialized, say how far it
 * got. 0 bytes only if not even one element fits. OPAL_ERR_NOT_SUPPORTED if the
 * data may not be taken as it is in memory (heterogeneous peers, checksums,
 * devices), has no gaps, or begins inside of an element; other errors as in
 * opal_convertor_ctx_save().
 */
OPAL_DECLSPEC int opal_convertor_lookahead(const opal_convertor_t *convertor, struct iovec *iov,
                                           uint32_t *iov_count, size_t max_bytes, size_t *bytes,
                                           opal_convertor_ctx_t *after);

/**
 * Takes the next segments of a sender where they are dense: opal_datatype_lookahead_segments
 * of them, or *iov_count, have opal_datatype_lookahead_min_segment bytes on the average,
 * and are no less than half of max_bytes, and all if that is all that is left; but not
 * where the first few are tiny. The convertor is behind them then. False, and it is
 * where it was, if it should pack.
 */
OPAL_DECLSPEC bool opal_convertor_take_segments(opal_convertor_t *convertor, struct iovec *iov,
                                                uint32_t *iov_count, size_t max_bytes,
                                                size_t *bytes);

/** True if opal_convertor_set_position() of this non-contiguous convertor goes by contexts. */
static inline bool opal_convertor_seeks(const opal_convertor_t *convertor)
{
    return OPAL_DATATYPE_LOOKAHEAD_DUAL == opal_datatype_lookahead
           && 0 != (convertor->flags & CONVERTOR_HOMOGENEOUS)
           && &convertor->pDesc->opt_desc == convertor->use_desc;
}

/** Moves such a convertor, which is at another position, to one before its end. */
int opal_convertor_seek(opal_convertor_t *convertor, size_t position);

/**
 * Sets the stack of such a convertor for a position before its end, whatever the stack
 * is. Looks it up in the index of the description, which is made if it is not there.
 */
void opal_convertor_stand_at(opal_convertor_t *convertor, size_t position);

/**
 * True if this convertor, which is being prepared and is not contiguous, should go by
 * the list of units of its datatype: then its fAdvance is one of those below.
 */
static inline bool opal_convertor_has_units(const opal_convertor_t *convertor)
{
    const int most = opal_datatype_units_per_entry;

    return 0 < most && opal_convertor_seeks(convertor)
           && 0 == (convertor->flags & CONVERTOR_ACCELERATOR)
           && NULL != opal_datatype_units_use(convertor->pDesc, (size_t) most);
}

int32_t opal_convertor_pack_units(opal_convertor_t *convertor, struct iovec *iov,
                                  uint32_t *iov_count, size_t *max_data);

int32_t opal_convertor_unpack_units(opal_convertor_t *convertor, struct iovec *iov,
                                    uint32_t *iov_count, size_t *max_data);

END_C_DECLS

#endif

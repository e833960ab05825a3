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
 * Saves and restores contexts. A stack with up to DT_STATIC_STACK_SIZE entries in
 * use is saved without allocation: that of any datatype with at most three levels
 * of nested loops.
 */

#include "opal_config.h"

#include <stdlib.h>
#include <string.h>

#include "opal/constants.h"
#include "opal/datatype/opal_convertor_lookahead.h"

void opal_convertor_ctx_release(opal_convertor_ctx_t *ctx)
{
    if (ctx->stack != ctx->static_stack) {
        free(ctx->stack);
    }
    opal_convertor_ctx_init(ctx);
}

bool opal_convertor_ctx_reserve(opal_convertor_ctx_t *ctx, uint32_t depth)
{
    dt_stack_t *stack;

    if (OPAL_LIKELY(depth <= ctx->stack_size)) {
        return true;
    }
    depth = (depth | 7) + 1;
    stack = realloc(ctx->stack == ctx->static_stack ? NULL : ctx->stack, depth * sizeof(*stack));
    if (NULL == stack) {
        return false;
    }
    if (ctx->stack == ctx->static_stack) {
        memcpy(stack, ctx->static_stack, sizeof(ctx->static_stack));
    }
    ctx->stack = stack;
    ctx->stack_size = depth;
    return true;
}

int opal_convertor_ctx_save(const opal_convertor_t *convertor, opal_convertor_ctx_t *ctx)
{
    const uint32_t depth = convertor->stack_pos + 1;

    if (0 != (convertor->flags & (CONVERTOR_COMPLETED | CONVERTOR_NO_OP))
        || convertor->bConverted >= convertor->local_size) {
        return OPAL_ERR_NOT_AVAILABLE;
    }
    if (!opal_convertor_ctx_reserve(ctx, depth)) {
        return OPAL_ERR_OUT_OF_RESOURCE;
    }
    ctx->bConverted = convertor->bConverted;
    ctx->partial_length = convertor->partial_length;
    ctx->stack_pos = convertor->stack_pos;
    memcpy(ctx->stack, convertor->pStack, depth * sizeof(dt_stack_t));
    return OPAL_SUCCESS;
}

void opal_convertor_ctx_restore(opal_convertor_t *convertor, const opal_convertor_ctx_t *ctx)
{
    convertor->bConverted = ctx->bConverted;
    if (ctx->bConverted == convertor->local_size) { /* a look-ahead reached the end */
        convertor->flags |= CONVERTOR_COMPLETED;
        return;
    }
    convertor->flags &= ~CONVERTOR_COMPLETED;
    convertor->partial_length = ctx->partial_length;
    convertor->stack_pos = ctx->stack_pos;
    memcpy(convertor->pStack, ctx->stack, (ctx->stack_pos + 1) * sizeof(dt_stack_t));
}

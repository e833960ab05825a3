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
 * The variables that plans depend on. Pure C: pipering-predict has the same. A variable to come is
 * a member of mca_coll_pipering_params_t and a row here.
 */

#include "coll_pipering_params.h"

#include "coll_pipering_registry.h"
#include "ompi/mca/coll/pipering/plan/coll_pipering_plan_model.h"

mca_coll_pipering_params_t mca_coll_pipering_given;

static const mca_common_colltools_value_t models[]
    = {{MCA_COLL_PIPERING_MODEL_SEARCH, "search"},
       {MCA_COLL_PIPERING_MODEL_EQUATION2, "equation2"},
       {0, NULL}};

#define SIZE(member)                                                          \
    .name = #member, .kind = MCA_COMMON_COLLTOOLS_SIZE, .unit = "bytes",      \
    .most = MCA_COLL_PIPERING_SIZE_MOST, .storage = &mca_coll_pipering_given.member

const mca_common_colltools_variable_t mca_coll_pipering_variables[MCA_COLL_PIPERING_PARAMS] = {
    {.name = "block_model", .kind = MCA_COMMON_COLLTOOLS_CHOICE,
     .storage = &mca_coll_pipering_given.block_model, .values = models,
     .preset = MCA_COLL_PIPERING_MODEL_SEARCH, .level = MCA_COMMON_COLLTOOLS_LEVEL_EXPERT,
     .help = "How the block size is chosen: search (least modelled time) or equation2 (closed form "
             "of the paper, corrected); block_size takes the place of both"},
    {.name = "window", .kind = MCA_COMMON_COLLTOOLS_SIZE, .unit = "blocks",
     .storage = &mca_coll_pipering_given.window, .most = 4096,
     .level = MCA_COMMON_COLLTOOLS_LEVEL_EXPERT, .zero = "chosen from the block size",
     .help = "Blocks that a rank may be ahead of the next one in the ring, and receives posted "
             "ahead; 1 counts as 2"},
    {SIZE(block_size), .level = MCA_COMMON_COLLTOOLS_LEVEL_EXPERT,
     .zero = "chosen by block_model; packets of 16384",
     .help = "Size of a block, and of a packet of a permuted exchange"},
    {SIZE(rounds_max_total), .preset = 64 << 20, .level = MCA_COMMON_COLLTOOLS_LEVEL_EXPERT,
     .zero = "none is",
     .help = "Calls about more bytes than this in all are never exchanges in rounds, since a rank "
             "may need as much memory"},
    {SIZE(rounds_packed), .level = MCA_COMMON_COLLTOOLS_LEVEL_EXPERT,
     .zero = "as long as copying them takes less than a message",
     .help = "In an exchange in rounds pieces of up to so many bytes go together, larger ones "
             "alone"},
    {SIZE(ring_buffer_size), .preset = 512 << 10, .level = MCA_COMMON_COLLTOOLS_LEVEL_EXPERT,
     .zero = "all blocks go as messages",
     .help = "Size of a ring buffer in shared memory, rounded down to a multiple of 4096; blocks "
             "of up to half of it fit, larger ones go as messages. Smaller where the budget is "
             "small, but not below 65536"},
};

/* The place of a variable's value in a set of values. */
static void *place(mca_coll_pipering_params_t *params, const mca_common_colltools_variable_t *row)
{
    return (char *) params + ((char *) row->storage - (char *) &mca_coll_pipering_given);
}

mca_coll_pipering_params_t mca_coll_pipering_params_in_range(int algorithm)
{
    mca_coll_pipering_params_t params = mca_coll_pipering_given;

    params.algorithm = algorithm;
    for (int i = 0; i < MCA_COLL_PIPERING_PARAMS; ++i) {
        const mca_common_colltools_variable_t *row = &mca_coll_pipering_variables[i];
        if (MCA_COMMON_COLLTOOLS_SIZE == row->kind
            && (size_t) row->most < *(size_t *) place(&params, row)) {
            *(size_t *) place(&params, row) = (size_t) row->preset;
        }
    }
    params.ring_buffer_size &= ~(size_t) 4095;
    return params;
}

mca_coll_pipering_params_t mca_coll_pipering_params_preset(void)
{
    mca_coll_pipering_params_t params = {.algorithm = MCA_COLL_PIPERING_AUTO};

    for (int i = 0; i < MCA_COLL_PIPERING_PARAMS; ++i) {
        const mca_common_colltools_variable_t *row = &mca_coll_pipering_variables[i];
        if (MCA_COMMON_COLLTOOLS_SIZE == row->kind) {
            *(size_t *) place(&params, row) = (size_t) row->preset;
        } else {
            *(int *) place(&params, row) = (int) row->preset;
        }
    }
    return params;
}

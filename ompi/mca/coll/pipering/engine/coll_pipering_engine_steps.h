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
 * What the engine does with blocks besides moving them: where they lie, packing,
 * delivering, combining. Only the engine, and pulls, include this.
 */

#ifndef MCA_COLL_PIPERING_ENGINE_STEPS_H
#define MCA_COLL_PIPERING_ENGINE_STEPS_H

#include "coll_pipering_copy.h"
#include "coll_pipering_engine.h"

BEGIN_C_DECLS

/** Bytes delivered before the links are looked at again. */
#define MCA_COLL_PIPERING_PIECE ((size_t) 128 * 1024)

/** The first error is the one that counts. */
static inline void mca_coll_pipering_fail(mca_coll_pipering_pipe_t *pipe, int error)
{
    if (OMPI_SUCCESS == pipe->error) {
        pipe->error = error;
    }
}

static inline uint64_t mca_coll_pipering_at_most(uint64_t value, uint64_t limit)
{
    return value < limit ? value : limit;
}

/** Where the contribution of a rank begins. */
static inline char *mca_coll_pipering_contribution(const mca_coll_pipering_layout_t *layout,
                                                   int rank)
{
    const size_t r = (size_t) rank;
    const ptrdiff_t first
        = layout->single              ? 0
          : NULL != layout->starts    ? (ptrdiff_t) layout->starts[r]
          : NULL != layout->displs.at ? mca_common_colltools_entry(layout->displs, r)
                                      : (ptrdiff_t) (r * layout->count);

    return layout->buffer + first * layout->extent;
}

/** Where the bytes of a contribution are, if they are dense. */
static inline char *mca_coll_pipering_dense_place(const mca_coll_pipering_layout_t *layout,
                                                  int rank)
{
    return mca_coll_pipering_contribution(layout, rank) + layout->true_lb;
}

/** Elements in the contribution of a rank; of byte pipelines only. */
static inline size_t mca_coll_pipering_contribution_count(const mca_coll_pipering_layout_t *layout,
                                                          int rank)
{
    return NULL == layout->counts.at
               ? layout->count
               : (size_t) mca_common_colltools_entry(layout->counts, (size_t) rank);
}

/** The elements of a contribution, likewise. */
static inline mca_coll_pipering_place_t
mca_coll_pipering_place_of(const mca_coll_pipering_layout_t *layout, int rank)
{
    return (mca_coll_pipering_place_t){mca_coll_pipering_contribution(layout, rank),
                                       mca_coll_pipering_contribution_count(layout, rank),
                                       layout->type};
}

/**
 * Whether the contributions of a layout are in memory of a device: they are parts of one
 * buffer, so where that of `rank` is, which is not empty, the others are.
 */
bool mca_coll_pipering_is_on_device(const mca_coll_pipering_layout_t *layout, int rank);

/** Copies a block from or to the users' buffers; a failure is the pipeline's. */
static inline void mca_coll_pipering_copy_block(mca_coll_pipering_pipe_t *pipe, char *to,
                                                const char *from, size_t size)
{
    const int rc = mca_common_colltools_copy(to, from, size, pipe->on_device);

    pipe->traffic.bytes_copied += size;
    if (OMPI_SUCCESS != rc) {
        mca_coll_pipering_fail(pipe, rc);
    }
}

/** Where a block lies: in its slot, or in the buffer it comes from or goes to. */
char *mca_coll_pipering_block_place(const mca_coll_pipering_pipe_t *pipe,
                                    const mca_coll_pipering_source_t *source, uint64_t k,
                                    const mca_coll_pipering_block_t *block);

/** Blocks of a source have to be delivered once they are there. */
static inline bool mca_coll_pipering_wants_delivery(const mca_coll_pipering_source_t *source)
{
    return NULL != source->to && (NULL != source->slots || source->to != source->place);
}

/**
 * How many blocks of a source, from the first on, all sinks, the delivery and the combining step
 * are done with: their slots, or their room in a ring buffer, can be used again.
 */
uint64_t mca_coll_pipering_reusable(const mca_coll_pipering_pipe_t *pipe,
                                    const mca_coll_pipering_source_t *source);

/** There is a slot for block k of a source, or it needs none. */
static inline bool mca_coll_pipering_has_slot(const mca_coll_pipering_pipe_t *pipe,
                                              const mca_coll_pipering_source_t *source, uint64_t k)
{
    return NULL == source->slots
           || k - mca_coll_pipering_reusable(pipe, source) < source->slot_count;
}

/** The place of the next block that a sink can send, NULL: it is not there yet. */
char *mca_coll_pipering_next_to_send(mca_coll_pipering_pipe_t *pipe,
                                     mca_coll_pipering_sink_t *sink,
                                     mca_coll_pipering_block_t *block);

/** Packs the next own block where these go through slots; the number of steps made. */
int mca_coll_pipering_pack_own(mca_coll_pipering_pipe_t *pipe);

/** Delivers a piece of the next block of a source that is there; likewise. */
int mca_coll_pipering_deliver(mca_coll_pipering_pipe_t *pipe, mca_coll_pipering_source_t *source);

/** Combines the next block, of a pipeline that reduces, if it is there on all sides; likewise. */
int mca_coll_pipering_combine(mca_coll_pipering_pipe_t *pipe);

/**
 * Takes a completed request from its queue; its error is the pipeline's, and so is a length
 * other than `expected` bytes (MCA_COMMON_COLLTOOLS_ANY_LENGTH: any will do).
 */
void mca_coll_pipering_retire(mca_coll_pipering_pipe_t *pipe, ompi_request_t **request,
                              size_t expected);

/* ---- channels (coll_pipering_engine_channel.c, coll_pipering_engine_grants.c) ---- */

/** Makes the ends of links that may be channels, with ring buffers where there is room. */
void mca_coll_pipering_channels_init(mca_coll_pipering_pipe_t *pipe,
                                     const mca_coll_pipering_pipe_args_t *args);

/** The link goes through a ring buffer, or may yet. */
static inline bool
mca_coll_pipering_channel_is_shared(const mca_coll_pipering_channel_t *channel)
{
    return MCA_COLL_PIPERING_CHANNEL_NONE != channel->state;
}

/** Moves the messages about channels on; the number of steps made. */
int mca_coll_pipering_channels_agree(mca_coll_pipering_pipe_t *pipe);

/** Takes in what has come through a channel; likewise. */
int mca_coll_pipering_take_in(mca_coll_pipering_pipe_t *pipe, mca_coll_pipering_source_t *source);

/** Puts the next block of a sink into its channel; likewise. */
int mca_coll_pipering_put_out(mca_coll_pipering_pipe_t *pipe, mca_coll_pipering_sink_t *sink);

/** Gives room back, and ring buffers whose last block has been read. */
void mca_coll_pipering_channels_release(mca_coll_pipering_pipe_t *pipe);

/** Nothing is left to do for channels. */
bool mca_coll_pipering_channels_over(const mca_coll_pipering_pipe_t *pipe);

/** Tells neighbours, by the ring buffers that are open, that the pipeline has failed. */
void mca_coll_pipering_channels_break(mca_coll_pipering_pipe_t *pipe);

/** Lets go of ring buffers and messages; true if a message may still touch their memory. */
bool mca_coll_pipering_channels_fini(mca_coll_pipering_pipe_t *pipe);

END_C_DECLS

#endif

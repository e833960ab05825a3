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
 * The engine: one pipeline for every algorithm of this component.
 *
 *       link in                           link out
 *     ----------->  source  --+---------> sink ----------->
 *      block k+1      | k     |            k-1
 *                     |       +---------> sink ----------->
 *                     v                    k-1
 *              the user's buffer
 *
 * A source is a stream of blocks that become available in order: those of a
 * neighbour, received in a bounded window, or a rank's own. A sink is a link
 * out of this rank: it sends own blocks, then those of a source, each as soon
 * as it is there, at most a window ahead of the receiver. A pipeline has as many
 * sources and sinks as its route has links, and any number of sinks may send the
 * blocks of the same source. A link is messages of the PML or, inside a node, a
 * channel through shared memory (coll_pipering_arena.h). A source whose
 * contributions are not dense in memory goes through slots: a block is received
 * there, forwarded as it is, and delivered to the user's buffer through a convertor;
 * its slot is free again when all sinks and the delivery are done with it. Which
 * blocks there are is said by a plan, where they lie by a layout.
 *
 * A pipeline that reduces has a step between: block k of all neighbours and of this rank
 * become one,
 *
 *     link 0          k   (partial result of lower ranks)  --+
 *     ..                                                     |
 *     own             k   (in the user's buffer)           --+--> result k --> sinks
 *     ..                                                     |
 *     link ins - 1    k   (partial result of higher ranks) --+
 *
 * in this order, so that an operation need not be commutative. There blocks are
 * of whole elements, and lie in slots as they lie in the user's buffer.
 *
 * A call is any number of pipelines, which the caller moves in turn.
 */

#ifndef MCA_COLL_PIPERING_ENGINE_H
#define MCA_COLL_PIPERING_ENGINE_H

#include "ompi/mca/common/colltools/common_colltools_compat.h"

#include "coll_pipering_arena.h"
#include "ompi/mca/coll/pipering/plan/coll_pipering_plan_route.h"
#include "ompi/mca/common/colltools/common_colltools.h"
#include "ompi/mca/common/colltools/common_colltools_array.h"
#include "opal/datatype/opal_convertor.h"

BEGIN_C_DECLS

/** Where the contributions lie in a user's buffer. Arrays are borrowed. */
typedef struct mca_coll_pipering_layout_t {
    char *buffer;
    ompi_datatype_t *type;
    mca_common_colltools_array_t counts; /**< [p] elements, or none: `count` of each rank */
    mca_common_colltools_array_t displs; /**< [p] in extents of type, or none: in a row */
    const size_t *starts; /**< [p] in extents of type, in place of displs, or NULL */
    bool single;       /**< there is one contribution only, at the beginning */
    size_t count;
    ptrdiff_t extent;
    ptrdiff_t true_lb;
    bool dense; /**< the bytes of a contribution lie one after the other */
} mca_coll_pipering_layout_t;

/** What blocks are cut in and sent as: bytes of the signature, or elements. */
typedef struct mca_coll_pipering_unit_t {
    ompi_datatype_t *type; /**< NULL: bytes */
    size_t size;           /**< bytes of the signature */
    ptrdiff_t extent;      /**< from one to the next */
} mca_coll_pipering_unit_t;

/** Blocks of bytes. */
#define MCA_COLL_PIPERING_BYTES \
    (mca_coll_pipering_unit_t){.type = NULL, .size = 1, .extent = 1}

/** Fills the facts about the type into a layout whose largest contribution has `most` elements. */
void mca_coll_pipering_layout_init(mca_coll_pipering_layout_t *layout, size_t most);

/** Room for what a convertor leaves of a block when it does not split an element. */
#define MCA_COLL_PIPERING_CARRY 64

/** What both ends of a link must have alike of a call, for there to be no wrong data. */
typedef struct mca_coll_pipering_terms_t {
    uint64_t collective; /**< mca_coll_pipering_collective_t */
    uint64_t block_size, bytes, blocks; /**< B, and the stream's; in bytes */
} mca_coll_pipering_terms_t;

/** What the receiver tells the sender of a link inside a node, before its first block. */
typedef struct mca_coll_pipering_grant_t {
    mca_coll_pipering_terms_t terms;
    uint64_t size;  /**< bytes of the ring buffer, 0: blocks go as messages */
    uint64_t place; /**< of the buffer in the receiver's arena */
    int32_t asks;   /**< the sender answers whether it has the arena, which follows */
    mca_common_colltools_segment_t arena;
} mca_coll_pipering_grant_t;

/** One end of a channel: a link that may go through a ring buffer in shared memory. */
typedef struct mca_coll_pipering_channel_t {
    enum {
        MCA_COLL_PIPERING_CHANNEL_NONE,    /**< blocks go as messages */
        MCA_COLL_PIPERING_CHANNEL_AWAITED, /**< the sender waits for the grant */
        MCA_COLL_PIPERING_CHANNEL_OPEN,
        MCA_COLL_PIPERING_CHANNEL_OVER     /**< all blocks are through */
    } state;
    mca_coll_pipering_fifo_t *fifo;
    mca_coll_pipering_fifo_run_t run;
    size_t size;       /**< bytes of the buffer */
    uint64_t released; /**< blocks whose room is given back */
    bool wanted;       /**< both ends agree on this; else the rest is not used */
    mca_coll_pipering_terms_t terms;
    mca_coll_pipering_neighbour_t *neighbour; /**< NULL: there is no memory for it */
    bool asks;                                /**< the receiver does not know that it is attached */
    bool granted;                             /**< the sender may know of the buffer */
    mca_coll_pipering_grant_t grant; /**< while it is under way ... */
    int32_t answer;                  /**< ... and its answer, 1 or 0 */
    ompi_request_t *request[2];      /**< of both */
} mca_coll_pipering_channel_t;

/** Blocks that become available in order. */
typedef struct mca_coll_pipering_source_t {
    int peer; /**< rank that sends them, -1: own blocks */
    int tag;
    const mca_coll_pipering_layout_t *place; /**< where blocks lie, or are packed from */
    const mca_coll_pipering_layout_t *to;    /**< where they are to be delivered, NULL: nowhere */
    uint64_t total;
    uint64_t posted;    /**< receives posted */
    uint64_t arrived;   /**< received or packed, or own and dense */
    uint64_t delivered; /**< in the user's buffer */
    mca_coll_pipering_walk_t coming;
    mca_coll_pipering_walk_t delivering;
    mca_coll_pipering_block_t delivery; /**< the block that is being delivered ... */
    size_t delivery_done;               /**< ... and its bytes that are */
    ompi_request_t **requests;          /**< [window] */
    size_t *expected;                   /**< [window] bytes of the block that each brings */
    mca_coll_pipering_channel_t channel;
    bool stays; /**< blocks stay in the channel's ring buffer until they are done with */
    char *slots; /**< [slot_count][slot_size] from the first byte, NULL: blocks stay in place */
    size_t slot_size;
    uint64_t slot_count;
    int unpacking; /**< rank whose contribution the unpacker is at, -1: none */
    opal_convertor_t unpacker;
} mca_coll_pipering_source_t;

/** Packing of own blocks that are not dense. */
typedef struct mca_coll_pipering_packing_t {
    bool begun;
    opal_convertor_t packer;
    char carry[MCA_COLL_PIPERING_CARRY];
    size_t carry_from, carry_to;
} mca_coll_pipering_packing_t;

/** A link out of this rank. */
typedef struct mca_coll_pipering_sink_t {
    int peer;
    int tag;
    const mca_coll_pipering_source_t *from; /**< whose blocks are forwarded after the own ones,
                                                 or the results that they have become; NULL:
                                                 results that lie elsewhere */
    uint64_t own;       /**< own blocks to send, they come first */
    uint64_t total;     /**< with those of the source */
    uint64_t sent;      /**< handed to the PML */
    uint64_t completed; /**< and done with */
    mca_coll_pipering_walk_t own_walk;
    mca_coll_pipering_walk_t forward_walk;
    ompi_request_t **requests; /**< [window] */
    mca_coll_pipering_channel_t channel;
    bool refused; /**< the receiver has been told that there will be no more */
} mca_coll_pipering_sink_t;

/** What a pipeline that reduces does with a block. Borrowed. Its buffers are the host's. */
typedef struct mca_coll_pipering_combine_args_t {
    ompi_op_t *op;
    bool any_order; /**< values that come in may all be combined after own ones */
    const mca_coll_pipering_layout_t *own;
    const mca_coll_pipering_layout_t *result; /**< where results are kept, NULL: nowhere */
    const mca_coll_pipering_layout_t *scratch; /**< where values of the last link may come in if
                                                    they are combined after own ones, or NULL; if
                                                    result is there too, it is this */
    int keep;        /**< origin whose results are kept */
    bool in_place;   /**< result and own are one */
    bool exclusive;  /**< what is kept is what comes in, without own; for one link in, from below */
    bool part;       /**< result has room for what is kept alone, which begins it */
} mca_coll_pipering_combine_args_t;

/** The step of a pipeline that reduces. */
typedef struct mca_coll_pipering_combine_t {
    const mca_coll_pipering_combine_args_t *args; /**< NULL: there is no such step */
    int below; /**< links in that are combined before own values, the first ones */
    const mca_coll_pipering_source_t *home; /**< whose blocks become the results, where they lie,
                                                 NULL: no source's */
    uint64_t total, done;
    mca_coll_pipering_walk_t walk;
    char *slots; /**< results that lie nowhere else, NULL: they do */
    size_t slot_size;
    uint64_t slot_count;
} mca_coll_pipering_combine_t;

/** Blocks and bytes that a pipeline moved. */
typedef struct mca_coll_pipering_traffic_t {
    uint64_t blocks_in, bytes_in;
    uint64_t blocks_out, bytes_out;
    uint64_t bytes_shared; /**< of bytes_in, through channels */
    uint64_t bytes_copied; /**< inside this process, by the component itself; each copy counts */
} mca_coll_pipering_traffic_t;

static inline void mca_coll_pipering_traffic_add(mca_coll_pipering_traffic_t *sum,
                                                 const mca_coll_pipering_traffic_t *more)
{
    sum->blocks_in += more->blocks_in;
    sum->bytes_in += more->bytes_in;
    sum->blocks_out += more->blocks_out;
    sum->bytes_out += more->bytes_out;
    sum->bytes_shared += more->bytes_shared;
    sum->bytes_copied += more->bytes_copied;
}

/** A pipeline. It lies in one piece of memory with all but its slots. */
typedef struct mca_coll_pipering_pipe_t {
    struct mca_coll_pipering_pipe_t *next; /**< for the caller, who lists them */
    ompi_communicator_t *comm;
    const mca_common_colltools_caller_t *caller;
    unsigned window;
    bool on_device; /**< the user's buffers are, or one of them */
    mca_coll_pipering_unit_t unit;
    const struct mca_coll_pipering_pipe_t *gate; /**< makes our own blocks, NULL: they are there; of
                                                      one that reduces, its last own values */
    ptrdiff_t slot_shift; /**< from a slot to where its first element stands */
    int error; /**< OMPI_SUCCESS, or what ended the pipeline */
    int channels;     /**< links, in and out, that are to be channels */
    int agreeing;     /**< messages about these that are under way */
    int ins, outs;    /**< links */
    int next_delivery; /**< link in whose blocks are delivered next */
    mca_coll_pipering_source_t *source; /**< [ins + 1] of each link in; own blocks are the last */
    mca_coll_pipering_source_t *own;    /**< that one */
    mca_coll_pipering_sink_t *sink;     /**< [outs] */
    mca_coll_pipering_combine_t combine;
    mca_coll_pipering_packing_t packing;
    mca_coll_pipering_traffic_t traffic;
    char *slots; /**< of all sources and of results, NULL: there are none */
} mca_coll_pipering_pipe_t;

/** What a pipeline is made of. All is borrowed until mca_coll_pipering_pipe_free. */
typedef struct mca_coll_pipering_pipe_args_t {
    const mca_common_colltools_caller_t *caller; /**< for what is said of messages */
    const mca_coll_pipering_route_t *route; /**< measured */
    const size_t *bytes; /**< [route->ring->size] by rank, in units */
    size_t largest;      /**< of these */
    int contributor; /**< the first rank that has any */
    size_t block_size; /**< in units */
    mca_coll_pipering_unit_t unit;
    unsigned window;                        /**< blocks ahead, at least 2 */
    const mca_coll_pipering_layout_t *send; /**< NULL: own blocks are in place */
    const mca_coll_pipering_layout_t *recv; /**< NULL: nothing is delivered */
    const mca_coll_pipering_combine_args_t *combine; /**< NULL: blocks only pass */
    const mca_coll_pipering_pipe_t *gate; /**< whose last results, which it keeps, are our own
                                               blocks, or values; NULL: none */
    int tag;          /**< of links whose tag is 0 by the route; those of others are below it */
    int collective;   /**< mca_coll_pipering_collective_t */
    size_t ring_buffer_size; /**< of links inside the node, 0: blocks go as messages there too */
} mca_coll_pipering_pipe_args_t;

/**
 * Makes a pipeline and takes all memory it will ever want, ring buffers included; nothing
 * is sent or received yet. OMPI_ERR_OUT_OF_RESOURCE: *made is NULL, and nothing is held.
 */
int mca_coll_pipering_pipe_new(ompi_communicator_t *comm, const mca_coll_pipering_pipe_args_t *args,
                               mca_coll_pipering_pipe_t **made);

/**
 * Begin to agree with neighbours on the node about channels: the pipelines of a call first
 * all await grants, then all send theirs, and then are moved. So the messages from one rank to
 * another are grants, answers, blocks, in this order, even where links to and fro share a tag.
 */
void mca_coll_pipering_pipe_await(mca_coll_pipering_pipe_t *pipe);
void mca_coll_pipering_pipe_grant(mca_coll_pipering_pipe_t *pipe);

/**
 * Moves what can be moved without waiting. Returns the number of steps made;
 * pipe->error tells of a failure.
 */
int mca_coll_pipering_pipe_progress(mca_coll_pipering_pipe_t *pipe);

/**
 * Ends a pipeline because of an error, its own or another one's of its call: neighbours who
 * wait for its blocks are told, as soon as what they have granted is known. True if they are;
 * else it is to be called again.
 */
bool mca_coll_pipering_pipe_give_up(mca_coll_pipering_pipe_t *pipe, int error);

/** All blocks are received, forwarded and delivered. */
bool mca_coll_pipering_pipe_done(const mca_coll_pipering_pipe_t *pipe);

/**
 * Gives everything back. A pipeline that failed withdraws its receives first;
 * memory into which a message may still come is kept for ever. True if there is any.
 */
bool mca_coll_pipering_pipe_free(mca_coll_pipering_pipe_t *pipe);

END_C_DECLS

#endif

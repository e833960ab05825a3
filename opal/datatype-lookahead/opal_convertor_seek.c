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
 * opal_convertor_set_position() of a convertor whose data is not contiguous.
 *
 * Fragments that arrive out of order, for instance over two rails, make the position
 * jump forward and back:
 *
 *     fragments    0   2   1   4   3   6   5
 *     position     0 > 2 < 1 > 4 < 3 > 6 < 5
 *
 * A jump first saves the context at the old position. It then takes the best of
 *   a saved context of the new position       O(depth of loops)
 *   the index, if the datatype has one        O(depth * (log(entries) + stride))
 *   a walk from the nearest of these: the old
 *   position, a saved context before the new
 *   position, the beginning of its copy of
 *   the datatype                              O(entries between)
 * The walk needs no division for an entry, and steps over whole copies of the
 * datatype and whole iterations of loops at once. When the walks over a datatype
 * have seen as many entries as twice its description, the index is made, which costs
 * less than that. So the number of entries seen is linear for any order of fragments.
 *
 * Short descriptions, such as those of vectors, are walked from the beginning, and
 * nothing is allocated for them.
 */

#include "opal_config.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "opal/constants.h"
#include "opal/datatype/opal_convertor_lookahead.h"
#include "opal/datatype/opal_datatype_internal.h"
#include "opal/datatype/opal_datatype_seek_index.h"

/* Entries of a description that is walked faster than a checkpoint or the index is found. */
#define SHORT_DESCRIPTION 16

#define SEEN_BEFORE_INDEX 2 /* times the entries of the description */

/** Contexts of positions from which the convertor jumped away. */
struct opal_convertor_checkpoints_t {
    uint32_t count; /**< contexts, one more than opal_datatype_seek_checkpoints */
    uint32_t spare; /**< index of the context to save into next */
    opal_convertor_ctx_t contexts[];
};

typedef struct opal_convertor_checkpoints_t checkpoints_t;

void opal_convertor_checkpoints_release(opal_convertor_t *convertor)
{
    checkpoints_t *points = convertor->checkpoints;

    for (uint32_t i = 0; i < points->count; ++i) {
        opal_convertor_ctx_release(points->contexts + i);
    }
    free(points);
    convertor->checkpoints = NULL;
    convertor->flags &= ~CONVERTOR_HAS_CHECKPOINTS;
}

static checkpoints_t *create_checkpoints(size_t count)
{
    checkpoints_t *points = malloc(sizeof(*points) + count * sizeof(points->contexts[0]));

    if (NULL != points) {
        points->count = (uint32_t) count;
        for (uint32_t i = 0; i < points->count; ++i) {
            opal_convertor_ctx_init(points->contexts + i);
        }
    }
    return points;
}

/*
 * The checkpoints of a convertor, made when there is a first context to save, or NULL. A convertor
 * that was prepared again forgets its old contexts, but keeps their memory.
 */
static checkpoints_t *need_checkpoints(opal_convertor_t *convertor)
{
    const int wanted = opal_datatype_seek_checkpoints;

    if (0 != (convertor->flags & CONVERTOR_HAS_CHECKPOINTS)) {
        return convertor->checkpoints;
    }
    if (0 == convertor->bConverted || convertor->bConverted >= convertor->local_size) {
        return NULL;
    }
    if (0 >= wanted || OPAL_DATATYPE_SEEK_CHECKPOINTS_MOST < wanted) {
        return NULL;
    }
    if (NULL == convertor->checkpoints) {
        convertor->checkpoints = create_checkpoints((size_t) wanted + 1);
        if (NULL == convertor->checkpoints) {
            return NULL;
        }
    }
    for (uint32_t i = 0; i < convertor->checkpoints->count; ++i) {
        convertor->checkpoints->contexts[i].bConverted = SIZE_MAX;
    }
    convertor->checkpoints->spare = 0;
    convertor->flags |= CONVERTOR_HAS_CHECKPOINTS;
    return convertor->checkpoints;
}

/* The last context at or before the position; `spare`, which has the old position, if none is. */
static uint32_t last_before(const checkpoints_t *points, size_t position)
{
    uint32_t best = points->spare;
    size_t before = 0;

    for (uint32_t i = 0; i < points->count; ++i) {
        if (points->contexts[i].bConverted <= position && points->contexts[i].bConverted > before) {
            before = points->contexts[i].bConverted;
            best = i;
        }
    }
    return best;
}

/*
 * Saves the context of the old position and restores the best one for the new position. A
 * context that is restored at the new position is forgotten, since the convertor goes on
 * from there. True if the convertor is at the new position.
 */
static bool jump(opal_convertor_t *convertor, checkpoints_t *points, size_t position)
{
    opal_convertor_ctx_t *left = points->contexts + points->spare, *found;
    uint32_t best;

    if (0 == convertor->bConverted
        || OPAL_SUCCESS != opal_convertor_ctx_save(convertor, left)) {
        left->bConverted = SIZE_MAX;
    }
    best = last_before(points, position);
    found = points->contexts + best;
    if (found != left && found->bConverted == position) {
        opal_convertor_ctx_restore(convertor, found);
        found->bConverted = SIZE_MAX;
        points->spare = best;
        return true;
    }
    if (found != left) {
        opal_convertor_ctx_restore(convertor, found);
    }
    points->spare = (points->spare + 1) % points->count;
    return false;
}

/** A walk over a description, on the convertor's own stack. */
typedef struct walk_t {
    const dt_elem_desc_t *desc;
    const opal_datatype_seek_index_t *index; /**< or NULL */
    dt_stack_t *loop;                        /**< the innermost loop on the stack */
    uint32_t entry;
    size_t rest; /**< bytes from the beginning of the entry to the position */
    size_t seen, most; /**< entries seen so far, and at most */
} walk_t;

/* Enters a body: at its beginning, or at the entry that the index has before the position. */
static inline void enter_body(walk_t *walk, uint32_t begin)
{
    const opal_datatype_seek_mark_t *mark;

    walk->entry = begin;
    if (NULL != walk->index) {
        mark = opal_datatype_seek_index_find(walk->index, begin, walk->rest);
        if (NULL != mark) {
            walk->entry = mark->entry;
            walk->rest -= mark->bytes;
        }
    }
}

/* Starts the walk at the beginning of the position's copy of the datatype. */
static void start_in_copy(walk_t *walk, opal_convertor_t *convertor, size_t position)
{
    const opal_datatype_t *datatype = convertor->pDesc;
    const size_t copy = position / datatype->size;

    walk->loop = convertor->pStack;
    SAVE_STACK(walk->loop, -1, OPAL_DATATYPE_LOOP, convertor->count - copy,
               (ptrdiff_t) copy * (datatype->ub - datatype->lb));
    walk->rest = position - copy * datatype->size;
    enter_body(walk, 0);
}

/* Bytes of the entry that the convertor has passed. */
static size_t bytes_done(const opal_convertor_t *convertor, const dt_elem_desc_t *entry,
                         const dt_stack_t *top)
{
    if (OPAL_DATATYPE_LOOP == entry->elem.common.type) {
        return (entry->loop.loops - top->count) * (entry + entry->loop.items)->end_loop.size;
    }
    return (entry->elem.count * entry->elem.blocklen - top->count)
               * opal_datatype_basicDatatypes[entry->elem.common.type]->size
           + convertor->partial_length;
}

/* Starts the walk at the convertor's position, after a step over whole copies of the datatype. */
static void start_here(walk_t *walk, opal_convertor_t *convertor, size_t position)
{
    const opal_datatype_t *datatype = convertor->pDesc;
    const dt_stack_t *top = convertor->pStack + convertor->stack_pos;
    const size_t ahead = position - convertor->bConverted;
    const size_t copies = ahead / datatype->size;

    walk->entry = (uint32_t) top->index;
    walk->loop = convertor->pStack + convertor->stack_pos - 1;
    walk->rest = ahead - copies * datatype->size
                 + bytes_done(convertor, walk->desc + walk->entry, top);
    if (0 != copies) {
        convertor->pStack[0].count -= copies;
        for (dt_stack_t *loop = convertor->pStack; loop <= walk->loop; ++loop) {
            loop->disp += (ptrdiff_t) copies * (datatype->ub - datatype->lb);
        }
    }
}

/* Enters a loop, at the iteration that has the position. */
static void descend(walk_t *walk)
{
    const dt_elem_desc_t *loop = walk->desc + walk->entry;
    const size_t bytes = (loop + loop->loop.items)->end_loop.size;
    const size_t iteration = walk->rest / bytes;
    dt_stack_t *inner = walk->loop + 1;

    SAVE_STACK(inner, (int32_t) walk->entry, OPAL_DATATYPE_LOOP, loop->loop.loops - iteration,
               walk->loop->disp + (ptrdiff_t) iteration * loop->loop.extent);
    walk->loop = inner;
    walk->rest -= iteration * bytes;
    enter_body(walk, walk->entry + 1);
}

/* Goes from the end of a body to a later iteration of its loop, or out of the loop. */
static void ascend(walk_t *walk, ptrdiff_t extent)
{
    const size_t bytes = walk->desc[walk->entry].end_loop.size;
    dt_stack_t *loop = walk->loop;
    size_t more = 1 + walk->rest / bytes; /* iterations */

    if (more >= loop->count) {
        walk->rest -= (loop->count - 1) * bytes;
        walk->loop--;
        walk->entry++;
        return;
    }
    walk->rest -= (more - 1) * bytes;
    loop->count -= more;
    loop->disp += (ptrdiff_t) more
                  * (-1 == loop->index ? extent : walk->desc[loop->index].loop.extent);
    enter_body(walk, (uint32_t) (loop->index + 1));
}

/* Walks to the entry of data that has the position; false: not within `most` entries. */
static bool walk_to_data(walk_t *walk, ptrdiff_t extent)
{
    const dt_elem_desc_t *entry;
    size_t bytes;

    for (; walk->seen < walk->most; ++walk->seen) {
        entry = walk->desc + walk->entry;
        if (OPAL_DATATYPE_END_LOOP == entry->elem.common.type) {
            ascend(walk, extent);
            continue;
        }
        bytes = opal_datatype_seek_child_bytes(entry);
        if (OPAL_DATATYPE_LOOP == entry->elem.common.type) {
            if (walk->rest < bytes) {
                descend(walk);
            } else {
                walk->rest -= bytes;
                walk->entry += entry->loop.items + 1;
            }
        } else if (walk->rest < bytes) {
            return true;
        } else {
            walk->rest -= bytes;
            walk->entry++;
        }
    }
    return false;
}

/*
 * Sets the convertor to the position, in the entry of data that the walk has found. Only a
 * receiver, which already has the first bytes of an element, stops inside of it. The entries
 * that the walk has seen count for the decision to make an index.
 */
static void stand(const walk_t *walk, opal_convertor_t *convertor, size_t position)
{
    const ddt_elem_desc_t *elem = &walk->desc[walk->entry].elem;
    const size_t size = opal_datatype_basicDatatypes[elem->common.type]->size;
    const size_t done = walk->rest / size, block = done / elem->blocklen;
    const size_t partial = walk->rest - done * size;
    dt_stack_t *top = walk->loop + 1;

    SAVE_STACK(top, (int32_t) walk->entry, (int16_t) elem->common.type,
               elem->count * elem->blocklen - done,
               walk->loop->disp + (ptrdiff_t) block * elem->extent
                   + (ptrdiff_t) ((done - block * elem->blocklen) * size));
    convertor->stack_pos = (uint32_t) (top - convertor->pStack);
    convertor->partial_length = 0 != (convertor->flags & CONVERTOR_SEND) ? 0 : partial;
    convertor->bConverted = position - partial + convertor->partial_length;
    opal_atomic_add_fetch_size_t(&((opal_datatype_t *) convertor->pDesc)->seek_seen, walk->seen);
}

/* True if the position is nearer to the convertor than to the beginning of its copy. */
static inline bool nearer_from_here(const opal_convertor_t *convertor, size_t position)
{
    const size_t size = convertor->pDesc->size;

    return 0 != convertor->bConverted && convertor->bConverted <= position
           && (position - convertor->bConverted) % size < position % size;
}

/* The number of entries that a walk may see before an index is the better choice. */
static size_t walk_limit(const opal_datatype_t *datatype, int stride)
{
    const size_t limit = SEEN_BEFORE_INDEX * datatype->opt_desc.used, seen = datatype->seek_seen;

    if (0 >= stride || (size_t) stride >= datatype->opt_desc.used) {
        return SIZE_MAX;
    }
    return seen < limit ? limit - seen : 0;
}

static bool walk_from_context(walk_t *walk, opal_convertor_t *convertor, size_t position,
                              int stride)
{
    const opal_datatype_t *datatype = convertor->pDesc;

    walk->most = walk_limit(datatype, stride);
    if (nearer_from_here(convertor, position)) {
        start_here(walk, convertor, position);
    } else {
        start_in_copy(walk, convertor, position);
    }
    return walk_to_data(walk, datatype->ub - datatype->lb);
}

static void walk_with_index(walk_t *walk, opal_convertor_t *convertor, size_t position)
{
    const opal_datatype_t *datatype = convertor->pDesc;

    walk->most = SIZE_MAX;
    start_in_copy(walk, convertor, position);
    (void) walk_to_data(walk, datatype->ub - datatype->lb);
}

void opal_convertor_stand_at(opal_convertor_t *convertor, size_t position)
{
    const opal_datatype_t *datatype = convertor->pDesc;
    const int stride = opal_datatype_seek_index_stride;
    walk_t walk = {.desc = convertor->use_desc->desc};

    if (SHORT_DESCRIPTION < convertor->use_desc->used) {
        walk.index = opal_datatype_seek_index_need(
            datatype, 0 < stride ? (uint32_t) stride : SHORT_DESCRIPTION);
    }
    walk_with_index(&walk, convertor, position);
    stand(&walk, convertor, position);
}

int opal_convertor_seek(opal_convertor_t *convertor, size_t position)
{
    const opal_datatype_t *datatype = convertor->pDesc;
    const int stride = opal_datatype_seek_index_stride; /* a tool may set it meanwhile */
    walk_t walk = {.desc = convertor->use_desc->desc};

    if (SHORT_DESCRIPTION < convertor->use_desc->used) {
        checkpoints_t *points = need_checkpoints(convertor);

        if (NULL != points && jump(convertor, points, position)) {
            return OPAL_SUCCESS;
        }
        walk.index = 0 < stride ? opal_datatype_seek_index_get(datatype) : NULL;
    }
    if (NULL != walk.index) {
        walk_with_index(&walk, convertor, position);
    } else if (!walk_from_context(&walk, convertor, position, stride)) {
        walk.index = opal_datatype_seek_index_need(datatype, (uint32_t) stride);
        walk_with_index(&walk, convertor, position);
    }
    stand(&walk, convertor, position);
    return OPAL_SUCCESS;
}

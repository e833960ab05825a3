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
 * The arena of coll_pipering_arena.h.
 */

#include "coll_pipering_arena.h"

#include <stdlib.h>
#include <string.h>

/* Memory is reserved in pages. */
#define PAGE ((size_t) 4096)

/* The least size of a buffer, unless the user sets a smaller one. */
#define LEAST ((size_t) 64 * 1024)

/* Buffers that should fit into the share of a process: an allreduce receives over three links. */
#define FIT 3

/* All arenas as this process knows them. */
static struct {
    opal_mutex_t lock;
    bool refused;                           /* there can be no segment */
    mca_common_colltools_segment_t segment; /* of this process */
    size_t reserved;                        /* bytes from the beginning */
    int users;                              /* communicators */
    int leases;
    struct {
        size_t from, size;
    } lease[MCA_COLL_PIPERING_LEASES]; /* in the order of places */
    opal_hash_table_t neighbours;      /* by process */
} arena;
static mca_common_colltools_directory_t *directory; /* of its segment */

/* ---- life ---- */

void mca_coll_pipering_arena_open(mca_common_colltools_directory_t *where)
{
    directory = where;
    memset(&arena, 0, sizeof(arena));
    OBJ_CONSTRUCT(&arena.lock, opal_mutex_t);
    OBJ_CONSTRUCT(&arena.neighbours, opal_hash_table_t);
    (void) opal_hash_table_init(&arena.neighbours, 64);
}

/* Gives the memory back, even if other processes have it mapped. */
static void give_back(void)
{
    if (0 == arena.leases && 0 < arena.reserved
        && mca_common_colltools_segment_give_back(&arena.segment, arena.reserved)) {
        mca_common_colltools_let_go(directory, arena.reserved);
        arena.reserved = 0;
    }
}

void mca_coll_pipering_arena_close(void)
{
    void *neighbour;
    uint64_t key;

    OPAL_HASH_TABLE_FOREACH(key, uint64, neighbour, &arena.neighbours) {
        mca_common_colltools_segment_unmap(
            &((mca_coll_pipering_neighbour_t *) neighbour)->segment);
        free(neighbour);
    }
    give_back();
    mca_common_colltools_segment_close(&arena.segment);
    mca_common_colltools_segment_unmap(&arena.segment);
    OBJ_DESTRUCT(&arena.neighbours);
    OBJ_DESTRUCT(&arena.lock);
}

void mca_coll_pipering_arena_join(void)
{
    OPAL_THREAD_LOCK(&arena.lock);
    ++arena.users;
    OPAL_THREAD_UNLOCK(&arena.lock);
}

void mca_coll_pipering_arena_leave(void)
{
    OPAL_THREAD_LOCK(&arena.lock);
    if (0 == --arena.users) {
        give_back();
    }
    OPAL_THREAD_UNLOCK(&arena.lock);
}

/* ---- leases ---- */

static size_t share(void)
{
    const size_t bytes = mca_common_colltools_share(directory);

    return 0 < directory->budget || MCA_COLL_PIPERING_ARENA_MOST > bytes
               ? bytes
               : MCA_COLL_PIPERING_ARENA_MOST;
}

static size_t whole_pages(size_t bytes)
{
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

/* Makes the segment, with addresses for all memory that this process may ever have. */
static bool has_segment(void)
{
    const size_t size = 0 < directory->budget ? share() : MCA_COLL_PIPERING_ARENA_MOST;

    if (NULL == arena.segment.address && !arena.refused) {
        arena.refused = PAGE > size
                        || OMPI_SUCCESS
                               != mca_common_colltools_segment_make(directory, &arena.segment,
                                                                    size, true);
    }
    return !arena.refused;
}

/* Reserves memory up to `end`, within the share. */
static bool reserve(size_t end)
{
    const size_t more = end > arena.reserved ? end - arena.reserved : 0;

    if (0 == more) {
        return true;
    }
    if (end > arena.segment.size || !mca_common_colltools_hold(directory, more)) {
        return false;
    }
    if (OMPI_SUCCESS
        != mca_common_colltools_segment_reserve(directory, &arena.segment, arena.reserved,
                                                more)) {
        mca_common_colltools_let_go(directory, more);
        return false;
    }
    arena.reserved = end;
    return true;
}

/* Leases the lowest place where `size` bytes are free. */
static mca_coll_pipering_fifo_t *take(size_t size)
{
    size_t from = 0;
    int i = 0;

    while (i < arena.leases && arena.lease[i].from < from + size) {
        from = arena.lease[i].from + arena.lease[i].size;
        ++i;
    }
    if (MCA_COLL_PIPERING_LEASES == arena.leases || !reserve(from + size)) {
        return NULL;
    }
    memmove(&arena.lease[i + 1], &arena.lease[i],
            (size_t) (arena.leases++ - i) * sizeof(arena.lease[0]));
    arena.lease[i].from = from;
    arena.lease[i].size = size;
    return (mca_coll_pipering_fifo_t *) ((char *) arena.segment.address + from);
}

/* Where the share is small, buffers are smaller, so that one link does not take all of it. */
static size_t first_size(size_t wanted)
{
    const size_t most = share();

    while (LEAST < wanted && most < FIT * whole_pages(sizeof(mca_coll_pipering_fifo_t) + wanted)) {
        wanted /= 2;
    }
    return wanted;
}

static mca_coll_pipering_fifo_t *lease(size_t block_bytes, size_t *size)
{
    const size_t least = LEAST < *size ? LEAST : *size;

    *size = first_size(*size);
    while (least <= *size && mca_coll_pipering_fifo_carries(*size, block_bytes)) {
        mca_coll_pipering_fifo_t *fifo = take(whole_pages(sizeof(*fifo) + *size));
        if (NULL != fifo) {
            return fifo;
        }
        *size /= 2;
    }
    if (0 == arena.leases) {
        mca_common_colltools_tell_full(directory);
    }
    return NULL;
}

mca_coll_pipering_fifo_t *mca_coll_pipering_arena_lease(size_t block_bytes, size_t *size)
{
    mca_coll_pipering_fifo_t *fifo = NULL;

    OPAL_THREAD_LOCK(&arena.lock);
    if (has_segment()) {
        fifo = lease(block_bytes, size);
    }
    OPAL_THREAD_UNLOCK(&arena.lock);
    if (NULL != fifo) {
        mca_coll_pipering_fifo_clear(fifo);
    }
    return fifo;
}

const mca_common_colltools_segment_t *mca_coll_pipering_arena_segment(void)
{
    return &arena.segment;
}

size_t mca_coll_pipering_arena_place(const mca_coll_pipering_fifo_t *fifo)
{
    return (size_t) ((const char *) fifo - (const char *) arena.segment.address);
}

void mca_coll_pipering_arena_release(const mca_coll_pipering_fifo_t *fifo)
{
    const size_t place = mca_coll_pipering_arena_place(fifo);
    int i = 0;

    OPAL_THREAD_LOCK(&arena.lock);
    while (arena.lease[i].from != place) {
        ++i;
    }
    memmove(&arena.lease[i], &arena.lease[i + 1],
            (size_t) (--arena.leases - i) * sizeof(arena.lease[0]));
    OPAL_THREAD_UNLOCK(&arena.lock);
}

/* ---- neighbours ---- */

static mca_coll_pipering_neighbour_t *find_neighbour(uint64_t key)
{
    void *found = NULL;

    if (OPAL_SUCCESS == opal_hash_table_get_value_uint64(&arena.neighbours, key, &found)) {
        return found;
    }
    found = calloc(1, sizeof(mca_coll_pipering_neighbour_t));
    if (NULL != found
        && OPAL_SUCCESS != opal_hash_table_set_value_uint64(&arena.neighbours, key, found)) {
        free(found);
        return NULL;
    }
    return found;
}

mca_coll_pipering_neighbour_t *mca_coll_pipering_arena_neighbour(ompi_communicator_t *comm,
                                                                 int rank)
{
    const opal_process_name_t name = ompi_comm_peer_lookup(comm, rank)->super.proc_name;

    OPAL_THREAD_LOCK(&arena.lock);
    mca_coll_pipering_neighbour_t *neighbour = find_neighbour((uint64_t) name.jobid << 32
                                                              | name.vpid);
    OPAL_THREAD_UNLOCK(&arena.lock);
    return neighbour;
}

void mca_coll_pipering_arena_note(mca_coll_pipering_neighbour_t *neighbour, bool attached)
{
    OPAL_THREAD_LOCK(&arena.lock);
    neighbour->has_mine = attached ? MCA_COLL_PIPERING_ATTACHED : MCA_COLL_PIPERING_UNABLE;
    OPAL_THREAD_UNLOCK(&arena.lock);
}

/* Unmaps arenas of other jobs whose processes are gone: nobody leases anything in them any more. */
static void unmap_gone(void)
{
    void *value;
    uint64_t key;

    OPAL_HASH_TABLE_FOREACH(key, uint64, value, &arena.neighbours) {
        mca_coll_pipering_neighbour_t *neighbour = value;
        if (OPAL_PROC_MY_NAME.jobid != key >> 32 && NULL != neighbour->segment.address
            && 0 == neighbour->uses && mca_common_colltools_segment_is_gone(&neighbour->segment)) {
            mca_common_colltools_segment_unmap(&neighbour->segment);
            neighbour->tried = false;
        }
    }
}

mca_coll_pipering_fifo_t *
mca_coll_pipering_arena_attach(mca_coll_pipering_neighbour_t *neighbour,
                               const mca_common_colltools_segment_t *segment, size_t place)
{
    OPAL_THREAD_LOCK(&arena.lock);
    if (!neighbour->tried && NULL != segment) {
        unmap_gone();
        neighbour->tried = true;
        neighbour->segment = *segment;
        (void) mca_common_colltools_segment_attach(directory, &neighbour->segment);
    }
    char *address = neighbour->segment.address;
    neighbour->uses += NULL != address;
    OPAL_THREAD_UNLOCK(&arena.lock);
    return NULL == address ? NULL : (mca_coll_pipering_fifo_t *) (address + place);
}

void mca_coll_pipering_arena_detach(mca_coll_pipering_neighbour_t *neighbour)
{
    OPAL_THREAD_LOCK(&arena.lock);
    --neighbour->uses;
    OPAL_THREAD_UNLOCK(&arena.lock);
}

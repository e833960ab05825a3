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

#include "coll_pipering.h"

#include <stdlib.h>
#include <string.h>

/* Memory is reserved in pages. */
#define PAGE ((size_t) 4096)

/* The least size of a buffer, unless the user sets a smaller one. */
#define LEAST ((size_t) 64 * 1024)

/* Buffers that should fit into the share of a process: an allreduce receives over three links. */
#define FIT 3

#define ARENA mca_coll_pipering_component.arena
#define DIRECTORY mca_coll_pipering_component.directory

/* ---- life ---- */

void mca_coll_pipering_arena_open(void)
{
    memset(&ARENA, 0, sizeof(ARENA));
    OBJ_CONSTRUCT(&ARENA.lock, opal_mutex_t);
    OBJ_CONSTRUCT(&ARENA.neighbours, opal_hash_table_t);
    (void) opal_hash_table_init(&ARENA.neighbours, 64);
}

/* Gives the memory back, even if other processes have it mapped. */
static void give_back(void)
{
    if (0 == ARENA.leases && 0 < ARENA.reserved
        && mca_common_irregular_segment_give_back(&ARENA.segment, ARENA.reserved)) {
        mca_common_irregular_let_go(&DIRECTORY, ARENA.reserved);
        ARENA.reserved = 0;
    }
}

void mca_coll_pipering_arena_close(void)
{
    void *neighbour;
    uint64_t key;

    OPAL_HASH_TABLE_FOREACH(key, uint64, neighbour, &ARENA.neighbours) {
        mca_common_irregular_segment_unmap(
            &((mca_coll_pipering_neighbour_t *) neighbour)->segment);
        free(neighbour);
    }
    give_back();
    mca_common_irregular_segment_close(&ARENA.segment);
    mca_common_irregular_segment_unmap(&ARENA.segment);
    OBJ_DESTRUCT(&ARENA.neighbours);
    OBJ_DESTRUCT(&ARENA.lock);
}

void mca_coll_pipering_arena_join(void)
{
    OPAL_THREAD_LOCK(&ARENA.lock);
    ++ARENA.users;
    OPAL_THREAD_UNLOCK(&ARENA.lock);
}

void mca_coll_pipering_arena_leave(void)
{
    OPAL_THREAD_LOCK(&ARENA.lock);
    if (0 == --ARENA.users) {
        give_back();
    }
    OPAL_THREAD_UNLOCK(&ARENA.lock);
}

/* ---- leases ---- */

static size_t share(void)
{
    const size_t bytes = mca_common_irregular_share(&DIRECTORY);

    return 0 < DIRECTORY.budget || MCA_COLL_PIPERING_ARENA_MOST > bytes
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
    const size_t size = 0 < DIRECTORY.budget ? share() : MCA_COLL_PIPERING_ARENA_MOST;

    if (NULL == ARENA.segment.address && !ARENA.refused) {
        ARENA.refused = PAGE > size
                        || OMPI_SUCCESS
                               != mca_common_irregular_segment_make_sparse(&DIRECTORY,
                                                                           &ARENA.segment, size);
    }
    return !ARENA.refused;
}

/* Reserves memory up to `end`, within the share. */
static bool reserve(size_t end)
{
    const size_t more = end > ARENA.reserved ? end - ARENA.reserved : 0;

    if (0 == more) {
        return true;
    }
    if (end > ARENA.segment.size || !mca_common_irregular_hold(&DIRECTORY, more)) {
        return false;
    }
    if (OMPI_SUCCESS
        != mca_common_irregular_segment_reserve(&DIRECTORY, &ARENA.segment, ARENA.reserved,
                                                more)) {
        mca_common_irregular_let_go(&DIRECTORY, more);
        return false;
    }
    ARENA.reserved = end;
    return true;
}

/* Leases the lowest place where `size` bytes are free. */
static mca_coll_pipering_fifo_t *take(size_t size)
{
    size_t from = 0;
    int i = 0;

    while (i < ARENA.leases && ARENA.lease[i].from < from + size) {
        from = ARENA.lease[i].from + ARENA.lease[i].size;
        ++i;
    }
    if (MCA_COLL_PIPERING_LEASES == ARENA.leases || !reserve(from + size)) {
        return NULL;
    }
    memmove(&ARENA.lease[i + 1], &ARENA.lease[i],
            (size_t) (ARENA.leases++ - i) * sizeof(ARENA.lease[0]));
    ARENA.lease[i].from = from;
    ARENA.lease[i].size = size;
    return (mca_coll_pipering_fifo_t *) ((char *) ARENA.segment.address + from);
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
    if (0 == ARENA.leases) {
        mca_common_irregular_tell_full(&DIRECTORY);
    }
    return NULL;
}

mca_coll_pipering_fifo_t *mca_coll_pipering_arena_lease(size_t block_bytes, size_t *size)
{
    mca_coll_pipering_fifo_t *fifo = NULL;

    OPAL_THREAD_LOCK(&ARENA.lock);
    if (has_segment()) {
        fifo = lease(block_bytes, size);
    }
    OPAL_THREAD_UNLOCK(&ARENA.lock);
    if (NULL != fifo) {
        mca_coll_pipering_fifo_clear(fifo);
    }
    return fifo;
}

const mca_common_irregular_segment_t *mca_coll_pipering_arena_segment(void)
{
    return &ARENA.segment;
}

size_t mca_coll_pipering_arena_place(const mca_coll_pipering_fifo_t *fifo)
{
    return (size_t) ((const char *) fifo - (const char *) ARENA.segment.address);
}

void mca_coll_pipering_arena_release(const mca_coll_pipering_fifo_t *fifo)
{
    const size_t place = mca_coll_pipering_arena_place(fifo);
    int i = 0;

    OPAL_THREAD_LOCK(&ARENA.lock);
    while (ARENA.lease[i].from != place) {
        ++i;
    }
    memmove(&ARENA.lease[i], &ARENA.lease[i + 1],
            (size_t) (--ARENA.leases - i) * sizeof(ARENA.lease[0]));
    OPAL_THREAD_UNLOCK(&ARENA.lock);
}

/* ---- neighbours ---- */

static mca_coll_pipering_neighbour_t *find_neighbour(uint64_t key)
{
    void *found = NULL;

    if (OPAL_SUCCESS == opal_hash_table_get_value_uint64(&ARENA.neighbours, key, &found)) {
        return found;
    }
    found = calloc(1, sizeof(mca_coll_pipering_neighbour_t));
    if (NULL != found
        && OPAL_SUCCESS != opal_hash_table_set_value_uint64(&ARENA.neighbours, key, found)) {
        free(found);
        return NULL;
    }
    return found;
}

mca_coll_pipering_neighbour_t *mca_coll_pipering_arena_neighbour(ompi_communicator_t *comm,
                                                                 int rank)
{
    const opal_process_name_t name = ompi_comm_peer_lookup(comm, rank)->super.proc_name;

    OPAL_THREAD_LOCK(&ARENA.lock);
    mca_coll_pipering_neighbour_t *neighbour = find_neighbour((uint64_t) name.jobid << 32
                                                              | name.vpid);
    OPAL_THREAD_UNLOCK(&ARENA.lock);
    return neighbour;
}

void mca_coll_pipering_arena_note(mca_coll_pipering_neighbour_t *neighbour, bool attached)
{
    OPAL_THREAD_LOCK(&ARENA.lock);
    neighbour->has_mine = attached ? MCA_COLL_PIPERING_ATTACHED : MCA_COLL_PIPERING_UNABLE;
    OPAL_THREAD_UNLOCK(&ARENA.lock);
}

mca_coll_pipering_fifo_t *
mca_coll_pipering_arena_attach(mca_coll_pipering_neighbour_t *neighbour,
                               const mca_common_irregular_segment_t *segment, size_t place)
{
    OPAL_THREAD_LOCK(&ARENA.lock);
    if (!neighbour->tried && NULL != segment) {
        neighbour->tried = true;
        neighbour->segment = *segment;
        (void) mca_common_irregular_segment_attach(&DIRECTORY, &neighbour->segment);
    }
    char *address = neighbour->segment.address;
    OPAL_THREAD_UNLOCK(&ARENA.lock);
    return NULL == address ? NULL : (mca_coll_pipering_fifo_t *) (address + place);
}

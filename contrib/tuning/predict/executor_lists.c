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
 * Lists of the executor: blocks that wait to be passed on, and the heap of links that can send.
 */

#include "executor_state.h"

#include <stdlib.h>

/* ---- queues ---- */

static bool grow(executor_queue_t *queue)
{
    const uint64_t room = 0 == queue->room ? 4 : 2 * queue->room;
    void *memory = malloc(room * sizeof(*queue->entry));

    if (NULL == memory) {
        return false;
    }
    executor_queue_t grown = {.entry = memory, .first = queue->first, .count = queue->count,
                              .room = room};
    for (uint64_t k = queue->first; k < queue->count; ++k) {
        grown.entry[k % room] = queue->entry[k % queue->room];
    }
    free(queue->entry);
    *queue = grown;
    return true;
}

bool executor_put(executor_queue_t *queue, double time,
                  const mca_coll_pipering_block_t *block)
{
    if (queue->count - queue->first == queue->room && !grow(queue)) {
        return false;
    }
    queue->entry[queue->count % queue->room].time = time;
    queue->entry[queue->count++ % queue->room].block = *block;
    return true;
}

/* ---- the heap ---- */

static bool is_before(const executor_link_t *a, const executor_link_t *b)
{
    return a->begins != b->begins ? a->begins < b->begins
           : a->ready != b->ready ? a->ready < b->ready
                                  : a < b;
}

static void sift_up(executor_t *run, int at)
{
    const int moved = run->heap[at];

    while (0 < at && is_before(&run->link[moved], &run->link[run->heap[(at - 1) / 2]])) {
        run->heap[at] = run->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    run->heap[at] = moved;
}

void executor_heap_sink(executor_t *run)
{
    const int moved = run->heap[0];
    int at = 0;

    for (int child = 1; child < run->listed; child = 2 * at + 1) {
        if (child + 1 < run->listed
            && is_before(&run->link[run->heap[child + 1]], &run->link[run->heap[child]])) {
            ++child;
        }
        if (!is_before(&run->link[run->heap[child]], &run->link[moved])) {
            break;
        }
        run->heap[at] = run->heap[child];
        at = child;
    }
    run->heap[at] = moved;
}

void executor_heap_take(executor_t *run)
{
    run->heap[0] = run->heap[--run->listed];
    if (0 < run->listed) {
        executor_heap_sink(run);
    }
}

void executor_heap_add(executor_t *run, int link)
{
    run->heap[run->listed] = link;
    sift_up(run, run->listed++);
}

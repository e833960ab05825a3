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
 * Hops of coll_pipering_hop.h: opening them.
 */

#include "coll_pipering.h"

#include <string.h>

enum { OFFER, ANSWER };

static void hop_construct(mca_coll_pipering_hop_t *hop)
{
    hop->state = MCA_COLL_PIPERING_HOP_NEW;
    hop->broken = false;
    hop->fifo = NULL;
    hop->size = 0;
    hop->position = hop->issued = hop->serving = 0;
    hop->answer = 0;
    memset(&hop->segment, 0, sizeof(hop->segment));
    hop->request[OFFER] = hop->request[ANSWER] = MPI_REQUEST_NULL;
}

static void hop_destruct(mca_coll_pipering_hop_t *hop)
{
    if (hop->inbound) {
        mca_common_irregular_segment_unlink(&hop->segment);
    }
    mca_common_irregular_segment_unmap(&hop->segment);
}

OBJ_CLASS_INSTANCE(mca_coll_pipering_hop_t, opal_list_item_t, hop_construct, hop_destruct);

void mca_coll_pipering_hops_init(mca_coll_pipering_hops_t *hops,
                                 const mca_coll_pipering_wire_t *wire)
{
    hops->wire = *wire;
    OBJ_CONSTRUCT(&hops->list, opal_list_t);
}

/* After a failure messages may still come in: what they go into is kept for ever. */
void mca_coll_pipering_hops_fini(mca_coll_pipering_hops_t *hops)
{
    if (OMPI_SUCCESS == hops->wire.error) {
        OPAL_LIST_DESTRUCT(&hops->list);
    }
}

static int tag_of(const mca_coll_pipering_hop_t *hop, int message)
{
    return (OFFER == message ? MCA_COLL_PIPERING_TAG_OFFER : MCA_COLL_PIPERING_TAG_ANSWER)
           + hop->link;
}

mca_coll_pipering_hop_t *mca_coll_pipering_hop_get(mca_coll_pipering_hops_t *hops, int peer,
                                                   int link, bool inbound, size_t size)
{
    mca_coll_pipering_hop_t *hop;

    OPAL_LIST_FOREACH(hop, &hops->list, mca_coll_pipering_hop_t) {
        if (hop->peer == peer && hop->link == link && hop->inbound == inbound) {
            return hop;
        }
    }
    hop = OBJ_NEW(mca_coll_pipering_hop_t);
    if (NULL != hop) {
        hop->peer = peer;
        hop->link = link;
        hop->inbound = inbound;
        hop->size = size;
        opal_list_append(&hops->list, &hop->super);
    }
    return hop;
}

/*
 * The receiver makes the memory, offers it, and hears whether the other has it too; the
 * sender waits for the offer.
 */
static void begin_opening(mca_coll_pipering_hops_t *hops, mca_coll_pipering_hop_t *hop)
{
    if (!hop->inbound) {
        hop->state = MCA_COLL_PIPERING_HOP_OFFERED;
        mca_coll_pipering_wire_recv(&hops->wire, &hop->segment, sizeof(hop->segment), hop->peer,
                                    tag_of(hop, OFFER), &hop->request[OFFER]);
        return;
    }
    hop->state = MCA_COLL_PIPERING_HOP_ANSWERED;
    (void) mca_common_irregular_segment_make(&mca_coll_pipering_component.directory,
                                             &hop->segment,
                                             sizeof(mca_coll_pipering_fifo_t) + hop->size);
    mca_coll_pipering_wire_recv(&hops->wire, &hop->answer, sizeof(hop->answer), hop->peer,
                                tag_of(hop, ANSWER), &hop->request[ANSWER]);
    mca_coll_pipering_wire_send(&hops->wire, &hop->segment, sizeof(hop->segment), hop->peer,
                                tag_of(hop, OFFER), &hop->request[OFFER]);
}

/* The sender attaches what is offered, and says so. */
static void answer_offer(mca_coll_pipering_hops_t *hops, mca_coll_pipering_hop_t *hop)
{
    hop->state = MCA_COLL_PIPERING_HOP_ANSWERED;
    hop->segment.address = NULL;
    hop->answer = '\0' != hop->segment.name[0]
                  && OMPI_SUCCESS
                         == mca_common_irregular_segment_attach(
                             &mca_coll_pipering_component.directory, &hop->segment);
    mca_coll_pipering_wire_send(&hops->wire, &hop->answer, sizeof(hop->answer), hop->peer,
                                tag_of(hop, ANSWER), &hop->request[ANSWER]);
}

static void end_opening(mca_coll_pipering_hop_t *hop)
{
    hop->state = MCA_COLL_PIPERING_HOP_OPEN;
    if (hop->inbound) {
        mca_common_irregular_segment_unlink(&hop->segment);
    }
    if (hop->answer) {
        hop->fifo = hop->segment.address;
        hop->size = hop->segment.size - sizeof(mca_coll_pipering_fifo_t);
    } else {
        mca_common_irregular_segment_unmap(&hop->segment);
    }
}

static void move_opening(mca_coll_pipering_hops_t *hops, mca_coll_pipering_hop_t *hop)
{
    if (MCA_COLL_PIPERING_HOP_NEW == hop->state) {
        begin_opening(hops, hop);
    }
    if (MCA_COLL_PIPERING_HOP_OFFERED == hop->state
        && mca_coll_pipering_wire_finished(&hops->wire, &hop->request[OFFER])) {
        answer_offer(hops, hop);
    }
    if (MCA_COLL_PIPERING_HOP_ANSWERED == hop->state) {
        const bool offered = mca_coll_pipering_wire_finished(&hops->wire, &hop->request[OFFER]);
        if (mca_coll_pipering_wire_finished(&hops->wire, &hop->request[ANSWER]) && offered) {
            end_opening(hop);
        }
    }
}

bool mca_coll_pipering_hops_open(mca_coll_pipering_hops_t *hops)
{
    mca_coll_pipering_hop_t *hop;
    bool open = true;

    OPAL_LIST_FOREACH(hop, &hops->list, mca_coll_pipering_hop_t) {
        if (OMPI_SUCCESS == hops->wire.error) {
            move_opening(hops, hop);
        }
        open &= MCA_COLL_PIPERING_HOP_OPEN == hop->state;
    }
    return open;
}

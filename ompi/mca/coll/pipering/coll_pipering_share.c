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
 * Which links of a request go through ring buffers: those between ranks of one node,
 * if the buffers can carry its blocks and these are plain bytes.
 *
 * Both ends of a link come to the same answer: blocks, nodes and variables are
 * equal on all ranks, and so is, in a reduction, the type map.
 */

#include "coll_pipering.h"
#include "coll_pipering_nodes.h"

/* Elements are their bytes, so that a copy of these is a copy of them. */
static bool is_plain(const mca_coll_pipering_unit_t *unit)
{
    ptrdiff_t true_lb, true_extent;

    if (NULL == unit->type) {
        return true;
    }
    ompi_datatype_get_true_extent(unit->type, &true_lb, &true_extent);
    return 0 == true_lb && (ptrdiff_t) unit->size == unit->extent
           && opal_datatype_is_contiguous_memory_layout(&unit->type->super, 2);
}

bool mca_coll_pipering_request_shares(const mca_coll_pipering_request_t *request)
{
    return !request->super.super.super.req_persistent && request->plan->shared
           && is_plain(&request->unit);
}

/* The hop of a link, if it is one inside a node; NULL in *hop if not. */
static int find_hop(mca_coll_pipering_request_t *request, int peer, int link, bool inbound,
                    mca_coll_pipering_hop_t **hop)
{
    ompi_communicator_t *comm = request->super.comm;

    *hop = NULL;
    if (0 > peer || !mca_coll_pipering_nodes_same(comm, peer, ompi_comm_rank(comm))) {
        return OMPI_SUCCESS;
    }
    *hop = mca_coll_pipering_hop_get(&request->module->hops, peer, link, inbound,
                                     request->plan->key.params.ring_buffer_size);
    return NULL == *hop ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_SUCCESS;
}

static int find_hops(mca_coll_pipering_request_t *request, int pipe, int link)
{
    const mca_coll_pipering_route_t *route = &request->plan->route[pipe];
    mca_coll_pipering_hop_t **in = &request->hops[pipe].in[link];
    mca_coll_pipering_hop_t **out = &request->hops[pipe].out[link];
    const int rc = find_hop(request, route->in[link].peer, link, true, in);

    return OMPI_SUCCESS != rc ? rc : find_hop(request, route->out[link].peer, link, false, out);
}

/*
 * Where there is no buffer, or one that was made smaller than such blocks need, these go
 * as messages. Both ends know its size.
 */
static void drop_unshared(mca_coll_pipering_hop_t **hop, size_t block_bytes)
{
    if (NULL != *hop
        && (NULL == (*hop)->fifo
            || !mca_coll_pipering_fifo_carries((*hop)->size, block_bytes))) {
        *hop = NULL;
    }
}

int mca_coll_pipering_request_open(mca_coll_pipering_request_t *request, bool *open)
{
    mca_coll_pipering_hops_t *hops = &request->module->hops;
    const size_t bytes = request->plan->cut.block_size * request->plan->key.unit;

    for (int i = 0; i < request->plan->pipes; ++i) {
        for (int link = 0; link < MCA_COLL_PIPERING_LINKS; ++link) {
            const int rc = find_hops(request, i, link);
            if (OMPI_SUCCESS != rc) {
                return rc;
            }
        }
    }
    *open = mca_coll_pipering_hops_open(hops);
    for (int i = 0; *open && i < request->plan->pipes; ++i) {
        for (int link = 0; link < MCA_COLL_PIPERING_LINKS; ++link) {
            drop_unshared(&request->hops[i].in[link], bytes);
            drop_unshared(&request->hops[i].out[link], bytes);
        }
    }
    return hops->wire.error;
}

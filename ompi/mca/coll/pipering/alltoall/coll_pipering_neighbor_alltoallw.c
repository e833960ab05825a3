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
 * MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw and MPI_Neighbor_alltoallw_init.
 *
 * Two ranks may be neighbours more than once. Their messages then have the same source, tag and
 * communicator, so MPI matches them by order alone: a rank must post its receives from a neighbour
 * in the order in which the neighbour sends. Along a dimension of a Cartesian topology each rank
 * sends to its lower neighbour first. The receiver of that message is the sender's lower
 * neighbour, so it posts the receive from its upper neighbour first:
 *
 *     2 ranks, periodic        rank 0 sends      to its lower, then to its upper neighbour
 *                              rank 1 receives   from its upper, then from its lower neighbour
 *
 * coll/libnbc posts the receive from the lower neighbour first, and so exchanges the contents of
 * the two messages.
 */

#include "coll_pipering_alltoall.h"

#include <stdlib.h>

#include "ompi/mca/coll/pipering/call/coll_pipering_forms.h"
#include "ompi/mca/topo/base/base.h"

/* The neighbours of a rank. */
typedef struct neighbors_t {
    const int *in, *out; /* sources, destinations */
    int ins, outs;       /* number of each */
    bool flipped;        /* as in mca_coll_pipering_side_t, for the receiving side */
    int *list;           /* the memory of `in` and `out`, to be freed; NULL: the topology's */
} neighbors_t;

/* Sources and destinations: the lower and the upper neighbour along each dimension. */
static int find_cart(ompi_communicator_t *comm, neighbors_t *neighbors)
{
    const mca_topo_base_comm_cart_t *cart = comm->c_topo->mtc.cart;

    neighbors->list = malloc((2 * (size_t) cart->ndims + 1) * sizeof(int));
    if (NULL == neighbors->list) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    for (int i = 0; i < cart->ndims; ++i) {
        (void) mca_topo_base_cart_shift(comm, i, 1, &neighbors->list[2 * i],
                                        &neighbors->list[2 * i + 1]);
    }
    neighbors->in = neighbors->out = neighbors->list;
    neighbors->ins = neighbors->outs = 2 * cart->ndims;
    neighbors->flipped = true;
    return OMPI_SUCCESS;
}

static void find_graph(ompi_communicator_t *comm, neighbors_t *neighbors)
{
    const mca_topo_base_comm_graph_t *graph = comm->c_topo->mtc.graph;
    const int me = ompi_comm_rank(comm), first = 0 == me ? 0 : graph->index[me - 1];

    neighbors->in = neighbors->out = graph->edges + first;
    neighbors->ins = neighbors->outs = graph->index[me] - first;
}

static int find_neighbors(ompi_communicator_t *comm, neighbors_t *neighbors)
{
    *neighbors = (neighbors_t){.list = NULL};
    if (OMPI_COMM_IS_CART(comm)) {
        return find_cart(comm, neighbors);
    }
    if (OMPI_COMM_IS_GRAPH(comm)) {
        find_graph(comm, neighbors);
        return OMPI_SUCCESS;
    }
    if (OMPI_COMM_IS_DIST_GRAPH(comm)) {
        const mca_topo_base_comm_dist_graph_t *graph = comm->c_topo->mtc.dist_graph;
        neighbors->in = graph->in;
        neighbors->ins = graph->indegree;
        neighbors->out = graph->out;
        neighbors->outs = graph->outdegree;
        return OMPI_SUCCESS;
    }
    return OMPI_ERR_NOT_SUPPORTED;
}

/* Frees the list of neighbours. */
static int serve(mca_coll_pipering_exchange_job_t *job, int *list, mca_coll_pipering_form_t form,
                 mca_coll_pipering_module_t *module, ompi_request_t **request)
{
    const int rc = mca_coll_pipering_exchange(job, form, module, request);

    free(list);
    return rc;
}

MCA_COLL_PIPERING_DEFINE_FORMS(
    neighbor_alltoallw,
    (const void *sbuf, mca_common_colltools_counts_t scounts,
     mca_common_colltools_aints_t sdispls, struct ompi_datatype_t *const *sdtypes, void *rbuf,
     mca_common_colltools_counts_t rcounts, mca_common_colltools_aints_t rdispls,
     struct ompi_datatype_t *const *rdtypes),
    (neighbors_t neighbors;
     const int found = find_neighbors(comm, &neighbors);
     mca_coll_pipering_exchange_job_t job
     = {.call = MCA_COLL_PIPERING_CALL_NEIGHBOR_ALLTOALLW,
        .error = found,
        .plan = {.send = {.buffer = (char *) sbuf,
                          .count = (size_t) neighbors.outs,
                          .counts = mca_common_colltools_counts(scounts),
                          .displs = mca_common_colltools_aints(sdispls),
                          .types = sdtypes,
                          .peer = neighbors.out},
                 .recv = {.buffer = rbuf,
                          .count = (size_t) neighbors.ins,
                          .counts = mca_common_colltools_counts(rcounts),
                          .displs = mca_common_colltools_aints(rdispls),
                          .types = rdtypes,
                          .peer = neighbors.in,
                          .flipped = neighbors.flipped}}}),
    serve(&job, neighbors.list, form, module, request),
    (sbuf, scounts, sdispls, sdtypes, rbuf, rcounts, rdispls, rdtypes))

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
 * Where a communicator has a mesh: if the vertices of its ranks are a box of the machine that is
 * declared (coll_pipering_wiring.c), or if it has a Cartesian topology and the declaration says so.
 *
 * That is found when the communicator is set up, which is when a topology is known too. All of it
 * is local; the set-up compares the files of all ranks.
 */

#include "coll_pipering_mesh.h"

#include <stdlib.h>

#include "coll_pipering_ways.h"
#include "coll_pipering_wiring.h"
#include "ompi/group/group.h"
#include "ompi/mca/topo/topo.h"
#include "opal/util/output.h"

#define TEXT_MOST 128

bool mca_coll_pipering_mesh_declared(const mca_coll_pipering_process_t *process)
{
    return NULL != process->mesh && '\0' != process->mesh[0];
}

/* The extents that a Cartesian topology says; false: there is none, or one with too many. */
static bool read_topology(ompi_communicator_t *comm, mca_coll_pipering_extents_t *machine)
{
    if (!OMPI_COMM_IS_CART(comm) || NULL == comm->c_topo) {
        return false;
    }
    const mca_topo_base_comm_cart_t *cart = comm->c_topo->mtc.cart;
    if (1 > cart->ndims || MCA_COLL_PIPERING_MESH_DIMS < cart->ndims) {
        return false;
    }
    machine->dims = cart->ndims;
    for (int i = 0; i < cart->ndims; ++i) {
        machine->extent[i] = cart->dims[i];
        machine->closed[i] = 0 != cart->periods[i];
    }
    return ompi_comm_size(comm) == mca_coll_pipering_extents_product(machine);
}

/*
 * Whether a mesh is declared for all ranks of a communicator: a connected job may have declared
 * another one, or none. Equal on all ranks of a job. O(p) the first time.
 */
static bool is_common(mca_coll_pipering_context_t *context)
{
    if (!mca_coll_pipering_mesh_declared(context->process)) {
        return false;
    }
    if (MCA_COLL_PIPERING_JOBS_UNKNOWN == context->jobs) {
        context->apart = ompi_group_have_remote_peers(context->comm->c_local_group);
        context->jobs = mca_common_colltools_is_one_job(context->comm)
                            ? MCA_COLL_PIPERING_JOBS_ONE
                            : MCA_COLL_PIPERING_JOBS_SEVERAL;
    }
    return MCA_COLL_PIPERING_JOBS_ONE == context->jobs;
}

/*
 * Files may differ between nodes, and exchanges do not compare them; so a file counts, whatever is
 * in it. It is read nevertheless, so that a user whose program only exchanges hears what is wrong.
 * A rank that has no memory to read what is declared takes it to be right, as others find it.
 */
bool mca_coll_pipering_mesh_for_exchanges(mca_coll_pipering_context_t *context)
{
    if (!is_common(context)) {
        return false;
    }
    const mca_coll_pipering_wiring_t *wiring = mca_coll_pipering_wiring_ensure(context->process);
    return context->apart && (NULL == wiring || !wiring->wrong);
}

/* The vertices of the ranks of a communicator; false: the mesh does not have one of them. */
static bool find_ranks(ompi_communicator_t *comm, const mca_coll_pipering_wiring_t *wiring, int *at)
{
    for (int r = 0; r < ompi_comm_size(comm); ++r) {
        const opal_process_name_t name = ompi_group_get_proc_name(comm->c_local_group, r);
        if (name.vpid >= (opal_vpid_t) wiring->size) {
            return false;
        }
        at[r] = wiring->at[name.vpid];
    }
    return true;
}

/* The machine that a communicator stands in, and where its ranks do; false: in none. */
static bool find_machine(ompi_communicator_t *comm, const mca_coll_pipering_wiring_t *wiring,
                         mca_coll_pipering_extents_t *machine, int *at)
{
    if (wiring->cartesian) {
        for (int r = 0; r < ompi_comm_size(comm); ++r) {
            at[r] = r;
        }
        return read_topology(comm, machine);
    }
    *machine = wiring->machine;
    return wiring->found && find_ranks(comm, wiring, at);
}

static void tell_mesh(const mca_coll_pipering_context_t *context,
                      const mca_coll_pipering_ways_t *ways)
{
    char text[TEXT_MOST];

    if (mca_coll_pipering_is_verbose(context->process, context->comm)) {
        opal_output(context->process->output, "coll/pipering: %s is %s%s", context->comm->c_name,
                    NULL == ways ? "no box of the mesh" : "a mesh of ",
                    NULL == ways ? ""
                                 : mca_coll_pipering_extents_write(&ways->mesh.extents, text,
                                                                   sizeof(text)));
    }
}

int mca_coll_pipering_ways_find(mca_coll_pipering_context_t *context,
                                mca_coll_pipering_ways_t **found)
{
    const int p = ompi_comm_size(context->comm);
    mca_coll_pipering_extents_t machine;
    mca_coll_pipering_ways_t *ways = NULL;

    *found = NULL;
    if (!mca_coll_pipering_mesh_declared(context->process)) {
        return OMPI_SUCCESS;
    }
    const mca_coll_pipering_wiring_t *wiring = mca_coll_pipering_wiring_ensure(context->process);
    int *at = malloc((size_t) p * sizeof(int));
    bool memory = NULL != wiring && NULL != at;
    if (memory && is_common(context)
        && find_machine(context->comm, wiring, &machine, at)) {
        ways = mca_coll_pipering_ways_new(p, &machine, at);
        memory = NULL != ways;
    }
    free(at);
    if (!memory) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    if (NULL != ways && 0 == ways->mesh.vertices) {
        mca_coll_pipering_ways_free(ways);
        ways = NULL;
    }
    tell_mesh(context, ways);
    *found = ways;
    return OMPI_SUCCESS;
}

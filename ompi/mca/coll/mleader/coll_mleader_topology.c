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
 * Topology: the nodes and groups of a communicator.
 *
 *     rank   node (by its card)   lowest rank in its domain (by a record)
 *     4      a1..                 4
 *     5      a1..                 4 (socket), 5 (l3)
 *     6      b7..                 6
 *
 * Cards of processes (common_colltools_card.h) tell nodes, architectures and variables. What a rank
 * shares with others of its node, only that node knows: one MPI_Allgather of the module below
 * brings this to all ranks, which compute the same groups; and whether a rank has its segment, if
 * calls are to have some.
 *
 * Cost: p records of 12 bytes for p ranks, once for a communicator that leaders may serve. Limits:
 * a communicator whose ranks differ in architecture or variables has no leaders.
 */

#include "coll_mleader.h"

#include <stdlib.h>
#include <string.h>

#include "ompi/group/group.h"
#include "ompi/mca/common/colltools/common_colltools_help.h"
#include "ompi/mca/common/colltools/common_colltools_nodes.h"
#include "ompi/proc/proc.h"
#include "opal/mca/hwloc/base/base.h"

typedef mca_common_colltools_facts_t facts_t;

typedef struct record_t {
    int32_t domain; /* lowest rank that shares this rank's domain, as groups are made */
    int32_t there;  /* the rank has its segment */
    uint32_t mark;  /* a rank that leaves the call to the module below sends data of its user */
} record_t;

/* The same in any order of bytes. */
#define MARK UINT32_C(0x6d6c6c6d)

/* ---- domains ---- */

static opal_hwloc_locality_t locality_of(ompi_communicator_t *comm, int rank)
{
    ompi_proc_t *proc = ompi_group_get_proc_ptr_raw(comm->c_local_group, rank);
    return ompi_proc_is_sentinel(proc) ? OPAL_PROC_NON_LOCAL : proc->super.proc_flags;
}

/*
 * The lowest rank with which this one shares a domain: their locality has all bits of the domain,
 * which include those of the larger domains around it.
 */
static int lowest_in_domain(ompi_communicator_t *comm, mca_coll_mleader_domain_t domain)
{
    const opal_hwloc_locality_t wanted = MCA_COLL_MLEADER_NUMA == domain    ? OPAL_PROC_ON_NUMA
                                         : MCA_COLL_MLEADER_CACHE == domain ? OPAL_PROC_ON_L3CACHE
                                                                            : OPAL_PROC_ON_SOCKET;
    const int me = ompi_comm_rank(comm);

    for (int r = 0; r < me; ++r) {
        const opal_hwloc_locality_t locality = locality_of(comm, r);
        if (OPAL_PROC_ON_LOCAL_NODE(locality) && wanted == (locality & wanted)) {
            return r;
        }
    }
    return me;
}

/*
 * Gathers the records of all ranks into domain_of [ranks], and whether all have their segments;
 * records [ranks] is scratch. Ranks say which one has sent none.
 */
static int find_domains(mca_coll_mleader_module_t *module, ompi_communicator_t *comm,
                        mca_coll_mleader_domain_t domain, record_t *records, int *domain_of,
                        bool *there)
{
    const record_t mine = {.domain = lowest_in_domain(comm, domain),
                           .there = NULL != module->topology->shared.segment.address,
                           .mark = MARK};
    const int ranks = ompi_comm_size(comm);

    /* the module below takes a shorter message without a word */
    memset(records, 0, (size_t) ranks * sizeof(mine));
    const int rc = module->below.coll_allgather(&mine, sizeof(mine), MPI_BYTE, records,
                                                sizeof(mine), MPI_BYTE, comm,
                                                module->below.coll_allgather_module);
    *there = true;
    for (int r = 0; r < ranks && OMPI_SUCCESS == rc; ++r) {
        if (MARK != records[r].mark) {
            mca_common_colltools_show_help("help-coll-mleader.txt", "record", comm->c_name, r);
            return MPI_ERR_OTHER;
        }
        domain_of[r] = records[r].domain;
        *there &= records[r].there;
    }
    return rc;
}

/* ---- groups ---- */

/* Numbers the ranks of each node. */
static void count_ranks(mca_coll_mleader_topology_t *topology, ompi_communicator_t *comm)
{
    const mca_common_colltools_nodes_t nodes = mca_common_colltools_nodes_count(comm);
    int *count = topology->answers;

    topology->nodes = nodes.count;
    topology->most_here = nodes.ppn;
    topology->crowd = nodes.load;
    memset(count, 0, (size_t) topology->ranks * sizeof(int));
    for (int r = 0; r < topology->ranks; ++r) {
        topology->index[r] = count[topology->node_of[r]]++;
    }
    topology->here = count[topology->node_of[ompi_comm_rank(comm)]];
}

/* Reads the variable `groups`. Rank 0 reports an illegal value, and sockets are used instead. */
static void read_groups(ompi_communicator_t *comm, mca_coll_mleader_layout_t *layout, int *list_of,
                        mca_coll_mleader_domain_t *domain)
{
    const char *text = mca_coll_mleader_groups_now();

    if (mca_coll_mleader_parse_groups(text, layout, list_of, domain)) {
        return;
    }
    if (0 == ompi_comm_rank(comm)) {
        mca_common_colltools_show_help("help-coll-mleader.txt", "groups", text);
    }
    layout->division = MCA_COLL_MLEADER_BY_DOMAIN;
    *domain = MCA_COLL_MLEADER_SOCKET;
}

/* Fills in this rank's group and node, and the size of the largest group. */
static void find_place(mca_coll_mleader_grouping_t *grouping, int me)
{
    const mca_coll_mleader_groups_t *groups = &grouping->groups;

    grouping->group = groups->group[groups->position[me]];
    grouping->node = groups->node[grouping->group];
    grouping->leader = me == mca_coll_mleader_leader(groups, grouping->group);
    for (int g = 0; g < groups->groups; ++g) {
        const int size = groups->first[g + 1] - groups->first[g];
        grouping->largest = size > grouping->largest ? size : grouping->largest;
    }
}

static int add_grouping(mca_coll_mleader_topology_t *topology,
                        const mca_coll_mleader_layout_t *layout, int me)
{
    mca_coll_mleader_grouping_t *grouping = &topology->grouping[topology->groupings++];
    mca_coll_mleader_groups_t *groups = &grouping->groups;

    mca_coll_mleader_groups(groups, layout);
    find_place(grouping, me);
    grouping->counter = topology->lanes;
    topology->lanes += groups->lanes;

    const size_t lanes = (size_t) groups->lanes * (size_t) (groups->nodes + 1);
    grouping->lane_first = malloc(lanes * sizeof(int));
    if (NULL == grouping->lane_first) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    mca_coll_mleader_lanes(groups, grouping->lane_first);
    return OMPI_SUCCESS;
}

/* For a domain that calls choose: one leader on each node, and one on each socket. */
static int add_groupings(mca_coll_mleader_topology_t *topology, mca_coll_mleader_layout_t *layout,
                         mca_coll_mleader_domain_t domain, int me)
{
    mca_coll_mleader_layout_t whole = *layout;
    int rc = OMPI_SUCCESS;

    if (MCA_COLL_MLEADER_NODE_OR_SOCKET == domain) {
        whole.division = MCA_COLL_MLEADER_BY_COUNT;
        whole.count = 1;
        rc = add_grouping(topology, &whole, me);
    }
    return OMPI_SUCCESS == rc ? add_grouping(topology, layout, me) : rc;
}

/* ---- the topology ---- */

static mca_coll_mleader_topology_t *new_topology(int ranks)
{
    const size_t arrays = 4 * ((size_t) ranks + 1) * sizeof(int);
    const size_t groups = mca_coll_mleader_groups_size(ranks);
    mca_coll_mleader_topology_t *topology = calloc(1, sizeof(*topology));
    int *memory = malloc(arrays + MCA_COLL_MLEADER_GROUPINGS * groups);

    if (NULL == topology || NULL == memory) {
        free(topology);
        free(memory);
        return NULL;
    }
    topology->memory = memory;
    topology->index = memory;
    topology->identity = memory + ranks + 1;
    topology->answers = memory + 2 * (ranks + 1);
    topology->node_of = memory + 3 * (ranks + 1);
    topology->ranks = ranks;
    for (int i = 0; i <= ranks; ++i) {
        topology->identity[i] = i;
    }
    for (int i = 0; i < MCA_COLL_MLEADER_GROUPINGS; ++i) {
        mca_coll_mleader_groups_bind(&topology->grouping[i].groups, ranks,
                                     (char *) memory + arrays + i * groups);
    }
    return topology;
}

void mca_coll_mleader_topology_free(mca_coll_mleader_topology_t *topology)
{
    if (NULL != topology) {
        mca_coll_mleader_shared_free(&topology->shared);
        for (int i = 0; i < topology->groupings; ++i) {
            free(topology->grouping[i].lane_first);
        }
        free(topology->memory);
        free(topology);
    }
}

static const mca_coll_mleader_reason_t reasons[]
    = {[MCA_COMMON_COLLTOOLS_ALIKE] = MCA_COLL_MLEADER_TAKEN,
       [MCA_COMMON_COLLTOOLS_MISSING] = MCA_COLL_MLEADER_FALLBACK_MISSING,
       [MCA_COMMON_COLLTOOLS_UNLIKE] = MCA_COLL_MLEADER_FALLBACK_UNLIKE,
       [MCA_COMMON_COLLTOOLS_UNEQUAL] = MCA_COLL_MLEADER_FALLBACK_UNEQUAL};

/* Finds the nodes, if all ranks are alike. */
static int find_nodes(mca_coll_mleader_topology_t *topology, ompi_communicator_t *comm)
{
    const facts_t **of = malloc((size_t) topology->ranks * sizeof(*of));
    int rc = NULL == of ? OMPI_ERR_OUT_OF_RESOURCE
                        : mca_common_colltools_nodes_find(comm, "mleader", of);

    if (OMPI_SUCCESS == rc) {
        topology->unlike = reasons[mca_common_colltools_nodes_compare(
            comm, MCA_COMMON_COLLTOOLS_MLEADER, of)];
    } else if (OMPI_ERR_OUT_OF_RESOURCE != rc) {
        rc = OMPI_ERROR;
    }
    if (OMPI_SUCCESS == rc && MCA_COLL_MLEADER_TAKEN == topology->unlike) {
        mca_common_colltools_nodes_fill(comm, topology->node_of, NULL);
        count_ranks(topology, comm);
    }
    free(of);
    return rc;
}

/* Finds the groups; `joins`: with segments, of halves of so many bytes. */
static int find_groups(mca_coll_mleader_module_t *module, ompi_communicator_t *comm, bool joins,
                       size_t half_size)
{
    mca_coll_mleader_topology_t *topology = module->topology;
    mca_coll_mleader_domain_t domain = MCA_COLL_MLEADER_SOCKET;
    const int ranks = topology->ranks, me = ompi_comm_rank(comm);
    record_t *records = malloc((size_t) ranks * (sizeof(record_t) + 2 * sizeof(int)));
    int *domain_of = (int *) (records + ranks), *list_of = domain_of + ranks;
    mca_coll_mleader_layout_t layout = {.ranks = ranks,
                                        .node_of = topology->node_of,
                                        .domain_of = domain_of,
                                        .list_of = list_of};
    bool there;

    if (NULL == records) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    int rc = joins ? mca_coll_mleader_shared_offer(&topology->shared, topology, comm, half_size)
                   : OMPI_SUCCESS;
    read_groups(comm, &layout, list_of, &domain);
    if (OMPI_SUCCESS == rc) {
        rc = find_domains(module, comm, domain, records, domain_of, &there);
    }
    if (OMPI_SUCCESS == rc) {
        rc = add_groupings(topology, &layout, domain, me);
    }
    if (joins) {
        mca_coll_mleader_shared_settle(&topology->shared, topology, me,
                                       OMPI_SUCCESS == rc && there);
        topology->joined = true;
    }
    free(records);
    return rc;
}

int mca_coll_mleader_topology_make(const mca_coll_mleader_params_t *params,
                                   mca_coll_mleader_module_t *module, ompi_communicator_t *comm,
                                   bool joins, size_t half_size)
{
    module->topology = new_topology(ompi_comm_size(comm));
    int rc = NULL == module->topology ? OMPI_ERR_OUT_OF_RESOURCE
                                      : find_nodes(module->topology, comm);

    if (OMPI_SUCCESS == rc
        && MCA_COLL_MLEADER_TAKEN == mca_coll_mleader_judge_topology(params, module->topology)) {
        rc = find_groups(module, comm, joins, half_size);
    }
    if (OMPI_SUCCESS != rc) {
        mca_coll_mleader_topology_free(module->topology);
        module->topology = NULL;
    }
    return rc;
}

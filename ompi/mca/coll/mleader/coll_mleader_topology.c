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
 *     rank   record: lowest rank on my   node socket NUMA L3 | architecture processors hash mark
 *     5                                    4     4     5   5 | ...          8          ...  ...
 *
 * Each rank describes its place on its node, and its variables by a hash, in a record. One
 * MPI_Allgather of the module below brings all records to all ranks, which compute the same groups.
 * If variables differ, a second one finds out which.
 *
 * Cost: p records of 8 integers for p ranks, once for a communicator. Limits: a communicator whose
 * ranks differ in architecture or variables has no leaders.
 */

#include "coll_mleader.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ompi/group/group.h"
#include "ompi/proc/proc.h"
#include "opal/mca/hwloc/hwloc-internal.h"
#include "opal/util/arch.h"
#include "opal/util/show_help.h"

/* The record of a rank; up to SHARES: the lowest rank with which it shares each domain. */
enum { NODE, SOCKET, NUMA, CACHE, SHARES, ARCH = SHARES, PROCESSORS, VARIABLES, MARK, RECORD };

/* Last in each record: a rank that leaves the call to the module below sends data of its user. */
#define MARK_VALUE 0x6d6c6472

static const opal_hwloc_locality_t localities[SHARES] = {[NODE] = OPAL_PROC_ON_NODE,
                                                         [SOCKET] = OPAL_PROC_ON_SOCKET,
                                                         [NUMA] = OPAL_PROC_ON_NUMA,
                                                         [CACHE] = OPAL_PROC_ON_L3CACHE};

/* ---- the record of this rank ---- */

static opal_hwloc_locality_t locality_of(ompi_communicator_t *comm, int rank)
{
    ompi_proc_t *proc = ompi_group_get_proc_ptr_raw(comm->c_local_group, rank);
    return ompi_proc_is_sentinel(proc) ? OPAL_PROC_NON_LOCAL : proc->super.proc_flags;
}

/* A hash of variable i, or of all variables. */
static uint32_t hash_of(int i)
{
    return mca_common_colltools_equal_hash(&mca_coll_mleader.equal, i);
}

/*
 * Fills in the record of this rank. Two ranks share a domain if their locality has all bits of the
 * domain, which include those of the larger domains around it.
 */
static void fill_record(ompi_communicator_t *comm, int record[RECORD])
{
    const int me = ompi_comm_rank(comm);

    for (int share = 0; share < SHARES; ++share) {
        record[share] = me;
    }
    for (int r = me - 1; 0 <= r; --r) {
        const opal_hwloc_locality_t locality = locality_of(comm, r);
        for (int share = 0; share < SHARES; ++share) {
            if (OPAL_PROC_ON_LOCAL_NODE(locality)
                && localities[share] == (locality & localities[share])) {
                record[share] = r;
            }
        }
    }
    record[ARCH] = (int) opal_local_arch;
    record[PROCESSORS] = (int) sysconf(_SC_NPROCESSORS_ONLN);
    record[VARIABLES] = (int) hash_of(mca_coll_mleader.equal.count);
    record[MARK] = MARK_VALUE;
}

/* ---- groups ---- */

/* Copies one field of all records. */
static void pick(const int *records, int ranks, int column, int *to)
{
    for (int r = 0; r < ranks; ++r) {
        to[r] = records[r * RECORD + column];
    }
}

/* Finds the node with the most ranks for each processor. */
static void find_crowd(mca_coll_mleader_topology_t *topology, const int *records,
                       const int *node_of, int *count)
{
    topology->crowd = topology->processors = 1;
    memset(count, 0, (size_t) topology->ranks * sizeof(int));
    for (int r = 0; r < topology->ranks; ++r) {
        const int node = node_of[node_of[r]], found = records[node * RECORD + PROCESSORS];
        const int here = ++count[node], processors = 0 < found ? found : 1;
        if ((long) here * topology->processors > (long) topology->crowd * processors) {
            topology->crowd = here;
            topology->processors = processors;
        }
    }
    topology->crowded = topology->crowd > topology->processors;
}

/*
 * Reads the variable `groups`. Rank 0 reports an illegal value, and sockets are used instead. True
 * for "auto": `layout` is then the second of two groupings, one leader on each socket.
 */
static bool read_groups(ompi_communicator_t *comm, const char *text,
                        mca_coll_mleader_layout_t *layout, const int *records, int *domain_of,
                        int *list_of)
{
    const char *domain = "socket";

    if (!mca_coll_mleader_parse_groups(text, layout->ranks, &domain, &layout->count, list_of)) {
        if (0 == ompi_comm_rank(comm)) {
            opal_show_help("help-coll-mleader.txt", "groups", true, text);
        }
        domain = "socket";
    }
    layout->division = NULL != domain      ? MCA_COLL_MLEADER_BY_DOMAIN
                       : 0 < layout->count ? MCA_COLL_MLEADER_BY_COUNT
                                           : MCA_COLL_MLEADER_BY_LIST;
    pick(records, layout->ranks,
         NULL == domain || 's' == domain[0] || 'a' == domain[0] ? SOCKET
         : 'n' == domain[0]                                     ? NUMA
                                                                : CACHE,
         domain_of);
    return NULL != domain && 'a' == domain[0];
}

/* Numbers the ranks of each node. */
static void count_here(mca_coll_mleader_topology_t *topology, int *count)
{
    const mca_coll_mleader_groups_t *groups = &topology->grouping[0].groups;

    memset(count, 0, (size_t) groups->ranks * sizeof(int));
    for (int r = 0; r < groups->ranks; ++r) {
        const int node = groups->node[groups->group[groups->position[r]]];
        topology->index[r] = count[node]++;
        topology->most_here = count[node] > topology->most_here ? count[node]
                                                                : topology->most_here;
        topology->identity[r] = r;
    }
    topology->identity[groups->ranks] = groups->ranks;
    topology->nodes = groups->nodes;
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

/* Adds the two groupings of "auto": one leader on each node, and one on each socket. */
static int add_both(mca_coll_mleader_topology_t *topology, mca_coll_mleader_layout_t *layout,
                    int me)
{
    mca_coll_mleader_layout_t whole = *layout;

    whole.division = MCA_COLL_MLEADER_BY_COUNT;
    whole.count = 1;
    const int rc = add_grouping(topology, &whole, me);
    return OMPI_SUCCESS == rc ? add_grouping(topology, layout, me) : rc;
}

static int make_groupings(mca_coll_mleader_topology_t *topology, ompi_communicator_t *comm,
                          const int *records, const char *text)
{
    const int ranks = topology->ranks, me = ompi_comm_rank(comm);
    int *scratch = malloc(3 * (size_t) ranks * sizeof(int));

    if (NULL == scratch) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    int *node_of = scratch, *domain_of = node_of + ranks, *list_of = domain_of + ranks;
    mca_coll_mleader_layout_t layout
        = {.ranks = ranks,
           .node_of = node_of,
           .domain_of = domain_of,
           .list_of = list_of};

    pick(records, ranks, NODE, node_of);
    find_crowd(topology, records, node_of, list_of);
    const int rc = read_groups(comm, text, &layout, records, domain_of, list_of)
                       ? add_both(topology, &layout, me)
                       : add_grouping(topology, &layout, me);
    if (OMPI_SUCCESS == rc) {
        count_here(topology, scratch);
    }
    free(scratch);
    return rc;
}

/* ---- the topology ---- */

static mca_coll_mleader_topology_t *new_topology(int ranks)
{
    const size_t arrays = 3 * ((size_t) ranks + 1) * sizeof(int);
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
    topology->ranks = ranks;
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

static bool is_record(const int *record, int ranks)
{
    bool is = MARK_VALUE == record[MARK];

    for (int share = 0; share < SHARES; ++share) {
        is = is && 0 <= record[share] && ranks > record[share];
    }
    return is;
}

/* All have sent records; else some rank says which did not. */
static int check_records(const int *records, ompi_communicator_t *comm)
{
    for (int r = 0; r < ompi_comm_size(comm); ++r) {
        if (!is_record(&records[r * RECORD], ompi_comm_size(comm))) {
            opal_show_help("help-coll-mleader.txt", "record", true, comm->c_name, r);
            return MPI_ERR_OTHER;
        }
    }
    return OMPI_SUCCESS;
}

/* Gathers the records of all ranks, and compares architectures and variables. */
static int exchange_records(mca_coll_mleader_module_t *module, ompi_communicator_t *comm,
                            int *records)
{
    int mine[RECORD];

    fill_record(comm, mine);
    /* the module below takes a shorter message without a word */
    memset(records, 0, (size_t) ompi_comm_size(comm) * sizeof(mine));
    int rc = module->previous_allgather(mine, RECORD, MPI_INT, records, RECORD, MPI_INT, comm,
                                        module->previous_allgather_module);
    rc = OMPI_SUCCESS == rc ? check_records(records, comm) : rc;
    module->topology->alike = module->topology->equal = true;
    for (int r = 0; r < ompi_comm_size(comm) && OMPI_SUCCESS == rc; ++r) {
        module->topology->alike &= records[r * RECORD + ARCH] == mine[ARCH];
        module->topology->equal &= records[r * RECORD + VARIABLES] == mine[VARIABLES];
    }
    return rc;
}

/* All ranks know that variables differ; finds out which, and rank 0 reports them. */
static int compare_variables(mca_coll_mleader_module_t *module, ompi_communicator_t *comm)
{
    const int count = mca_coll_mleader.equal.count, ranks = ompi_comm_size(comm);
    uint32_t *hashes = malloc((size_t) (ranks + 1) * (size_t) count * sizeof(uint32_t));
    uint32_t *mine = NULL == hashes ? NULL : hashes + (size_t) ranks * (size_t) count;

    if (NULL == hashes) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    for (int i = 0; i < count; ++i) {
        mine[i] = hash_of(i);
    }
    const int rc =
        module->previous_allgather(mine, count, MPI_UINT32_T, hashes, count, MPI_UINT32_T, comm,
                                   module->previous_allgather_module);
    if (OMPI_SUCCESS == rc && 0 == ompi_comm_rank(comm)) {
        mca_common_colltools_equal_report(&mca_coll_mleader.equal, "mleader",
                                          comm->c_name, hashes, ranks);
    }
    free(hashes);
    return rc;
}

int mca_coll_mleader_topology_make(mca_coll_mleader_module_t *module, ompi_communicator_t *comm)
{
    const int ranks = ompi_comm_size(comm);
    int *records = malloc((size_t) ranks * RECORD * sizeof(int));
    int rc = OMPI_ERR_OUT_OF_RESOURCE;

    module->topology = new_topology(ranks);
    if (NULL != records && NULL != module->topology) {
        rc = exchange_records(module, comm, records);
    }
    if (OMPI_SUCCESS == rc && module->topology->alike && !module->topology->equal) {
        rc = compare_variables(module, comm);
    }
    if (OMPI_SUCCESS == rc) {
        rc = make_groupings(module->topology, comm, records, mca_coll_mleader_groups_now());
    }
    free(records);
    if (OMPI_SUCCESS != rc) {
        mca_coll_mleader_topology_free(module->topology);
        module->topology = NULL;
    }
    return rc;
}

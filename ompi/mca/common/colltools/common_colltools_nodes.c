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
 * The table of common_colltools_nodes.h:
 *
 *     job       process 0  1  2  3  4 ...
 *       7   ->          0  0  1  1  2         node   0     1     2
 *       9   ->          2  2  -1              name   a1..  77..  0c..
 *
 * Nodes are numbered in the order of their first report. Counting marks them with their lowest
 * rank of the communicator, so it takes no memory. Of the ranks of its own job a process knows the
 * host by PMIx; others report it, as PMIx names it to them. So a report never moves a rank that is
 * known: communicators that were set up before rest on the table. Beside its node a process has its
 * leaf switch there. Of the ranks of a node, which should report the same, the largest number counts.
 */

#include "common_colltools_nodes.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ompi/group/group.h"
#include "ompi/proc/proc.h"
#include "opal/class/opal_list.h"

/* The longest host name in bytes. */
#define NAME_MOST 256

typedef struct {
    int32_t node;  /* -1: not known */
    uint32_t leaf; /* 0: not known */
} entry_t;

typedef struct {
    opal_list_item_t super;
    uint32_t id;
    uint32_t size;
    entry_t *entry; /* [size] of each process */
} job_t;

typedef struct {
    uint64_t name;
    int lowest; /* rank of the communicator whose nodes are counted, -1: none yet */
    int ranks;  /* of this communicator so far */
    uint32_t leaf; /* by these */
    int next;      /* of the first node of a leaf switch: that of another one, -1: there is none */
} node_t;

static struct {
    int users; /* components that are open */
    opal_mutex_t lock;
    opal_list_t jobs;
    node_t *nodes;
    int count, room;
    mca_common_colltools_node_key_t own; /* found once, also if this process is bound to other
                                            processors later */
    bool asked;                          /* PMIx, for its name */
} table;

static void job_construct(job_t *job)
{
    job->size = 0;
    job->entry = NULL;
}

static void job_destruct(job_t *job)
{
    free(job->entry);
}

static OBJ_CLASS_INSTANCE(job_t, opal_list_item_t, job_construct, job_destruct);

/* FNV-1a */
static uint64_t hash_name(const char *name)
{
    uint64_t hash = UINT64_C(14695981039346656037);

    for (; '\0' != *name; ++name) {
        hash = (hash ^ (unsigned char) *name) * UINT64_C(1099511628211);
    }
    return hash;
}

void mca_common_colltools_nodes_open(double processors)
{
    char name[NAME_MOST] = "";

    if (0 == table.users++) {
        OBJ_CONSTRUCT(&table.lock, opal_mutex_t);
        OBJ_CONSTRUCT(&table.jobs, opal_list_t);
        table.nodes = NULL;
        table.count = table.room = 0;
        (void) gethostname(name, sizeof(name) - 1);
        table.own.name = hash_name(name);
        table.own.leaf = 0;
        table.asked = false;
    }
    if (0 < processors) {
        table.own.processors = (float) processors;
    }
}

void mca_common_colltools_nodes_close(void)
{
    if (0 < --table.users) {
        return;
    }
    OPAL_LIST_DESTRUCT(&table.jobs);
    free(table.nodes);
    OBJ_DESTRUCT(&table.lock);
}

static job_t *find_job(uint32_t id)
{
    job_t *job;

    OPAL_LIST_FOREACH(job, &table.jobs, job_t) {
        if (id == job->id) {
            return job;
        }
    }
    return NULL;
}

/* The entry of a rank; its node is -1: not known. *job caches the job of the rank before. */
static entry_t find_entry(ompi_communicator_t *comm, int rank, job_t **job)
{
    const opal_process_name_t name = ompi_group_get_proc_name(comm->c_local_group, rank);

    if (NULL == *job || name.jobid != (*job)->id) {
        *job = find_job(name.jobid);
    }
    return NULL == *job || name.vpid >= (*job)->size ? (entry_t){.node = -1}
                                                     : (*job)->entry[name.vpid];
}

/* The number of a node, -1: no memory. From the last on: ranks of a node are mostly adjacent. */
static int number_node(uint64_t name)
{
    for (int i = table.count - 1; 0 <= i; --i) {
        if (name == table.nodes[i].name) {
            return i;
        }
    }
    if (table.count == table.room) {
        const int room = 2 * table.room + 16;
        node_t *nodes = realloc(table.nodes, (size_t) room * sizeof(node_t));
        if (NULL == nodes) {
            return -1;
        }
        table.nodes = nodes;
        table.room = room;
    }
    table.nodes[table.count] = (node_t){.name = name, .lowest = -1};
    return table.count++;
}

/* The job of a process, with room for its entry; NULL: no memory. */
static job_t *ensure_job(const opal_process_name_t *name)
{
    job_t *job = find_job(name->jobid);

    if (NULL == job) {
        job = OBJ_NEW(job_t);
        if (NULL == job) {
            return NULL;
        }
        job->id = name->jobid;
        opal_list_append(&table.jobs, &job->super);
    }
    if (name->vpid >= job->size) {
        const uint32_t size = name->vpid + name->vpid / 2 + 1;
        entry_t *entry = realloc(job->entry, size * sizeof(entry_t));
        if (NULL == entry) {
            return NULL;
        }
        for (uint32_t i = job->size; i < size; ++i) {
            entry[i] = (entry_t){.node = -1};
        }
        job->entry = entry;
        job->size = size;
    }
    return job;
}

/* `leaf`: 0, if it is not known here. False: no memory. */
static bool note(const opal_process_name_t *name, uint64_t host, uint32_t leaf)
{
    job_t *job = ensure_job(name);
    const int node = NULL == job ? -1 : number_node(host);

    if (0 <= node) {
        entry_t *entry = &job->entry[name->vpid];
        *entry = (entry_t){node, 0 == leaf ? entry->leaf : leaf};
    }
    return 0 <= node;
}

int mca_common_colltools_nodes_note(ompi_communicator_t *comm, int rank,
                                    const mca_common_colltools_node_key_t *key)
{
    const opal_process_name_t name = ompi_group_get_proc_name(comm->c_local_group, rank);

    OPAL_THREAD_LOCK(&table.lock);
    const bool noted = note(&name, key->name, key->leaf);
    OPAL_THREAD_UNLOCK(&table.lock);
    return noted ? OMPI_SUCCESS : OMPI_ERR_OUT_OF_RESOURCE;
}

/*
 * The host of a process of this job by PMIx; false: it does not say. The process need not have an
 * entry in Open MPI's own table, which would take memory for each.
 */
static bool ask_host(const opal_process_name_t *name, uint64_t *hash)
{
    opal_proc_t proc;

    OBJ_CONSTRUCT(&proc, opal_proc_t);
    proc.proc_name = *name;
    char *host = opal_get_proc_hostname(&proc);
    const bool known = NULL != host && 0 != strcmp(host, "unknown");
    if (known) {
        *hash = hash_name(host);
    }
    MCA_COMMON_COLLTOOLS_FREE_HOSTNAME(host);
    OBJ_DESTRUCT(&proc);
    return known;
}

void mca_common_colltools_nodes_set_leaf(uint32_t leaf)
{
    table.own.leaf = leaf;
}

mca_common_colltools_node_key_t mca_common_colltools_nodes_mine(void)
{
    OPAL_THREAD_LOCK(&table.lock);
    if (!table.asked) {
        (void) ask_host(&ompi_proc_local()->super.proc_name, &table.own.name);
        table.asked = true;
    }
    const mca_common_colltools_node_key_t mine = table.own;
    OPAL_THREAD_UNLOCK(&table.lock);
    return mine;
}

/* Whether the node of a rank could be found out. */
static bool find_host(ompi_communicator_t *comm, int rank)
{
    const opal_process_name_t name = ompi_group_get_proc_name(comm->c_local_group, rank);
    uint64_t host;

    return name.jobid == ompi_proc_local()->super.proc_name.jobid && ask_host(&name, &host)
           && note(&name, host, 0);
}

bool mca_common_colltools_nodes_find(ompi_communicator_t *comm)
{
    job_t *job = NULL;
    bool known = true;

    OPAL_THREAD_LOCK(&table.lock);
    for (int r = 0; known && r < ompi_comm_size(comm); ++r) {
        known = 0 <= find_entry(comm, r, &job).node || find_host(comm, r);
    }
    OPAL_THREAD_UNLOCK(&table.lock);
    return known;
}

/* Marks the nodes of a communicator with their lowest ranks; node_of [p] (or NULL) gets these. */
static mca_common_colltools_nodes_t mark_nodes(ompi_communicator_t *comm, int *node_of)
{
    mca_common_colltools_nodes_t nodes = {.hash = UINT32_C(2166136261)};
    job_t *job = NULL;

    for (int i = 0; i < table.count; ++i) {
        table.nodes[i].lowest = -1;
        table.nodes[i].ranks = 0;
        table.nodes[i].leaf = 0;
    }
    for (int r = 0; r < ompi_comm_size(comm); ++r) {
        const entry_t entry = find_entry(comm, r, &job);
        node_t *node = &table.nodes[entry.node];
        node->leaf = entry.leaf > node->leaf ? entry.leaf : node->leaf;
        if (0 > node->lowest) {
            node->lowest = r;
            ++nodes.count;
        }
        ++node->ranks;
        nodes.ppn = node->ranks > nodes.ppn ? node->ranks : nodes.ppn;
        nodes.hash = (nodes.hash ^ (uint32_t) node->lowest) * UINT32_C(16777619);
        if (NULL != node_of) {
            node_of[r] = node->lowest;
        }
    }
    return nodes;
}

mca_common_colltools_nodes_t
mca_common_colltools_nodes_count(ompi_communicator_t *comm,
                                 const mca_common_colltools_node_key_t *keys)
{
    const int me = ompi_comm_rank(comm), p = ompi_comm_size(comm);
    job_t *job = NULL;

    OPAL_THREAD_LOCK(&table.lock);
    mca_common_colltools_nodes_t nodes = mark_nodes(comm, NULL);
    for (int i = 0; i < (NULL == keys ? 1 : p); ++i) {
        const double processors = NULL == keys ? table.own.processors : keys[i].processors;
        const int node = find_entry(comm, (me + i) % p, &job).node;
        const double load = table.nodes[node].ranks / processors;
        nodes.load = load > nodes.load ? load : nodes.load;
    }
    OPAL_THREAD_UNLOCK(&table.lock);
    return nodes;
}

/* The first node of the leaf switch of a node, among those of the communicator so far. */
static int find_head(int node, int *first)
{
    int *head = first;

    while (0 <= *head && table.nodes[*head].leaf != table.nodes[node].leaf) {
        head = &table.nodes[*head].next;
    }
    if (0 > *head) {
        *head = node;
        table.nodes[node].next = -1;
    }
    return *head;
}

void mca_common_colltools_nodes_fill(ompi_communicator_t *comm, int *node_of, int *leaf_of)
{
    job_t *job = NULL;
    int first = -1;

    OPAL_THREAD_LOCK(&table.lock);
    (void) mark_nodes(comm, node_of);
    for (int r = 0; NULL != leaf_of && r < ompi_comm_size(comm); ++r) {
        leaf_of[r] = r == node_of[r]
                         ? table.nodes[find_head(find_entry(comm, r, &job).node, &first)].lowest
                         : leaf_of[node_of[r]];
    }
    OPAL_THREAD_UNLOCK(&table.lock);
}

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
 *     job       process 0    1    2    3    4 ...
 *       7   ->          0,0  0,0  1,0  1,0  2,1      node   0     1     2       kind   0   1
 *       9   ->          2,1  2,1  no card            name   a1..  77..  0c..    facts  ..  ..
 *
 * Nodes and kinds of processes are numbered in the order of their first card. Most processes of a
 * job are of one kind, so ranks of a communicator are compared by few numbers. Counting marks nodes
 * with their lowest rank of the communicator, so it takes no memory.
 *
 * Where the job is one program, the processes that PMIx names on a node have one environment, so
 * the card of the lowest one counts for all of them. A process compares the cards of its own node:
 * if variables differ there after all, as by a script that sets them by rank, its calls with other
 * nodes fail.
 */

#include "common_colltools_nodes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ompi/group/group.h"
#include "ompi/mca/common/colltools/common_colltools_file.h"
#include "ompi/mca/common/colltools/common_colltools_help.h"
#include "ompi/mca/common/colltools/common_colltools_task.h"
#include "ompi/proc/proc.h"
#include "opal/class/opal_list.h"
#include "opal/util/arch.h"
#include "opal/util/proc.h"

/* The longest host name in bytes, and the longest path below /sys. */
#define NAME_MOST 256
#define PATH_MOST 512

#define UNKNOWN (-1)
#define MISSING (-2) /* it has no card */

typedef struct {
    int32_t node, kind; /* or UNKNOWN, or MISSING */
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
    uint32_t leaf; /* by these: they should report the same, the largest number counts */
    int next;      /* of the first node of a leaf switch: that of another one, -1: there is none */
} node_t;

/* A node of this job as PMIx names it, its lowest process, and what that says. */
typedef struct {
    uint64_t name;
    uint32_t lowest;
    bool lost; /* it could not be asked */
    entry_t entry;
} host_t;

static struct {
    int users; /* components that are open */
    opal_mutex_t lock;
    opal_list_t jobs;
    node_t *nodes;
    int count, capacity;
    mca_common_colltools_facts_t **kinds; /* [kind_count] each in memory of its own */
    int kind_count;
    host_t *hosts; /* [host_count] of this job, if it is one program */
    int host_count, own_host;
    int32_t *host_of; /* [processes of the job] NULL: not asked yet, or it is not */
    bool mapped;      /* that has been asked */
    bool mixed;       /* processes of this job on this node differ */
    uint64_t host; /* of this process */
    mca_common_colltools_facts_t own;
} table;

/* What components add to the card; registered before any of them is opened. */
static struct {
    const mca_common_colltools_equal_t *equal;
    mca_common_colltools_fill_fn_t *fill;
} owners[MCA_COMMON_COLLTOOLS_OWNERS];

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

/* ---- this process ---- */

/* FNV-1a */
static uint64_t hash_name(const char *name)
{
    uint64_t hash = UINT64_C(14695981039346656037);

    for (; '\0' != *name; ++name) {
        hash = (hash ^ (unsigned char) *name) * UINT64_C(1099511628211);
    }
    return hash;
}

/* How many a list such as 0-3,8 has. */
static int count_list(const char *list)
{
    int count = 0;

    while ('\0' != *list) {
        char *end;
        const long first = strtol(list, &end, 10);
        const long last = '-' == *end ? strtol(end + 1, &end, 10) : first;
        if (end == list) {
            return 0;
        }
        count += (int) (last - first + 1);
        list = ',' == *end ? end + 1 : end;
    }
    return count;
}

/*
 * Processors of this node that the processes of a job may use: those of the control group, which a
 * container or a batch system has set. Unlike the processors that a process is bound to, they are
 * those of all processes of the job.
 */
static int count_processors(void)
{
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    char group[PATH_MOST - 64], path[PATH_MOST], list[4096];

    mca_common_colltools_read_line("/proc/self/cgroup", group, sizeof(group));
    if (0 == strncmp("0::", group, 3)) {
        (void) snprintf(path, sizeof(path), "/sys/fs/cgroup%s/cpuset.cpus.effective", group + 3);
        mca_common_colltools_read_line(path, list, sizeof(list));
        const int count = count_list(list);
        if (0 < count && count < online) {
            return count;
        }
    }
    return 0 < online ? (int) online : 1;
}

/* Adds the variables of a component that must be equal. */
static void add_variables(mca_common_colltools_owner_t owner,
                          const mca_common_colltools_equal_t *equal)
{
    mca_common_colltools_facts_t *own = &table.own;

    own->variables[owner] = mca_common_colltools_equal_hash(equal, equal->count) | 1;
    for (int i = 0; i < equal->count; ++i) {
        const uint32_t hash = mca_common_colltools_equal_hash(equal, i);
        const size_t length = strlen(own->unusual);
        if (hash != equal->of[i].usual) {
            (void) snprintf(own->unusual + length, sizeof(own->unusual) - length,
                            " %d.%d=%" PRIx32, (int) owner, i, hash);
        }
    }
}

/* Makes the card of this process and tells it: once, since PMIx may keep the first of two. */
static void tell_own(void)
{
    char name[NAME_MOST] = "", text[MCA_COMMON_COLLTOOLS_CARD_MOST];

    (void) gethostname(name, sizeof(name) - 1);
    table.host = hash_name(NULL == opal_process_info.nodename ? name : opal_process_info.nodename);
    table.own = (mca_common_colltools_facts_t){
        .arch = opal_local_arch,
        .processors = (uint64_t) count_processors() * MCA_COMMON_COLLTOOLS_PROCESSOR};
    for (int i = 0; i < MCA_COMMON_COLLTOOLS_OWNERS; ++i) {
        if (NULL != owners[i].equal) {
            add_variables((mca_common_colltools_owner_t) i, owners[i].equal);
        }
        if (NULL != owners[i].fill) {
            owners[i].fill(&table.own);
        }
    }
    if (mca_common_colltools_card_write(table.host, &table.own, text)) {
        mca_common_colltools_card_tell(text);
    }
}

void mca_common_colltools_nodes_register(mca_common_colltools_owner_t owner,
                                         const mca_common_colltools_equal_t *equal,
                                         mca_common_colltools_fill_fn_t *fill)
{
    owners[owner].equal = equal;
    owners[owner].fill = fill;
}

void mca_common_colltools_nodes_open(void)
{
    if (0 < table.users++) {
        return;
    }
    mca_common_colltools_tasks_open();
    OBJ_CONSTRUCT(&table.lock, opal_mutex_t);
    OBJ_CONSTRUCT(&table.jobs, opal_list_t);
    table.nodes = NULL;
    table.kinds = NULL;
    table.hosts = NULL;
    table.host_of = NULL;
    table.count = table.capacity = table.kind_count = table.host_count = 0;
    table.mapped = table.mixed = false;
    tell_own();
}

void mca_common_colltools_nodes_close(void)
{
    if (0 < --table.users) {
        return;
    }
    mca_common_colltools_tasks_close();
    OPAL_LIST_DESTRUCT(&table.jobs);
    free(table.nodes);
    free(table.hosts);
    free(table.host_of);
    for (int i = 0; i < table.kind_count; ++i) {
        free(table.kinds[i]);
    }
    free(table.kinds);
    OBJ_DESTRUCT(&table.lock);
}

/* ---- the table ---- */

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

/* The entry of a rank. *job caches the job of the rank before. */
static entry_t find_entry(ompi_communicator_t *comm, int rank, job_t **job)
{
    const opal_process_name_t name = ompi_group_get_proc_name(comm->c_local_group, rank);

    if (NULL == *job || name.jobid != (*job)->id) {
        *job = find_job(name.jobid);
    }
    return NULL == *job || name.vpid >= (*job)->size ? (entry_t){UNKNOWN, UNKNOWN}
                                                     : (*job)->entry[name.vpid];
}

/*
 * The number of a node, UNKNOWN: no memory. From the last on: ranks of a node are mostly adjacent.
 */
static int number_node(uint64_t name)
{
    for (int i = table.count - 1; 0 <= i; --i) {
        if (name == table.nodes[i].name) {
            return i;
        }
    }
    if (table.count == table.capacity) {
        const int capacity = 2 * table.capacity + 16;
        node_t *nodes = realloc(table.nodes, (size_t) capacity * sizeof(node_t));
        if (NULL == nodes) {
            return UNKNOWN;
        }
        table.nodes = nodes;
        table.capacity = capacity;
    }
    table.nodes[table.count] = (node_t){.name = name, .lowest = -1};
    return table.count++;
}

/* The number of a kind, likewise. */
static int number_kind(const mca_common_colltools_facts_t *facts)
{
    for (int i = table.kind_count - 1; 0 <= i; --i) {
        if (0 == memcmp(table.kinds[i], facts, sizeof(*facts))) {
            return i;
        }
    }
    mca_common_colltools_facts_t *kept = malloc(sizeof(*kept));
    mca_common_colltools_facts_t **kinds
        = realloc(table.kinds, (size_t) (table.kind_count + 1) * sizeof(*kinds));
    table.kinds = NULL == kinds ? table.kinds : kinds;
    if (NULL == kept || NULL == kinds) {
        free(kept);
        return UNKNOWN;
    }
    *kept = *facts;
    table.kinds[table.kind_count] = kept;
    return table.kind_count++;
}

/* The entry of a process, which it gets if it has none; NULL: no memory. */
static entry_t *ensure_entry(const opal_process_name_t *name)
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
            entry[i] = (entry_t){UNKNOWN, UNKNOWN};
        }
        job->entry = entry;
        job->size = size;
    }
    return &job->entry[name->vpid];
}

/* ---- reading cards ---- */

static bool is_own(const opal_process_name_t *name)
{
    const opal_process_name_t own = ompi_proc_local()->super.proc_name;

    return own.jobid == name->jobid && own.vpid == name->vpid;
}

/* Asks for the card of a process, which may be missing, or of another release. */
static int ask_card(const opal_process_name_t *name, entry_t *found)
{
    const bool own_job = ompi_proc_local()->super.proc_name.jobid == name->jobid;
    mca_common_colltools_facts_t facts = table.own;
    uint64_t host = table.host;

    *found = (entry_t){MISSING, MISSING};
    if (!is_own(name)) {
        bool missing;
        char *text = mca_common_colltools_card_ask(name, own_job, &missing);
        if (NULL == text && !missing) {
            return OMPI_ERR_NOT_FOUND;
        }
        const bool read = NULL != text && mca_common_colltools_card_read(text, &host, &facts);
        free(text);
        if (!read) {
            return OMPI_SUCCESS;
        }
    }
    *found = (entry_t){number_node(host), number_kind(&facts)};
    return UNKNOWN == found->node || UNKNOWN == found->kind ? OMPI_ERR_OUT_OF_RESOURCE
                                                            : OMPI_SUCCESS;
}

/* ---- a job that is one program ---- */

/*
 * The host of a process of this job by PMIx, 0: it does not say. The process need not have an entry
 * in Open MPI's own table, which would take memory for each.
 */
static uint64_t ask_host(const opal_process_name_t *name)
{
    opal_proc_t proc;

    OBJ_CONSTRUCT(&proc, opal_proc_t);
    proc.proc_name = *name;
    char *host = opal_get_proc_hostname(&proc);
    const uint64_t hash = NULL == host || 0 == strcmp(host, "unknown") ? 0 : hash_name(host) | 1;
    MCA_COMMON_COLLTOOLS_FREE_HOSTNAME(host);
    OBJ_DESTRUCT(&proc);
    return hash;
}

/* The number of a host, UNKNOWN: no memory. From the last on, as nodes are. */
static int32_t number_host(uint64_t name, uint32_t process)
{
    for (int i = table.host_count - 1; 0 <= i; --i) {
        if (name == table.hosts[i].name) {
            return i;
        }
    }
    host_t *hosts = realloc(table.hosts, (size_t) (table.host_count + 1) * sizeof(*hosts));
    if (NULL == hosts) {
        return UNKNOWN;
    }
    table.hosts = hosts;
    hosts[table.host_count] = (host_t){name, process, false, {UNKNOWN, UNKNOWN}};
    return table.host_count++;
}

/* What all processes of a node must have alike, whatever their adapters. */
static bool differ(const mca_common_colltools_facts_t *a, const mca_common_colltools_facts_t *b)
{
    return a->arch != b->arch || a->machine != b->machine || a->mesh != b->mesh
           || 0 != memcmp(a->variables, b->variables, sizeof(a->variables));
}

/* Compares this process with the others of its node. */
static void compare_own(opal_process_name_t name, uint32_t size)
{
    entry_t found;

    for (name.vpid = 0; name.vpid < size; ++name.vpid) {
        if (table.own_host == table.host_of[name.vpid]) {
            table.mixed |= OMPI_SUCCESS != ask_card(&name, &found) || MISSING == found.kind
                           || differ(&table.own, table.kinds[found.kind]);
        }
    }
}

/* Finds the hosts of all processes of this job, if these are of one program and PMIx knows. */
static void map_job(void)
{
    const opal_process_name_t own = ompi_proc_local()->super.proc_name;
    const uint32_t size = (uint32_t) MCA_COMMON_COLLTOOLS_JOB_SIZE;
    opal_process_name_t name = own;
    bool known = true;

    table.mapped = true;
    table.host_of = own.vpid < size ? malloc(size * sizeof(*table.host_of)) : NULL;
    for (name.vpid = 0; NULL != table.host_of && known && name.vpid < size; ++name.vpid) {
        const uint64_t host = ask_host(&name);
        table.host_of[name.vpid] = 0 == host ? UNKNOWN : number_host(host, name.vpid);
        known = UNKNOWN != table.host_of[name.vpid];
    }
    if (!known) {
        free(table.host_of);
        table.host_of = NULL;
    }
    if (NULL != table.host_of) {
        table.own_host = table.host_of[own.vpid];
        compare_own(own, size);
    }
}

/* What a process says, by its own card or by that of the lowest one on its node. */
static int find_card(const opal_process_name_t *name, entry_t *found)
{
    const bool own_job = ompi_proc_local()->super.proc_name.jobid == name->jobid;

    if (!own_job || !MCA_COMMON_COLLTOOLS_ONE_PROGRAM) {
        return ask_card(name, found);
    }
    if (!table.mapped) {
        map_job();
    }
    if (NULL == table.host_of) {
        return ask_card(name, found);
    }
    host_t *host = &table.hosts[table.host_of[name->vpid]];
    const opal_process_name_t lowest = {.jobid = name->jobid, .vpid = host->lowest};
    if (UNKNOWN == host->entry.kind) {
        const int rc = host->lost ? OMPI_ERR_NOT_FOUND : ask_card(&lowest, found);
        if (OMPI_SUCCESS != rc) {
            host->lost = OMPI_ERR_NOT_FOUND == rc;
            return rc;
        }
        host->entry = *found;
    }
    *found = host->entry;
    return OMPI_SUCCESS;
}

/* ---- cards of a communicator ---- */

/* Finds entries of all ranks; *failed is the rank at which that ends. */
static int find_entries(ompi_communicator_t *comm, int *failed)
{
    job_t *job = NULL;
    int rc = OMPI_SUCCESS;

    for (int r = 0; OMPI_SUCCESS == rc && r < ompi_comm_size(comm); ++r) {
        if (UNKNOWN == find_entry(comm, r, &job).kind) {
            const opal_process_name_t name = ompi_group_get_proc_name(comm->c_local_group, r);
            entry_t found;
            rc = find_card(&name, &found);
            entry_t *entry = OMPI_SUCCESS == rc ? ensure_entry(&name) : NULL;
            if (NULL != entry) {
                *entry = found;
            } else if (OMPI_SUCCESS == rc) {
                rc = OMPI_ERR_OUT_OF_RESOURCE;
            }
            *failed = r;
        }
    }
    return rc;
}

/*
 * Fills of [p]. Where processes of this node differ, those of other nodes do not know: only a
 * communicator of this node alone can go on, by each rank's own card.
 */
static int fill_facts(ompi_communicator_t *comm, const mca_common_colltools_facts_t **of)
{
    const int me = ompi_comm_rank(comm);
    job_t *job = NULL;
    int rc = OMPI_SUCCESS;

    for (int r = 0; OMPI_SUCCESS == rc && r < ompi_comm_size(comm); ++r) {
        entry_t entry = find_entry(comm, r, &job);
        if (table.mixed) {
            const opal_process_name_t name = ompi_group_get_proc_name(comm->c_local_group, r);
            rc = entry.node == find_entry(comm, me, &job).node ? ask_card(&name, &entry)
                                                               : OMPI_ERR_NOT_SUPPORTED;
        }
        of[r] = 0 > entry.kind ? NULL : table.kinds[entry.kind];
    }
    return rc;
}

int mca_common_colltools_nodes_find(ompi_communicator_t *comm, const char *owner,
                                    const mca_common_colltools_facts_t **of)
{
    int failed = 0;

    OPAL_THREAD_LOCK(&table.lock);
    int rc = find_entries(comm, &failed);
    if (OMPI_SUCCESS == rc) {
        rc = fill_facts(comm, of);
    }
    OPAL_THREAD_UNLOCK(&table.lock);
    if (OMPI_ERR_NOT_FOUND == rc) {
        mca_common_colltools_show_help("help-mca-common-colltools.txt", "unread", failed,
                                       comm->c_name, owner);
    } else if (OMPI_ERR_NOT_SUPPORTED == rc) {
        mca_common_colltools_show_help("help-mca-common-colltools.txt", "mixed",
                                       opal_process_info.nodename, comm->c_name, owner);
    }
    return rc;
}

mca_common_colltools_difference_t
mca_common_colltools_nodes_compare(ompi_communicator_t *comm, mca_common_colltools_owner_t owner,
                                   const mca_common_colltools_facts_t *const *of)
{
    const int ranks = ompi_comm_size(comm);
    bool there = true, alike = true, equal = true;

    for (int r = 0; r < ranks && there; ++r) {
        there = NULL != of[r] && 0 != of[r]->variables[owner];
        alike &= there && of[r]->arch == of[0]->arch;
        equal &= there && of[r]->variables[owner] == of[0]->variables[owner];
    }
    if (!there) {
        mca_common_colltools_missing_report(owner, comm->c_name, of, ranks);
        return MCA_COMMON_COLLTOOLS_MISSING;
    }
    if (alike && !equal && 0 == ompi_comm_rank(comm)) {
        mca_common_colltools_equal_report(owners[owner].equal, owner, comm->c_name, of, ranks);
    }
    return !alike   ? MCA_COMMON_COLLTOOLS_UNLIKE
           : !equal ? MCA_COMMON_COLLTOOLS_UNEQUAL
                    : MCA_COMMON_COLLTOOLS_ALIKE;
}

void mca_common_colltools_nodes_prepare(ompi_communicator_t *comm)
{
    int failed;

    OPAL_THREAD_LOCK(&table.lock);
    (void) find_entries(comm, &failed); /* the first call finds an error again */
    OPAL_THREAD_UNLOCK(&table.lock);
}

/* ---- nodes of a communicator ---- */

/* Marks the nodes of a communicator with their lowest ranks; node_of [p] (or NULL) gets these. */
static mca_common_colltools_nodes_t mark_nodes(ompi_communicator_t *comm, int *node_of)
{
    mca_common_colltools_nodes_t nodes = {.count = 0};
    job_t *job = NULL;

    for (int i = 0; i < table.count; ++i) {
        table.nodes[i].lowest = -1;
        table.nodes[i].ranks = 0;
        table.nodes[i].leaf = 0;
    }
    for (int r = 0; r < ompi_comm_size(comm); ++r) {
        const entry_t entry = find_entry(comm, r, &job);
        node_t *node = &table.nodes[entry.node];
        const uint32_t leaf = table.kinds[entry.kind]->leaf;
        node->leaf = leaf > node->leaf ? leaf : node->leaf;
        if (0 > node->lowest) {
            node->lowest = r;
            ++nodes.count;
        }
        ++node->ranks;
        nodes.ppn = node->ranks > nodes.ppn ? node->ranks : nodes.ppn;
        if (NULL != node_of) {
            node_of[r] = node->lowest;
        }
    }
    return nodes;
}

mca_common_colltools_nodes_t mca_common_colltools_nodes_count(ompi_communicator_t *comm)
{
    job_t *job = NULL;

    OPAL_THREAD_LOCK(&table.lock);
    mca_common_colltools_nodes_t nodes = mark_nodes(comm, NULL);
    for (int r = 0; r < ompi_comm_size(comm); ++r) {
        const entry_t entry = find_entry(comm, r, &job);
        const double processors = (double) table.kinds[entry.kind]->processors
                                  / (double) MCA_COMMON_COLLTOOLS_PROCESSOR;
        const double load = table.nodes[entry.node].ranks / processors;
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

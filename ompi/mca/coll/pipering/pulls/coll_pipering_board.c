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
 * The board of coll_pipering_board.h.
 */

#include "coll_pipering_board.h"
#include "coll_pipering_pulls.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ompi/mca/common/colltools/common_colltools_file.h"
#include "ompi/mca/common/colltools/common_colltools_nodes.h"
#include "ompi/proc/proc.h"
#include "opal/util/output.h"
#include "opal/util/proc.h"

#if MCA_COMMON_COLLTOOLS_HAS_SMSC
#    include <sys/syscall.h>
#    include <sys/uio.h>

#    include "opal/mca/smsc/base/base.h"
#    include "opal/mca/smsc/smsc.h"
#    if defined(__linux__)
#        include <linux/kcmp.h>
#    endif
#endif

typedef mca_coll_pipering_notice_t notice_t;

/* A line of its own for each process. */
typedef struct {
    uint64_t process; /* its number in the job, and 1; 0: it has not joined */
    uint64_t word;    /* the address of a known one */
    uint64_t used;    /* notices from the first on that may be up */
    uint64_t pad[13];
} header_t;

typedef struct mca_smsc_endpoint_t endpoint_t;

static struct {
    opal_mutex_t lock;
    mca_common_colltools_directory_t *directory;
    mca_common_colltools_segment_t segment; /* address NULL: not joined */
    int places, own;
    bool tried, joined;
    size_t held;                        /* of it, by this process */
    bool taken[MCA_COLL_PIPERING_NOTICES]; /* of this process */
    uint64_t word;
    struct {
        endpoint_t *endpoint; /* NULL: it cannot be reached, or has not been tried */
        bool tried;
    } *peer; /* [places] */
} board;

/* What a process reads in others to know that it can. */
static uint64_t word_of(uint64_t process)
{
    return UINT64_C(0x9e3779b97f4a7c15) * (process + 1);
}

static header_t *header_at(int place)
{
    return (header_t *) board.segment.address + place;
}

static notice_t *notice_at(int place, int i)
{
    return (notice_t *) header_at(board.places) + place * MCA_COLL_PIPERING_NOTICES + i;
}

static size_t board_size(void)
{
    return (size_t) board.places
           * (sizeof(header_t) + MCA_COLL_PIPERING_NOTICES * sizeof(notice_t));
}

/* ---- opening ---- */

#if MCA_COMMON_COLLTOOLS_HAS_SMSC
static uint64_t number_of(const char *path)
{
    struct stat about;

    return 0 == stat(path, &about) ? (uint64_t) about.st_ino : 0;
}

/* Whether one of the components that are open copies any memory, and none wants it registered. */
static bool has_component(void)
{
    mca_base_component_list_item_t *item;
    bool there = false;

    OPAL_LIST_FOREACH(item, &opal_smsc_base_framework.framework_components,
                      mca_base_component_list_item_t) {
        const char *name = item->cli_component->mca_component_name;
        if (0 == strcmp("knem", name)) {
            return false;
        }
        there |= 0 == strcmp("cma", name) || 0 == strcmp("xpmem", name);
    }
    return there;
}

/* Whether the kernel, or a container, lets this process read itself, and so perhaps others. */
static bool is_allowed(void)
{
    char scope[8] = "0";
    uint64_t from = word_of(0), to = 0;
    const struct iovec local = {&to, sizeof(to)}, remote = {&from, sizeof(from)};

    mca_common_colltools_read_line("/proc/sys/kernel/yama/ptrace_scope", scope, sizeof(scope));
    if (('2' == scope[0] || '3' == scope[0]) && 0 != geteuid()) {
        return false;
    }
#    if defined(SYS_kcmp) && defined(__linux__)
    if (0 > syscall(SYS_kcmp, getpid(), getpid(), KCMP_VM, 0, 0) && ENOSYS != errno) {
        return false;
    }
#    endif
    return (ssize_t) sizeof(to) == process_vm_readv(getpid(), &local, 1, &remote, 1, 0)
           && from == to;
}

/* A hash of what processes that read each other have alike, 0: this one reads none. */
static uint32_t find_reads(void)
{
    const uint64_t alike[] = {number_of("/proc/self/ns/user"), number_of("/proc/self/ns/pid"),
                              (uint64_t) geteuid()};

    return has_component() && is_allowed()
               ? mca_common_colltools_hash(MCA_COMMON_COLLTOOLS_HASH, (const char *) alike,
                                           sizeof(alike)) | 1
               : 0;
}
#else
static uint32_t find_reads(void)
{
    return 0;
}
#endif

/*
 * All memory is reserved, so that a notice is there whenever one is free. Where the board cannot be
 * made nothing is lost that a user knows of, so nothing is said.
 */
static void make_board(char *name)
{
    mca_common_colltools_directory_t silent = *board.directory;
    const size_t size = board_size(), part = size / (size_t) board.places;

    silent.reported = true;
    if (!mca_common_colltools_hold(board.directory, part)) {
        return;
    }
    board.held = part;
    if (OMPI_SUCCESS
        == mca_common_colltools_segment_make(&silent, &board.segment, size, false)) {
        mca_common_colltools_segment_write(&board.segment, name);
    }
}

void mca_coll_pipering_pulls_open(mca_common_colltools_directory_t *directory, uint32_t *reads,
                                  char *name)
{
    memset(&board, 0, sizeof(board));
    OBJ_CONSTRUCT(&board.lock, opal_mutex_t);
    board.directory = directory;
    board.own = (int) opal_process_info.my_local_rank;
    board.places = (int) opal_process_info.num_local_peers + 1;
    *reads = 1 < board.places && board.own < board.places ? find_reads() : 0;
    if (0 != *reads && 0 == board.own) {
        make_board(name);
    }
}

void mca_coll_pipering_pulls_close(void)
{
#if MCA_COMMON_COLLTOOLS_HAS_SMSC
    for (int i = 0; NULL != board.peer && i < board.places; ++i) {
        if (NULL != board.peer[i].endpoint && NULL != mca_smsc) {
            MCA_SMSC_CALL(return_endpoint, board.peer[i].endpoint);
        }
    }
#endif
    free(board.peer);
    board.peer = NULL;
    mca_common_colltools_segment_close(&board.segment);
    mca_common_colltools_segment_unmap(&board.segment);
    mca_common_colltools_let_go(board.directory, board.held);
    OBJ_DESTRUCT(&board.lock);
}

/* ---- joining ---- */

static void join(void)
{
    const uint64_t process = ompi_proc_local()->super.proc_name.vpid;

    board.tried = true;
    board.peer = calloc((size_t) board.places, sizeof(*board.peer));
    if (NULL == board.peer) {
        return;
    }
    if (NULL == board.segment.address) {
        board.segment = *mca_common_colltools_nodes_board();
        if (board_size() != board.segment.size
            || OMPI_SUCCESS
                   != mca_common_colltools_segment_attach(board.directory, &board.segment)) {
            return;
        }
    }
    board.word = word_of(process);
    header_at(board.own)->word = (uint64_t) (uintptr_t) &board.word;
    __atomic_store_n(&header_at(board.own)->process, process + 1, __ATOMIC_RELEASE);
    board.joined = true;
}

bool mca_coll_pipering_board_join(void)
{
    OPAL_THREAD_LOCK(&board.lock);
    if (!board.tried) {
        join();
    }
    OPAL_THREAD_UNLOCK(&board.lock);
    return board.joined;
}

/* ---- notices ---- */

notice_t *mca_coll_pipering_board_take(void)
{
    notice_t *notice = NULL;
    int i = 0;

    OPAL_THREAD_LOCK(&board.lock);
    while (i < MCA_COLL_PIPERING_NOTICES && board.taken[i]) {
        ++i;
    }
    if (MCA_COLL_PIPERING_NOTICES > i) {
        header_t *header = header_at(board.own);
        board.taken[i] = true;
        notice = notice_at(board.own, i);
        if ((uint64_t) i >= header->used) {
            __atomic_store_n(&header->used, (uint64_t) i + 1, __ATOMIC_RELEASE);
        }
    }
    OPAL_THREAD_UNLOCK(&board.lock);
    if (NULL != notice) {
        const uint64_t turn = notice->turn | 1;
        __atomic_store_n(&notice->turn, turn, __ATOMIC_RELAXED);
        __atomic_thread_fence(__ATOMIC_RELEASE); /* others see this before what follows */
        memset(&notice->name, 0, sizeof(*notice) - offsetof(notice_t, name));
    }
    return notice;
}

void mca_coll_pipering_board_put_up(notice_t *notice)
{
    __atomic_store_n(&notice->turn, notice->turn + 1, __ATOMIC_RELEASE);
}

void mca_coll_pipering_board_take_down(notice_t *notice)
{
    __atomic_store_n(&notice->turn, notice->turn + 1, __ATOMIC_RELEASE);
    OPAL_THREAD_LOCK(&board.lock);
    board.taken[notice - notice_at(board.own, 0)] = false;
    OPAL_THREAD_UNLOCK(&board.lock);
}

int mca_coll_pipering_board_place(uint32_t process, int guess)
{
    for (int i = 0; i < board.places; ++i) {
        const int place = (guess + i) % board.places;
        if (process + UINT64_C(1)
            == __atomic_load_n(&header_at(place)->process, __ATOMIC_ACQUIRE)) {
            return place;
        }
    }
    return -1;
}

/* A process writes a notice anew while others look for theirs: its turn is read twice. */
static bool is_of(const notice_t *notice, const mca_coll_pipering_call_name_t *name)
{
    const uint64_t turn = __atomic_load_n(&notice->turn, __ATOMIC_ACQUIRE);
    const bool same = 0 == turn % 2 && name->call == notice->name.call
                      && name->comm[0] == notice->name.comm[0]
                      && name->comm[1] == notice->name.comm[1];

    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return same && turn == __atomic_load_n(&notice->turn, __ATOMIC_RELAXED);
}

notice_t *mca_coll_pipering_board_find(int place, const mca_coll_pipering_call_name_t *name)
{
    const int used = (int) __atomic_load_n(&header_at(place)->used, __ATOMIC_ACQUIRE);

    for (int i = 0; i < used; ++i) {
        notice_t *notice = notice_at(place, i);
        if (is_of(notice, name)) {
            return notice;
        }
    }
    return NULL;
}

/* ---- memory of others ---- */

#if MCA_COMMON_COLLTOOLS_HAS_SMSC
static bool copy(endpoint_t *endpoint, void *here, uint64_t there, size_t bytes, bool to)
{
    void *address = (void *) (uintptr_t) there;

    return OPAL_SUCCESS == (to ? MCA_SMSC_CALL(copy_to, endpoint, here, address, bytes, NULL)
                               : MCA_SMSC_CALL(copy_from, endpoint, here, address, bytes, NULL));
}

/* The endpoint of a process, where a known word can be read; NULL: it cannot. */
static endpoint_t *try_peer(ompi_communicator_t *comm, int rank, int place)
{
    const header_t *header = header_at(place);
    uint64_t word = 0;

    if (NULL == mca_smsc || mca_smsc_base_has_feature(MCA_SMSC_FEATURE_REQUIRE_REGISTRATION)) {
        return NULL;
    }
    endpoint_t *endpoint = MCA_SMSC_CALL(get_endpoint, &ompi_comm_peer_lookup(comm, rank)->super);
    if (NULL != endpoint
        && !(copy(endpoint, &word, header->word, sizeof(word), false)
             && word_of(header->process - 1) == word)) {
        MCA_SMSC_CALL(return_endpoint, endpoint);
        return NULL;
    }
    return endpoint;
}

bool mca_coll_pipering_board_copy(ompi_communicator_t *comm, int rank, int place, char *here,
                                  uint64_t there, size_t bytes, bool to)
{
    OPAL_THREAD_LOCK(&board.lock);
    if (!board.peer[place].tried) {
        board.peer[place].endpoint = try_peer(comm, rank, place);
        board.peer[place].tried = true;
        if (NULL == board.peer[place].endpoint) {
            opal_output_verbose(1, ompi_coll_base_framework.framework_output,
                                "coll/pipering: rank %d of %s cannot read memory of rank %d on its "
                                "node, and gets messages", ompi_comm_rank(comm), comm->c_name,
                                rank);
        }
    }
    endpoint_t *endpoint = board.peer[place].endpoint;
    OPAL_THREAD_UNLOCK(&board.lock);
    return NULL != endpoint && copy(endpoint, here, there, bytes, to);
}
#else
bool mca_coll_pipering_board_copy(ompi_communicator_t *comm, int rank, int place, char *here,
                                  uint64_t there, size_t bytes, bool to)
{
    (void) comm, (void) rank, (void) place, (void) here, (void) there, (void) bytes, (void) to;
    return false;
}
#endif

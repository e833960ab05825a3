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

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ompi/mca/common/colltools/common_colltools_file.h"
#include "ompi/proc/proc.h"
#include "ompi/runtime/params.h"
#include "opal/util/output.h"
#include "opal/util/proc.h"

#if MCA_COMMON_COLLTOOLS_HAS_SMSC
#    include <sys/prctl.h>
#    include <sys/uio.h>

#    include "opal/mca/smsc/base/base.h"
#    include "opal/mca/smsc/smsc.h"
#    include MCA_COMMON_COLLTOOLS_PMIX_HEADER
#endif

typedef mca_coll_pipering_notice_t notice_t;

/* A line of its own for each process. */
typedef struct {
    uint64_t process; /* its number in the job, and 1 */
    uint64_t used;    /* notices from the first on that may be up */
    uint64_t joined;  /* it can read others, and write there */
    uint64_t word;    /* of the first process: the address of a known one, ... */
    uint64_t alike;   /* ... and what those have alike that can read each other */
    uint64_t pad[11];
} header_t;

typedef struct mca_smsc_endpoint_t endpoint_t;

static struct {
    opal_mutex_t lock;
    mca_common_colltools_directory_t *directory;
    mca_common_colltools_segment_t segment; /* address NULL: there is none */
    int places, own;
    size_t held;                        /* of it, by this process */
    bool taken[MCA_COLL_PIPERING_NOTICES]; /* of this process */
    uint64_t word, alike;
    endpoint_t **peer; /* [places] NULL: not asked for yet; itself: this process has not joined */
} board;

#define PATH_MOST 4096

/* What a process reads in another to know that it can. */
#define WORD UINT64_C(0x9e3779b97f4a7c15)

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

static uint64_t number_of_process(void)
{
    return OPAL_PROC_MY_NAME.vpid;
}

/* ---- opening ---- */

#if MCA_COMMON_COLLTOOLS_HAS_SMSC
static uint64_t number_of(const char *path)
{
    struct stat about;

    return 0 == stat(path, &about) ? (uint64_t) about.st_ino : 0;
}

/* Whether the kernel, or a container, lets this process read itself, and so perhaps others. */
static bool is_allowed(void)
{
    uint64_t from = WORD, to = 0;
    const struct iovec local = {&to, sizeof(to)}, remote = {&from, sizeof(from)};

    return (ssize_t) sizeof(to) == process_vm_readv(getpid(), &local, 1, &remote, 1, 0)
           && from == to;
}

/*
 * A hash of what processes have alike that may read each other if one of them may read another: the
 * user, namespaces, whether they may be dumped, and the label of a security module. 0: this one
 * reads none; or MPI_Init does not wait for all processes after they have joined; or calls end
 * where processes fail, with notices that are still up.
 */
static uint64_t find_alike(void)
{
    char label[256] = "";
    const uint64_t numbers[] = {number_of("/proc/self/ns/user"), number_of("/proc/self/ns/pid"),
                                (uint64_t) geteuid(), (uint64_t) prctl(PR_GET_DUMPABLE)};

    if (opal_pmix_base_async_modex || ompi_async_mpi_init || ompi_ftmpi_enabled || !is_allowed()) {
        return 0;
    }
    mca_common_colltools_read_line("/proc/self/attr/current", label, sizeof(label));
    const uint32_t hash = mca_common_colltools_hash(MCA_COMMON_COLLTOOLS_HASH,
                                                    (const char *) numbers, sizeof(numbers));
    return mca_common_colltools_hash(hash, label, strlen(label)) | UINT64_C(1) << 32;
}
#else
static uint64_t find_alike(void)
{
    return 0;
}
#endif

/* Where the file is in which the first process says where the board is; false: nowhere. */
static bool name_file(char name[PATH_MOST])
{
    return NULL != opal_process_info.job_session_dir
           && PATH_MOST > snprintf(name, PATH_MOST, "%s/pipering.board",
                                    opal_process_info.job_session_dir);
}

/*
 * All memory is reserved, so that a notice is there whenever one is free. Where the board cannot be
 * made nothing is lost that a user knows of, so nothing is said.
 */
static void make_board(mca_common_colltools_directory_t silent, const char *name)
{
    const size_t part = board_size() / (size_t) board.places;
    char text[MCA_COMMON_COLLTOOLS_SEGMENT_TEXT];

    silent.reported = true;
    if (!mca_common_colltools_hold(board.directory, part)) {
        return;
    }
    board.held = part;
    if (OMPI_SUCCESS
        != mca_common_colltools_segment_make(&silent, &board.segment, board_size(), false)) {
        return;
    }
    header_at(0)->process = number_of_process() + 1;
    header_at(0)->word = (uint64_t) (uintptr_t) &board.word;
    header_at(0)->alike = board.alike;
    mca_common_colltools_segment_write(&board.segment, text);
    FILE *file = fopen(name, "w");
    if (NULL != file) {
        (void) fputs(text, file);
        (void) fclose(file);
    }
}

void mca_coll_pipering_pulls_open(mca_common_colltools_directory_t *directory)
{
    char name[PATH_MOST];

    memset(&board, 0, sizeof(board));
    OBJ_CONSTRUCT(&board.lock, opal_mutex_t);
    board.directory = directory;
    board.word = WORD;
    board.own = (int) opal_process_info.my_local_rank;
    board.places = (int) opal_process_info.num_local_peers + 1;
    if (2 > board.places || board.places <= board.own || !name_file(name)) {
        return;
    }
    board.alike = find_alike();
    if (0 == board.own) {
        (void) unlink(name); /* of a session before */
    }
    if (0 == board.own && 0 != board.alike) {
        make_board(*directory, name);
    }
}

void mca_coll_pipering_pulls_close(void)
{
    char name[PATH_MOST];

    if (0 == board.own && NULL != board.segment.address && name_file(name)) {
        (void) unlink(name);
    }
#if MCA_COMMON_COLLTOOLS_HAS_SMSC
    for (int i = 0; NULL != board.peer && i < board.places; ++i) {
        if (NULL != board.peer[i] && NULL != mca_smsc) {
            MCA_SMSC_CALL(return_endpoint, board.peer[i]);
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

/* ---- memory of others ---- */

#if MCA_COMMON_COLLTOOLS_HAS_SMSC
/* XPMEM's own copies do not notice that memory cannot be attached. */
static bool copy(endpoint_t *endpoint, void *here, uint64_t there, size_t bytes, bool to)
{
    void *address = (void *) (uintptr_t) there;

    if (mca_smsc_base_has_feature(MCA_SMSC_FEATURE_CAN_MAP)) {
        void *mapped = NULL;
        void *region = MCA_SMSC_CALL(map_peer_region, endpoint, 0, address, bytes, &mapped);
        if (NULL == region) {
            return false;
        }
        (void) memcpy(to ? mapped : here, to ? here : mapped, bytes);
        MCA_SMSC_CALL(unmap_peer_region, region);
        return true;
    }
    return OPAL_SUCCESS == (to ? MCA_SMSC_CALL(copy_to, endpoint, here, address, bytes, NULL)
                               : MCA_SMSC_CALL(copy_from, endpoint, here, address, bytes, NULL));
}

/* Whether this process can read the first one, and write there, and so all others that are alike. */
static bool can_reach_first(void)
{
    const header_t *first = header_at(0);
    uint64_t word = 0;
    opal_proc_t proc;

    if (first->alike != board.alike || NULL == mca_smsc
        || mca_smsc_base_has_feature(MCA_SMSC_FEATURE_REQUIRE_REGISTRATION)) {
        return false;
    }
    if (0 == board.own) {
        return true;
    }
    OBJ_CONSTRUCT(&proc, opal_proc_t);
    proc.proc_name = OPAL_PROC_MY_NAME;
    proc.proc_name.vpid = (opal_vpid_t) (first->process - 1);
    endpoint_t *endpoint = MCA_SMSC_CALL(get_endpoint, &proc);
    const bool reached = NULL != endpoint
                         && copy(endpoint, &word, first->word, sizeof(word), false)
                         && WORD == word
                         && copy(endpoint, &word, first->word, sizeof(word), true);
    if (NULL != endpoint) {
        MCA_SMSC_CALL(return_endpoint, endpoint);
    }
    OBJ_DESTRUCT(&proc);
    return reached;
}

bool mca_coll_pipering_board_copy(ompi_communicator_t *comm, int rank, int place, char *here,
                                  uint64_t there, size_t bytes, bool to)
{
    OPAL_THREAD_LOCK(&board.lock);
    if (NULL == board.peer[place]) {
        board.peer[place] = MCA_SMSC_CALL(get_endpoint, &ompi_comm_peer_lookup(comm, rank)->super);
    }
    endpoint_t *endpoint = board.peer[place];
    OPAL_THREAD_UNLOCK(&board.lock);
    return NULL != endpoint && copy(endpoint, here, there, bytes, to);
}
#else
static bool can_reach_first(void)
{
    return false;
}

bool mca_coll_pipering_board_copy(ompi_communicator_t *comm, int rank, int place, char *here,
                                  uint64_t there, size_t bytes, bool to)
{
    (void) comm, (void) rank, (void) place, (void) here, (void) there, (void) bytes, (void) to;
    return false;
}
#endif

/* ---- joining ---- */

/* Attaches what the first process has made; nothing is said, as above. */
static bool attach(void)
{
    mca_common_colltools_directory_t silent = *board.directory;
    char name[PATH_MOST], text[MCA_COMMON_COLLTOOLS_SEGMENT_TEXT] = "";

    silent.reported = true;
    if (!name_file(name)) {
        return false;
    }
    mca_common_colltools_read_line(name, text, sizeof(text));
    mca_common_colltools_segment_read(text, &board.segment);
    return board_size() == board.segment.size
           && OMPI_SUCCESS == mca_common_colltools_segment_attach(&silent, &board.segment);
}

void mca_coll_pipering_pulls_join(void)
{
    if (0 == board.alike || (0 < board.own ? !attach() : NULL == board.segment.address)
        || !can_reach_first()) {
        return;
    }
    board.peer = calloc((size_t) board.places, sizeof(*board.peer));
    if (NULL != board.peer) {
        header_at(board.own)->process = number_of_process() + 1;
        __atomic_store_n(&header_at(board.own)->joined, 1, __ATOMIC_RELEASE);
    }
}

/* The process of a rank, in its job. */
static uint32_t process_of(ompi_communicator_t *comm, int rank)
{
    return ompi_group_get_proc_name(comm->c_local_group, rank).vpid;
}

/* What a rank has told before, in MPI_Init or to who has made the communicator, has been seen. */
bool mca_coll_pipering_pulls_ready(ompi_communicator_t *comm)
{
    bool ready = NULL != board.peer;

    for (int r = 0, place = 0; ready && r < ompi_comm_size(comm); ++r, ++place) {
        place = mca_coll_pipering_board_place(process_of(comm, r), place);
        ready = 0 != __atomic_load_n(&header_at(place)->joined, __ATOMIC_ACQUIRE)
                && process_of(comm, r) + UINT64_C(1) == header_at(place)->process;
    }
    return ready;
}

/* ---- notices ---- */

notice_t *mca_coll_pipering_board_take(const mca_coll_pipering_call_name_t *name)
{
    const int most = MCA_COLL_PIPERING_NOTICES
                     - (name->blocking ? 0 : MCA_COLL_PIPERING_NOTICES_BLOCKING);
    notice_t *notice = NULL;
    int i = 0;

    OPAL_THREAD_LOCK(&board.lock);
    while (i < most && board.taken[i]) {
        ++i;
    }
    if (most > i) {
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
        notice->name = *name;
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
    int i = 0;

    while (i + 1 < board.places
           && process + UINT64_C(1) != header_at((guess + i) % board.places)->process) {
        ++i;
    }
    return (guess + i) % board.places;
}

/* A process writes a notice anew while others look for theirs: its turn is read twice. */
static bool is_of(const notice_t *notice, const mca_coll_pipering_call_name_t *name)
{
    const uint64_t turn = __atomic_load_n(&notice->turn, __ATOMIC_ACQUIRE);
    const bool same = 0 == turn % 2 && name->call == notice->name.call
                      && name->blocking == notice->name.blocking
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

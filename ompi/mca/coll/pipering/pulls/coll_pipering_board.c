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

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ompi/mca/common/colltools/common_colltools_copy.h"
#include "ompi/mca/common/colltools/common_colltools_file.h"
#include "ompi/runtime/params.h"
#include "opal/util/proc.h"

#if MCA_COMMON_COLLTOOLS_PULLS
#    include <sys/prctl.h>
#    include <sys/uio.h>
#endif

typedef mca_coll_pipering_notice_t notice_t;

/* A line of its own for each process, and for the one that has made the board. */
typedef struct {
    uint64_t process; /* its number in the job, and 1 */
    uint64_t number;  /* the same to the kernel */
    uint64_t used;    /* notices from the first on that may be up */
    uint64_t joined;  /* it can read others, and write there; what its card says of that */
    uint64_t word;    /* of the maker: the address of a known one, ... */
    uint64_t alike;   /* ... and what those have alike that can reach each other */
    uint64_t pad[10];
} header_t;

static struct {
    opal_mutex_t lock;
    mca_common_colltools_directory_t *directory;
    mca_common_colltools_segment_t segment; /* address NULL: there is none */
    int places, own;
    int opened;  /* times that this process has opened the board */
    bool maker;  /* it has made it, ... */
    size_t held; /* ... and holds so many bytes */
    bool joined;
    bool taken[MCA_COLL_PIPERING_NOTICES]; /* of this process */
    uint64_t word, alike;
} board;

#define PATH_MOST 4096

/* What a process reads in another to know that it can. */
#define WORD UINT64_C(0x9e3779b97f4a7c15)

static header_t *header_at(int place)
{
    return (header_t *) board.segment.address + place;
}

static header_t *maker(void)
{
    return header_at(board.places);
}

static notice_t *notice_at(int place, int i)
{
    return (notice_t *) header_at(board.places + 1) + place * MCA_COLL_PIPERING_NOTICES + i;
}

static size_t board_size(void)
{
    return ((size_t) board.places + 1) * sizeof(header_t)
           + (size_t) board.places * MCA_COLL_PIPERING_NOTICES * sizeof(notice_t);
}

/* ---- memory of others ---- */

#if MCA_COMMON_COLLTOOLS_PULLS
/* The kernel copies less than it is asked for where that is very much. */
static bool copy(uint64_t process, char *here, uint64_t there, size_t bytes, bool to)
{
    while (0 < bytes) {
        const struct iovec local = {here, bytes}, remote = {(void *) (uintptr_t) there, bytes};
        const ssize_t done = to ? process_vm_writev((pid_t) process, &local, 1, &remote, 1, 0)
                                : process_vm_readv((pid_t) process, &local, 1, &remote, 1, 0);
        if (0 >= done) {
            return false;
        }
        here += done;
        there += (uint64_t) done;
        bytes -= (size_t) done;
    }
    return true;
}

/* Whether this process can read a known word of another one, and write it there. */
static bool can_reach(uint64_t process, uint64_t there)
{
    uint64_t word = 0;

    return copy(process, (char *) &word, there, sizeof(word), false) && WORD == word
           && copy(process, (char *) &word, there, sizeof(word), true);
}

static uint64_t number_of(const char *path)
{
    struct stat about;

    return 0 == stat(path, &about) ? (uint64_t) about.st_ino : 0;
}

/*
 * A hash of what processes have alike that may reach each other if one of them may reach another:
 * the user, namespaces, whether they may be dumped, and the label of a security module. 0: this one
 * reaches none, or calls end where processes fail, with notices that are still up.
 */
static uint64_t find_alike(void)
{
    char label[256] = "";
    const uint64_t numbers[] = {number_of("/proc/self/ns/user"), number_of("/proc/self/ns/pid"),
                                (uint64_t) geteuid(), (uint64_t) prctl(PR_GET_DUMPABLE)};

    if (ompi_ftmpi_enabled
        || !can_reach((uint64_t) getpid(), (uint64_t) (uintptr_t) &board.word)) {
        return 0;
    }
    (void) prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    mca_common_colltools_read_line("/proc/self/attr/current", label, sizeof(label));
    const uint32_t hash = mca_common_colltools_hash(MCA_COMMON_COLLTOOLS_HASH,
                                                    (const char *) numbers, sizeof(numbers));
    return mca_common_colltools_hash(hash, label, strlen(label)) | UINT64_C(1) << 32;
}
#else
static bool copy(uint64_t process, char *here, uint64_t there, size_t bytes, bool to)
{
    (void) process, (void) here, (void) there, (void) bytes, (void) to;
    return false;
}

static bool can_reach(uint64_t process, uint64_t there)
{
    (void) process, (void) there;
    return false;
}

static uint64_t find_alike(void)
{
    return 0;
}
#endif

bool mca_coll_pipering_board_copy(int place, char *here, uint64_t there, size_t bytes, bool to)
{
    return copy(header_at(place)->number, here, there, bytes, to);
}

/* ---- opening ---- */

/*
 * The file in which the maker says where the board is; false: there is no place for it. Sessions
 * that follow each other, as often in all processes, have a board each.
 */
static bool name_file(char name[PATH_MOST])
{
    return NULL != opal_process_info.job_session_dir
           && PATH_MOST > snprintf(name, PATH_MOST, "%s/pipering.board.%d",
                                   opal_process_info.job_session_dir, board.opened);
}

/*
 * All memory is reserved, so that a notice is there whenever one is free. Where the board cannot be
 * made nothing is lost that a user knows of, so nothing is said.
 */
static void make_board(mca_common_colltools_directory_t silent, int file)
{
    const size_t part = board_size() / (size_t) board.places;
    char text[MCA_COMMON_COLLTOOLS_SEGMENT_TEXT] = "";

    silent.reported = true;
    board.maker = true;
    if (mca_common_colltools_hold(board.directory, part)) {
        board.held = part;
        if (OMPI_SUCCESS
            == mca_common_colltools_segment_make(&silent, &board.segment, board_size(), false)) {
            maker()->number = (uint64_t) getpid();
            maker()->word = (uint64_t) (uintptr_t) &board.word;
            maker()->alike = board.alike;
            mca_common_colltools_segment_write(&board.segment, text);
        }
    }
    (void) strcat(text, "\n");
    if ((ssize_t) strlen(text) != write(file, text, strlen(text))) {
        mca_common_colltools_segment_unmap(&board.segment);
    }
}

/* Microseconds between looks at a file that is being written, and how many there are. */
#define PAUSE 50
#define LOOKS 20000

/* Attaches what another process has made, or is making now. */
static void attach(mca_common_colltools_directory_t silent, const char *name)
{
    char text[MCA_COMMON_COLLTOOLS_SEGMENT_TEXT] = "";
    struct stat about;
    int looks = 0;

    silent.reported = true;
    while (LOOKS > looks++ && 0 == stat(name, &about) && 0 == about.st_size) {
        (void) usleep(PAUSE);
    }
    mca_common_colltools_read_line(name, text, sizeof(text));
    mca_common_colltools_segment_read(text, &board.segment);
    if (board_size() == board.segment.size) {
        (void) mca_common_colltools_segment_attach(&silent, &board.segment);
    }
}

void mca_coll_pipering_pulls_open(mca_common_colltools_directory_t *directory)
{
    const int opened = board.opened + 1;
    char name[PATH_MOST];

    memset(&board, 0, sizeof(board));
    OBJ_CONSTRUCT(&board.lock, opal_mutex_t);
    board.directory = directory;
    board.opened = opened;
    board.word = WORD;
    board.own = (int) opal_process_info.my_local_rank;
    board.places = (int) opal_process_info.num_local_peers + 1;
    board.alike = 1 < board.places && board.own < board.places ? find_alike() : 0;
    if (0 == board.alike || !name_file(name)) {
        return;
    }
    const int file = open(name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (0 <= file) {
        make_board(*directory, file);
        (void) close(file);
    } else if (EEXIST == errno) {
        attach(*directory, name);
    }
    if (NULL != board.segment.address && maker()->alike == board.alike
        && (board.maker || can_reach(maker()->number, maker()->word))) {
        header_t *own = header_at(board.own);
        board.joined = true;
        own->process = (uint64_t) OPAL_PROC_MY_NAME.vpid + 1;
        own->number = (uint64_t) getpid();
        __atomic_store_n(&own->joined, mca_coll_pipering_pulls_joined(), __ATOMIC_RELEASE);
    }
}

void mca_coll_pipering_pulls_close(void)
{
    char name[PATH_MOST];

    if (board.maker && name_file(name)) {
        (void) unlink(name);
    }
    mca_common_colltools_segment_close(&board.segment);
    mca_common_colltools_segment_unmap(&board.segment);
    mca_common_colltools_let_go(board.directory, board.held);
    OBJ_DESTRUCT(&board.lock);
}

uint32_t mca_coll_pipering_pulls_joined(void)
{
    return !board.joined && 1 < board.places   ? 0
           : mca_common_colltools_has_device() ? MCA_COMMON_COLLTOOLS_PULLS_STAGED
                                               : MCA_COMMON_COLLTOOLS_PULLS_ANY;
}

/* The process of a rank, in its job. */
static uint32_t process_of(ompi_communicator_t *comm, int rank)
{
    return ompi_group_get_proc_name(comm->c_local_group, rank).vpid;
}

/* A process joins, if it does, before it tells its card, and the cards of all ranks are here. */
bool mca_coll_pipering_pulls_ready(ompi_communicator_t *comm, const int *node_of, uint32_t least)
{
    const int own = node_of[ompi_comm_rank(comm)];
    bool ready = board.joined;

    for (int r = 0, place = 0; ready && r < ompi_comm_size(comm); ++r) {
        if (node_of[r] != own) {
            continue;
        }
        place = mca_coll_pipering_board_place(process_of(comm, r), place);
        ready = least <= __atomic_load_n(&header_at(place)->joined, __ATOMIC_ACQUIRE)
                && process_of(comm, r) + UINT64_C(1) == header_at(place)->process;
        ++place;
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
        memset(&notice->name, 0, offsetof(notice_t, small) - offsetof(notice_t, name));
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

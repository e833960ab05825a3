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
 * The segments of common_colltools.h: files in memory without a name. Other processes open them
 * through the process that has made them (/proc/PID/fd). So no file is left behind however a job
 * ends, even if all its processes are killed.
 *
 * Where a file system makes no files without a name, a file has one until the process has opened
 * it; only if the process is killed in between, the file is left. Memory is reserved when a segment
 * is made, or before a part of it is used: then a full file system is an error of the reservation,
 * and not a signal when a page is touched.
 *
 * Other users of the memory, Open MPI's own transport among them, do not reserve it. So most of
 * the free memory is left to them: the processes of a node together hold a part of it, each an
 * equal share.
 */

#include "common_colltools.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "opal/util/output.h"
#include "opal/util/proc.h"
#include "ompi/mca/common/colltools/common_colltools_help.h"

/* Populates the mapping, so that the first calls have no page faults. */
#ifdef MAP_POPULATE
#    define POPULATE MAP_POPULATE
#else
#    define POPULATE 0
#endif

/* Segments take at most 1 / FREE_PART of the free memory. */
#define FREE_PART 8

const char *mca_common_colltools_default_base(void)
{
    static const char shm[] = "/dev/shm";
    return 0 == access(shm, W_OK) ? shm : opal_process_info.job_session_dir;
}

/* Whether help texts, which are in a file, cannot be read for the same reason. */
static bool lacks_help(int error)
{
    return EMFILE == error || ENFILE == error || ENOMEM == error;
}

/* Reports the first failure to the user. */
static void complain(mca_common_colltools_directory_t *directory, const char *name,
                     const char *what, int error)
{
    if (directory->reported) {
        return;
    }
    directory->reported = true;
    if (lacks_help(error)) {
        opal_output(0, "A process on node %s cannot %s\n  %s\nfor shared memory of the collective "
                    "component %s: %s.\nThe ranks concerned exchange messages instead, and the job "
                    "goes on.", opal_process_info.nodename, what, name, directory->owner,
                    strerror(error));
        return;
    }
    mca_common_colltools_show_help("help-mca-common-colltools.txt", "no-segment",
                                   opal_process_info.nodename, what, name, directory->owner,
                                   strerror(error), directory->owner);
}

/* ---- shares ---- */

/* Free bytes; a failure is no limit here, since making a segment will report it. */
static size_t count_free(const mca_common_colltools_directory_t *directory)
{
    struct statvfs about;

    return 0 == statvfs(directory->base, &about) ? (size_t) about.f_bavail * about.f_frsize
                                                 : SIZE_MAX / 2;
}

/* Held memory is no longer free: adding `held` keeps the share constant if all hold as much. */
size_t mca_common_colltools_share(const mca_common_colltools_directory_t *directory)
{
    const size_t processes = (size_t) opal_process_info.num_local_peers + 1;

    return 0 < directory->budget
               ? directory->budget / processes
               : (count_free(directory) / processes + directory->held) / FREE_PART;
}

bool mca_common_colltools_hold(mca_common_colltools_directory_t *directory, size_t bytes)
{
    if (directory->held + bytes > mca_common_colltools_share(directory)) {
        return false;
    }
    directory->held += bytes;
    return true;
}

void mca_common_colltools_let_go(mca_common_colltools_directory_t *directory, size_t bytes)
{
    directory->held -= bytes;
}

void mca_common_colltools_tell_full(mca_common_colltools_directory_t *directory)
{
    complain(directory, directory->base, "take more than its share of the free memory in", ENOSPC);
}

/* ---- segments ---- */

static int map_file(mca_common_colltools_directory_t *directory,
                    mca_common_colltools_segment_t *segment, int file)
{
    void *address = mmap(NULL, segment->size, PROT_READ | PROT_WRITE,
                         MAP_SHARED | (segment->sparse ? 0 : POPULATE), file, 0);

    if (MAP_FAILED == address) {
        complain(directory, segment->name, "map", errno);
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    segment->address = address;
    return OMPI_SUCCESS;
}

/* posix_fallocate, which a signal may interrupt. */
static int reserve(int file, size_t from, size_t size)
{
    int error;

    do {
        error = posix_fallocate(file, (off_t) from, (off_t) size);
    } while (EINTR == error);
    return error;
}

/* A new file without a name, -1: none. A process that was killed may have left one of its name. */
static int create_file(mca_common_colltools_directory_t *directory)
{
    char name[4096];
    int file = -1, error = 0;

#ifdef O_TMPFILE
    file = open(directory->base, O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
#endif
    (void) snprintf(name, sizeof(name), "%s/%s.%s.%u.%x.%u", directory->base, directory->owner,
                    opal_process_info.nodename, (unsigned) geteuid(),
                    (unsigned) OPAL_PROC_MY_NAME.jobid, (unsigned) OPAL_PROC_MY_NAME.vpid);
    for (int attempt = 0; attempt < 2 && 0 > file; ++attempt) {
        file = open(name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
        error = errno;
        (void) unlink(name);
    }
    if (0 > file) {
        complain(directory, name, "create", error);
    }
    return file;
}

/* Sets the size of a new file, and reserves its memory unless it is sparse. */
static int set_size(mca_common_colltools_directory_t *directory,
                    const mca_common_colltools_segment_t *segment)
{
    int error = 0;

    if (!segment->sparse) {
        error = reserve(segment->file, 0, segment->size);
    } else if (0 != ftruncate(segment->file, (off_t) segment->size)) {
        error = errno;
    }
    if (0 == error) {
        return OMPI_SUCCESS;
    }
    complain(directory, segment->name, "reserve the memory of", error);
    return OMPI_ERR_OUT_OF_RESOURCE;
}

int mca_common_colltools_segment_make(mca_common_colltools_directory_t *directory,
                                      mca_common_colltools_segment_t *segment, size_t size,
                                      bool sparse)
{
    struct stat about;

    *segment = (mca_common_colltools_segment_t){.size = size,
                                                .sparse = sparse,
                                                .file = create_file(directory)};
    if (0 > segment->file) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    (void) snprintf(segment->name, sizeof(segment->name), "/proc/%ld/fd/%d", (long) getpid(),
                    segment->file);
    (void) fstat(segment->file, &about);
    segment->device = (uint64_t) about.st_dev;
    segment->inode = (uint64_t) about.st_ino;
    int rc = set_size(directory, segment);
    if (OMPI_SUCCESS == rc) {
        rc = map_file(directory, segment, segment->file);
    }
    if (OMPI_SUCCESS != rc) {
        mca_common_colltools_segment_close(segment);
    }
    return rc;
}

int mca_common_colltools_segment_reserve(mca_common_colltools_directory_t *directory,
                                         const mca_common_colltools_segment_t *segment,
                                         size_t from, size_t size)
{
    const int error = reserve(segment->file, from, size);

    if (0 == error) {
        return OMPI_SUCCESS;
    }
    complain(directory, segment->name, "reserve the memory of", error);
    return OMPI_ERR_OUT_OF_RESOURCE;
}

void mca_common_colltools_segment_write(const mca_common_colltools_segment_t *segment, char *text)
{
    (void) sprintf(text, "%s:%" PRIx64 ":%" PRIx64 ":%zx", segment->name, segment->device,
                   segment->inode, segment->size);
}

void mca_common_colltools_segment_read(const char *text, mca_common_colltools_segment_t *segment)
{
    *segment = (mca_common_colltools_segment_t){.file = -1};
    if (4 != sscanf(text, "%63[^:]:%" SCNx64 ":%" SCNx64 ":%zx", segment->name, &segment->device,
                    &segment->inode, &segment->size)) {
        segment->name[0] = '\0';
    }
}

bool mca_common_colltools_segment_give_back(const mca_common_colltools_segment_t *segment,
                                            size_t size)
{
#ifdef MADV_REMOVE
    return 0 == madvise(segment->address, size, MADV_REMOVE);
#else
    (void) segment;
    (void) size;
    return false;
#endif
}

static bool is_file(const mca_common_colltools_segment_t *segment, const struct stat *file)
{
    return segment->device == (uint64_t) file->st_dev && segment->inode == (uint64_t) file->st_ino;
}

bool mca_common_colltools_segment_is_gone(const mca_common_colltools_segment_t *segment)
{
    struct stat about;

    return 0 != stat(segment->name, &about) || !is_file(segment, &about);
}

int mca_common_colltools_segment_attach(mca_common_colltools_directory_t *directory,
                                        mca_common_colltools_segment_t *segment)
{
    const int file = open(segment->name, O_RDWR | O_CLOEXEC);
    struct stat about;
    int rc = OMPI_ERR_OUT_OF_RESOURCE;

    segment->address = NULL;
    if (0 > file) {
        complain(directory, segment->name, "open", errno);
        return rc;
    }
    /* in another container the process number may mean another process */
    if (0 == fstat(file, &about) && is_file(segment, &about)) {
        rc = map_file(directory, segment, file);
    } else {
        complain(directory, segment->name, "find", ENOENT);
    }
    (void) close(file);
    return rc;
}

void mca_common_colltools_segment_close(mca_common_colltools_segment_t *segment)
{
    if ('\0' != segment->name[0]) {
        (void) close(segment->file);
        segment->name[0] = '\0';
    }
}

void mca_common_colltools_segment_unmap(mca_common_colltools_segment_t *segment)
{
    if (NULL != segment->address) {
        (void) munmap(segment->address, segment->size);
        segment->address = NULL;
    }
}

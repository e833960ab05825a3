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
 * Segments of common_irregular.h: files in memory, each with a name for as long as
 * the other side needs to find it.
 *
 * Names lie in a directory per process, registered once with the runtime, which
 * removes it should the process not come to that. The memory is reserved when a
 * segment is made: a file system that is full says so then, and not by a signal when
 * a page is touched.
 */

#include "common_irregular.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "opal/util/proc.h"
#include "opal/util/show_help.h"

/* Lets the runtime remove a directory, should this process not come to it. */
#if 5 <= OMPI_MAJOR_VERSION
#    include "opal/mca/pmix/pmix-internal.h"
#    define REGISTER_CLEANUP(path) ((void) opal_pmix_register_cleanup((path), true, false, false))
#else
#    include "opal/mca/pmix/pmix.h"
#    define REGISTER_CLEANUP(path)                      \
        ((void) (NULL == opal_pmix.register_cleanup     \
                     ? OMPI_ERR_NOT_SUPPORTED           \
                     : opal_pmix.register_cleanup((path), true, false, false)))
#endif

/* Else every page is a fault in the first calls. */
#ifdef MAP_POPULATE
#    define POPULATE MAP_POPULATE
#else
#    define POPULATE 0
#endif

const char *mca_common_irregular_default_base(void)
{
    static const char shm[] = "/dev/shm";
    return 0 == access(shm, W_OK) ? shm : opal_process_info.job_session_dir;
}

/* One message, for the first segment that cannot be had. */
static void complain(mca_common_irregular_directory_t *directory, const char *name,
                     const char *what, int error)
{
    if (!directory->told) {
        directory->told = true;
        opal_show_help("help-mca-common-irregular.txt", "no-segment", true,
                       opal_process_info.nodename, what, name, directory->owner, strerror(error),
                       directory->owner);
    }
}

/* In a directory that all can write to another user may have been there before us. */
static bool is_ours(const char *path)
{
    struct stat about;

    return 0 == lstat(path, &about) && S_ISDIR(about.st_mode) && geteuid() == about.st_uid
           && 0 == (about.st_mode & (S_IRWXG | S_IRWXO));
}

/* It is there only as long as it has files in it. */
static int make_directory(mca_common_irregular_directory_t *directory)
{
    char path[sizeof(directory->path)];
    const int length = snprintf(path, sizeof(path), "%s/%s.%s.%u.%x.%u", directory->base,
                                directory->owner, opal_process_info.nodename,
                                (unsigned) geteuid(), (unsigned) OPAL_PROC_MY_NAME.jobid,
                                (unsigned) OPAL_PROC_MY_NAME.vpid);
    if ((int) sizeof(path) <= length) {
        complain(directory, path, "name", ENAMETOOLONG);
        return OMPI_ERROR;
    }
    if (0 != mkdir(path, S_IRWXU) && !(EEXIST == errno && is_ours(path))) {
        complain(directory, path, "make the directory", errno);
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    if ('\0' == directory->path[0]) {
        REGISTER_CLEANUP(path);
        memcpy(directory->path, path, sizeof(path));
    }
    return OMPI_SUCCESS;
}

/* Maps `size` bytes of an open file, which is closed. */
static int map_file(mca_common_irregular_directory_t *directory,
                    mca_common_irregular_segment_t *segment, int file)
{
    void *address = mmap(NULL, segment->size, PROT_READ | PROT_WRITE, MAP_SHARED | POPULATE, file,
                         0);
    const int error = errno;

    (void) close(file);
    if (MAP_FAILED == address) {
        complain(directory, segment->name, "map", error);
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    segment->address = address;
    return OMPI_SUCCESS;
}

/* A signal may interrupt it. */
static int reserve(int file, size_t size)
{
    int error;

    do {
        error = posix_fallocate(file, 0, (off_t) size);
    } while (EINTR == error);
    return error;
}

/* Another thread may remove the directory, empty, before there is a file in it: once more then. */
static int create_file(mca_common_irregular_directory_t *directory,
                       mca_common_irregular_segment_t *segment, int *file)
{
    int error = 0;

    for (int attempt = 0; attempt < 100; ++attempt) {
        const int rc = make_directory(directory);
        if (OMPI_SUCCESS != rc) {
            return rc;
        }
        (void) snprintf(segment->name, sizeof(segment->name), "%s/%u", directory->path,
                        directory->made++);
        *file = open(segment->name, O_CREAT | O_EXCL | O_RDWR, S_IRUSR | S_IWUSR);
        error = errno;
        if (0 <= *file) {
            return OMPI_SUCCESS;
        }
        if (ENOENT != error) {
            break;
        }
    }
    complain(directory, segment->name, "create", error);
    return OMPI_ERR_OUT_OF_RESOURCE;
}

int mca_common_irregular_segment_make(mca_common_irregular_directory_t *directory,
                                      mca_common_irregular_segment_t *segment, size_t size)
{
    int file;

    *segment = (mca_common_irregular_segment_t){.size = size};
    int rc = create_file(directory, segment, &file);
    if (OMPI_SUCCESS != rc) {
        segment->name[0] = '\0';
        return rc;
    }
    const int error = reserve(file, size);
    if (0 != error) {
        complain(directory, segment->name, "reserve the memory of", error);
        (void) close(file);
        rc = OMPI_ERR_OUT_OF_RESOURCE;
    } else {
        rc = map_file(directory, segment, file);
    }
    if (OMPI_SUCCESS != rc) {
        mca_common_irregular_segment_unlink(segment);
    }
    return rc;
}

int mca_common_irregular_segment_attach(mca_common_irregular_directory_t *directory,
                                        mca_common_irregular_segment_t *segment)
{
    const int file = open(segment->name, O_RDWR);

    segment->address = NULL;
    if (0 > file) {
        complain(directory, segment->name, "open", errno);
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    return map_file(directory, segment, file);
}

void mca_common_irregular_segment_unlink(mca_common_irregular_segment_t *segment)
{
    if ('\0' != segment->name[0]) {
        (void) unlink(segment->name);
        /* nobody would remove the directory of a job whose processes are all killed */
        *strrchr(segment->name, '/') = '\0';
        (void) rmdir(segment->name);
        segment->name[0] = '\0';
    }
}

void mca_common_irregular_segment_unmap(mca_common_irregular_segment_t *segment)
{
    if (NULL != segment->address) {
        (void) munmap(segment->address, segment->size);
        segment->address = NULL;
    }
}

void mca_common_irregular_directory_remove(mca_common_irregular_directory_t *directory)
{
    if ('\0' != directory->path[0]) {
        (void) rmdir(directory->path);
        directory->path[0] = '\0';
    }
}

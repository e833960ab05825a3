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
 * Segments of coll_pipering_hop.h: files in memory, each with a name for as long as
 * the other side needs to find it.
 *
 * Names lie in a directory per process, registered once with the runtime, which
 * removes it should the process not come to that. The memory is reserved when a
 * segment is made: a file system that is full says so then, and not by a signal when
 * a page is touched.
 */

#include "coll_pipering.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "opal/util/output.h"
#include "opal/util/proc.h"

/* Else every page is a fault in the first calls. */
#ifdef MAP_POPULATE
#    define POPULATE MAP_POPULATE
#else
#    define POPULATE 0
#endif

static struct {
    char path[MCA_COLL_PIPERING_SEGMENT_NAME - 32]; /* "" before the first segment */
    unsigned made;
} directory;

/* One sentence, for the first segment that cannot be had. */
static void complain(const char *name, const char *what, int error)
{
    static bool told;

    if (!told) {
        told = true;
        opal_show_help("help-coll-pipering.txt", "no-segment", true,
                       opal_process_info.nodename, what, name, strerror(error));
    }
}

static int make_directory(void)
{
    if ('\0' != directory.path[0]) {
        return OMPI_SUCCESS;
    }

    char path[sizeof(directory.path)];
    const int length = snprintf(path, sizeof(path), "%s/pipering.%s.%u.%x.%u",
                                mca_coll_pipering_backing_directory(), opal_process_info.nodename,
                                (unsigned) geteuid(), (unsigned) OMPI_PROC_MY_NAME->jobid,
                                (unsigned) OMPI_PROC_MY_NAME->vpid);
    if ((int) sizeof(path) <= length) {
        complain(path, "name", ENAMETOOLONG);
        return OMPI_ERROR;
    }
    if (0 != mkdir(path, S_IRWXU) && EEXIST != errno) {
        complain(path, "make the directory", errno);
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    mca_coll_pipering_register_cleanup(path);
    memcpy(directory.path, path, sizeof(path));
    return OMPI_SUCCESS;
}

/* Maps `size` bytes of an open file, which is closed. */
static int map_file(mca_coll_pipering_segment_t *segment, int file)
{
    void *address = mmap(NULL, segment->size, PROT_READ | PROT_WRITE, MAP_SHARED | POPULATE, file,
                         0);
    const int error = errno;

    (void) close(file);
    if (MAP_FAILED == address) {
        complain(segment->name, "map", error);
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    segment->address = address;
    return OMPI_SUCCESS;
}

int mca_coll_pipering_segment_make(mca_coll_pipering_segment_t *segment, size_t size)
{
    *segment = (mca_coll_pipering_segment_t){.size = size};
    int rc = make_directory();
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    (void) snprintf(segment->name, sizeof(segment->name), "%s/%u", directory.path,
                    directory.made++);
    const int file = open(segment->name, O_CREAT | O_EXCL | O_RDWR, S_IRUSR | S_IWUSR);
    if (0 > file) {
        complain(segment->name, "create", errno);
        segment->name[0] = '\0';
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    const int error = posix_fallocate(file, 0, (off_t) size);
    if (0 != error) {
        complain(segment->name, "reserve the memory of", error);
        (void) close(file);
        rc = OMPI_ERR_OUT_OF_RESOURCE;
    } else {
        rc = map_file(segment, file);
    }
    if (OMPI_SUCCESS != rc) {
        mca_coll_pipering_segment_unlink(segment);
    }
    return rc;
}

int mca_coll_pipering_segment_attach(mca_coll_pipering_segment_t *segment)
{
    const int file = open(segment->name, O_RDWR);

    segment->address = NULL;
    if (0 > file) {
        complain(segment->name, "open", errno);
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    return map_file(segment, file);
}

void mca_coll_pipering_segment_unlink(mca_coll_pipering_segment_t *segment)
{
    if ('\0' != segment->name[0]) {
        (void) unlink(segment->name);
        segment->name[0] = '\0';
    }
}

void mca_coll_pipering_segment_unmap(mca_coll_pipering_segment_t *segment)
{
    if (NULL != segment->address) {
        (void) munmap(segment->address, segment->size);
        segment->address = NULL;
    }
}

void mca_coll_pipering_segment_finalize(void)
{
    if ('\0' != directory.path[0]) {
        (void) rmdir(directory.path);
        directory.path[0] = '\0';
    }
}

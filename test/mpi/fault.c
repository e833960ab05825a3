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
 * What can happen while a segment of shared memory is made, at will: a program that
 * is linked with this has posix_fallocate and open of its own, which hand on to the system but for
 * files of the components, which have no name. With FAULT=reserve or attach (open what another
 * process has made) the process of rank VICTIM is killed as it comes to the first such step, or to
 * the first one behind SPARED others; with REFUSE=1 the step fails instead, from there on every
 * time. FAULT=read is the same for the first step of reading, or writing, a process's memory;
 * VICTIM=all: of all ranks. FAULT=unnamed, with REFUSE=1, is a file system that makes no files
 * without a name. With FAULT=descriptors the process gets no more files from its first step of
 * attaching behind MPI_Init on.
 */

#define _GNU_SOURCE /* RTLD_NEXT */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static bool leads_to_ours(const char *link)
{
    char path[512];
    const ssize_t length = readlink(link, path, sizeof(path) - 1);

    path[0 > length ? 0 : length] = '\0';
    return NULL != strstr(path, "/#");
}

static bool is_ours(int file)
{
    char link[64];

    snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
    return leads_to_ours(link);
}

/* What others have made has no name; it is opened where they have it open. */
static bool is_of_others(const char *path)
{
    long process;

    return 1 == sscanf(path, "/proc/%ld/fd/", &process) && (long) getpid() != process
           && leads_to_ours(path);
}

/* True if the step is to fail. */
static bool strikes(const char *step)
{
    const char *fault = getenv("FAULT"), *victim = getenv("VICTIM");
    const char *rank = getenv("OMPI_COMM_WORLD_RANK"), *spared = getenv("SPARED");
    static int steps;

    if (NULL == fault || 0 != strcmp(fault, step) || NULL == victim || NULL == rank
        || (0 != strcmp(victim, rank) && 0 != strcmp(victim, "all"))) {
        return false;
    }
    if (NULL != spared && ++steps <= atoi(spared)) {
        return false;
    }
    if (NULL == getenv("REFUSE")) {
        (void) !write(1, "# killed in a step\n", 19);
        kill(getpid(), SIGKILL);
    }
    return true;
}

int posix_fallocate(int file, off_t from, off_t length)
{
    int (*next)(int, off_t, off_t);
    void *symbol = dlsym(RTLD_NEXT, "posix_fallocate");

    memcpy(&next, &symbol, sizeof(symbol));
    if (is_ours(file) && strikes("reserve")) {
        return ENOSPC;
    }
    return next(file, from, length);
}

/* Open MPI's own component reads one range at a time. */
static ssize_t reach(long call, pid_t process, const struct iovec *local,
                     const struct iovec *remote)
{
    if (strikes("read")) {
        errno = EPERM;
        return -1;
    }
    return syscall(call, process, local, 1, remote, 1, 0);
}

ssize_t process_vm_readv(pid_t process, const struct iovec *local, unsigned long locals,
                         const struct iovec *remote, unsigned long remotes, unsigned long flags)
{
    (void) locals, (void) remotes, (void) flags;
    return reach(SYS_process_vm_readv, process, local, remote);
}

ssize_t process_vm_writev(pid_t process, const struct iovec *local, unsigned long locals,
                          const struct iovec *remote, unsigned long remotes, unsigned long flags)
{
    (void) locals, (void) remotes, (void) flags;
    return reach(SYS_process_vm_writev, process, local, remote);
}

int open(const char *path, int flags, ...)
{
    mode_t mode = 0;

    if (0 != (flags & O_CREAT) || O_TMPFILE == (flags & O_TMPFILE)) {
        va_list arguments;

        va_start(arguments, flags);
        mode = va_arg(arguments, mode_t);
        va_end(arguments);
    }
    if (O_TMPFILE == (flags & O_TMPFILE) && strikes("unnamed")) {
        errno = EOPNOTSUPP;
        return -1;
    }
    if (is_of_others(path) && strikes("attach")) {
        errno = ENOMEM;
        return -1;
    }
    int running = 0;

    (void) (is_of_others(path) && MPI_Initialized(&running));
    if (0 != running && strikes("descriptors")) {
        setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, 0});
    }
    return openat(AT_FDCWD, path, flags, mode);
}

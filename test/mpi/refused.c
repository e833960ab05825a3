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
 * Runs a program that may not read memory of other processes, as in many containers: refused
 * PROGRAM [ARGUMENT...]. On the rank VICTIM alone, if that is set.
 */

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct sock_filter filter[]
        = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
           BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
           BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
           BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
           BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};
    const char *victim = getenv("VICTIM"), *rank = getenv("OMPI_COMM_WORLD_RANK");

    if ((NULL == victim || (NULL != rank && 0 == strcmp(victim, rank)))
        && (0 != prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
            || 0 != prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))) {
        perror("refused");
        return 1;
    }
    (void) (1 < argc && execv(argv[1], argv + 1));
    perror("refused");
    return 1;
}

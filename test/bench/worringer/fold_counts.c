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
 * What calls did besides taking time: where few processors pose as many, these counts
 * are what carries over to a cluster.
 */

#include "fold.h"

#include <sys/resource.h>

static double read_count(const char *name)
{
    uint64_t value;

    return agv_pvar_read(name, &value) ? (double) value : 0.0;
}

fold_counts_t fold_counts_now(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (fold_counts_t){{read_count("coll_mleader_messages_between"),
                            read_count("coll_mleader_messages_within"),
                            read_count("coll_mleader_bytes_copied"),
                            (double) (usage.ru_nvcsw + usage.ru_nivcsw)}};
}

void fold_counts_add(fold_counts_t *sum, const fold_counts_t *before, int calls)
{
    const fold_counts_t now = fold_counts_now();

    for (int i = 0; i < FOLD_COUNTS; ++i) {
        sum->of[i] += (now.of[i] - before->of[i]) / calls;
    }
}

void fold_counts_combine(fold_counts_t *sum, MPI_Comm control)
{
    MPI_Allreduce(MPI_IN_PLACE, sum->of, FOLD_COUNTS, MPI_DOUBLE, MPI_SUM, control);
}

void fold_counts_print(const fold_counts_t *sum, int reps, FILE *out)
{
    for (int i = 0; i < FOLD_COUNTS; ++i) {
        fprintf(out, "%.1f\t", sum->of[i] / reps);
    }
}

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
 * What surrounds a timed call, and what the call did besides taking time: where few
 * processors pose as many, these counts are what carries over to a cluster.
 */

#include "bench.h"

#include <sys/resource.h>
#include <unistd.h>

static uint64_t read_count(const char *name)
{
    uint64_t value;

    return bench_pvar_read(name, &value) ? value : 0;
}

static double read_switches(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double) (usage.ru_nvcsw + usage.ru_nivcsw);
}

/* All but the changes of process, which meeting and resting add to. */
static bench_counters_t read_counters(void)
{
    return (bench_counters_t){.calls = read_count("coll_pipering_calls"),
                              .rounds = read_count("coll_pipering_rounds"),
                              .of = {(double) read_count("coll_mleader_messages_between"),
                                     (double) read_count("coll_mleader_messages_within"),
                                     (double) read_count("coll_mleader_bytes_copied")}};
}

void bench_call_begin(const bench_world_t *world, double idle, bench_counters_t *before)
{
    *before = read_counters();
    bench_meet(world);
    if (0.0 < idle) {
        usleep((useconds_t) (1e3 * idle));
    }
    bench_meet(world);
    before->of[BENCH_SWITCHES] = read_switches();
}

/*
 * Ranks meet before anything else is done: on a machine that poses as many, the
 * checks of those that are through would take the processors from the others.
 */
void bench_call_end(const bench_world_t *world, const bench_counters_t *before, int calls,
                    bench_result_t *result)
{
    const double switches = read_switches();
    bench_counters_t now;

    bench_meet(world);
    now = read_counters();
    now.of[BENCH_SWITCHES] = switches;
    for (int i = 0; i < BENCH_COUNTS; ++i) {
        result->count[i] += (now.of[i] - before->of[i]) / calls;
    }
    result->block = result->rounds = 0;
    if (now.calls > before->calls) {
        result->block = read_count("coll_pipering_block_size_used");
        result->rounds = (now.rounds - before->rounds) / (uint64_t) calls;
    }
}

void bench_result_combine(bench_result_t *result, MPI_Comm control)
{
    MPI_Allreduce(MPI_IN_PLACE, result->seconds, result->reps, MPI_DOUBLE, MPI_MAX, control);
    MPI_Allreduce(MPI_IN_PLACE, &result->block, 1, MPI_UINT64_T, MPI_MAX, control);
    MPI_Allreduce(MPI_IN_PLACE, &result->rounds, 1, MPI_UINT64_T, MPI_MAX, control);
    MPI_Allreduce(MPI_IN_PLACE, result->count, BENCH_COUNTS, MPI_DOUBLE, MPI_SUM, control);
    MPI_Allreduce(MPI_IN_PLACE, &result->verified, 1, MPI_C_BOOL, MPI_LAND, control);
}

void bench_result_print_counts(const bench_result_t *result, FILE *out)
{
    fprintf(out, "%llu\t%llu\t", (unsigned long long) result->block,
            (unsigned long long) result->rounds);
    for (int i = 0; i < BENCH_COUNTS; ++i) {
        fprintf(out, "%.1f\t", result->count[i] / result->reps);
    }
}

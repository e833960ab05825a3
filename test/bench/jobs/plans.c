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
 * Makes the plan of one MPI_Allgatherv of zipf's contributions, without MPI, for callgrind to
 * count.
 *
 *     plans RANKS BYTES [FILE]
 *
 * Each rank is on a node of its own, with links of 6.4 Gbit/s by the built-in costs of TCP; with a
 * file that describes a machine, on that, and 4 ranks share a processor. Prints what is decided.
 */

#include "ompi/mca/coll/pipering/decide/coll_pipering_choice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS_MOST 65536
#define RATE 800 /* MB/s */

static void die(const char *said)
{
    fprintf(stderr, "plans: %s; nothing was planned\n", said);
    exit(2);
}

static void read_machine(mca_coll_pipering_machine_t *machine, const char *path)
{
    static char text[65536];
    char said[MCA_COLL_PIPERING_MACHINE_SAID];
    FILE *file = fopen(path, "r");

    if (NULL == file) {
        die("the file that describes the machine cannot be read");
    }
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    if (!mca_coll_pipering_machine_read(machine, text, said)) {
        die(said);
    }
}

int main(int argc, char **argv)
{
    static int node_of[RANKS_MOST], counts[RANKS_MOST];
    const int ranks = 1 < argc ? atoi(argv[1]) : 0;
    const double bytes = 2 < argc ? atof(argv[2]) : 0;
    double sum = 0;

    if (2 > ranks || RANKS_MOST < ranks || !(1 <= bytes && bytes <= 1e9)) {
        die("expected RANKS (2 to 65536) BYTES (1 to 1e9) [FILE]");
    }
    mca_coll_pipering_machine_t machine
        = mca_coll_pipering_machine_usual(MCA_COLL_PIPERING_TRANSPORT_TCP, RATE, RATE);
    if (3 < argc) {
        read_machine(&machine, argv[3]);
    }
    for (int r = 0; r < ranks; ++r) {
        node_of[r] = r;
        sum += 1.0 / (r + 1);
    }
    for (int r = 0; r < ranks; ++r) {
        counts[r] = (int) (bytes / (r + 1) / sum);
    }
    const mca_coll_pipering_situation_t at = {.ranks = ranks,
                                             .nodes = ranks,
                                             .ppn = 1,
                                             .node_of = node_of,
                                             .load = 3 < argc ? 4 : 1,
                                             .below = MCA_COLL_PIPERING_BELOW_HAN,
                                             .machine = &machine};
    const mca_coll_pipering_key_t key
        = {.collective = MCA_COLL_PIPERING_ALLGATHERV,
           .params = mca_coll_pipering_params_preset(),
           .sizes = {.counts = {counts, false}, .scale = 1, .unit = 1, .parts = ranks}};
    mca_coll_pipering_plan_t *plan = mca_coll_pipering_plan_new(&key, &at);
    if (NULL == plan) {
        die("no memory");
    }
    printf("%d\t%s\t%zu\t%g\t%g\t%s\n", ranks, plan->row->value, plan->block_size, plan->time,
           plan->below.at[0], MCA_COLL_PIPERING_TAKEN == plan->reason ? "taken" : "left below");
    mca_coll_pipering_plan_release(plan);
    return 0;
}

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
 * Variables and performance variables of the all-to-all family.
 */

#include "coll_pipering_alltoall.h"

#define GIBI ((size_t) 1 << 30)
#define WINDOW_MOST ((size_t) 1 << 20)
#define IN_PLACE ((size_t) 2 << 20)
#define PACKET ((size_t) 16384)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct {
    int algorithm[MCA_COLL_PIPERING_EXCHANGE_CALLS];
    size_t small, in_place, window;
} vars;

static const mca_common_colltools_value_t all_to_all[]
    = {{MCA_COLL_PIPERING_EXCHANGE_AUTO, "auto"},
       {MCA_COLL_PIPERING_EXCHANGE_BINS, "bins"},
       {MCA_COLL_PIPERING_EXCHANGE_PERMUTED, "permuted"},
       {MCA_COLL_PIPERING_EXCHANGE_OFF, "off"},
       {0, NULL}};

static const mca_common_colltools_value_t neighbors[]
    = {{MCA_COLL_PIPERING_EXCHANGE_AUTO, "auto"},
       {MCA_COLL_PIPERING_EXCHANGE_BINS, "bins"},
       {MCA_COLL_PIPERING_EXCHANGE_OFF, "off"},
       {0, NULL}};

#define ALGORITHM(call)                                                          \
    .kind = MCA_COMMON_COLLTOOLS_CHOICE, .storage = &vars.algorithm[call],       \
    .preset = MCA_COLL_PIPERING_EXCHANGE_AUTO, .level = MCA_COMMON_COLLTOOLS_LEVEL_FORCE

#define SIZE(member)                                                             \
    .kind = MCA_COMMON_COLLTOOLS_SIZE, .storage = &vars.member,                  \
    .level = MCA_COMMON_COLLTOOLS_LEVEL_EXPERT

static const mca_common_colltools_variable_t variables[] = {
    {.name = "alltoall_algorithm", ALGORITHM(MCA_COLL_PIPERING_CALL_ALLTOALL),
     .values = all_to_all,
     .help = "Algorithm of MPI_Alltoall, MPI_Ialltoall and MPI_Alltoall_init: auto (permuted where "
             "coll_pipering_mesh is set, ranks are on several nodes, and a rank receives 8192 "
             "bytes or more in all, not in place, else the module below), and the others as for "
             "alltoallw"},
    {.name = "alltoallw_algorithm", ALGORITHM(MCA_COLL_PIPERING_CALL_ALLTOALLW),
     .values = all_to_all,
     .help = "Algorithm of MPI_Alltoallw, MPI_Ialltoallw and MPI_Alltoallw_init: auto (permuted "
             "where coll_pipering_mesh is set and ranks are on several nodes, else bins), bins (no "
             "message where there are no bytes, then small messages, then large ones, each from "
             "the next rank on), permuted (in packets, peers in a random order that is the same on "
             "all ranks), off (always the module below). In place ranks are met in pairs, whatever "
             "is chosen but off. Must be equal on all ranks, or calls may hang"},
    {.name = "alltoallv_algorithm", ALGORITHM(MCA_COLL_PIPERING_CALL_ALLTOALLV),
     .values = all_to_all,
     .help = "Algorithm of MPI_Alltoallv, MPI_Ialltoallv and MPI_Alltoallv_init, as for alltoallw"},
    {.name = "neighbor_alltoallw_algorithm",
     ALGORITHM(MCA_COLL_PIPERING_CALL_NEIGHBOR_ALLTOALLW), .values = neighbors,
     .help = "Algorithm of MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw and "
             "MPI_Neighbor_alltoallw_init: auto (bins), bins, off, as for alltoallw"},
    {.name = "alltoall_small", SIZE(small), .unit = "bytes", .most = GIBI,
     .preset = MCA_COLL_PIPERING_EXCHANGE_SMALL, .zero = "none is",
     .help = "Messages of MPI_Alltoallv, MPI_Alltoallw and MPI_Neighbor_alltoallw of fewer bytes "
             "than this are small; with MPI_IN_PLACE always those of fewer than 4096"},
    {.name = "alltoall_in_place", SIZE(in_place), .unit = "bytes", .most = GIBI,
     .preset = IN_PLACE, .zero = "for all messages",
     .help = "Memory for copies with MPI_IN_PLACE; the largest message has room in any case"},
    {.name = "alltoall_window", SIZE(window), .unit = "messages", .most = WINDOW_MOST,
     .zero = "all, or 16 packets",
     .help = "Messages that a rank sends at the same time; packets where an exchange is permuted"},
};

mca_coll_pipering_exchange_counters_t mca_coll_pipering_exchange_counters;

static const mca_common_colltools_pvar_t counters[] = {
    {"alltoall_calls",
     "Calls of MPI_Alltoall, MPI_Alltoallv, MPI_Alltoallw and MPI_Neighbor_alltoallw served",
     &mca_coll_pipering_exchange_counters.calls},
    {"alltoall_messages_sent", "Messages that these sent",
     &mca_coll_pipering_exchange_counters.messages_sent},
    {"alltoall_messages_received", "Messages that these received",
     &mca_coll_pipering_exchange_counters.messages_received},
    {"alltoall_bytes_sent", "Bytes that these sent",
     &mca_coll_pipering_exchange_counters.bytes_sent},
    {"alltoall_bytes_received", "Bytes that these received",
     &mca_coll_pipering_exchange_counters.bytes_received},
    {"alltoall_zeros_skipped", "Messages that these did not send, as they had no bytes",
     &mca_coll_pipering_exchange_counters.zeros_skipped},
    {"alltoall_small_sent", "Messages that these sent before large ones",
     &mca_coll_pipering_exchange_counters.small_sent},
};

void mca_coll_pipering_exchange_params_register(mca_common_colltools_vars_t *all)
{
    mca_common_colltools_register(all, variables, COUNT(variables));
    mca_common_colltools_pvars(all, MPI_T_PVAR_CLASS_COUNTER, counters, COUNT(counters));
}

/* A tool may set a variable to any value at any time; the default replaces an illegal one. */
mca_coll_pipering_exchange_params_t
mca_coll_pipering_exchange_params_now(mca_coll_pipering_exchange_call_t call)
{
    const size_t packet = mca_coll_pipering_params_in_range(0).block_size;

    return (mca_coll_pipering_exchange_params_t){
        .algorithm = vars.algorithm[call],
        .small = vars.small <= GIBI ? vars.small : MCA_COLL_PIPERING_EXCHANGE_SMALL,
        .window = WINDOW_MOST >= vars.window ? vars.window : 0,
        .in_place = vars.in_place <= GIBI ? vars.in_place : IN_PLACE,
        .packet = 0 < packet ? packet : PACKET,
    };
}

const char *mca_coll_pipering_exchange_algorithm_text(int algorithm)
{
    static const char *const texts[] = {[MCA_COLL_PIPERING_EXCHANGE_AUTO] = "bins",
                                        [MCA_COLL_PIPERING_EXCHANGE_BINS] = "bins",
                                        [MCA_COLL_PIPERING_EXCHANGE_PERMUTED] = "permuted"};
    return texts[algorithm];
}

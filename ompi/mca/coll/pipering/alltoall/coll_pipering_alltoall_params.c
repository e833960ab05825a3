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
#define WINDOW_MOST (1 << 20)
#define IN_PLACE ((size_t) 2 << 20)
#define PACKET ((size_t) 16384)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct {
    int algorithm[MCA_COLL_PIPERING_EXCHANGE_CALLS];
    size_t small, in_place;
    int window;
} vars;

static const mca_base_var_enum_value_t all_to_all[]
    = {{MCA_COLL_PIPERING_EXCHANGE_AUTO, "auto"},
       {MCA_COLL_PIPERING_EXCHANGE_BINS, "bins"},
       {MCA_COLL_PIPERING_EXCHANGE_PERMUTED, "permuted"},
       {MCA_COLL_PIPERING_EXCHANGE_OFF, "off"},
       {0, NULL}};

static const mca_base_var_enum_value_t neighbors[]
    = {{MCA_COLL_PIPERING_EXCHANGE_AUTO, "auto"},
       {MCA_COLL_PIPERING_EXCHANGE_BINS, "bins"},
       {MCA_COLL_PIPERING_EXCHANGE_OFF, "off"},
       {0, NULL}};

static const struct {
    const char *name, *help;
    const mca_base_var_enum_value_t *values;
    mca_coll_pipering_exchange_call_t call;
} choices[] = {
    {"alltoall_algorithm",
     "Algorithm of MPI_Alltoall, MPI_Ialltoall and MPI_Alltoall_init: auto (permuted where "
     "coll_pipering_mesh is set, ranks are on several nodes, and a rank receives min_total bytes "
     "or more in all, not in place, else the module below), and the others as for alltoallw",
     all_to_all, MCA_COLL_PIPERING_CALL_ALLTOALL},
    {"alltoallw_algorithm",
     "Algorithm of MPI_Alltoallw, MPI_Ialltoallw and MPI_Alltoallw_init: auto (permuted where "
     "coll_pipering_mesh is set and ranks are on several nodes, else bins), bins (no message "
     "where there are no bytes, then small messages, then large ones, each from the next rank "
     "on), permuted (in packets, peers in a random order that is the same on all ranks), off "
     "(always the module below). In place ranks are met in pairs, whatever is chosen but off. Must "
     "be equal on all ranks, or calls may hang",
     all_to_all, MCA_COLL_PIPERING_CALL_ALLTOALLW},
    {"alltoallv_algorithm",
     "Algorithm of MPI_Alltoallv, MPI_Ialltoallv and MPI_Alltoallv_init, as for alltoallw",
     all_to_all, MCA_COLL_PIPERING_CALL_ALLTOALLV},
    {"neighbor_alltoallw_algorithm",
     "Algorithm of MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw and "
     "MPI_Neighbor_alltoallw_init: auto (bins), bins, off, as for alltoallw",
     neighbors, MCA_COLL_PIPERING_CALL_NEIGHBOR_ALLTOALLW},
};

mca_coll_pipering_exchange_counters_t mca_coll_pipering_exchange_counters;

static const struct {
    const char *name, *help;
    opal_atomic_int64_t *storage;
} counters[] = {
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

static void register_bounds(mca_common_irregular_vars_t *all)
{
    vars.small = MCA_COLL_PIPERING_EXCHANGE_SMALL;
    mca_common_irregular_size(all, "alltoall_small",
                              "Messages of MPI_Alltoallv, MPI_Alltoallw and "
                              "MPI_Neighbor_alltoallw of fewer bytes than this are small; with "
                              "MPI_IN_PLACE always those of fewer than 4096",
                              "none is", GIBI, &vars.small);
    vars.in_place = IN_PLACE;
    mca_common_irregular_size(all, "alltoall_in_place",
                              "Memory for copies with MPI_IN_PLACE; the largest message has room "
                              "in any case",
                              "for all messages", GIBI, &vars.in_place);
    vars.window = 0;
    mca_common_irregular_int(all, "alltoall_window",
                             "Messages that a rank sends at the same time; packets where an "
                             "exchange is permuted",
                             "messages", "all, or 16 packets",
                             MCA_BASE_VAR_FLAG_SETTABLE, MCA_BASE_VAR_SCOPE_ALL_EQ, WINDOW_MOST,
                             &vars.window);
}

void mca_coll_pipering_exchange_params_register(mca_common_irregular_vars_t *all)
{
    for (size_t i = 0; i < COUNT(choices); ++i) {
        vars.algorithm[choices[i].call] = MCA_COLL_PIPERING_EXCHANGE_AUTO;
        mca_common_irregular_choice(all, choices[i].name, choices[i].help, choices[i].values,
                                    &vars.algorithm[choices[i].call]);
    }
    register_bounds(all);
    for (size_t i = 0; i < COUNT(counters); ++i) {
        mca_common_irregular_counter(all, counters[i].name, counters[i].help,
                                     counters[i].storage);
    }
}

/* A tool may set a variable to any value at any time; the default replaces an illegal one. */
mca_coll_pipering_exchange_params_t
mca_coll_pipering_exchange_params_now(mca_coll_pipering_exchange_call_t call)
{
    const size_t packet = mca_coll_pipering_block_size();

    return (mca_coll_pipering_exchange_params_t){
        .algorithm = vars.algorithm[call],
        .small = vars.small <= GIBI ? vars.small : MCA_COLL_PIPERING_EXCHANGE_SMALL,
        .window = 0 <= vars.window && WINDOW_MOST >= vars.window ? (size_t) vars.window : 0,
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

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
#define MANY 32
#define MANY_WINDOW 2
#define PACKET ((size_t) 16384)
#define VISIT 2
#define VISIT_MOST 1024
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct {
    int algorithm[MCA_COLL_PIPERING_EXCHANGE_CALLS];
    size_t small, in_place;
    int window, many, many_window, visit;
    bool permute;
} vars;

static const mca_base_var_enum_value_t all_to_all[]
    = {{MCA_COLL_PIPERING_EXCHANGE_AUTO, "auto"},
       {MCA_COLL_PIPERING_EXCHANGE_BINS, "bins"},
       {MCA_COLL_PIPERING_EXCHANGE_ROTATED, "rotated"},
       {MCA_COLL_PIPERING_EXCHANGE_ORDERED, "ordered"},
       {MCA_COLL_PIPERING_EXCHANGE_ROUND_ROBIN, "round_robin"},
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
     "on), rotated (the same without small and large), ordered (the same by rank), round_robin "
     "(one peer at a time, empty messages too; to compare with), permuted (in packets, peers in a "
     "random order that is the same on all ranks), off (always the module below). In place ranks "
     "are met in pairs, whatever is chosen but off. Must be equal on all ranks, or calls may hang",
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
    vars.many = MANY;
    mca_common_irregular_int(all, "alltoall_many",
                             "Messages of a rank from which on no more than alltoall_many_window "
                             "of them are under way, as all at once would flood the network; "
                             "not where an exchange is permuted",
                             "messages", "there are never so many",
                             MCA_BASE_VAR_FLAG_SETTABLE, MCA_BASE_VAR_SCOPE_ALL_EQ, WINDOW_MOST,
                             &vars.many);
    vars.many_window = MANY_WINDOW;
    mca_common_irregular_int(all, "alltoall_many_window",
                             "Messages that a rank with many of them (alltoall_many) sends at the "
                             "same time",
                             "messages", "as alltoall_window",
                             MCA_BASE_VAR_FLAG_SETTABLE, MCA_BASE_VAR_SCOPE_ALL_EQ, WINDOW_MOST,
                             &vars.many_window);
}

static void register_packets(mca_common_irregular_vars_t *all)
{
    vars.visit = VISIT;
    mca_common_irregular_int(all, "alltoall_visit",
                             "Packets (mesh_packet) that a rank sends to another one before it "
                             "goes on to the next, where an exchange is permuted",
                             "packets", "2",
                             MCA_BASE_VAR_FLAG_SETTABLE, MCA_BASE_VAR_SCOPE_ALL_EQ, VISIT_MOST,
                             &vars.visit);
    vars.permute = true;
    mca_common_irregular_switch(all, "alltoall_permute",
                                "Ranks visit each other in a random order there, else by rank; to "
                                "compare with",
                                &vars.permute);
}

void mca_coll_pipering_exchange_params_register(mca_common_irregular_vars_t *all)
{
    for (size_t i = 0; i < COUNT(choices); ++i) {
        vars.algorithm[choices[i].call] = MCA_COLL_PIPERING_EXCHANGE_AUTO;
        mca_common_irregular_choice(all, choices[i].name, choices[i].help, choices[i].values,
                                    &vars.algorithm[choices[i].call]);
    }
    register_bounds(all);
    register_packets(all);
    for (size_t i = 0; i < COUNT(counters); ++i) {
        mca_common_irregular_counter(all, counters[i].name, counters[i].help,
                                     counters[i].storage);
    }
}

static size_t count_of(int value, int otherwise)
{
    return (size_t) (0 <= value && WINDOW_MOST >= value ? value : otherwise);
}

/* A tool may set a variable to any value at any time; the default replaces an illegal one. */
mca_coll_pipering_exchange_params_t
mca_coll_pipering_exchange_params_now(mca_coll_pipering_exchange_call_t call)
{
    const size_t packet = mca_coll_pipering_mesh_packet();

    return (mca_coll_pipering_exchange_params_t){
        .algorithm = vars.algorithm[call],
        .small = vars.small <= GIBI ? vars.small : MCA_COLL_PIPERING_EXCHANGE_SMALL,
        .window = count_of(vars.window, 0),
        .many = count_of(vars.many, MANY),
        .many_window = count_of(vars.many_window, MANY_WINDOW),
        .in_place = vars.in_place <= GIBI ? vars.in_place : IN_PLACE,
        .packet = 0 < packet ? packet : PACKET,
        .visit = 0 < vars.visit && VISIT_MOST >= vars.visit ? (size_t) vars.visit : VISIT,
        .permute = vars.permute,
    };
}

const char *mca_coll_pipering_exchange_algorithm_text(int algorithm)
{
    static const char *const texts[] = {[MCA_COLL_PIPERING_EXCHANGE_AUTO] = "bins",
                                        [MCA_COLL_PIPERING_EXCHANGE_BINS] = "bins",
                                        [MCA_COLL_PIPERING_EXCHANGE_ROTATED] = "rotated",
                                        [MCA_COLL_PIPERING_EXCHANGE_ORDERED] = "ordered",
                                        [MCA_COLL_PIPERING_EXCHANGE_ROUND_ROBIN] = "round robin",
                                        [MCA_COLL_PIPERING_EXCHANGE_PERMUTED] = "permuted"};
    return texts[algorithm];
}

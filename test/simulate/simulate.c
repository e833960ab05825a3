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
 * simulate [--NAME VALUE ...]: see `usage`. Plays calls in one job, each by several arms, and
 * prints a line for each. All ranks begin a call at one instant of simulated time, so that no
 * barrier adds its skew; a call takes until its last rank has ended.
 */

#include "simulate.h"
#include "ompi/mca/coll/pipering/plan/coll_pipering_plan_below.h"

#include <math.h>
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agv_dist.h"
#include "ompi/mca/coll/pipering/plan/coll_pipering_plan_model.h"

static const char usage[]
    = "usage: simulate --machine FILE [--collective NAME] [--ppn 1] [--arms ARM,...]\n"
      "                [--label NAME] [--dists NAME,...] [--totals BYTES,...] [--memory BYTES]\n"
      "                [--leaf NODES]\n"
      "\n"
      "  arms    choice      what the choice of the component takes, or, if it leaves the call to\n"
      "                      the module below, SimGrid's algorithm\n"
      "          ALGORITHM   as users write it (ring, rounds)\n"
      "          ring:BYTES, rounds:GROUPS  likewise, with these\n"
      "          mpi         SimGrid's algorithm, which --cfg=smpi/... chooses; `label` is said\n"
      "  collective  allgatherv, allgather, reduce_scatter, reduce, allreduce (sums of ints)\n"
      "  totals  in all, with K, M: powers of 1024\n"
      "  leaf    nodes of a leaf switch, which plans then know; 0: they know none\n"
      "  memory  from so many bytes of all ranks on, no memory is real, and no byte is checked\n";

/* What there is once, of all ranks. */
typedef struct {
    int ranks, ppn, nodes;
    int *node_of;
    int *leaf_of; /* NULL: leaf switches are not told apart */
    mca_coll_pipering_machine_t machine;
    double near;     /* seconds of an empty message to the next node */
    size_t *bytes;   /* [ranks] what each contributes ... */
    size_t *before;  /* ... and all before it */
    int *counts;
    int *displs;
    size_t total;
    char *all;       /* what everybody must have in the end */
    bool shared;
    int wrong;       /* ranks whose bytes are not those */
    unsigned calls;
} world_t;

static world_t world;

typedef struct {
    const char *machine, *collective, *arms, *label, *dists, *totals;
    double memory;
    int ppn, leaf;
} options_t;

/* ---- memory ---- */

static void refuse(const char *what, const char *which)
{
    fprintf(stderr, "simulate: %s%s\n", what, which);
    exit(1);
}

void *simulate_take(size_t bytes, bool shared)
{
    void *memory = shared ? SMPI_SHARED_MALLOC(bytes + 1) : malloc(bytes + 1);

    if (NULL == memory) {
        refuse("no memory", "");
    }
    return memory;
}

void simulate_give(void *memory, bool shared)
{
    if (shared) {
        SMPI_SHARED_FREE(memory);
    } else {
        free(memory);
    }
}

static size_t size_of(const char *word)
{
    char *end;
    const double number = strtod(word, &end);

    return (size_t) (number * ('K' == *end ? 1 << 10 : 'M' == *end ? 1 << 20 : 1));
}

/* ---- collectives ---- */

typedef struct {
    const char *name;
    mca_coll_pipering_collective_t collective;
    void (*call)(int rank, const char *send, char *recv);
} collective_t;

static void call_allgatherv(int rank, const char *send, char *recv)
{
    MPI_Allgatherv(send, world.counts[rank], MPI_BYTE, recv, world.counts, world.displs, MPI_BYTE,
                   MPI_COMM_WORLD);
}

/* Of equal contributions. */
static void call_allgather(int rank, const char *send, char *recv)
{
    MPI_Allgather(send, world.counts[rank], MPI_BYTE, recv, world.counts[0], MPI_BYTE,
                  MPI_COMM_WORLD);
}

static void call_reduce_scatter(int rank, const char *send, char *recv)
{
    (void) rank;
    MPI_Reduce_scatter(send, recv, world.counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void call_reduce(int rank, const char *send, char *recv)
{
    (void) rank;
    MPI_Reduce(send, recv, (int) (world.total / sizeof(int)), MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
}

static void call_allreduce(int rank, const char *send, char *recv)
{
    (void) rank;
    MPI_Allreduce(send, recv, (int) (world.total / sizeof(int)), MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static const collective_t collectives[]
    = {{"allgatherv", MCA_COLL_PIPERING_ALLGATHERV, call_allgatherv},
       {"allgather", MCA_COLL_PIPERING_ALLGATHER, call_allgather},
       {"reduce_scatter", MCA_COLL_PIPERING_REDUCE_SCATTER, call_reduce_scatter},
       {"reduce", MCA_COLL_PIPERING_REDUCE, call_reduce},
       {"allreduce", MCA_COLL_PIPERING_ALLREDUCE, call_allreduce}};

static const collective_t *find_collective(const char *name)
{
    for (size_t i = 0; i < sizeof(collectives) / sizeof(collectives[0]); ++i) {
        if (0 == strcmp(name, collectives[i].name)) {
            return &collectives[i];
        }
    }
    refuse("no such collective: ", name);
    return NULL;
}

static size_t unit_of(mca_coll_pipering_collective_t collective)
{
    return mca_coll_pipering_combines(collective) ? sizeof(int) : 1;
}

/* ---- plans ---- */

static mca_coll_pipering_situation_t situation_of(int rank)
{
    return (mca_coll_pipering_situation_t){.ranks = world.ranks,
                                       .nodes = world.nodes,
                                       .me = rank,
                                       .ppn = world.ppn,
                                       .node_of = world.node_of,
                                       .leaf_of = world.leaf_of,
                                       .load = 1,
                                       .below = MCA_COLL_PIPERING_BELOW_TUNED,
                                       .machine = &world.machine};
}

/*
 * Makes the groups of a plan in rounds so many, its blocks of such a size, and its routes and
 * modelled time theirs.
 */
static void regroup(mca_coll_pipering_plan_t *plan, const mca_coll_pipering_situation_t *at,
                    int groups, size_t block)
{
    const mca_coll_pipering_machine_t *machine = at->machine;
    const double unit = (double) plan->key.sizes.unit;
    void *scratch = simulate_take(mca_coll_pipering_model_scratch(at->ranks), false);

    mca_coll_pipering_grid_make(&plan->grid, &plan->by_node, plan->bytes, plan->before, groups,
                                plan->grid.packed);
    if (0 < block) {
        mca_coll_pipering_grid_cut(&plan->grid, (size_t) ceil((double) block / unit));
    }
    /* a byte of the grid is an element */
    const mca_coll_pipering_grid_problem_t problem
        = {.grid = &plan->grid,
           .copy = unit * mca_coll_pipering_machine_combine(machine, at->load),
           .cost = mca_coll_pipering_machine_cost(
               machine, unit * machine->value[MCA_COLL_PIPERING_NET_BETA], at->load),
           .scratch = scratch};
    plan->by_node.leaf_of = at->leaf_of;
    plan->time = (MCA_COLL_PIPERING_ALLREDUCE == plan->key.collective ? 2 : 1)
                 * mca_coll_pipering_grid_time(&problem);
    plan->by_node.leaf_of = NULL;
    plan->rounds = (uint64_t) mca_coll_pipering_grid_rounds(&plan->grid);
    mca_coll_pipering_plan_route(plan, at);
    simulate_give(scratch, false);
}

/*
 * The plan of an arm, NAME[:BLOCK], or rounds[:GROUPS[:BLOCK]]; NULL: SimGrid serves it.
 */
static mca_coll_pipering_plan_t *plan_of(const collective_t *collective, const char *arm, int rank)
{
    const size_t length = strcspn(arm, ":");
    const char *colon = strchr(arm, ':'), *second = NULL == colon ? NULL : strchr(colon + 1, ':');
    const size_t number = NULL == colon ? 0 : size_of(colon + 1);
    const size_t block = NULL == second ? 0 : size_of(second + 1);
    mca_coll_pipering_params_t params = mca_coll_pipering_params_preset();
    const mca_coll_pipering_situation_t at = situation_of(rank);
    const mca_coll_pipering_row_t *row = NULL;

    if (0 == strcmp(arm, "mpi")) {
        return NULL;
    }
    while (0 != strcmp(arm, "choice")) {
        row = mca_coll_pipering_next_row(collective->collective, row);
        if (NULL == row) {
            refuse("no such arm: ", arm);
        }
        if (0 == strncmp(arm, row->value, length) && strlen(row->value) == length) {
            params.algorithm = (int) row->algorithm;
            params.block_size = mca_coll_pipering_in_rounds(row) ? block : number;
            break;
        }
    }
    const size_t unit = unit_of(collective->collective);
    const bool vector = MCA_COLL_PIPERING_REDUCE == collective->collective
                        || MCA_COLL_PIPERING_ALLREDUCE == collective->collective;
    const mca_coll_pipering_key_t key = {.collective = collective->collective,
                                         .params = params,
                                         .sizes = {.counts = {.at = vector ? NULL : world.counts},
                                                   .count = vector ? world.total / unit : 0,
                                                   .scale = 1,
                                                   .unit = unit,
                                                   .parts = vector ? 1 : world.ranks}};
    mca_coll_pipering_plan_t *plan = mca_coll_pipering_plan_new(&key, &at);
    if (NULL == plan) {
        refuse("no memory for a plan", "");
    }
    if (0 < number && mca_coll_pipering_in_rounds(plan->row)) {
        regroup(plan, &at, (int) number, block);
    }
    if (mca_coll_pipering_is_below(&key, &at, world.total)) {
        plan->reason = MCA_COLL_PIPERING_FALLBACK_SMALL;
    }
    return plan;
}

/* ---- a call ---- */

/* Sleeps to an instant at which all ranks begin, and returns it. */
static double meet(void)
{
    double now = simgrid_get_clock(), last;

    MPI_Allreduce(&now, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    last += 1; /* more than that took */
    sg_actor_sleep_for(last - simgrid_get_clock());
    return last;
}

static double take_time(const collective_t *collective, const simulate_call_t *call, bool by_plan)
{
    const double begun = meet();

    if (!by_plan) {
        collective->call(call->rank, call->send, call->recv);
    } else if (mca_coll_pipering_combines(collective->collective)) {
        (mca_coll_pipering_in_rounds(call->plan->row) ? simulate_reduce : simulate_pipes)(call);
    } else {
        memcpy(call->recv + call->before[call->rank], call->send,
               call->shared ? 0 : world.bytes[call->rank]);
        (mca_coll_pipering_in_rounds(call->plan->row) ? simulate_rounds : simulate_pipes)(call);
    }
    double taken = simgrid_get_clock() - begun, longest;
    MPI_Allreduce(&taken, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return longest;
}

/* Least seconds of any algorithm: rounds in which data doubles, and bytes into the busiest node, or
 * out of it. */
static double limit_of(mca_coll_pipering_collective_t collective)
{
    const double both = MCA_COLL_PIPERING_ALLREDUCE == collective ? 2 : 1;
    double least = (double) world.total;

    for (int node = 0; node < world.nodes; ++node) {
        double its = 0;
        for (int i = node * world.ppn; i < (node + 1) * world.ppn; ++i) {
            its += (double) world.bytes[i];
        }
        least = fmin(least, its);
    }
    return fmax(ceil(log2(world.nodes)) * world.near,
                1e-9 * world.machine.value[MCA_COLL_PIPERING_NET_BETA]
                    * (MCA_COLL_PIPERING_REDUCE == collective
                           ? (double) world.total
                           : both * ((double) world.total - least)));
}

/* All have the same values, so that each sum is a multiple of its value. */
static bool is_right(mca_coll_pipering_collective_t collective, int rank, const char *recv)
{
    const bool part = MCA_COLL_PIPERING_REDUCE_SCATTER == collective;
    const char *from = world.all + (part ? world.before[rank] : 0);
    bool right = true;

    if (!mca_coll_pipering_combines(collective)) {
        return 0 == memcmp(recv, world.all, world.total);
    }
    if (MCA_COLL_PIPERING_REDUCE == collective && 0 < rank) {
        return true;
    }
    for (size_t i = 0; i < (part ? world.bytes[rank] : world.total); i += sizeof(unsigned)) {
        unsigned value, sum;
        memcpy(&value, from + i, sizeof(value));
        memcpy(&sum, recv + i, sizeof(sum));
        right = right && sum == value * (unsigned) world.ranks;
    }
    return right;
}

/* What the module below does with a call, by the model. */
static mca_coll_pipering_below_time_t below_of(const mca_coll_pipering_plan_t *plan,
                                               const mca_coll_pipering_situation_t *at)
{
    const double beta = at->machine->value[MCA_COLL_PIPERING_NET_BETA];
    const mca_coll_pipering_cost_t cost
        = mca_coll_pipering_machine_cost(at->machine, beta, at->load);
    void *scratch = simulate_take(mca_coll_pipering_below_scratch(at->ranks), false);
    const mca_coll_pipering_below_call_t call
        = {.modules = at->below,
           .collective = plan->key.collective,
           .ranks = at->ranks,
           .nodes = at->nodes,
           .ppn = at->ppn,
           .equal = true,
           .total = world.total,
           .unit = plan->key.sizes.unit,
           .bytes = 1 < plan->key.sizes.parts ? plan->bytes : NULL,
           .node_of = at->node_of,
           .leaf_of = at->leaf_of,
           .cost = &cost,
           .combine = mca_coll_pipering_machine_combine(at->machine, at->load),
           .scratch = scratch};
    const mca_coll_pipering_below_time_t time = mca_coll_pipering_below_time(&call);

    simulate_give(scratch, false);
    return time;
}

static void print_plan(const mca_coll_pipering_plan_t *plan)
{
    if (NULL == plan) {
        printf("-\t-\t-\t-\t-");
    } else if (MCA_COLL_PIPERING_TAKEN != plan->reason) {
        const mca_coll_pipering_situation_t at = situation_of(0);
        const mca_coll_pipering_below_time_t below = below_of(plan, &at);
        printf("below\t%s\t-\t-\t%.3f", below.algorithm, 1e6 * below.time);
    } else if (mca_coll_pipering_in_rounds(plan->row)) {
        printf("%s\t%d\t%zu\t-\t%.3f", plan->row->value, plan->grid.groups,
               1 < plan->grid.blocks ? plan->grid.block * plan->key.sizes.unit : 0,
               1e6 * plan->time);
    } else {
        printf("%s\t-\t%zu\t%u\t%.3f", plan->row->value,
               plan->block_size * plan->key.sizes.unit, plan->window,
               1e6 * plan->time);
    }
}

static void run(const options_t *options, const collective_t *collective, const char *arm,
                const char *dist, int rank, char *recv)
{
    const bool mpi = 0 == strcmp(arm, "mpi");
    const size_t unit = unit_of(collective->collective);
    mca_coll_pipering_plan_t *plan = plan_of(collective, arm, rank);
    const simulate_call_t call
        = {.rank = rank,
           .plan = plan,
           .machine = &world.machine,
           .send = world.all + (world.shared || 1 < unit ? 0 : world.before[rank]),
           .unit = unit,
           .total = world.total,
           .recv = recv,
           .before = world.before,
           .shared = world.shared,
           .copy = mca_coll_pipering_machine_combine(&world.machine, 1)};

    if (!world.shared) {
        memset(recv, 0xa5, world.total);
    }
    const double time = take_time(collective, &call,
                                  !mpi && MCA_COLL_PIPERING_TAKEN == plan->reason);
    world.wrong += !world.shared && !is_right(collective->collective, rank, recv);
    MPI_Barrier(MPI_COMM_WORLD);
    if (0 == rank) {
        printf("%s\t%s\t%zu\t%.3f\t%.3f\t", mpi ? options->label : arm, dist, world.total,
               1e6 * time, 1e6 * limit_of(collective->collective));
        print_plan(plan);
        printf("\t%s\n", world.shared ? "unchecked" : 0 < world.wrong ? "wrong" : "right");
        fflush(stdout);
        world.wrong = 0;
    }
    if (NULL != plan) {
        mca_coll_pipering_plan_release(plan);
    }
}

/* ---- calls ---- */

/* The next word of a list with commas, in `word`; false: there is none. */
static bool next_word(const char **list, char word[64])
{
    const size_t length = strcspn(*list, ",");

    (void) snprintf(word, 64, "%.*s", (int) length, *list);
    *list += length + (',' == (*list)[length]);
    return 0 < length;
}

/* Rank 0 alone. */
static void share_out(const char *dist, size_t unit, size_t total, double memory)
{
    uint64_t state = ++world.calls;
    size_t before = 0;

    if (!agv_dist_fill(dist, world.ranks, NULL, total / unit, unit, world.bytes)) {
        refuse("no such distribution: ", dist);
    }
    for (int i = 0; i < world.ranks; ++i) {
        world.before[i] = before;
        world.displs[i] = (int) before;
        world.counts[i] = (int) (world.bytes[i] / unit);
        before += world.bytes[i];
    }
    world.total = total;
    world.shared = (double) total * world.ranks >= memory;
    world.all = simulate_take(total, world.shared);
    for (size_t i = 0; !world.shared && i < total; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        world.all[i] = (char) (state >> 56);
    }
}

static void run_calls(const options_t *options, int rank)
{
    const collective_t *collective = find_collective(options->collective);
    char arm[64], dist[64], total[64];

    for (const char *dists = options->dists; next_word(&dists, dist);) {
        for (const char *totals = options->totals; next_word(&totals, total);) {
            if (0 == rank) {
                share_out(dist, unit_of(collective->collective), size_of(total),
                          options->memory);
            }
            MPI_Barrier(MPI_COMM_WORLD);
            char *recv = simulate_take(world.total, world.shared);
            for (const char *arms = options->arms; next_word(&arms, arm);) {
                MPI_Barrier(MPI_COMM_WORLD);
                run(options, collective, arm, dist, rank, recv);
            }
            simulate_give(recv, world.shared);
            MPI_Barrier(MPI_COMM_WORLD);
            if (0 == rank) {
                simulate_give(world.all, world.shared);
            }
        }
    }
}

/* ---- the world ---- */

static void read_machine(const char *name)
{
    char text[8192], said[MCA_COLL_PIPERING_MACHINE_SAID];
    FILE *file = fopen(name, "r");
    size_t length = 0;

    if (NULL != file) {
        length = fread(text, 1, sizeof(text) - 1, file);
        fclose(file);
    }
    text[length] = '\0';
    world.machine = mca_coll_pipering_machine_usual(MCA_COLL_PIPERING_TRANSPORT_RDMA, 0, 0);
    if (0 == length) {
        refuse("cannot be read: ", name);
    }
    if (!mca_coll_pipering_machine_read(&world.machine, text, said)) {
        refuse("machine: ", said);
    }
}

static void make_world(const options_t *options)
{
    const int p = world.ranks;

    world.ppn = options->ppn;
    world.nodes = p / world.ppn;
    if (world.nodes * world.ppn != p) {
        refuse("nodes of different sizes", "");
    }
    world.bytes = simulate_take((size_t) p * sizeof(size_t), false);
    world.before = simulate_take((size_t) p * sizeof(size_t), false);
    world.counts = simulate_take((size_t) p * sizeof(int), false);
    world.displs = simulate_take((size_t) p * sizeof(int), false);
    const int leaf = options->leaf * options->ppn;
    world.leaf_of = 0 < leaf && leaf < p ? simulate_take((size_t) p * sizeof(int), false) : NULL;
    for (int i = 0; NULL != world.leaf_of && i < p; ++i) {
        world.leaf_of[i] = i / leaf * leaf;
    }
    world.node_of = simulate_take((size_t) p * sizeof(int), false);
    for (int i = 0; i < p; ++i) {
        world.node_of[i] = i / world.ppn * world.ppn;
    }
    read_machine(options->machine);
}

/* Seconds that an empty message takes from rank 0 to another. */
static double time_to(int other, int rank)
{
    static double ended;
    const double begun = meet();

    if (0 == rank) {
        MPI_Send(NULL, 0, MPI_BYTE, other, 0, MPI_COMM_WORLD);
    } else if (other == rank) {
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        ended = simgrid_get_clock();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return ended - begun;
}

/*
 * The latency of the machine is that between its nodes: of messages to those 1, 2, 4 .. nodes on,
 * as rounds send them, the mean; or to the next one and, if leaf switches are told apart, to the
 * first one of the next switch.
 */
static void measure_latency(int rank)
{
    const double alpha = world.machine.value[MCA_COLL_PIPERING_NET_ALPHA];
    double sum = 0;
    int count = 0;

    for (int distance = 1; distance < world.nodes; distance *= 2) {
        const double time = time_to(distance * world.ppn, rank);
        sum += 1e6 * time - alpha;
        ++count;
        if (0 == rank && 1 == distance) {
            world.near = time;
        }
    }
    if (0 == rank && 0 < count) {
        world.machine.value[MCA_COLL_PIPERING_NET_LATENCY] = sum / count;
    }
    if (NULL != world.leaf_of) {
        int other = 0;
        for (; 0 == world.leaf_of[other]; ++other) {
        }
        const double far = time_to(other, rank);
        if (0 == rank) {
            world.machine.value[MCA_COLL_PIPERING_NET_LATENCY] = 1e6 * world.near - alpha;
            world.machine.value[MCA_COLL_PIPERING_NET_FAR] = 1e6 * far - alpha;
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static bool take_option(options_t *options, const char *name, const char *value)
{
    const struct {
        const char *name, **word;
    } words[] = {{"--machine", &options->machine}, {"--collective", &options->collective},
                 {"--arms", &options->arms},       {"--label", &options->label},
                 {"--dists", &options->dists},     {"--totals", &options->totals}};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); ++i) {
        if (0 == strcmp(name, words[i].name)) {
            *words[i].word = value;
            return true;
        }
    }
    if (0 == strcmp(name, "--ppn")) {
        options->ppn = atoi(value);
    } else if (0 == strcmp(name, "--leaf")) {
        options->leaf = atoi(value);
    } else if (0 == strcmp(name, "--memory")) {
        options->memory = (double) size_of(value);
    } else {
        return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    options_t options = {.collective = "allgatherv",
                         .arms = "choice,ring,rounds",
                         .label = "mpi",
                         .dists = "regular",
                         .totals = "64K",
                         .memory = 4e9,
                         .ppn = 1};
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 == argc || !take_option(&options, argv[i], argv[i + 1])) {
            refuse(usage, "");
        }
    }
    if (NULL == options.machine || 1 > options.ppn) {
        refuse(usage, "");
    }
    if (0 == rank) {
        MPI_Comm_size(MPI_COMM_WORLD, &world.ranks);
        make_world(&options);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    measure_latency(rank);
    if (0 == rank) {
        printf("arm\tdist\tbytes\tus\tlimit\t"
               "algorithm\tgroups\tblock\twindow\tmodelled\tchecked\n");
    }
    run_calls(&options, rank);
    MPI_Finalize();
    return 0;
}

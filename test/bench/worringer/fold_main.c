/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

/** @file The command line and the rows of fold. */

#include "by_leaders.h"
#include "fold.h"

#include <stdlib.h>
#include <string.h>

static struct {
    /* options */
    const char *coll_list;
    const char *total_list;
    const char *op;
    const char *root_word;
    const char *dist;

    fold_value_t value;
    int colls[BENCH_MAX_WORDS]; /* fold_coll_t */
    size_t totals[BENCH_MAX_NUMBERS];
    int total_count;
    int root;
    fold_data_t data; /* of the row at hand */
    by_leaders_t groups[BENCH_MAX_ARMS];
} fold = {.coll_list = "bcast", .total_list = "1M", .op = "sum", .root_word = "0",
          .dist = "regular"};

static const char *const coll_names[FOLD_COLLS] = {"bcast",  "reduce",    "scan",
                                                   "exscan", "allreduce", "reduce_scatter",
                                                   "allgather"};

/* ---- the command line */

static const char own_options[]
    = "  --coll LIST        of bcast, reduce, scan, exscan, allreduce, reduce_scatter,\n"
      "                     allgather                           [bcast]\n"
      "  --total LIST       bytes of a rank's contribution      [1M]\n"
      "  --op WHICH         sum (of doubles), isum (of ints), matrix (product of 2 x 2 uint32\n"
      "                     matrices, which does not commute)   [sum]\n"
      "  --dist WHICH       how much each rank gets of a reduce_scatter, as of agv [regular]\n"
      "  --root WHICH       a rank, or inner: the one in the middle [0]\n"
      "  A batch of more than 1 is of allgather only.\n";

static const char arms[]
    = "  stock              Open MPI without our components\n"
      "  pipering           as a user without coll/mleader meets it\n"
      "  pipeline           forced: the pipeline (all but allreduce and allgather)\n"
      "  rounds             forced: log2 rounds\n"
      "  ring, merged       forced: pipering's algorithms of allreduce\n"
      "  serial             an allreduce as the pipelines of MPI_Reduce, then of MPI_Bcast\n"
      "  ring               forced: pipering's ring of allgather, reduce_scatter\n"
      "  mesh_trees, mesh_path, mesh_cycles\n"
      "                     forced: pipering's algorithms on a mesh, of bcast and reduce, of\n"
      "                     reduce and allreduce, of allreduce and allgather\n"
      "  mesh_lines         forced: pipering's allreduce of short vectors on a mesh\n"
      "  met, asked         mesh_trees of bcast after MPI_Barrier; after MPI_Allreduce of a word\n"
      "  spreadN, packedN   allgather on top of MPI by N leaders a node: the first ones of N parts\n"
      "                     of its ranks; the first N ranks\n"
      "  mleader            as a user meets it, with both; of allgather\n"
      "  tuned              coll/tuned's own choice, without our components and coll/han\n"
      "  sm                 coll/sm, and what it lacks (scans) from coll/tuned; on one node\n"
      "  tuned:N            coll/tuned's algorithm N of the collective (some cannot do --op\n"
      "                     matrix: their results are wrong)\n"
      "  tuned:N:seg=BYTES  the same with segments of so many bytes (tuned: with Open MPI 5.0;\n"
      "                     that of 4.1 takes these from mpirun's command line only)\n";

/*
 * Ways of arms: an allreduce as two calls; a broadcast once all ranks are there, or have agreed; an
 * allgather by leaders.
 */
enum { PLAIN, SERIAL, MET, ASKED, SPREAD, PACKED };

static const bench_kind_t kinds[]
    = {{"stock", BENCH_STOCK, 0, NULL, NULL},
       {"tuned", BENCH_TUNED, 0, NULL, NULL},
       {"sm", BENCH_SM, 0, NULL, NULL},
       {"mleader", BENCH_MLEADER, 0, "allgather_algorithm=auto", "allgather"},
       {"pipering", BENCH_PIPERING, 0, "%s_algorithm=auto", NULL},
       {"ring", BENCH_PIPERING, 0, "%s_algorithm=ring", "allreduce,allgather,reduce_scatter"},
       {"rounds", BENCH_PIPERING, 0, "%s_algorithm=rounds",
        "bcast,reduce,scan,exscan,allreduce,allgather,reduce_scatter"},
       {"pipeline", BENCH_PIPERING, 0, "%s_algorithm=pipeline",
        "bcast,reduce,scan,exscan,reduce_scatter"},
       {"merged", BENCH_PIPERING, 0, "%s_algorithm=merged", "allreduce"},
       {"serial", BENCH_PIPERING, SERIAL, "reduce_algorithm=pipeline:bcast_algorithm=pipeline",
        "allreduce"},
       {"mesh_trees", BENCH_PIPERING, 0, "%s_algorithm=mesh_trees", "bcast,reduce"},
       {"met", BENCH_PIPERING, MET, "%s_algorithm=mesh_trees", "bcast"},
       {"asked", BENCH_PIPERING, ASKED, "%s_algorithm=mesh_trees", "bcast"},
       {"spread", BENCH_STOCK, SPREAD, NULL, "allgather"},
       {"packed", BENCH_STOCK, PACKED, NULL, "allgather"},
       {"mesh_path", BENCH_PIPERING, 0, "%s_algorithm=mesh_path", "reduce,allreduce"},
       {"mesh_cycles", BENCH_PIPERING, 0, "%s_algorithm=mesh_cycles", "allreduce,allgather"},
       {"mesh_lines", BENCH_PIPERING, 0, "%s_algorithm=mesh_lines", "allreduce"},
       {NULL, BENCH_STOCK, 0, NULL, NULL}};

static const bench_option_t options[] = {{"--coll", &fold.coll_list, NULL, 0.0, NULL},
                                         {"--total", &fold.total_list, NULL, 0.0, NULL},
                                         {"--op", &fold.op, NULL, 0.0, NULL},
                                         {"--root", &fold.root_word, NULL, 0.0, NULL},
                                         {"--dist", &fold.dist, NULL, 0.0, NULL},
                                         {NULL, NULL, NULL, 0.0, NULL}};

/* ---- rows */

static fold_coll_t coll_of(int row)
{
    return (fold_coll_t) fold.colls[row / fold.total_count];
}

static size_t total_of(int row)
{
    return fold.totals[row % fold.total_count];
}

/* The rank that --root means among `size`, -1: none. */
static int find_root(int size)
{
    char *end;
    const long root = strtol(fold.root_word, &end, 10);

    if (0 == strcmp(fold.root_word, "inner")) {
        return size / 2;
    }
    return (end == fold.root_word || '\0' != *end || 0 > root || size <= root) ? -1 : (int) root;
}

/* False: a row's total is not whole elements, or its collective has no batches. */
static bool check_rows(const bench_t *bench, char *error)
{
    bool batches = false;

    for (int i = 0; i < bench->batch_count; ++i) {
        batches = batches || 1 < bench->batches[i];
    }
    for (int row = 0; row < bench->rows; ++row) {
        const size_t unit = fold_unit(coll_of(row), fold.value);

        if (0 != total_of(row) % unit) {
            snprintf(error, BENCH_ERROR_LENGTH,
                     "--total: %zu is not elements of %zu bytes, as %s's", total_of(row), unit,
                     coll_names[coll_of(row)]);
            return false;
        }
        if (batches && FOLD_ALLGATHER != coll_of(row)) {
            snprintf(error, BENCH_ERROR_LENGTH, "--batch: batches are of allgather only");
            return false;
        }
    }
    return true;
}

static bool prepare(bench_t *bench, char *error)
{
    const int colls = bench_choices(fold.coll_list, coll_names, FOLD_COLLS, fold.colls);

    fold.total_count = bench_numbers(fold.total_list, fold.totals);
    fold.root = find_root(bench->world.size);
    fold.value = 0 == strcmp(fold.op, "matrix") ? FOLD_MATRIX
                 : 0 == strcmp(fold.op, "isum") ? FOLD_INT
                                                : FOLD_DOUBLE;
    if (0 > colls || FOLD_COLLS < colls) {
        snprintf(error, BENCH_ERROR_LENGTH,
                 "--coll %s: expected some of bcast, reduce, scan, exscan, allreduce, "
                 "reduce_scatter, allgather",
                 fold.coll_list);
    } else if (0 > fold.total_count) {
        snprintf(error, BENCH_ERROR_LENGTH,
                 "--total %s: expected a list like 8,64K,1M..16M below 2 GiB", fold.total_list);
    } else if (FOLD_DOUBLE == fold.value && 0 != strcmp(fold.op, "sum")) {
        snprintf(error, BENCH_ERROR_LENGTH, "--op %s: expected sum, isum or matrix", fold.op);
    } else if (0 > fold.root) {
        snprintf(error, BENCH_ERROR_LENGTH, "--root %s: expected a rank or inner",
                 fold.root_word);
    } else {
        for (int c = 0; c < colls; ++c) {
            bench->calls[c] = coll_names[fold.colls[c]];
        }
        bench->call_count = colls;
        bench->rows = colls * fold.total_count;
        return check_rows(bench, error);
    }
    return false;
}

/* ---- the wire limit */

/* That of the slowest link; 0: none is shaped. */
static double least_rate(const bench_t *bench)
{
    double least = 0.0;

    for (int node = 0; node < bench->world.nodes; ++node) {
        const double rate = bench_world_rate(&bench->world, node, bench->options.rate);

        if (0.0 < rate && (0.0 >= least || rate < least)) {
            least = rate;
        }
    }
    return least;
}

/* Seconds that the busiest link needs; 0: unknown. */
static double wire_limit(const bench_t *bench)
{
    const double rate = least_rate(bench);

    return 0.0 < rate ? fold_wire_bytes(&fold.data, &bench->world) / rate : 0.0;
}

/* ---- what the harness calls */

/* Of arms by leaders on top of MPI. */
static bool make_groups(const bench_t *bench)
{
    const bench_arm_t *arms = bench->arms[bench->row * bench->call_count / bench->rows];
    bool good = true;

    for (int i = 0; i < bench->arm_count && good; ++i) {
        if (SPREAD <= arms[i].kind->way) {
            good = MPI_SUCCESS
                   == by_leaders_create(&fold.groups[i],
                                        atoi(arms[i].name + strlen(arms[i].kind->name)),
                                        PACKED == arms[i].kind->way, arms[i].comm);
        }
    }
    return good;
}

static bool begin_row(bench_t *bench, int row)
{
    const fold_problem_t problem = {coll_of(row), total_of(row), fold.value, fold.root, fold.dist};

    if (!fold_data_create(&fold.data, &problem, &bench->world)) {
        return false;
    }
    bench->limit = wire_limit(bench);
    return make_groups(bench);
}

static void end_row(void)
{
    fold_data_free(&fold.data);
    for (int i = 0; i < BENCH_MAX_ARMS; ++i) {
        if (NULL != fold.groups[i].order) {
            by_leaders_free(&fold.groups[i]);
        }
    }
}

static void fill(const bench_arm_t *arm, uint64_t sample)
{
    (void) arm;
    fold_data_fill(&fold.data, sample);
}

static int call(const bench_arm_t *arm)
{
    switch (arm->kind->way) {
    case SERIAL:
        return fold_data_serial(&fold.data, arm->comm);
    case MET:
    case ASKED:
        return fold_data_met(&fold.data, ASKED == arm->kind->way, arm->comm);
    case SPREAD:
    case PACKED:
        return by_leaders_allgather(&fold.groups[arm->index], fold.data.send, fold.data.recv,
                                    fold.data.length * fold.data.unit);
    default:
        return fold_data_call(&fold.data, arm->comm);
    }
}

static bool next(void)
{
    return fold_data_next(&fold.data);
}

static bool verify(const bench_arm_t *arm, char *error)
{
    (void) arm;
    return fold_data_verify(&fold.data, error);
}

static void print_row(int row, FILE *out)
{
    const fold_coll_t coll = coll_of(row);

    fprintf(out, "%s\t%zu\t%s\t", coll_names[coll], total_of(row),
            fold_coll_has_op(coll) ? fold.op : "-");
    if (FOLD_BCAST == coll || FOLD_REDUCE == coll) {
        fprintf(out, "%d\t", fold.root);
    } else {
        fputs("-\t", out);
    }
}

int main(int argc, char **argv)
{
    static const bench_program_t program
        = {.name = "fold",
           .purpose = "Times MPI_Bcast, MPI_Reduce, MPI_Scan, MPI_Exscan, MPI_Allreduce,\n"
                      "MPI_Reduce_scatter, MPI_Allgather, checks every result.",
           .own_options = own_options,
           .arms = arms,
           .columns = "coll\ttotal\top\troot",
           .options = options,
           .kinds = kinds,
           .defaults = {BENCH_DEFAULTS, .arms = "stock,pipering", .idle = -1.0},
           .prepare = prepare,
           .begin_row = begin_row,
           .end_row = end_row,
           .fill = fill,
           .call = call,
           .next = next,
           .verify = verify,
           .print_row = print_row};

    return bench_main(&program, argc, argv);
}

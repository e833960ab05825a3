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
 * Stages predicted and counted: blocks and bytes that each rank takes in and sends in
 * broadcasts, reductions, scans and allreduces, by the performance variables and by
 * the verbose line, against hops that the test lays itself, and the rounds that the
 * plan predicts against the length of the way. For the first 2, 3, .. ranks of the job
 * in either order, roots at both ends and between, and operations that commute or not.
 * Nodes are told apart by processor names.
 */

#include "foldcall.h"
#include "knob.h"
#include "tap.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST 16 /* ranks */

/** What a rank is to move, or has moved. */
typedef struct load_t {
    uint64_t blocks_in, blocks_out, bytes_in, bytes_out, from_network;
} load_t;

/** A communicator, and a call on it as the test sees it. */
typedef struct scene_t {
    MPI_Comm comm;
    int p, me, nodes;
    int node_of[MOST]; /**< the lowest rank on the same node */
    foldcall_t call;
    form_t form;
    bool ordered;
    int algorithm;
    size_t unit, units, block; /**< bytes of a unit, their number, and that of a block */
    load_t wanted;
    uint64_t rounds;
} scene_t;

static uint64_t ceiling(size_t a, size_t b)
{
    return (a + b - 1) / b;
}

/* ---- hops ---- */

static void hop(scene_t *s, int from, int to, size_t units)
{
    const uint64_t blocks = ceiling(units, s->block), bytes = units * s->unit;

    if (s->me == from) {
        s->wanted.blocks_out += blocks;
        s->wanted.bytes_out += bytes;
    }
    if (s->me == to) {
        s->wanted.blocks_in += blocks;
        s->wanted.bytes_in += bytes;
        s->wanted.from_network += s->node_of[from] != s->node_of[to] ? bytes : 0;
    }
}

/** All there is, along an arrow or against it. */
static void arrow(scene_t *s, int from, int to, bool back)
{
    hop(s, back ? to : from, back ? from : to, s->units);
}

/** From the root to a rank of each next node, and from there through its node. */
static void along_nodes(scene_t *s, int root, bool back)
{
    int head = root;

    for (int i = 0; i < s->p; i++) {
        const int node = (s->node_of[root] + i) % s->p;
        int before;

        if (s->node_of[node] != node) {
            continue;
        }
        if (node != s->node_of[root]) {
            arrow(s, head, node, back);
            head = node;
        }
        before = head;
        for (int r = 0; r < s->p; r++) {
            if (s->node_of[r] == node && r != head) {
                arrow(s, before, r, back);
                before = r;
            }
        }
    }
}

/** From both ends to the root, lower ranks by way of rank 0. */
static void in_order(scene_t *s, int root)
{
    for (int r = s->p - 1; r > 0; r--) {
        if (r != root) {
            arrow(s, r, r - 1, false);
        }
    }
    if (0 < root) {
        arrow(s, 0, root, false);
    }
}

static void along_ranks(scene_t *s)
{
    for (int r = 0; r + 1 < s->p; r++) {
        arrow(s, r, r + 1, false);
    }
}

/**
 * Chunk by chunk: combined on its way around to its rank, and then from there to the last
 * rank of the node before, while its own node closes a ring.
 */
static void around(scene_t *s)
{
    int order[MOST], p = s->p, x = 0;

    for (int node = 0; node < p; node++) {
        for (int r = 0; r < p; r++) {
            if (s->node_of[r] == node) {
                order[x++] = r;
            }
        }
    }
    for (x = 0; x < p; x++) {
        const int rank = order[x], node = s->node_of[rank];
        const size_t units = s->units / (size_t) p + ((size_t) rank < s->units % (size_t) p);
        int last = x, first = x;

        while (last + 1 < p && node == s->node_of[order[last + 1]]) {
            last++;
        }
        while (0 < first && node == s->node_of[order[first - 1]]) {
            first--;
        }
        for (int i = 1; i < p; i++) {
            hop(s, order[(x + i) % p], order[(x + i + 1) % p], units);
        }
        for (int i = 0; i < last - x + p - (last - first + 1); i++) {
            hop(s, order[(x + i) % p], order[(x + i + 1) % p], units);
        }
        for (int i = first; i < x; i++) {
            hop(s, first == i ? order[last] : order[i - 1], order[i], units);
        }
    }
}

/* ---- what is to be expected ---- */

/** Hops to the farthest rank: one a node, and those inside of the largest node. */
static int way_along_nodes(const scene_t *s)
{
    int largest = 0;

    for (int node = 0; node < s->p; node++) {
        int ranks = 0;

        for (int r = 0; r < s->p; r++) {
            ranks += node == s->node_of[r];
        }
        largest = ranks > largest ? ranks : largest;
    }
    return s->nodes - 1 + largest - 1;
}

/** Of the two lines to the root the one that goes from node to node more often, then the longer. */
static int way_in_order(const scene_t *s, int root)
{
    int above = s->p - 1 - root, below = root, across = 0;

    for (int r = s->p - 1; r > 0; r--) {
        if (r != root) {
            across += (r > root ? 1 : -1) * (s->node_of[r] != s->node_of[r - 1]);
        }
    }
    across -= 0 < root && s->node_of[0] != s->node_of[root];
    return 0 < across || (0 == across && above > below) ? above : below;
}

static void expect(scene_t *s)
{
    const fold_call_t call = s->call.call;
    const bool both = FOLD_ALLREDUCE == call;
    const uint64_t blocks = ceiling(s->units, s->block);
    int way;

    memset(&s->wanted, 0, sizeof(s->wanted));
    if (both && KNOB_RING == s->algorithm && !s->ordered) {
        around(s);
        s->rounds = 2 * (uint64_t) (s->p - 1)
                    * ceiling(ceiling(s->units, (size_t) s->p), s->block);
        return;
    }
    if (FOLD_SCAN == call || FOLD_EXSCAN == call) {
        along_ranks(s);
        s->rounds = blocks - 1 + (uint64_t) (s->p - 1);
        return;
    }
    if (FOLD_BCAST == call || both) {
        along_nodes(s, s->call.root, false);
    }
    if (FOLD_BCAST != call) {
        s->ordered ? in_order(s, s->call.root) : along_nodes(s, s->call.root, true);
    }
    way = s->ordered ? way_in_order(s, s->call.root) : way_along_nodes(s);
    s->rounds = blocks - 1 + (uint64_t) ((both ? 2 : 1) * way);
}

/* ---- what is seen ---- */

static load_t read_counters(void)
{
    return (load_t){.blocks_in = knob_counter("coll_pipering_blocks_received"),
                    .blocks_out = knob_counter("coll_pipering_blocks_sent"),
                    .bytes_in = knob_counter("coll_pipering_bytes_received"),
                    .bytes_out = knob_counter("coll_pipering_bytes_sent"),
                    .from_network = knob_counter("coll_pipering_bytes_from_network")};
}

static load_t difference(load_t a, load_t b)
{
    return (load_t){.blocks_in = a.blocks_in - b.blocks_in,
                    .blocks_out = a.blocks_out - b.blocks_out,
                    .bytes_in = a.bytes_in - b.bytes_in,
                    .bytes_out = a.bytes_out - b.bytes_out,
                    .from_network = a.from_network - b.from_network};
}

/** What the verbose line says. */
typedef struct line_t {
    int ranks, nodes;
    unsigned long long block, predicted, in, plan_in, out, plan_out, counted;
} line_t;

static bool parse(const char *text, line_t *line)
{
    const char *size = strstr(text, " bytes, "), *window = strstr(text, ", window ");
    const char *in = strstr(text, " blocks in (plan ");

    while (NULL != in && in > text && ' ' != in[-1]) {
        in--;
    }
    return NULL != size && NULL != window && NULL != in
           && 3 == sscanf(size, " bytes, %d ranks on %d nodes, B %llu", &line->ranks, &line->nodes,
                          &line->block)
           && 1 == sscanf(window, ", window %*u, %llu rounds between members predicted",
                          &line->predicted)
           && 5 == sscanf(in, "%llu blocks in (plan %llu), %llu out (plan %llu), %llu rounds",
                          &line->in, &line->plan_in, &line->out, &line->plan_out, &line->counted);
}

/** The call, with what it writes to stderr. */
static int run_and_listen(const scene_t *s, char *text, size_t room)
{
    FILE *file = tmpfile();
    const int error = dup(2);
    int code;
    size_t length;

    if (NULL == file || 0 > error) {
        tap_bail("no file for what the component says");
    }
    fflush(stderr);
    dup2(fileno(file), 2);
    knob_set("coll_pipering_verbose", 2);
    code = foldcall(&s->call, s->form);
    knob_set("coll_pipering_verbose", 0);
    fflush(stderr);
    dup2(error, 2);
    close(error);
    rewind(file);
    length = fread(text, 1, room - 1, file);
    text[length] = '\0';
    fclose(file);
    return code;
}

static const char *algorithm_text(const scene_t *s)
{
    if (FOLD_ALLREDUCE != s->call.call) {
        return ": pipeline, ";
    }
    return KNOB_RING == s->algorithm && !s->ordered ? ": pipelined ring, "
                                                    : ": merged pipelines, ";
}

/* The only line that is not about the call is about the first measuring. */
static bool line_right(const scene_t *s, const char *text)
{
    const char *start = strstr(text, "rounds between members");
    const uint64_t in = s->wanted.blocks_in, out = s->wanted.blocks_out;
    line_t line;

    while (NULL != start && start > text && '\n' != start[-1]) {
        start--;
    }
    return NULL != start && parse(start, &line) && NULL != strstr(start, algorithm_text(s))
           && s->p == line.ranks && s->nodes == line.nodes
           && s->block * s->unit == line.block && s->rounds == line.predicted && in == line.in
           && in == line.plan_in && out == line.out && out == line.plan_out
           && (in > out ? in : out) == line.counted;
}

static bool try_call(scene_t *s, char *fault, size_t room)
{
    const load_t before = read_counters();
    const uint64_t rounds = knob_counter("coll_pipering_rounds");
    char text[4096];
    load_t got;
    bool right;

    right = MPI_SUCCESS == run_and_listen(s, text, sizeof(text));
    got = difference(read_counters(), before);
    expect(s);
    right = right && 0 == memcmp(&got, &s->wanted, sizeof(got)) && line_right(s, text)
            && (got.blocks_in > got.blocks_out ? got.blocks_in : got.blocks_out)
                   == knob_counter("coll_pipering_rounds") - rounds;
    if (!right) {
        snprintf(fault, room,
                 "root %d, %s, B %zu, %s: blocks in %llu, out %llu, wanted %llu, %llu; network "
                 "%llu, wanted %llu; %llu rounds; said: %.500s",
                 s->call.root, s->ordered ? "ordered" : "commutes", s->block * s->unit,
                 form_name(s->form), (unsigned long long) got.blocks_in,
                 (unsigned long long) got.blocks_out, (unsigned long long) s->wanted.blocks_in,
                 (unsigned long long) s->wanted.blocks_out, (unsigned long long) got.from_network,
                 (unsigned long long) s->wanted.from_network, (unsigned long long) s->rounds, text);
    }
    return right;
}

/* ---- all calls ---- */

#define COUNT 701

static MPI_Datatype quad;
static MPI_Op ordered_sum;
static int memory[2][4 * COUNT];

static void add_quads(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void) type;
    for (int k = 0; k < 4 * *length; k++) {
        ((int *) inout)[k] += ((int *) in)[k];
    }
}

static void aim(scene_t *s, int root, bool ordered, size_t block_size)
{
    const bool bcast = FOLD_BCAST == s->call.call;
    const size_t size = ordered ? 16 : 4;

    s->ordered = ordered && !bcast;
    s->call.root = root;
    s->call.comm = s->comm;
    s->call.send = memory[0];
    s->call.recv = memory[1];
    s->call.count = ordered ? COUNT : 4 * COUNT;
    s->call.type = ordered ? quad : MPI_INT;
    s->call.op = ordered ? ordered_sum : MPI_SUM;
    s->unit = bcast ? 1 : size;
    s->units = (size_t) s->call.count * size / s->unit;
    s->block = block_size / s->unit;
    knob_set("coll_pipering_block_size", (double) block_size);
}

/** Roots matter to broadcasts and reductions alone. */
static bool try_all(scene_t *s, char *fault, size_t room)
{
    static const size_t blocks[] = {4096, 1001, 100, 100000};
    const bool rooted = FOLD_BCAST == s->call.call || FOLD_REDUCE == s->call.call;
    bool right = true;
    int n = 0;

    for (int root = 0; root < (rooted ? s->p : 1); root++) {
        for (int i = 0; i < 8; i++, n++) {
            s->form = (form_t) (n % FORMS);
            aim(s, root, i % 2, blocks[i / 2]);
            right = try_call(s, fault, room) && right;
        }
    }
    return right;
}

static const struct {
    const char *name;
    fold_call_t call;
    int algorithm; /* of MPI_Allreduce */
} calls[] = {{"Bcast", FOLD_BCAST, KNOB_OFF},
             {"Reduce", FOLD_REDUCE, KNOB_OFF},
             {"Scan", FOLD_SCAN, KNOB_OFF},
             {"Exscan", FOLD_EXSCAN, KNOB_OFF},
             {"Allreduce, merged", FOLD_ALLREDUCE, KNOB_MERGED},
             {"Allreduce, ring", FOLD_ALLREDUCE, KNOB_RING}};
#define CALLS ((int) (sizeof(calls) / sizeof(calls[0])))

/** The first p ranks, or the same from the last on; others get MPI_COMM_NULL. */
static void enter(scene_t *s, int p, bool reversed)
{
    MPI_Comm_split(MPI_COMM_WORLD, tap_rank < p ? 0 : MPI_UNDEFINED,
                   reversed ? -tap_rank : tap_rank, &s->comm);
    s->p = p;
    s->me = reversed ? p - 1 - tap_rank : tap_rank;
    s->nodes = MPI_COMM_NULL == s->comm ? 0 : tap_nodes(s->comm, s->node_of);
}

static void try_size(int p, bool reversed)
{
    char fault[1200];
    scene_t s;

    enter(&s, p, reversed);
    for (int i = 0; i < CALLS; i++) {
        bool right = true;

        memset(&s.call, 0, sizeof(s.call));
        s.call.call = calls[i].call;
        s.algorithm = calls[i].algorithm;
        knob_folds(KNOB_PIPELINE, s.algorithm);
        if (MPI_COMM_NULL != s.comm) {
            right = try_all(&s, fault, sizeof(fault));
        }
        knob_folds(KNOB_OFF, KNOB_OFF);
        tap_check(right, fault, "%s, %d ranks on %d nodes%s", calls[i].name, p, s.nodes,
                  reversed ? ", reversed" : "");
    }
    if (MPI_COMM_NULL != s.comm) {
        MPI_Comm_free(&s.comm);
    }
}

int main(int argc, char **argv)
{
    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (!knob_begin() || MOST < tap_size) {
        tap_bail("there is no coll/pipering here, or there are more than %d ranks", MOST);
    }
    MPI_Type_contiguous(4, MPI_INT, &quad);
    MPI_Type_commit(&quad);
    MPI_Op_create(add_quads, 0, &ordered_sum);
    for (int p = 2; p <= tap_size; p++) {
        try_size(p, 0 != p % 2);
    }
    try_size(tap_size, 0 == tap_size % 2);
    MPI_Op_free(&ordered_sum);
    MPI_Type_free(&quad);
    knob_end();
    return tap_end();
}

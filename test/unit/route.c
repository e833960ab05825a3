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
 * Routes: the message flow over both links of every rank, simulated. Every rank
 * gets every block of the others once and its own never, senders hold what they
 * send, both ends of a link agree on its blocks, each byte enters a node once.
 */

#include <math.h>
#include <string.h>

#include "coll_pipering_plan.h"
#include "ref.h"
#include "sim.h"
#include "tap.h"

#define RING_LINK MCA_COLL_PIPERING_RING_LINK
#define NODE_LINK MCA_COLL_PIPERING_NODE_LINK
#define NODES MCA_COLL_PIPERING_ORDER_NODES
#define EMPTIES MCA_COLL_PIPERING_ORDER_EMPTIES
#define MOST 72

enum { ONE_NODE, ALL_NODES, FIGURE1, BLOCKWISE, CYCLIC, UNEVEN, LAYOUTS };
static const char *const layout_names[LAYOUTS] = {
    "one node", "a node a rank", "nodes of 1, 5, 2, 1, 1, 1 ... ranks", "nodes of equal size",
    "nodes dealt out in turn", "uneven nodes"};

typedef struct instance_t {
    int p;
    int node_of[MOST];
    size_t bytes[MOST];
    uint64_t blocks[MOST];
    size_t block_size;
    unsigned flags;
    sim_plan_t plan;
    double finish;
} instance_t;

static void fill_nodes(instance_t *in, int layout)
{
    const int nodes = tap_between(1, in->p), per_node = (in->p + nodes - 1) / nodes;

    for (int r = 0; r < in->p; r++) {
        switch (layout) {
        case ONE_NODE:
            in->node_of[r] = 0;
            break;
        case ALL_NODES:
            in->node_of[r] = r;
            break;
        case FIGURE1:
            in->node_of[r] = 0 == r ? 0 : r < 6 ? 1 : r < 8 ? 2 : r - 5;
            in->node_of[r] %= in->p;
            break;
        case BLOCKWISE:
            in->node_of[r] = r / per_node;
            break;
        case CYCLIC:
            in->node_of[r] = r % nodes;
            break;
        default:
            in->node_of[r] = tap_between(0, nodes - 1);
        }
    }
}

static void fill_bytes(instance_t *in)
{
    const uint64_t empties = tap_below(5);

    in->block_size = 1 + tap_below(12);
    for (int r = 0; r < in->p; r++) {
        in->bytes[r] = tap_below(5) < empties ? 0 : tap_below(6 * in->block_size + 1);
        in->blocks[r] = mca_coll_pipering_blocks(in->bytes[r], in->block_size);
    }
}

static void run_in(instance_t *in, uint64_t slots)
{
    in->finish = sim_gather(&in->plan, in->bytes, in->block_size, sim_rounds_cost, slots);
}

static void open_instance(instance_t *in, int p, int layout)
{
    memset(in, 0, sizeof(*in));
    in->p = p;
    fill_nodes(in, layout);
    fill_bytes(in);
    in->flags = NODES | (tap_once_in(2) ? EMPTIES : 0);
    sim_plan(&in->plan, p, in->node_of, in->blocks, in->flags);
    run_in(in, 0);
}

static void close_instance(instance_t *in)
{
    sim_plan_free(&in->plan);
}

static bool try_in(tap_tally_t *tally, bool pass, const instance_t *in, const char *what)
{
    return tap_try(tally, pass, "%s: flags %u, nodes %s, order %s, blocks %s", what, in->flags,
                   ref_show_int(in->node_of, in->p), ref_show_int(in->plan.ring.rank, in->p),
                   ref_show(in->blocks, in->p));
}

/* ---- properties ---- */

/* Whatever the counts, a link brings something. */
static bool has_no_idle_link(const instance_t *in)
{
    for (int r = 0; r < in->p; r++) {
        const mca_coll_pipering_route_t *route = &in->plan.routes[r];

        if (MCA_COLL_PIPERING_ROUTE_LINKS < route->ins
            || MCA_COLL_PIPERING_ROUTE_LINKS < route->outs) {
            return false;
        }
        for (int link = 0; link < route->ins; link++) {
            const mca_coll_pipering_in_t *from = &route->in[link];

            if (0 > from->peer || r == from->peer || 0 >= from->stream.origins
                || from->stream.origins >= in->p) {
                return false;
            }
        }
        for (int link = 0; link < route->outs; link++) {
            const mca_coll_pipering_out_t *to = &route->out[link];

            if (0 > to->peer || r == to->peer || (!to->own && 0 >= to->forward.origins)) {
                return false;
            }
        }
    }
    return true;
}

/* What is forwarded is the beginning of what comes in. */
static bool forwards_prefixes(const instance_t *in)
{
    for (int r = 0; r < in->p; r++) {
        const mca_coll_pipering_route_t *route = &in->plan.routes[r];

        if (1 != route->own.origins || in->plan.ring.position[r] != route->own.position) {
            return false;
        }
        for (int link = 0; link < route->outs; link++) {
            const mca_coll_pipering_out_t *out = &route->out[link];

            if (0 == out->forward.origins) {
                continue;
            }
            if (0 > out->source || route->ins <= out->source
                || out->forward.position != route->in[out->source].stream.position
                || out->forward.origins > route->in[out->source].stream.origins) {
                return false;
            }
        }
    }
    return true;
}

static int node_at(const instance_t *in, int rank)
{
    return in->plan.ring.node[in->plan.ring.position[rank]];
}

/* One link into each node and one out of it; none if there is one node only. */
static bool has_one_edge(const instance_t *in)
{
    int entering[MOST] = {0}, leaving[MOST] = {0};
    const int wanted = 1 < in->plan.ring.nodes;

    for (int r = 0; r < in->p; r++) {
        const mca_coll_pipering_route_t *route = &in->plan.routes[r];

        for (int link = 0; link < route->ins; link++) {
            entering[node_at(in, r)] += node_at(in, route->in[link].peer) != node_at(in, r);
        }
        for (int link = 0; link < route->outs; link++) {
            leaving[node_at(in, r)] += node_at(in, route->out[link].peer) != node_at(in, r);
        }
    }
    for (int j = 0; j < in->plan.ring.nodes; j++) {
        if (wanted != entering[j] || wanted != leaving[j]) {
            return false;
        }
    }
    return true;
}

/* What comes in over a link, block by block. */
static mca_coll_pipering_volume_t came_in(const instance_t *in, int rank, int link)
{
    mca_coll_pipering_volume_t volume = {0, 0};
    mca_coll_pipering_block_t block;
    mca_coll_pipering_walk_t walk;

    mca_coll_pipering_walk_init(&walk, &in->plan.ring, in->bytes, in->block_size,
                                in->plan.routes[rank].in[link].stream);
    for (; mca_coll_pipering_walk_next(&walk, &block); volume.blocks++) {
        volume.bytes += block.length;
    }
    return volume;
}

/* m - M_J bytes enter node J. */
static bool enters_once(const instance_t *in)
{
    uint64_t entered[MOST] = {0}, own[MOST] = {0}, all = 0;

    for (int r = 0; r < in->p; r++) {
        all += in->bytes[r];
        own[node_at(in, r)] += in->bytes[r];
        for (int link = 0; link < in->plan.routes[r].ins; link++) {
            if (node_at(in, in->plan.routes[r].in[link].peer) != node_at(in, r)) {
                entered[node_at(in, r)] += came_in(in, r, link).bytes;
            }
        }
    }
    for (int j = 0; j < in->plan.ring.nodes && 1 < in->plan.ring.nodes; j++) {
        if (all - own[j] != entered[j]) {
            return false;
        }
    }
    return true;
}

/* Every rank takes in m - m_i bytes, as many as it needs. */
static bool takes_in_all(const instance_t *in)
{
    uint64_t all = 0;

    for (int r = 0; r < in->p; r++) {
        all += in->bytes[r];
    }
    for (int r = 0; r < in->p; r++) {
        uint64_t got = 0;

        for (int link = 0; link < in->plan.routes[r].ins; link++) {
            got += came_in(in, r, link).bytes;
        }
        if (all - in->bytes[r] != got) {
            return false;
        }
    }
    return true;
}

static bool same_volume(mca_coll_pipering_volume_t a, mca_coll_pipering_volume_t b)
{
    return a.blocks == b.blocks && a.bytes == b.bytes;
}

/* The end of a link at its receiver, from a rank with a tag; NULL: there is none. */
static const mca_coll_pipering_in_t *other_end(const mca_coll_pipering_route_t *receiver, int from,
                                               int tag)
{
    for (int link = 0; link < receiver->ins; link++) {
        if (from == receiver->in[link].peer && tag == receiver->in[link].tag) {
            return &receiver->in[link];
        }
    }
    return NULL;
}

/* What a measured route says of a link is what passes it, and which links are inside a node. */
static bool volumes_agree(const instance_t *in)
{
    for (int r = 0; r < in->p; r++) {
        mca_coll_pipering_route_measure(&in->plan.routes[r], in->bytes, in->block_size,
                                        in->node_of, r);
    }
    for (int r = 0; r < in->p; r++) {
        const mca_coll_pipering_route_t *route = &in->plan.routes[r];

        if (in->bytes[r] != route->own_volume.bytes || in->blocks[r] != route->own_volume.blocks) {
            return false;
        }
        for (int link = 0; link < route->ins; link++) {
            const mca_coll_pipering_in_t *from = &route->in[link];

            if (!same_volume(came_in(in, r, link), from->volume)
                || from->local != (in->node_of[r] == in->node_of[from->peer])) {
                return false;
            }
        }
        for (int link = 0; link < route->outs; link++) {
            const mca_coll_pipering_out_t *out = &route->out[link];
            const mca_coll_pipering_in_t *end = other_end(&in->plan.routes[out->peer], r, out->tag);

            if (NULL == end || !same_volume(end->volume, out->volume)
                || end->local != out->local) {
                return false;
            }
        }
    }
    return true;
}

static void row_of(const instance_t *in, uint64_t *row)
{
    for (int x = 0; x < in->p; x++) {
        row[x] = in->blocks[in->plan.ring.rank[x]];
    }
}

/* Closing a node's ring locally costs no round, and without nodes changes none. */
static bool keeps_rounds(const instance_t *in, bool exactly)
{
    uint64_t row[MOST] = {0};
    double rounds;

    row_of(in, row);
    rounds = (double) mca_coll_pipering_rounds(row, in->p);
    return exactly ? rounds == in->finish : rounds >= in->finish;
}

/* ---- tests ---- */

static void test_layout(int layout)
{
    tap_tally_t flow = {0, 0}, idle = {0, 0}, prefix = {0, 0}, edge = {0, 0}, once = {0, 0},
                all = {0, 0}, volume = {0, 0}, rounds = {0, 0};
    instance_t in;

    for (int p = 1; p <= MOST; p++) {
        for (int i = 0; i < (p <= 16 ? 12 : 1); i++) {
            open_instance(&in, p, layout);
            try_in(&flow, !isnan(in.finish), &in, sim_error);
            try_in(&idle, has_no_idle_link(&in), &in, "idle link");
            try_in(&prefix, forwards_prefixes(&in), &in, "no prefix");
            try_in(&edge, has_one_edge(&in), &in, "edges");
            try_in(&once, enters_once(&in), &in, "bytes into a node");
            try_in(&all, takes_in_all(&in), &in, "bytes into a rank");
            try_in(&volume, volumes_agree(&in), &in, "volume");
            try_in(&rounds, keeps_rounds(&in, in.p == in.plan.ring.nodes), &in, "rounds");
            close_instance(&in);
        }
    }
    tally_ok(&flow, 200, "%s: all blocks of the others, once, in the order expected",
             layout_names[layout]);
    tally_ok(&idle, 200, "%s: a link exists iff it carries something", layout_names[layout]);
    tally_ok(&prefix, 200, "%s: forwarded is the beginning of a stream", layout_names[layout]);
    tally_ok(&edge, 200, "%s: one link into and one out of each node", layout_names[layout]);
    tally_ok(&once, 200, "%s: m - M_J bytes enter node J", layout_names[layout]);
    tally_ok(&all, 200, "%s: m - m_i bytes reach rank i", layout_names[layout]);
    tally_ok(&volume, 200, "%s: the streams' volumes", layout_names[layout]);
    tally_ok(&rounds, 200, "%s: the rounds of the flat ring or fewer", layout_names[layout]);
}

/* Every way to put up to 7 ranks on nodes, with two blocks a rank. */
static void test_every_layout(void)
{
    tap_tally_t tally = {0, 0};
    instance_t in;

    for (int p = 2; p <= 7; p++) {
        memset(&in, 0, sizeof(in));
        do {
            in.p = p;
            in.block_size = 10;
            in.flags = NODES;
            for (int r = 0; r < p; r++) {
                in.bytes[r] = 20;
                in.blocks[r] = 2;
            }
            sim_plan(&in.plan, p, in.node_of, in.blocks, NODES);
            run_in(&in, 0);
            try_in(&tally,
                   !isnan(in.finish) && enters_once(&in) && has_one_edge(&in) && has_no_idle_link(&in)
                       && forwards_prefixes(&in),
                   &in, sim_error);
            close_instance(&in);
        } while (ref_next_division(in.node_of, p));
    }
    tally_ok(&tally, 1000, "every mapping of up to 7 ranks to nodes");
}

/* Flat rings: without ORDER_NODES every rank is a node, so no node link and exact rounds. */
static void test_flat(void)
{
    tap_tally_t flow = {0, 0}, rounds = {0, 0};
    instance_t in;

    for (int i = 0; i < 1000; i++) {
        open_instance(&in, tap_between(2, 24), UNEVEN);
        close_instance(&in);
        in.flags = tap_once_in(2) ? EMPTIES : 0;
        sim_plan(&in.plan, in.p, in.node_of, in.blocks, in.flags);
        run_in(&in, 0);
        try_in(&flow, !isnan(in.finish), &in, sim_error);
        try_in(&rounds, keeps_rounds(&in, true), &in, "rounds");
        close_instance(&in);
    }
    tally_ok(&flow, 1000, "flat ring: all blocks of the others");
    tally_ok(&rounds, 1000, "flat ring: exactly the rounds of the plan");
}

/*
 * The flow never waits in a circle: with room for one block that is in flight on
 * a link it comes to an end (all runs above). It would if a receiver held
 * blocks back until it has forwarded them: where every rank has more own blocks
 * than such slots, all wait for each other. So blocks must be taken in, and kept
 * where they belong, whether or not they can be forwarded yet.
 */
static void test_slots(void)
{
    tap_tally_t stuck = {0, 0}, flows = {0, 0};
    instance_t in;

    for (int i = 0; i < 400; i++) {
        const int p = tap_between(3, 12);
        const uint64_t slots = 1 + tap_below(3);

        open_instance(&in, p, ALL_NODES);
        close_instance(&in);
        for (int r = 0; r < p; r++) {
            in.blocks[r] = slots + 1 + tap_below(4);
            in.bytes[r] = in.blocks[r] * in.block_size;
        }
        sim_plan(&in.plan, p, in.node_of, in.blocks, NODES);
        run_in(&in, slots);
        try_in(&stuck, isnan(in.finish) && NULL != strstr(sim_error, "stuck"), &in,
               sim_error);
        run_in(&in, ref_most(in.blocks, p) + 1);
        try_in(&flows, !isnan(in.finish), &in, sim_error);
        close_instance(&in);
    }
    tally_ok(&stuck, 400, "slots held until forwarded: a circle, if all have more own blocks");
    tally_ok(&flows, 400, "slots held until forwarded: none with 1 + max b_i slots");
}

/* ---- the simulator sees what is wrong ---- */

static void break_route(instance_t *in, int how)
{
    mca_coll_pipering_route_t *a = &in->plan.routes[in->plan.ring.rank[0]];
    mca_coll_pipering_route_t *b = &in->plan.routes[in->plan.ring.rank[in->p / 2]];

    switch (how) {
    case 0: /* forwards too little */
        a->out[RING_LINK].forward.origins--;
        break;
    case 1: /* forwards a rank its own blocks */
        a->out[RING_LINK].forward.origins++;
        break;
    case 2: /* keeps its own blocks */
        b->out[RING_LINK].own = false;
        break;
    case 3: /* begins elsewhere */
        b->out[RING_LINK].forward.position = (b->out[RING_LINK].forward.position + 1) % in->p;
        break;
    case 4: /* expects the streams of another */
        b->in[RING_LINK].stream = a->in[RING_LINK].stream;
        break;
    case 5: /* from the wrong link */
        b->out[RING_LINK].source = NODE_LINK;
        break;
    case 6: /* to the wrong peer */
        b->out[RING_LINK].peer = b->in[RING_LINK].peer;
        break;
    case 7: /* from nobody */
        b->in[RING_LINK].peer = -1;
        break;
    case 8: /* hears nothing */
        b->ins = 0;
        break;
    case 9: /* expects too little */
        b->in[RING_LINK].stream.origins--;
        break;
    default: /* by another tag */
        b->in[RING_LINK].tag++;
    }
}

static void test_broken(void)
{
    tap_tally_t tally = {0, 0};
    instance_t in;

    for (int how = 0; how < 11; how++) {
        for (int p = 4; p <= 20; p++) {
            open_instance(&in, p, ALL_NODES);
            close_instance(&in);
            for (int r = 0; r < p; r++) {
                in.blocks[r] = 2;
                in.bytes[r] = 2 * in.block_size;
            }
            sim_plan(&in.plan, p, in.node_of, in.blocks, NODES);
            break_route(&in, how);
            run_in(&in, 0);
            try_in(&tally, isnan(in.finish), &in, "not seen");
            close_instance(&in);
        }
    }
    tally_ok(&tally, 11 * 17, "the simulator sees broken routes");
}

int main(void)
{
    tap_start();
    for (int layout = 0; layout < LAYOUTS; layout++) {
        test_layout(layout);
    }
    test_every_layout();
    test_flat();
    test_slots();
    test_broken();
    return tap_end();
}

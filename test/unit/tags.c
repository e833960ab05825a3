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
 * Tags of pipelines: both ends of a link name the same one, no two streams from one rank to
 * another share one, none is there for nothing, and all ranks count alike. Every mapping of
 * up to 6 ranks to nodes, random ones of more.
 */

#include <string.h>

#include "coll_pipering_plan.h"
#include "ref.h"
#include "sim.h"
#include "tap.h"

#define MOST 24
#define TAGS 3

/* Streams between two ranks: those that leave, those that come in, with each tag. */
typedef struct wires_t {
    int p, tags;
    bool good;
    int leaving[MOST][MOST][TAGS], coming[MOST][MOST][TAGS];
} wires_t;

static bool is_tag(const mca_coll_pipering_route_t *route, int tag)
{
    return 0 <= tag && tag < route->tags && route->tags <= TAGS;
}

static void add_route(wires_t *wires, const mca_coll_pipering_route_t *route, int me)
{
    for (int link = 0; link < route->outs; link++) {
        const mca_coll_pipering_out_t *out = &route->out[link];

        wires->good = wires->good && is_tag(route, out->tag);
        if (wires->good) {
            wires->leaving[me][out->peer][out->tag]++;
        }
    }
    for (int link = 0; link < route->ins; link++) {
        const mca_coll_pipering_in_t *in = &route->in[link];

        wires->good = wires->good && is_tag(route, in->tag);
        if (wires->good) {
            wires->coming[in->peer][me][in->tag]++;
        }
    }
}

/* Adds a route of each rank; how many tags all so far have. */
static int add_routes(wires_t *wires, const mca_coll_pipering_route_t *routes, int p)
{
    wires->p = p;
    for (int r = 0; r < p; r++) {
        add_route(wires, &routes[r], r);
        wires->good = wires->good && routes[0].tags == routes[r].tags;
    }
    wires->tags = routes[0].tags > wires->tags ? routes[0].tags : wires->tags;
    return wires->tags;
}

/* No tag is used twice, and as many are there as the most streams between two ranks. */
static bool is_least(const wires_t *wires)
{
    int most = 1;

    for (int from = 0; from < wires->p; from++) {
        for (int to = 0; to < wires->p; to++) {
            int streams = 0;
            for (int tag = 0; tag < TAGS; tag++) {
                const int count = wires->leaving[from][to][tag];
                if (1 < count || count != wires->coming[from][to][tag]) {
                    return false;
                }
                streams += count;
            }
            most = streams > most ? streams : most;
        }
    }
    return wires->good && most == wires->tags;
}

static bool try_wires(tap_tally_t *tally, const wires_t *wires, const int *node_of)
{
    return tap_try(tally, is_least(wires), "p %d, tags %d, nodes %s", wires->p, wires->tags,
                   ref_show_int(node_of, wires->p));
}

/* A gather, and an allreduce around the ring: a reduce-scatter and a gather. */
static void try_ring(tap_tally_t *gather, tap_tally_t *allreduce, tap_tally_t *bound, int p,
                     const int *node_of)
{
    mca_coll_pipering_route_t *scatter = sim_routes(p);
    uint64_t blocks[MOST];
    sim_plan_t plan;

    for (int r = 0; r < MOST; r++) {
        blocks[r] = 1;
    }
    sim_plan(&plan, p, node_of, blocks, MCA_COLL_PIPERING_ORDER_NODES);
    for (int r = 0; r < p; r++) {
        mca_coll_pipering_route_scatter(&scatter[r], &plan.ring, r);
    }
    wires_t once = {.good = true}, twice = {.good = true};
    add_routes(&once, plan.routes, p);
    const int tags = add_routes(&twice, scatter, p);
    for (int r = 0; r < p; r++) {
        mca_coll_pipering_route_shift_tags(&plan.routes[r], tags);
    }
    add_routes(&twice, plan.routes, p);
    try_wires(gather, &once, node_of);
    try_wires(allreduce, &twice, node_of);
    tap_try(bound, once.tags <= 2, "p %d", p);
    sim_plan_free(&plan);
    free(scatter);
}

enum { NODES, ORDERED, LINE };

static void make_routes(mca_coll_pipering_route_t *routes, int kind, int p, int root,
                        const int *node_of, bool collect)
{
    static const mca_coll_pipering_ring_t ring;

    for (int r = 0; r < p; r++) {
        mca_coll_pipering_chain_t chain;
        if (NODES == kind) {
            mca_coll_pipering_chain(&chain, node_of, p, root, r);
        } else if (ORDERED == kind) {
            mca_coll_pipering_chain_ordered(&chain, p, root, r);
        } else {
            mca_coll_pipering_chain_scan(&chain, p, r);
        }
        (collect ? mca_coll_pipering_chain_collect
                 : mca_coll_pipering_chain_spread)(&routes[r], &ring, &chain);
    }
}

/* One pipeline along each kind of chain, and there and back with the same tags. */
static void try_chains(tap_tally_t *one, tap_tally_t *both, int p, const int *node_of)
{
    mca_coll_pipering_route_t *routes = sim_routes(p);

    for (int root = 0; root < p; root++) {
        for (int kind = NODES; kind <= LINE; kind++) {
            wires_t wires = {.good = true};
            make_routes(routes, kind, p, root, node_of, true);
            add_routes(&wires, routes, p);
            try_wires(one, &wires, node_of);
        }
        wires_t wires = {.good = true};
        make_routes(routes, NODES, p, root, node_of, false);
        add_routes(&wires, routes, p);
        try_wires(one, &wires, node_of);
    }
    for (int kind = NODES; kind <= ORDERED; kind++) { /* allreduce has root 0 */
        wires_t wires = {.good = true};
        make_routes(routes, kind, p, 0, node_of, true);
        add_routes(&wires, routes, p);
        make_routes(routes, NODES, p, 0, node_of, false);
        add_routes(&wires, routes, p);
        try_wires(both, &wires, node_of);
    }
    free(routes);
}

/* Nodes are named by their lowest ranks. */
static void name_nodes(int *node_of, const int *label, int p)
{
    for (int r = 0; r < p; r++) {
        node_of[r] = r;
        for (int i = r - 1; 0 <= i; i--) {
            node_of[r] = label[i] == label[r] ? i : node_of[r];
        }
    }
}

int main(void)
{
    tap_tally_t gather = {0, 0}, allreduce = {0, 0}, bound = {0, 0}, one = {0, 0}, both = {0, 0};
    int node_of[MOST], label[MOST];

    tap_start();
    for (int p = 2; p <= 6; p++) {
        memset(node_of, 0, sizeof(node_of));
        do {
            try_ring(&gather, &allreduce, &bound, p, node_of);
            try_chains(&one, &both, p, node_of);
        } while (ref_next_division(node_of, p));
    }
    for (int i = 0; i < 1000; i++) {
        const int p = tap_between(7, MOST), nodes = tap_between(1, p);
        for (int r = 0; r < p; r++) {
            label[r] = tap_between(0, nodes - 1);
        }
        name_nodes(node_of, label, p);
        try_ring(&gather, &allreduce, &bound, p, node_of);
        try_chains(&one, &both, p, node_of);
    }
    tally_ok(&gather, 1200, "a gather: a tag for each stream between two ranks, and no more");
    tally_ok(&allreduce, 1200, "an allreduce around a ring: likewise");
    tally_ok(&bound, 1200, "no more than can be known without the nodes");
    tally_ok(&one, 10000, "a pipeline along a chain has one tag");
    tally_ok(&both, 2400, "there and back along a chain likewise");
    return tap_end();
}

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
 * Prints what is predicted: for people, or as JSON.
 */

#include "predict.h"

#include <string.h>

static double milliseconds(double seconds)
{
    return 1e3 * seconds;
}

/* Bytes of a plan on a rank. */
static size_t memory_of(const predict_outcome_t *outcome)
{
    return NULL == outcome->plan ? 0 : outcome->plan->size;
}

/* ---- for people ---- */

static void print_call(const predict_call_t *call)
{
    (void) printf("%s", predict_call_name(call));
    if (0 < call->total) {
        (void) printf(" of %zu bytes (%s)", call->total, predict_distribution(call));
    }
    (void) printf(", %d rank%s on %d node%s\n", call->ranks, 1 == call->ranks ? "" : "s",
                  call->nodes, 1 == call->nodes ? "" : "s");
}

static void print_link(const char *name, const mca_coll_pipering_link_cost_t *link)
{
    (void) printf("  %-14s %.4g us a block, %.4g ns a byte, %.4g us latency\n", name,
                  1e6 * link->alpha, 1e9 * link->beta, 1e6 * link->latency);
}

static void print_machine(const predict_t *predict)
{
    const mca_coll_pipering_cost_t cost = predict_cost(predict);
    const mca_coll_pipering_ways_t *ways = predict->call.ways;

    (void) printf("machine: %s\n", '\0' == *predict->machine.name
                                       ? "usual costs of Gigabit Ethernet (see --machine)"
                                       : predict->machine.name);
    print_link("between nodes", &cost.net);
    if (predict->call.nodes < predict->call.ranks) {
        print_link("inside a node", &cost.local);
    }
    if (NULL != ways) {
        (void) printf("mesh: %s, %d vertices, %d trees, %d cycle%s; a mesh takes %zu bytes of each "
                      "rank\n", predict->call.mesh, ways->mesh.vertices,
                      mca_coll_pipering_trees_count(&ways->mesh.extents), ways->cycles,
                      1 == ways->cycles ? "" : "s", ways->size);
    }
}

static void print_table(const predict_t *predict, const predict_outcomes_t *outcomes)
{
    (void) printf("\n  %-20s %10s %10s %12s %8s %8s %10s\n", "algorithm", "block", "rounds",
                  "model ms", "of limit", "links", "memory");
    for (int i = 0; i < outcomes->count; ++i) {
        const predict_outcome_t *outcome = &outcomes->of[i];
        (void) printf("%c %-20s %10zu %10llu %12.4f %8.2f %8.3f %10zu\n",
                      i == outcomes->chosen ? '*' : ' ', outcome->algorithm, outcome->block,
                      (unsigned long long) outcome->rounds, milliseconds(outcome->seconds),
                      0 < outcome->seconds ? outcomes->limit / outcome->seconds : 0,
                      predict_links(predict, outcome), memory_of(outcome));
    }
    (void) printf("\n%s%s\nthe limit of the links is %.4f ms\n",
                  outcomes->served ? "served by coll/pipering" : "left to the module below: ",
                  outcomes->served ? "" : outcomes->reason, milliseconds(outcomes->limit));
}

/* Ranks of the order of a ring, the first and last ones of a long one. */
#define SHOWN 12

static void print_order(const mca_coll_pipering_ring_t *ring)
{
    (void) printf("order:");
    for (int x = 0; x < ring->size; ++x) {
        if (2 * SHOWN < ring->size && SHOWN == x) {
            (void) printf(" ...");
            x = ring->size - SHOWN;
        }
        (void) printf(" %d", ring->rank[x]);
    }
    (void) printf("\n");
}

/* What a plan says of the call besides. */
static void print_plan(const mca_coll_pipering_plan_t *plan)
{
    (void) printf("%s", plan->row->text);
    if (!mca_coll_pipering_in_rounds(plan->row)) {
        (void) printf(", blocks at most %u ahead", plan->window);
    }
    (void) printf("\nthe modules below take %.4f ms by the model\n",
                  milliseconds(plan->below.at[0]));
    if (0 < plan->leaders.at[0]) {
        (void) printf("coll/mleader's leaders take %.4f ms, and serve contributions of fewer than "
                      "64 KiB where that is no longer\n",
                      milliseconds(plan->leaders.at[0]));
    }
    if (1 < plan->ring.size) {
        print_order(&plan->ring);
    }
}

static void print_parts(const predict_outcome_t *outcome)
{
    (void) printf("\nwhere the time goes, by the model:\n");
    for (int i = outcome->parts - 1; 0 <= i; --i) {
        const predict_part_t *part = &outcome->part[i];
        (void) printf("  %-12s %12.4f ms %6.1f %%  %s\n", part->name, milliseconds(part->seconds),
                      0 < outcome->seconds ? 100 * part->seconds / outcome->seconds : 0,
                      part->meaning);
    }
}

void predict_print(const predict_t *predict, const predict_outcomes_t *outcomes)
{
    const predict_outcome_t *outcome = &outcomes->of[0 > outcomes->chosen ? 0 : outcomes->chosen];

    print_call(&predict->call);
    print_machine(predict);
    print_table(predict, outcomes);
    if (NULL != outcome->plan) {
        print_plan(outcome->plan);
    }
    if (predict->explain && NULL != outcome->plan) {
        predict_draw(predict, outcome->plan);
    }
    if (predict->explain) {
        print_parts(outcome);
    }
}

/* ---- JSON ---- */

/* A string with its quotation marks. */
static void put_string(const char *name, const char *text)
{
    (void) printf("\"%s\": \"", name);
    for (; '\0' != *text; ++text) {
        const unsigned char sign = (unsigned char) *text;
        if ('"' == sign || '\\' == sign) {
            (void) printf("\\%c", sign);
        } else if (0x20 > sign) {
            (void) printf("\\u%04x", sign);
        } else {
            (void) putchar(sign);
        }
    }
    (void) putchar('"');
}

static void put_outcome(const predict_t *predict, const predict_outcome_t *outcome, bool chosen)
{
    const mca_coll_pipering_plan_t *plan = outcome->plan;

    (void) printf("    {\"algorithm\": \"%s\", \"chosen\": %s, \"block\": %zu, \"rounds\": %llu,\n"
                  "     \"model_seconds\": %.9g, \"rival_seconds\": %.9g,\n"
                  "     \"along_mesh\": %s, \"links\": %.6g, \"memory\": %zu,\n     \"parts\": {",
                  outcome->algorithm, chosen ? "true" : "false", outcome->block,
                  (unsigned long long) outcome->rounds, outcome->seconds,
                  NULL == plan ? 0 : plan->below.at[0],
                  predict_goes_along_mesh(predict, outcome) ? "true" : "false",
                  predict_links(predict, outcome), memory_of(outcome));
    for (int k = 0; k < outcome->parts; ++k) {
        (void) printf("%s\"%s\": %.9g", 0 < k ? ", " : "", outcome->part[k].name,
                      outcome->part[k].seconds);
    }
    (void) printf("}}");
}

static void put_order(const predict_outcomes_t *outcomes)
{
    const mca_coll_pipering_plan_t *plan = 0 > outcomes->chosen
                                               ? NULL
                                               : outcomes->of[outcomes->chosen].plan;

    (void) printf(",\n  \"order\": [");
    for (int x = 0; NULL != plan && 1 < plan->ring.size && x < plan->ring.size; ++x) {
        (void) printf("%s%d", 0 < x ? ", " : "", plan->ring.rank[x]);
    }
    (void) printf("]");
}

static void put_call(const predict_t *predict)
{
    const predict_call_t *call = &predict->call;

    put_string("collective", predict_call_name(call));
    (void) printf(", \"ranks\": %d, \"nodes\": %d, \"bytes\": %zu,\n  ", call->ranks, call->nodes,
                  call->total);
    put_string("distribution", predict_distribution(call));
    (void) printf(",\n  ");
    put_string("machine", predict->machine.name);
    if (NULL != call->ways) {
        (void) printf(",\n  ");
        put_string("mesh", call->mesh);
        (void) printf(", \"vertices\": %d, \"trees\": %d, \"cycles\": %d, \"mesh_memory\": %zu",
                      call->ways->mesh.vertices,
                      mca_coll_pipering_trees_count(&call->ways->mesh.extents), call->ways->cycles,
                      call->ways->size);
    }
}

void predict_print_json(const predict_t *predict, const predict_outcomes_t *outcomes)
{
    (void) printf("{\n  \"format\": 2,\n  ");
    put_call(predict);
    (void) printf(",\n  \"served\": %s,\n  ", outcomes->served ? "true" : "false");
    put_string("reason", outcomes->reason);
    (void) printf(",\n  \"limit_seconds\": %.9g", outcomes->limit);
    put_order(outcomes);
    (void) printf(",\n  \"algorithms\": [\n");
    for (int i = 0; i < outcomes->count; ++i) {
        put_outcome(predict, &outcomes->of[i], i == outcomes->chosen);
        (void) printf("%s\n", i + 1 < outcomes->count ? "," : "");
    }
    (void) printf("  ]\n}\n");
}

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

/* ---- for people ---- */

static void print_call(const predict_t *predict)
{
    const predict_call_t *call = &predict->call;

    (void) printf("%s", predict_call_name(call));
    if (0 < call->total) {
        (void) printf(" of %zu bytes", call->total);
    }
    if (NULL != call->counts_file) {
        (void) printf(" (counts of %s)", call->counts_file);
    } else if (NULL != call->dist) {
        (void) printf(" (%s)", call->dist);
    }
    (void) printf(", %d rank%s on %d node%s\n", call->ranks, 1 == call->ranks ? "" : "s",
                  call->nodes, 1 == call->nodes ? "" : "s");
}

static void print_link(const char *name, const mca_coll_pipering_link_cost_t *link)
{
    (void) printf("  %-14s %.4g us a block, %.4g ns a byte, %.4g us latency\n", name,
                  1e6 * link->alpha, 1e9 * link->beta, 1e6 * link->latency);
}

static void print_mesh(const predict_call_t *call)
{
    const mca_coll_pipering_mesh_t *mesh = &call->ways->mesh;

    (void) printf("mesh: %s, %d vertices, %d trees, %d cycle%s; a mesh takes %zu bytes of each "
                  "rank\n", call->mesh, mesh->vertices,
                  mca_coll_pipering_trees_count(&mesh->extents), call->ways->cycles,
                  1 == call->ways->cycles ? "" : "s", call->ways->size);
}

static void print_machine(const predict_t *predict)
{
    const mca_coll_pipering_cost_t cost = predict_cost(predict);

    (void) printf("machine: %s\n", '\0' == *predict->machine.name
                                       ? "usual costs of Gigabit Ethernet (see --machine)"
                                       : predict->machine.name);
    print_link("between nodes", &cost.net);
    if (predict->call.nodes < predict->call.ranks) {
        print_link("inside a node", &cost.local);
    }
    if (NULL != predict->call.ways) {
        print_mesh(&predict->call);
    }
}

/* Bytes of the call per second in links, and the memory of the plan: of a mesh. */
static void print_rate(const predict_t *predict, const predict_outcome_t *outcome)
{
    (void) printf(" %8.3f %10zu", predict_links(predict, outcome), outcome->plan->size);
}

static void print_outcome(const predict_t *predict, const predict_outcome_t *outcome, bool chosen,
                          double limit)
{
    const mca_coll_pipering_plan_t *plan = outcome->plan;

    (void) printf("%c %-20s ", chosen ? '*' : ' ', outcome->row->value);
    if (0 < outcome->block) {
        (void) printf("%10zu ", outcome->block);
    } else {
        (void) printf("%10s ", "-");
    }
    (void) printf("%10llu %12.4f ", (unsigned long long) plan->rounds, milliseconds(plan->time));
    if (outcome->executed) {
        (void) printf("%12.4f ", milliseconds(outcome->result.finish));
    } else {
        (void) printf("%12s ", "-");
    }
    if (0 < limit && 0 < plan->time) {
        (void) printf("%8.2f", limit / plan->time);
    } else {
        (void) printf("%8s", "-");
    }
    if (NULL != predict->call.ways) {
        print_rate(predict, outcome);
    }
    (void) printf("\n");
}

static void print_table(const predict_t *predict, const predict_outcomes_t *outcomes)
{
    (void) printf("\n  %-20s %10s %10s %12s %12s %8s%s\n", "algorithm", "block", "rounds",
                  "model ms", "executed ms", "of limit",
                  NULL == predict->call.ways ? "" : "    links     memory");
    for (int i = 0; i < outcomes->count; ++i) {
        print_outcome(predict, &outcomes->of[i], i == outcomes->chosen, outcomes->limit);
    }
    if (NULL != predict->call.ways) {
        (void) printf("links: bytes of the call per second, a link's in one direction being 1; "
                      "memory: bytes of the\nplan on a rank. Algorithms that do not go along the "
                      "mesh are modelled as on a switch.\n");
    }
}

/* ranks of the order of a ring, the first and last ones of a long one */
#define SHOWN 12

static void print_order(const mca_coll_pipering_plan_t *plan)
{
    const mca_coll_pipering_ring_t *ring = &plan->ring;

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

static void print_choice(const predict_outcomes_t *outcomes)
{
    const predict_outcome_t *outcome = &outcomes->of[outcomes->chosen];
    const mca_coll_pipering_plan_t *plan = outcome->plan;

    (void) printf("\n%s: %s", MCA_COLL_PIPERING_TAKEN == outcomes->reason
                                  ? "served by coll/pipering"
                                  : "left to the module below",
                  outcome->row->text);
    if (0 < outcome->block) {
        (void) printf(", blocks of %zu bytes, at most %u ahead", outcome->block, plan->window);
    }
    (void) printf("\n");
    if (MCA_COLL_PIPERING_TAKEN != outcomes->reason) {
        (void) printf("reason: %s\n", mca_coll_pipering_reason_text(outcomes->reason));
    }
    (void) printf("the modules below take %.4f ms by the model", milliseconds(plan->below.at[0]));
    if (0 < outcomes->limit) {
        (void) printf("; the limit of the links is %.4f ms", milliseconds(outcomes->limit));
    }
    (void) printf("\n");
    if (0 < plan->leaders.at[0]) {
        (void) printf("coll/mleader's leaders take %.4f ms, and serve contributions of fewer than "
                      "64 KiB where that is no longer\n",
                      milliseconds(plan->leaders.at[0]));
    }
    if (1 < plan->ring.size) {
        print_order(plan);
    }
}

static void print_parts(const predict_t *predict, const predict_outcomes_t *outcomes)
{
    const predict_outcome_t *outcome = &outcomes->of[outcomes->chosen];
    predict_part_t parts[PREDICT_PARTS];
    const int count = predict_split(predict, outcomes, outcome, parts);

    (void) printf("\nwhere the time goes, by the model:\n");
    for (int i = count - 1; 0 <= i; --i) {
        (void) printf("  %-12s %12.4f ms %6.1f %%  %s\n", parts[i].name,
                      milliseconds(parts[i].seconds),
                      0 < outcome->plan->time ? 100 * parts[i].seconds / outcome->plan->time : 0,
                      parts[i].meaning);
    }
}

void predict_print_head(const predict_t *predict)
{
    print_call(predict);
    print_machine(predict);
}

void predict_print(const predict_t *predict, const predict_outcomes_t *outcomes)
{
    predict_print_head(predict);
    print_table(predict, outcomes);
    if (0 > outcomes->chosen) {
        return;
    }
    print_choice(outcomes);
    if (predict->explain) {
        (void) printf("\n");
        predict_draw(predict, &outcomes->of[outcomes->chosen]);
        print_parts(predict, outcomes);
    }
}

/* ---- JSON ---- */

/* A string with its quotation marks. */
static void put_string(const char *text)
{
    (void) putchar('"');
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

static void put_outcome(const predict_t *predict, const predict_outcomes_t *outcomes, int i)
{
    const predict_outcome_t *outcome = &outcomes->of[i];
    const mca_coll_pipering_plan_t *plan = outcome->plan;
    predict_part_t parts[PREDICT_PARTS];

    (void) printf("    {\"algorithm\": ");
    put_string(outcome->row->value);
    (void) printf(", \"chosen\": %s, \"block\": %zu, \"window\": %u, \"rounds\": %llu,\n",
                  i == outcomes->chosen ? "true" : "false", outcome->block, plan->window,
                  (unsigned long long) plan->rounds);
    (void) printf("     \"model_seconds\": %.9g, \"rival_seconds\": %.9g, ", plan->time,
                  plan->below.at[0]);
    if (outcome->executed) {
        (void) printf("\"executed_seconds\": %.9g, \"messages\": %llu, ", outcome->result.finish,
                      (unsigned long long) outcome->result.messages);
    } else {
        (void) printf("\"executed_seconds\": null, \"messages\": null, ");
    }
    if (NULL != predict->call.ways) {
        (void) printf("\"along_mesh\": %s, \"links\": %.6g, \"memory\": %zu,\n     ",
                      predict_goes_along_mesh(predict, outcome) ? "true" : "false",
                      predict_links(predict, outcome), plan->size);
    }
    (void) printf("\"parts\": {");
    const int count = predict_split(predict, outcomes, outcome, parts);
    for (int k = 0; k < count; ++k) {
        put_string(parts[k].name);
        (void) printf(": %.9g%s", parts[k].seconds, k + 1 < count ? ", " : "");
    }
    (void) printf("}}");
}

static void put_order(const predict_outcomes_t *outcomes)
{
    const mca_coll_pipering_ring_t *ring = &outcomes->of[outcomes->chosen].plan->ring;

    (void) printf("  \"order\": [");
    for (int x = 0; x < ring->size && 1 < ring->size; ++x) {
        (void) printf("%s%d", 0 < x ? ", " : "", ring->rank[x]);
    }
    (void) printf("],\n");
}

static void put_mesh(const predict_call_t *call)
{
    (void) printf(",\n  \"mesh\": ");
    put_string(call->mesh);
    (void) printf(", \"vertices\": %d, \"trees\": %d, \"cycles\": %d, \"mesh_memory\": %zu",
                  call->ways->mesh.vertices,
                  mca_coll_pipering_trees_count(&call->ways->mesh.extents), call->ways->cycles,
                  call->ways->size);
}

void predict_begin_json(const predict_t *predict)
{
    const predict_call_t *call = &predict->call;

    (void) printf("{\n  \"format\": 1,\n  \"collective\": ");
    put_string(predict_call_name(call));
    (void) printf(", \"ranks\": %d, \"nodes\": %d, \"bytes\": %zu,\n  \"distribution\": ",
                  call->ranks, call->nodes, call->total);
    put_string(NULL != call->counts_file ? call->counts_file
               : NULL == call->dist      ? "regular"
                                         : call->dist);
    (void) printf(",\n  \"machine\": ");
    put_string(predict->machine.name);
    if (NULL != call->ways) {
        put_mesh(call);
    }
}

void predict_print_json(const predict_t *predict, const predict_outcomes_t *outcomes)
{
    predict_begin_json(predict);
    (void) printf(",\n  \"served\": %s,\n  \"reason\": ",
                  MCA_COLL_PIPERING_TAKEN == outcomes->reason ? "true" : "false");
    put_string(mca_coll_pipering_reason_text(outcomes->reason));
    (void) printf(",\n  \"limit_seconds\": %.9g,\n  \"planning_seconds\": %.3g,\n",
                  outcomes->limit, outcomes->seconds);
    if (0 <= outcomes->chosen) {
        put_order(outcomes);
    }
    (void) printf("  \"algorithms\": [\n");
    for (int i = 0; i < outcomes->count; ++i) {
        put_outcome(predict, outcomes, i);
        (void) printf("%s\n", i + 1 < outcomes->count ? "," : "");
    }
    (void) printf("  ]\n}\n");
}

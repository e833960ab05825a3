/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

#include "leading.h"

#include "knob.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- variables ---- */

leading_variant_t leading_variant(int number)
{
    return (leading_variant_t){.scope = number % 3 - 1,
                               .exchange = number / 3 % 4 - 1,
                               .aggregation = number / 12 - 1};
}

void leading_use(leading_variant_t variant)
{
    knob_set("coll_mleader_allgather_algorithm", KNOB_LEADERS);
    knob_set("coll_mleader_aggregation", variant.aggregation);
    knob_set("coll_mleader_exchange", variant.exchange);
    knob_set("coll_mleader_scope", variant.scope);
}

const char *leading_text(leading_variant_t variant)
{
    static const char *const in[] = {"auto", "shm", "gather", "recursive_doubling", "ring"};
    static const char *const exchange[] = {"auto", "recursive_doubling", "bruck", "ring"};
    static const char *const scope[] = {"auto", "all", "lanes"};
    static char text[120];

    snprintf(text, sizeof(text), "aggregation %s, exchange %s, scope %s",
             in[variant.aggregation + 1], exchange[variant.exchange + 1], scope[variant.scope + 1]);
    return text;
}

void leading_setup(size_t segment_size)
{
    knob_set("coll_mleader_allgather_algorithm", KNOB_LEADERS); /* else not on one node */
    knob_set("coll_mleader_segment_size", (double) segment_size);
}

void leading_begin(int *argc, char ***argv, int thread_level)
{
    tap_begin(argc, argv, thread_level);
    knob_begin();
    if (-1 == knob_get("coll_mleader_priority", -1)) {
        tap_bail("there is no coll/mleader here");
    }
}

int leading_end(void)
{
    knob_end();
    return tap_end();
}

int leading_mappings(const char *text)
{
    FILE *file = fopen("/proc/self/maps", "r");
    char line[1000];
    int lines = 0;

    if (NULL == file) {
        tap_bail("no /proc/self/maps");
    }
    while (NULL != fgets(line, sizeof(line), file)) {
        lines += NULL != strstr(line, text);
    }
    fclose(file);
    return lines;
}

/* ---- layouts ---- */

/** Parts above and below the address that MPI is given, the first one last in memory. */
static layout_t *in_two_parts(int units, int step, layout_t *one)
{
    const int length[] = {units / 2, units / 2};
    const MPI_Aint at[] = {40 * step, -units / 2 * one->extent - 16 * step};

    return layout_hindexed(2, length, at, one);
}

static layout_t *make_layout(int number, int unit, int units)
{
    const int step = layout_unit_step(unit);
    const MPI_Aint high = 16 * step;
    layout_t *one = layout_unit(unit, 3);
    const MPI_Aint extent = units * one->extent;

    switch (number) {
    case 0:
        return layout_contiguous(units, one);
    case 1: /* with gaps */
        return layout_vector(units / 2, 2, 3, one);
    case 2: /* from high addresses to low ones */
        return layout_hvector(units / 3, 3, -4 * one->extent, one);
    case 3: /* dense, with a gap to the next element and a lower bound below */
        return layout_resized(-8 * step, extent + 24 * step, layout_contiguous(units, one));
    case 4: /* dense, but not where MPI is told */
        return layout_hindexed(1, &units, &high, one);
    default:
        return in_two_parts(units, step, one);
    }
}

/* ---- exchanges ---- */

static layout_t *take_layout(const leading_call_t *call, int number, int units)
{
    return NULL == call->dice ? make_layout(number, call->unit, units)
                              : layout_random(call->dice, call->unit, units);
}

/** NULL where random types overlap. */
static exchange_t *try_exchange(const leading_call_t *call)
{
    const int elements = 0 != call->units && 0 == call->units % 24 ? 2 : 1;
    const int units = 0 == call->units ? 12 : call->units / elements;
    exchange_spec_t spec = {.comm = call->comm, .key = call->key, .same = true, .bare = true};
    int size, *count;
    exchange_t *x = NULL;

    MPI_Comm_size(call->comm, &size);
    count = tap_memory((size_t) size * sizeof(int));
    for (int i = 0; i < size; i++) {
        count[i] = 0 == call->units ? 0 : elements;
    }
    spec.count = count;
    spec.send_count = count[0];
    spec.in_place = LEADING_IN_PLACE == call->send;
    spec.recv = take_layout(call, call->recv, units);
    spec.send = spec.in_place ? NULL : take_layout(call, call->send, units);
    if (spec.in_place || !layout_overlaps(spec.send, (size_t) spec.send_count)) {
        x = exchange_new(&spec);
    }
    if (NULL == x) {
        layout_free(spec.send);
        layout_free(spec.recv);
    }
    free(count);
    return x;
}

exchange_t *leading_exchange(const leading_call_t *call)
{
    leading_call_t plain = *call;

    if (MPI_COMM_NULL == call->comm) {
        return NULL;
    }
    for (int attempt = 0; attempt < 20; attempt++) {
        exchange_t *x = try_exchange(call);

        if (NULL != x) {
            return x;
        }
    }
    plain.dice = NULL;
    plain.recv = 0;
    return try_exchange(&plain);
}

void leading_free(exchange_t *x)
{
    if (NULL != x) {
        layout_free(x->send);
        layout_free(x->recv);
        exchange_free(x);
    }
}

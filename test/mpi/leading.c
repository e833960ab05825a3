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

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
 * Cards: any is read as it was written; a text that is cut, of another version, or none is refused,
 * and never read beyond its end; which variables are not at their defaults.
 */

#include <inttypes.h>
#include <string.h>

#include "common_colltools_card.h"
#include "tap.h"

typedef mca_common_colltools_facts_t facts_t;

static uint32_t random_word(void)
{
    return tap_once_in(3) ? 0 : (uint32_t) tap_random();
}

#define VARIABLES 40

/* With the variables that are not at their defaults; the others' hashes are 0. */
static facts_t random_facts(uint32_t hash[MCA_COMMON_COLLTOOLS_OWNERS][VARIABLES])
{
    facts_t facts;
    size_t length = 0;

    memset(&facts, 0, sizeof(facts));
    facts.arch = random_word();
    facts.leaf = random_word();
    facts.processors = 1 + tap_below(UINT64_C(1000000000000));
    facts.below = random_word();
    facts.machine = random_word();
    facts.mesh = random_word();
    facts.eager = random_word();
    facts.pulls = (uint32_t) tap_below(3);
    facts.tcp = (mca_common_colltools_links_t){random_word(), tap_once_in(2)};
    facts.rdma = (mca_common_colltools_links_t){random_word(), tap_once_in(2)};
    for (int owner = 0; owner < MCA_COMMON_COLLTOOLS_OWNERS; owner++) {
        facts.variables[owner] = random_word();
        for (int i = 0; i < VARIABLES; i++) {
            hash[owner][i] = tap_once_in(8) ? 1 + (uint32_t) tap_below(UINT32_MAX) : 0;
            length += 0 == hash[owner][i]
                          ? 0
                          : (size_t) snprintf(facts.unusual + length,
                                              sizeof(facts.unusual) - length, " %d.%d=%" PRIx32,
                                              owner, i, hash[owner][i]);
        }
    }
    return facts;
}

static bool same_variables(const facts_t *facts,
                           uint32_t hash[MCA_COMMON_COLLTOOLS_OWNERS][VARIABLES])
{
    bool same = true;

    for (int owner = 0; owner < MCA_COMMON_COLLTOOLS_OWNERS; owner++) {
        for (int i = 0; i < VARIABLES; i++) {
            same &= hash[owner][i]
                    == mca_common_colltools_card_variable(
                        facts, (mca_common_colltools_owner_t) owner, i);
        }
    }
    return same;
}

/* In memory of its own size, so that a sanitizer sees what is read beyond. */
static bool reads(const char *text, size_t length, uint64_t *host, facts_t *facts)
{
    char *copy = tap_memory(length + 1);

    memcpy(copy, text, length);
    copy[length] = '\0';
    const bool read = mca_common_colltools_card_read(copy, host, facts);
    free(copy);
    return read;
}

int main(void)
{
    tap_tally_t whole = {0, 0}, variables = {0, 0}, cut = {0, 0}, other = {0, 0};
    uint32_t hash[MCA_COMMON_COLLTOOLS_OWNERS][VARIABLES];
    char text[MCA_COMMON_COLLTOOLS_CARD_MOST + 100];
    facts_t found;
    uint64_t host;

    tap_start();
    for (int i = 0; i < 5000; i++) {
        const facts_t facts = random_facts(hash);
        const uint64_t name = tap_random();
        const bool written = mca_common_colltools_card_write(name, &facts, text);
        const size_t length = strlen(text), variable = strlen(facts.unusual);
        tap_try(&whole,
                written && reads(text, length, &host, &found) && name == host
                    && 0 == memcmp(&facts, &found, sizeof(facts)),
                "%s", text);
        tap_try(&variables, same_variables(&found, hash), "%s", text);
        /* the last word of the rest may be cut and is a word still */
        const size_t words = (size_t) (strrchr(text, ' ') - text);
        const size_t end = tap_below(0 == variable ? words : length - variable - 8);
        tap_try(&cut, !reads(text, end, &host, &found), "%.*s", (int) end, text);
        text[0] = (char) ('3' + (int) tap_below(7));
        tap_try(&other, !reads(text, length, &host, &found), "%s", text);
    }
    tally_ok(&whole, 5000, "a card is read as it was written");
    tally_ok(&variables, 5000, "with the variables that are not at their defaults");
    tally_ok(&cut, 5000, "one that is cut is none");
    tally_ok(&other, 5000, "one of another release is none");
    memset(text, ' ', sizeof(text));
    (void) strcpy(text, "2 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1");
    text[strlen(text)] = ' ';
    ok(!reads(text, sizeof(text) - 1, &host, &found), "one that is too long is none");
    ok(!reads("", 0, &host, &found), "nothing is none");
    found = random_facts(hash);
    memset(found.unusual, 'x', sizeof(found.unusual) - 1);
    found.unusual[sizeof(found.unusual) - 1] = '\0';
    ok(!mca_common_colltools_card_write(1, &found, text), "one that would be too long is not written");
    return tap_end();
}

/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

/** @file Fuzzer of exchanges of all with all and with neighbours; SEED=s CASE=c replays case c. */

#include "cases.h"

int main(int argc, char **argv)
{
    return cases_main(argc, argv, cases_swaps);
}

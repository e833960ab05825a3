/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

/** @file Fuzzer of gathers and folds; SEED=s CASE=c replays case c alone. */

#include "cases.h"

int main(int argc, char **argv)
{
    return cases_main(argc, argv, cases_fuzz);
}

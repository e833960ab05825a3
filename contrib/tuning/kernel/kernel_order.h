/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

/** @file In which order arms take turns. Pure C. */

#ifndef KERNEL_ORDER_H
#define KERNEL_ORDER_H

#include <stdint.h>

/** Shuffles 0..count-1 into `order`; `state` is the generator's and goes on. */
void kernel_shuffle(int *order, int count, uint64_t *state);

#endif

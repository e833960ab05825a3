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
 * Time.
 */

#ifndef MCA_COLL_PIPERING_CLOCK_H
#define MCA_COLL_PIPERING_CLOCK_H

/** Seconds of a clock that only goes forward. */
double mca_coll_pipering_now(void);

#endif

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
 * Convertors that pack and unpack by the list of units of their datatype
 * (opal_datatype_units.h).
 */

#ifndef OPAL_CONVERTOR_UNITS_H
#define OPAL_CONVERTOR_UNITS_H

#include "opal_config.h"

#include <stdbool.h>
#include <stddef.h>

#include "opal/datatype/opal_convertor_lookahead.h"
#include "opal/datatype/opal_datatype_units.h"

BEGIN_C_DECLS

/**
 * True if this non-contiguous convertor, which is being prepared, should use the list of
 * units of its datatype: then its fAdvance is one of the two functions below.
 */
static inline bool opal_convertor_has_units(const opal_convertor_t *convertor)
{
    const int most = opal_datatype_units_per_entry;

    return 0 < most && opal_convertor_seeks(convertor)
           && 0 == (convertor->flags & CONVERTOR_ACCELERATOR)
           && NULL != opal_datatype_units_use(convertor->pDesc, (size_t) most);
}

int32_t opal_convertor_pack_units(opal_convertor_t *convertor, struct iovec *iov,
                                  uint32_t *iov_count, size_t *max_data);

int32_t opal_convertor_unpack_units(opal_convertor_t *convertor, struct iovec *iov,
                                    uint32_t *iov_count, size_t *max_data);

END_C_DECLS

#endif

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
 * The variables of opal_convertor_lookahead.h. All can be set at run time and are
 * read at every use; they may differ between processes. A new value does not change
 * an existing index of a datatype, an existing list of units or the decision to have
 * none, nor the number of checkpoints of a convertor that has some.
 */

#include "opal_config.h"

#include <stdio.h>

#include "opal/constants.h"
#include "opal/datatype/opal_convertor_lookahead.h"
#include "opal/mca/base/mca_base_var.h"
#include "opal/util/output.h"

#define GIBI (1 << 30)

int opal_datatype_lookahead = OPAL_DATATYPE_LOOKAHEAD_DUAL;
int opal_datatype_lookahead_segments = OPAL_DATATYPE_LOOKAHEAD_SEGMENTS_MOST;
int opal_datatype_lookahead_min_segment = 4096;
int opal_datatype_seek_checkpoints = 8;
int opal_datatype_seek_index_stride = 16;
int opal_datatype_units_per_entry = 16;

static const mca_base_var_enum_value_t modes[] = {{OPAL_DATATYPE_LOOKAHEAD_OFF, "off"},
                                                  {OPAL_DATATYPE_LOOKAHEAD_RESEARCH, "research"},
                                                  {OPAL_DATATYPE_LOOKAHEAD_DUAL, "dual"},
                                                  {0, NULL}};

static const struct {
    const char *name, *help, *unit, *zero; /* the meaning of 0, or NULL */
    int *storage;
    int least, most;
} numbers[] = {
    {"lookahead_segments",
     "Segments of memory that a look-ahead sees, and that are sent as they are in a fragment",
     "segments", NULL, &opal_datatype_lookahead_segments, 1, OPAL_DATATYPE_LOOKAHEAD_SEGMENTS_MOST},
    {"lookahead_min_segment",
     "Average size from which on the segments ahead are dense, and sent as they are instead of "
     "packed",
     "bytes", "whatever their size", &opal_datatype_lookahead_min_segment, 0, GIBI},
    {"seek_checkpoints",
     "Places that a convertor whose position jumped away remembers, to return to them without a "
     "search",
     "places", "none", &opal_datatype_seek_checkpoints, 0, OPAL_DATATYPE_SEEK_CHECKPOINTS_MOST},
    {"seek_index_stride",
     "Entries of a datatype's description for each entry of its index, which is made when "
     "positions jump often",
     "entries", "no index for jumps", &opal_datatype_seek_index_stride, 0, 65536},
    {"units_per_entry",
     "Pieces of 1 to 16 bytes for each entry of a datatype's description up to which data is "
     "packed by a list of them, made when the datatype is used again",
     "pieces", "never", &opal_datatype_units_per_entry, 0, 64},
};

static int register_mode(void)
{
    mca_base_var_enum_t *values = NULL;
    int rc = mca_base_var_enum_create("opal_datatype_lookahead", modes, &values);

    if (OPAL_SUCCESS != rc) {
        return rc;
    }
    rc = mca_base_var_register(
        "opal", "opal", "datatype", "lookahead",
        "How data that is not contiguous is looked at: dual (a second context looks ahead, and "
        "returns to positions behind), research (looks ahead with the only context and searches "
        "back from the beginning; to see what dual is worth), off (always packs, always searches)",
        MCA_BASE_VAR_TYPE_INT, values, 0, MCA_BASE_VAR_FLAG_SETTABLE, OPAL_INFO_LVL_5,
        MCA_BASE_VAR_SCOPE_LOCAL, &opal_datatype_lookahead);
    OBJ_RELEASE(values);
    return rc;
}

static int register_number(size_t i)
{
    const int preset = *numbers[i].storage;
    char help[512];

    /* programs read the range in the last clause */
    (void) snprintf(help, sizeof(help), "%s [%d..%d %s%s%s]", numbers[i].help, numbers[i].least,
                    numbers[i].most, numbers[i].unit, NULL == numbers[i].zero ? "" : "; 0: ",
                    NULL == numbers[i].zero ? "" : numbers[i].zero);
    int rc = mca_base_var_register("opal", "opal", "datatype", numbers[i].name, help,
                                   MCA_BASE_VAR_TYPE_INT, NULL, 0, MCA_BASE_VAR_FLAG_SETTABLE,
                                   OPAL_INFO_LVL_9, MCA_BASE_VAR_SCOPE_LOCAL, numbers[i].storage);

    if (numbers[i].least > *numbers[i].storage || numbers[i].most < *numbers[i].storage) {
        opal_output(0, "opal_datatype_%s = %d is out of range (%d to %d); %d is used instead",
                    numbers[i].name, *numbers[i].storage, numbers[i].least, numbers[i].most,
                    preset);
        *numbers[i].storage = preset;
    }
    return rc;
}

/* Open MPI reports an illegal value itself, and keeps the default. */
static inline bool is_usable(int rc)
{
    return 0 <= rc || OPAL_ERR_VALUE_OUT_OF_BOUNDS == rc;
}

int opal_datatype_lookahead_register_params(void)
{
    int rc = register_mode();

    for (size_t i = 0; is_usable(rc) && i < sizeof(numbers) / sizeof(numbers[0]); ++i) {
        rc = register_number(i);
    }
    return is_usable(rc) ? OPAL_SUCCESS : rc;
}

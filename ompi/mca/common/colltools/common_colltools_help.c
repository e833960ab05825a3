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
 * Help texts that a component has in it (common_colltools_help.h).
 */

#include "common_colltools_help.h"

#if defined(MCA_COMMON_COLLTOOLS_TEXTS)

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "opal/util/output.h"

static const struct {
    const char *file, *topic, *text;
} texts[] = {
#include MCA_COMMON_COLLTOOLS_TEXTS
};

/* As of Open MPI's own texts, a process shows each once. */
static bool was_shown[sizeof(texts) / sizeof(texts[0])];

void mca_common_colltools_show_help(const char *file, const char *topic, ...)
{
    char shown[8192];
    va_list arguments;

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); ++i) {
        if (!was_shown[i] && 0 == strcmp(file, texts[i].file)
            && 0 == strcmp(topic, texts[i].topic)) {
            was_shown[i] = true;
            va_start(arguments, topic);
            (void) vsnprintf(shown, sizeof(shown), texts[i].text, arguments);
            va_end(arguments);
            opal_output(0, "%s", shown);
        }
    }
}

#endif

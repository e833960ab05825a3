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
 * Help texts. A component that is built with Open MPI shows those of its help files by Open MPI's
 * own means. One that is built alone has the texts in it, since Open MPI 6.0 knows no files but its
 * own: MCA_COMMON_COLLTOOLS_TEXTS is then the name of a file to include (config/build-dso.sh).
 */

#ifndef MCA_COMMON_COLLTOOLS_HELP_H
#define MCA_COMMON_COLLTOOLS_HELP_H

#include "ompi_config.h"

#include "opal/util/show_help.h"

BEGIN_C_DECLS

/** Shows the user a topic of a help file, with the arguments of its text. */
#if defined(MCA_COMMON_COLLTOOLS_TEXTS)
void mca_common_colltools_show_help(const char *file, const char *topic, ...);
#else
#    define mca_common_colltools_show_help(file, topic, ...) \
        ((void) opal_show_help(file, topic, true, __VA_ARGS__))
#endif

END_C_DECLS

#endif

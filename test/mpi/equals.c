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
 * Registers as many variables that must be equal on all ranks as argument 1 says, and one that
 * need not, as a component does; prints how many are compared.
 */

#include "ompi/mca/common/colltools/common_colltools.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    static mca_base_component_t component
        = {.mca_project_name = "ompi", .mca_type_name = "coll", .mca_component_name = "posing"};
    static mca_common_colltools_equal_t equal;
    mca_common_colltools_vars_t vars
        = {.component = &component, .equal = &equal, .owner = "posing"};
    const int count = 1 < argc ? atoi(argv[1]) : 0;
    int *values = calloc((size_t) count + 1, sizeof(*values));
    char name[32];

    MPI_Init(&argc, &argv);
    for (int i = 0; i <= count; ++i) {
        snprintf(name, sizeof(name), "number_%d", i);
        const mca_common_colltools_variable_t row = {.name = name,
                                                     .kind = MCA_COMMON_COLLTOOLS_INT,
                                                     .level = MCA_COMMON_COLLTOOLS_LEVEL_EXPERT,
                                                     .once = true,
                                                     .local = i == count,
                                                     .storage = &values[i],
                                                     .most = 9,
                                                     .help = "A number"};
        mca_common_colltools_register(&vars, &row, 1);
    }
    printf("%d compared\n", equal.count);
    fflush(stdout);
    MPI_Finalize();
    free(values);
    return 0;
}

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
 * The forms of an MPI call: functions with the same arguments, which end differently.
 */

#ifndef MCA_COLL_PIPERING_FORMS_H
#define MCA_COLL_PIPERING_FORMS_H

#include "coll_pipering.h"

/** A list that is in parentheses, without them. */
#define MCA_COLL_PIPERING_BARE(...) __VA_ARGS__

/*
 * A function that MPI calls. It leaves a call that is not served to the module below, where this
 * has the function.
 */
#define MCA_COLL_PIPERING_DEFINE_FORM(function, FORM, parameters, more_parameters, view, served,   \
                                      arguments, more_arguments)                                   \
    int mca_coll_pipering_##function(MCA_COLL_PIPERING_BARE parameters,                            \
                                     struct ompi_communicator_t *comm                              \
                                         MCA_COLL_PIPERING_BARE more_parameters,                   \
                                     mca_coll_base_module_t *base)                                 \
    {                                                                                              \
        mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;                  \
        const mca_coll_pipering_form_t form = MCA_COLL_PIPERING_##FORM;                            \
        MCA_COLL_PIPERING_BARE view;                                                               \
        const int rc = served;                                                                     \
                                                                                                   \
        if (OMPI_ERR_NOT_SUPPORTED != rc || NULL == module->below.coll_##function) {               \
            return rc;                                                                             \
        }                                                                                          \
        const int left = module->below.coll_##function(                                            \
            MCA_COLL_PIPERING_BARE arguments, comm MCA_COLL_PIPERING_BARE more_arguments,          \
            module->below.coll_##function##_module);                                               \
        return MCA_COLL_PIPERING_NONBLOCKING == form                                               \
                   ? mca_common_colltools_task_follow(left, comm, request)                         \
                   : left;                                                                         \
    }

/**
 * Defines the nonblocking and the persistent form of the call `name`.
 *
 * @param parameters  declared before the communicator, in parentheses
 * @param view        what declares the arguments as `served` takes them, in parentheses
 * @param served      serves the call, of this `form`, by this `module`; *request becomes its own
 * @param arguments   for the module below, before the communicator, in parentheses
 */
#define MCA_COLL_PIPERING_DEFINE_LATER(name, parameters, view, served, arguments)                  \
    MCA_COLL_PIPERING_DEFINE_FORM(i##name, NONBLOCKING, parameters,                                \
                                  (, ompi_request_t **request), view, served, arguments,           \
                                  (, request))                                                     \
    MCA_COLL_PIPERING_DEFINE_FORM(name##_init, PERSISTENT, parameters,                             \
                                  (, struct ompi_info_t *info, ompi_request_t **request), view,    \
                                  served, arguments, (, info, request))

/** Defines the blocking form too, whose `request` is NULL. */
#define MCA_COLL_PIPERING_DEFINE_FORMS(name, parameters, view, served, arguments)                  \
    MCA_COLL_PIPERING_DEFINE_FORM(name, BLOCKING, parameters, (),                                  \
                                  (ompi_request_t **const request = NULL;                          \
                                   MCA_COLL_PIPERING_BARE view),                                   \
                                  served, arguments, ())                                           \
    MCA_COLL_PIPERING_DEFINE_LATER(name, parameters, view, served, arguments)

/**
 * Defines all forms of a call of which many are small. A blocking one that passes does so with few
 * instructions, since it ends in one call.
 *
 * @param passes      whether it goes below at once (coll_pipering_calls.h)
 * @param left        its arguments for the module below after `served`, in terms of `view`
 */
#define MCA_COLL_PIPERING_DEFINE_SMALL(name, passes, parameters, view, served, arguments, left)    \
    static inline int name##_below(MCA_COLL_PIPERING_BARE parameters,                              \
                                   struct ompi_communicator_t *comm,                               \
                                   mca_coll_pipering_module_t *module)                             \
    {                                                                                              \
        int rc;                                                                                    \
                                                                                                   \
        MCA_COMMON_COLLTOOLS_BELOW(rc, comm, name, module->below.coll_##name,                      \
                                   module->below.coll_##name##_module,                             \
                                   (MCA_COLL_PIPERING_BARE arguments, comm, module_below));        \
        return rc;                                                                                 \
    }                                                                                              \
                                                                                                   \
    static __opal_attribute_noinline__ int name##_served(MCA_COLL_PIPERING_BARE parameters,        \
                                                         struct ompi_communicator_t *comm,         \
                                                         mca_coll_pipering_module_t *module)       \
    {                                                                                              \
        const mca_coll_pipering_form_t form = MCA_COLL_PIPERING_BLOCKING;                          \
        ompi_request_t **const request = NULL;                                                     \
        MCA_COLL_PIPERING_BARE view;                                                               \
        const int rc = served;                                                                     \
                                                                                                   \
        return OMPI_ERR_NOT_SUPPORTED == rc                                                        \
                   ? name##_below(MCA_COLL_PIPERING_BARE left, comm, module)                       \
                   : rc;                                                                           \
    }                                                                                              \
                                                                                                   \
    int mca_coll_pipering_##name(MCA_COLL_PIPERING_BARE parameters,                                \
                                 struct ompi_communicator_t *comm, mca_coll_base_module_t *base)   \
    {                                                                                              \
        mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;                  \
                                                                                                   \
        return passes ? name##_below(MCA_COLL_PIPERING_BARE arguments, comm, module)               \
                      : name##_served(MCA_COLL_PIPERING_BARE arguments, comm, module);             \
    }                                                                                              \
                                                                                                   \
    MCA_COLL_PIPERING_DEFINE_LATER(name, parameters, view, served, left)

#endif

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
 * The functions of C. Of nonblocking and persistent calls the time is that of the call which makes
 * the request, as a request may be over at any time. MPI 4 has each function twice: with counts of
 * type int, and with those of type MPI_Count (MPI_Allgatherv_c); both are recorded by one name.
 */

#include "why.h"

#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION < 5
#    include <mpi-ext.h>
#endif

/* ---- begin and end ---- */

#define BEGINNING(function, parameters, arguments) \
    int MPI_##function parameters                  \
    {                                              \
        why_enter();                               \
        const int rc = PMPI_##function arguments;  \
        if (MPI_SUCCESS == rc) {                   \
            why_has_begun();                       \
        } else {                                   \
            why_leave();                           \
        }                                          \
        return rc;                                 \
    }

BEGINNING(Init, (int *argc, char ***argv), (argc, argv))
BEGINNING(Init_thread, (int *argc, char ***argv, int required, int *provided),
          (argc, argv, required, provided))

int MPI_Finalize(void)
{
    why_will_end();
    return PMPI_Finalize();
}

#if 4 <= MPI_VERSION || (defined(OMPI_MAJOR_VERSION) && 5 <= OMPI_MAJOR_VERSION)
BEGINNING(Session_init, (MPI_Info info, MPI_Errhandler handler, MPI_Session *session),
          (info, handler, session))

int MPI_Session_finalize(MPI_Session *session)
{
    why_will_end();
    return PMPI_Session_finalize(session);
}
#endif

/* ---- collectives ---- */

#define CALL(function, handed_to, name, parameters, arguments, shape) \
    int function parameters                                           \
    {                                                                 \
        why_call_t call = why_begin(comm);                            \
        const int rc = handed_to arguments;                           \
        why_end(&call);                                               \
        if (NULL != call.comm && MPI_SUCCESS == rc) {                 \
            const why_shape_t sizes = shape;                          \
            why_record(&call, name, &sizes);                          \
        }                                                             \
        return rc;                                                    \
    }

/*
 * The three functions of a collective: its name in MPI, and in records. KIND_PARAMETERS and
 * KIND_ARGUMENTS stand before the communicator; `shape` is an expression of these.
 */
#define FORMS(Name, name, KIND, shape)                                                           \
    CALL(IN_MPI(MPI_##Name), IN_MPI(PMPI_##Name), #name, (KIND##_PARAMETERS MPI_Comm comm),      \
         (KIND##_ARGUMENTS comm), shape)                                                         \
    CALL(IN_MPI(MPI_I##name), IN_MPI(PMPI_I##name), "i" #name,                                   \
         (KIND##_PARAMETERS MPI_Comm comm, MPI_Request * request),                               \
         (KIND##_ARGUMENTS comm, request), shape)                                                \
    PERSISTENT(Name, name, KIND, shape)

#if 4 <= MPI_VERSION || (defined(OMPI_MAJOR_VERSION) && 5 <= OMPI_MAJOR_VERSION)
#    define PERSISTENT(Name, name, KIND, shape)                                      \
        CALL(IN_MPI(MPI_##Name##_init), IN_MPI(PMPI_##Name##_init), #name "_init",   \
             (KIND##_PARAMETERS MPI_Comm comm, MPI_Info info, MPI_Request * request), \
             (KIND##_ARGUMENTS comm, info, request), shape)
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#    define PERSISTENT(Name, name, KIND, shape)                                      \
        CALL(MPIX_##Name##_init, PMPIX_##Name##_init, #name "_init",                 \
             (KIND##_PARAMETERS MPI_Comm comm, MPI_Info info, MPI_Request * request), \
             (KIND##_ARGUMENTS comm, info, request), shape)
#else
#    define PERSISTENT(Name, name, KIND, shape)
#endif

#define IN_MPI(function) function
#define COUNT int
#define DISPL int
#include "why_collectives.h"

#define NO_PARAMETERS
#define NO_ARGUMENTS
FORMS(Barrier, barrier, NO, why_no_data())

#if 4 <= MPI_VERSION
#    undef IN_MPI
#    undef COUNT
#    undef DISPL
#    define IN_MPI(function) function##_c
#    define COUNT MPI_Count
#    define DISPL MPI_Aint
#    include "why_collectives.h"
#endif

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
 * What the components for data that is not uniform have in common: variables with ranges
 * and counters, copies of users' data, requests of calls that fail, segments in shared
 * memory.
 */

#ifndef MCA_COMMON_IRREGULAR_H
#define MCA_COMMON_IRREGULAR_H

#include "ompi_config.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "ompi/communicator/communicator.h"
#include "ompi/mca/coll/coll.h"
#include "ompi/request/request.h"
#include "opal/datatype/opal_convertor.h"
#include "opal/mca/base/mca_base_var.h"
#include "opal/mca/mca.h"
#if 5 <= OMPI_MAJOR_VERSION
#    include "opal/mca/threads/thread_usage.h"
#else
#    include "opal/threads/thread_usage.h"
typedef volatile int64_t opal_atomic_int64_t;
#endif

/* Open MPI 4.1 and 5.0 differ in the version of the coll interface. */
#if defined(MCA_COLL_BASE_VERSION_2_4_0)
#    define MCA_COMMON_IRREGULAR_COLL_VERSION MCA_COLL_BASE_VERSION_2_4_0
#else
#    define MCA_COMMON_IRREGULAR_COLL_VERSION MCA_COLL_BASE_VERSION_2_0_0
#endif

BEGIN_C_DECLS

/* ---- loading (common_irregular_component.c) ---- */

/** Makes help texts known that lie where the component was loaded from. */
void mca_common_irregular_find_help(void *component);

/** Whether this is the release of Open MPI that the component was built for; else it is said. */
bool mca_common_irregular_is_release_of_build(const char *owner);

/* ---- the module below ---- */

/**
 * Calls the function `call` of the module below, `call_module`, with `arguments`, in which the
 * module is named module_below. `call` and `call_module` are lvalues; the caller owns a
 * reference to the module before and after.
 *
 * Without OMPI_COLL_HAN_KEEPS_FALLBACK (in coll.h, by our patch of coll/han) the module below
 * takes the place of the caller's on the communicator for the time of the call. When coll/han
 * finds in a call that it cannot serve a communicator, it puts the module that it stands on in
 * its own place, but only if the communicator holds coll/han; else it finds out again in every
 * call, by messages. What the communicator holds after the call is the module below from then
 * on.
 */
#if defined(OMPI_COLL_HAN_KEEPS_FALLBACK)
#    define MCA_COMMON_IRREGULAR_BELOW(rc, comm, name, call, call_module, arguments) \
        do {                                                                         \
            mca_coll_base_module_t *const module_below = (call_module);              \
            (rc) = (call) arguments;                                                 \
        } while (0)
#else
#    define MCA_COMMON_IRREGULAR_BELOW(rc, comm, name, call, call_module, arguments)            \
        do {                                                                                    \
            const mca_coll_base_module_##name##_fn_t on_top = (comm)->c_coll->coll_##name;      \
            mca_coll_base_module_t *const module_on_top = (comm)->c_coll->coll_##name##_module; \
            mca_coll_base_module_t *const module_below = (call_module);                         \
            (comm)->c_coll->coll_##name = (call);                                               \
            (comm)->c_coll->coll_##name##_module = module_below;                                \
            OBJ_RETAIN(module_below);                                                           \
            (rc) = (call) arguments;                                                            \
            (call) = (comm)->c_coll->coll_##name;                                               \
            (call_module) = (comm)->c_coll->coll_##name##_module;                               \
            OBJ_RELEASE_NO_NULLIFY(module_below);                                               \
            (comm)->c_coll->coll_##name = on_top;                                               \
            (comm)->c_coll->coll_##name##_module = module_on_top;                               \
        } while (0)
#endif

/* ---- variables and counters (common_irregular_vars.c) ---- */

/** Variables of a component that must be equal on all ranks, in the order of registration. */
#define MCA_COMMON_IRREGULAR_EQUAL_MOST 64
typedef struct mca_common_irregular_equal_t {
    int count;
    struct {
        const char *name; /**< without that of the component */
        const void *storage;
        size_t size;
    } of[MCA_COMMON_IRREGULAR_EQUAL_MOST];
} mca_common_irregular_equal_t;

/** A hash of the value of variable i, or of the values of all where i is `count`. */
uint32_t mca_common_irregular_equal_hash(const mca_common_irregular_equal_t *equal, int i);

/** The variables of a component, while they are registered. */
typedef struct mca_common_irregular_vars_t {
    const mca_base_component_t *component;
    mca_common_irregular_equal_t *equal; /**< gets those that must be equal, or NULL */
    const char *owner;     /**< of a component, as users know it: "pipering" */
    char complaints[2048]; /**< about what is out of range: one message, since Open MPI shows
                                those of one topic once */
} mca_common_irregular_vars_t;

/* Each registers a variable that can be set at any time and must be equal on all ranks, with
 * the value in *storage as its default. What is out of range is noted, and the default used. */

void mca_common_irregular_choice(mca_common_irregular_vars_t *vars, const char *name,
                                 const char *help, const mca_base_var_enum_value_t *values,
                                 int *storage);
void mca_common_irregular_switch(mca_common_irregular_vars_t *vars, const char *name,
                                 const char *help, bool *storage);
/** Bytes, 0 to `most`. */
void mca_common_irregular_size(mca_common_irregular_vars_t *vars, const char *name,
                               const char *help, size_t most, size_t *storage);

/** A number, 0 to `most`. */
void mca_common_irregular_number(mca_common_irregular_vars_t *vars, const char *name,
                                 const char *help, double most, double *storage);

#define MCA_COMMON_IRREGULAR_COST_MOST 1e6
/** A time in the unit that `help` tells, 0 (its default) to 1000000. */
void mca_common_irregular_cost(mca_common_irregular_vars_t *vars, const char *name,
                               const char *help, double *storage);
/** An integer, 0 to `most`, with its own flags, level and scope. */
void mca_common_irregular_int(mca_common_irregular_vars_t *vars, const char *name,
                              const char *help, int flags, int level, int scope, int most,
                              int *storage);
/** A string, with its own flags and scope. */
void mca_common_irregular_string(mca_common_irregular_vars_t *vars, const char *name,
                                 const char *help, int flags, int scope, char **storage);

/** Tells the user what was out of range, if anything was. */
void mca_common_irregular_complain(mca_common_irregular_vars_t *vars);

/** Performance variables: what only grows, and the last value of something. */
void mca_common_irregular_counter(mca_common_irregular_vars_t *vars, const char *name,
                                  const char *help, opal_atomic_int64_t *counter);
void mca_common_irregular_level(mca_common_irregular_vars_t *vars, const char *name,
                                const char *help, opal_atomic_int64_t *counter);

static inline void mca_common_irregular_count(opal_atomic_int64_t *counter, uint64_t more)
{
    if (opal_using_threads()) {
        (void) opal_atomic_fetch_add_64(counter, (int64_t) more);
    } else {
        *counter += (int64_t) more;
    }
}

/* ---- copies (common_irregular_copy.c) ---- */

/**
 * Whether this is memory of a device, which the host must neither read nor write. A look
 * for each buffer of a call: nothing may be chosen by it that other ranks have to know.
 */
bool mca_common_irregular_on_device(const void *address);

/** As mca_common_irregular_copy, by Open MPI's own function for memory of devices. */
int mca_common_irregular_copy_by_device(void *to, const void *from, size_t bytes);

/**
 * Copies bytes that do not overlap. `on_device`: either side may be memory of a device.
 * OMPI_ERROR if the device cannot do it.
 */
static inline int mca_common_irregular_copy(void *to, const void *from, size_t bytes,
                                            bool on_device)
{
    if (on_device) {
        return mca_common_irregular_copy_by_device(to, from, bytes);
    }
    memcpy(to, from, bytes);
    return OMPI_SUCCESS;
}

/*
 * opal_convertor_pack and opal_convertor_unpack with one piece of memory. A convertor knows
 * of its own side only whether it is a device's; `on_device`: the packed side may be. The
 * bytes that are done, up to `bytes`; 0: no more can be.
 */
size_t mca_common_irregular_pack(opal_convertor_t *packer, char *packed, size_t bytes,
                                 bool on_device);
size_t mca_common_irregular_unpack(opal_convertor_t *unpacker, const char *packed, size_t bytes,
                                   bool on_device);

/* ---- requests (common_irregular_requests.c) ---- */

/**
 * Whether it is complete, also because its peer or another rank of the communicator has
 * failed, where Open MPI tolerates that: then nobody else would complete it.
 */
static inline bool mca_common_irregular_is_over(ompi_request_t *request)
{
#if OPAL_ENABLE_FT_MPI
    return REQUEST_COMPLETE(request) || ompi_request_is_failed(request);
#else
    return REQUEST_COMPLETE(request);
#endif
}

/** What ends a collective that waits without a request, as requests end by it. */
static inline int mca_common_irregular_failure(ompi_communicator_t *comm)
{
#if OPAL_ENABLE_FT_MPI
    if (ompi_ftmpi_enabled && ompi_comm_is_revoked(comm)) {
        return MPI_ERR_REVOKED;
    }
    if (ompi_ftmpi_enabled && ompi_comm_coll_revoked(comm)) {
        return MPI_ERR_PROC_FAILED;
    }
#else
    (void) comm;
#endif
    return OMPI_SUCCESS;
}

/** Whose messages are looked at. */
typedef struct mca_common_irregular_caller_t {
    const char *owner; /**< of a component, as users know it: "pipering" */
    const char *name;  /**< of the collective: "iallgatherv" */
    ompi_communicator_t *comm;
} mca_common_irregular_caller_t;

/** Of a message: nobody knows how many bytes it has. */
#define MCA_COMMON_IRREGULAR_ANY_LENGTH SIZE_MAX

/** As mca_common_irregular_judge, for what is not as it should be. */
int mca_common_irregular_blame(const mca_common_irregular_caller_t *caller,
                               const ompi_status_public_t *status, size_t expected);

/**
 * The error of a receive that is over: its own, or one of its length, where ranks disagree
 * on the arguments of a call or on variables: MPI_ERR_TRUNCATE where more bytes than expected
 * have come, MPI_ERR_OTHER where fewer have. The user is told of these.
 */
static inline int mca_common_irregular_judge(const mca_common_irregular_caller_t *caller,
                                             const ompi_status_public_t *status, size_t expected)
{
    if (MPI_SUCCESS == status->MPI_ERROR
        && (expected == status->_ucount || MCA_COMMON_IRREGULAR_ANY_LENGTH == expected)) {
        return OMPI_SUCCESS;
    }
    return mca_common_irregular_blame(caller, status, expected);
}

/** The error is that of a process or a revoked communicator, which Open MPI tells all ranks. */
static inline bool mca_common_irregular_is_failure(int error)
{
#if OPAL_ENABLE_FT_MPI
    return MPI_ERR_PROC_FAILED == error || MPI_ERR_PROC_FAILED_PENDING == error
           || MPI_ERR_REVOKED == error;
#else
    (void) error;
    return false;
#endif
}

/**
 * Waits for all of them, each of which may be MPI_REQUEST_NULL; the error is that of a request,
 * others of which may still be there. `expected` [count] are bytes of receives that are not
 * MPI_REQUEST_NULL, or NULL for sends.
 */
int mca_common_irregular_wait_all(const mca_common_irregular_caller_t *caller,
                                  ompi_request_t **requests, const size_t *expected, int count);

/**
 * Lets go of what is pending after a failure, requests [from, to) of a queue of so many,
 * each of which may be MPI_REQUEST_NULL; receives are cancelled. True if a message may still
 * touch their memory, which must then never be freed.
 */
bool mca_common_irregular_abandon(ompi_request_t **requests, uint64_t from, uint64_t to,
                                  unsigned window, bool cancel);

/* ---- segments in shared memory (common_irregular_segment.c) ---- */

#define MCA_COMMON_IRREGULAR_NAME 256

/** Where the segments of a component are made. */
typedef struct mca_common_irregular_directory_t {
    const char *owner; /**< of a component, as users know it: "pipering" */
    const char *base;  /**< directory to make it in; owned by who sets it */
    size_t budget;     /**< bytes that all processes of the job on a node may hold together,
                            0: a part of what is free */
    char path[MCA_COMMON_IRREGULAR_NAME - 32]; /**< "" before the first segment */
    unsigned made;
    size_t held; /**< bytes that count as this process's */
    bool told;   /**< the user knows of a failure */
} mca_common_irregular_directory_t;

/** A segment; it may be sent to other processes of the node as it is. */
typedef struct mca_common_irregular_segment_t {
    char name[MCA_COMMON_IRREGULAR_NAME]; /**< where others open it, "": they cannot (any more) */
    int file;                             /**< open in the process that has made it */
    uint64_t device, inode;               /**< of the file, to know it by */
    size_t size;
    bool sparse;   /**< only what is reserved has memory */
    void *address; /**< NULL: not mapped */
} mca_common_irregular_segment_t;

/** A directory for segments where memory is, or else with the job's other files. */
const char *mca_common_irregular_default_base(void);

/**
 * Bytes that this process may hold in all, those it holds included: its share of the budget of
 * the directory, which others of its node have equal shares of.
 */
size_t mca_common_irregular_share(const mca_common_irregular_directory_t *directory);

/**
 * Counts so many bytes as held by this process; false: its share does not allow that, and
 * nothing changes. Whoever holds them lets go of as many. Not for several threads at once.
 */
bool mca_common_irregular_hold(mca_common_irregular_directory_t *directory, size_t bytes);
void mca_common_irregular_let_go(mca_common_irregular_directory_t *directory, size_t bytes);

/** Tells the user, once, that the share of this process is too small for its segments. */
void mca_common_irregular_tell_full(mca_common_irregular_directory_t *directory);

/**
 * Makes a segment of zeros whose memory is really there, and goes with the last process that
 * has mapped it, however that ends. On an error (OMPI_ERR_OUT_OF_RESOURCE), of which the user is
 * told once, the segment is empty. What is held is not looked at. Not for several threads at once.
 */
int mca_common_irregular_segment_make(mca_common_irregular_directory_t *directory,
                                      mca_common_irregular_segment_t *segment, size_t size);

/** Likewise, but a segment of addresses only, parts of which are reserved before they are used. */
int mca_common_irregular_segment_make_sparse(mca_common_irregular_directory_t *directory,
                                             mca_common_irregular_segment_t *segment, size_t size);

/** Reserves the memory of bytes [from, from + size) of a sparse segment of this process. */
int mca_common_irregular_segment_reserve(mca_common_irregular_directory_t *directory,
                                         const mca_common_irregular_segment_t *segment,
                                         size_t from, size_t size);

/**
 * Gives the memory of the first `size` bytes of a sparse segment back, whoever has it mapped;
 * false: it cannot be.
 */
bool mca_common_irregular_segment_give_back(const mca_common_irregular_segment_t *segment,
                                            size_t size);

/** Maps a segment that another process of the node has made; likewise. */
int mca_common_irregular_segment_attach(mca_common_irregular_directory_t *directory,
                                        mca_common_irregular_segment_t *segment);

/** Nobody can attach it any more; the memory lives while it is mapped. For who has made it. */
void mca_common_irregular_segment_close(mca_common_irregular_segment_t *segment);

void mca_common_irregular_segment_unmap(mca_common_irregular_segment_t *segment);

/** Removes the directory; no segment has a name any more. */
void mca_common_irregular_directory_remove(mca_common_irregular_directory_t *directory);

END_C_DECLS

#endif

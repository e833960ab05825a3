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
 * Code that the components for irregular data share: variables with ranges and counters,
 * copies of users' data, requests of calls that fail, segments in shared memory.
 */

#ifndef MCA_COMMON_IRREGULAR_H
#define MCA_COMMON_IRREGULAR_H

#include "ompi_config.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "ompi/communicator/communicator.h"
#include "ompi/mca/coll/coll.h"
#include "ompi/mca/common/irregular/common_irregular_compat.h"
#include "ompi/request/request.h"
#include "opal/datatype/opal_convertor.h"
#include "opal/mca/base/mca_base_var.h"
#include "opal/mca/mca.h"
#include "opal/sys/atomic.h"

BEGIN_C_DECLS

/* ---- loading (common_irregular_component.c) ---- */

/** Makes the help texts known that are in the directory from which a component was loaded. */
void mca_common_irregular_find_help(void *component);

/** Whether the component was built for this release of Open MPI; if not, reports it. */
bool mca_common_irregular_is_release_of_build(const char *owner);

/* ---- the module below ---- */

/**
 * Calls the function `call` of the module below, `call_module`, with `arguments`, in which the
 * module is named module_below. `call` and `call_module` are lvalues; the caller owns a
 * reference to the module before and after.
 *
 * Where coll/han lacks OMPI_COLL_HAN_KEEPS_FALLBACK (ompi/mca/coll/han/patches), the module below
 * is selected on the communicator during the call. If coll/han finds in a call that it cannot
 * serve a communicator, it replaces itself by the module that it had replaced; it can do so only
 * while it is selected, and would find the same again in every call, by messages. The module
 * that is selected afterwards is the module below from then on.
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
        const char *name; /**< without the component's prefix */
        const void *storage;
        size_t size; /**< bytes; 0: a string */
    } of[MCA_COMMON_IRREGULAR_EQUAL_MOST];
} mca_common_irregular_equal_t;

/** A hash of the value of variable i, or, if i is `count`, of the values of all variables. */
uint32_t mca_common_irregular_equal_hash(const mca_common_irregular_equal_t *equal, int i);

/**
 * Tells the user which variables of component `owner` differ on which of `ranks` ranks of a
 * communicator. `hashes` [ranks * count] are the hashes of all variables, rank by rank.
 */
void mca_common_irregular_equal_report(const mca_common_irregular_equal_t *equal, const char *owner,
                                       const char *comm_name, const uint32_t *hashes, int ranks);

/** The state of a component that registers its variables. */
typedef struct mca_common_irregular_vars_t {
    const mca_base_component_t *component;
    mca_common_irregular_equal_t *equal; /**< gets those that must be equal, or NULL */
    const char *owner;     /**< of a component, as users know it: "pipering" */
    const char *const *experts; /**< names of the variables of level 9, the last NULL; priority
                                     is of level 2, those that force an algorithm are of level 6,
                                     all others of level 5 */
    char complaints[2048]; /**< about what is out of range: one message, since Open MPI shows
                                those of one topic once */
} mca_common_irregular_vars_t;

/* Each of these registers a variable with the default *storage. Unless the function has
 * arguments for this, it can be set at any time and must be equal on all ranks. A value out of
 * range is replaced by the default, and noted for mca_common_irregular_complain.
 *
 * The help text of a number ends with its range, as programs read it from ompi_info --parsable:
 * " [0..MOST UNIT; 0: MEANING]". `unit`, one word, and `zero`, the meaning of 0 where that is
 * no plain number, may be NULL; `help` repeats neither. */

void mca_common_irregular_choice(mca_common_irregular_vars_t *vars, const char *name,
                                 const char *help, const mca_base_var_enum_value_t *values,
                                 int *storage);
void mca_common_irregular_switch(mca_common_irregular_vars_t *vars, const char *name,
                                 const char *help, bool *storage);
/** Bytes, 0 to `most`. */
void mca_common_irregular_size(mca_common_irregular_vars_t *vars, const char *name,
                               const char *help, const char *zero, size_t most, size_t *storage);

#define MCA_COMMON_IRREGULAR_COST_MOST 1e6
/** A time, 0 (the default) to 1000000. */
void mca_common_irregular_cost(mca_common_irregular_vars_t *vars, const char *name,
                               const char *help, const char *unit, const char *zero,
                               double *storage);
/** An integer, 0 to `most`, with its own flags and scope. */
void mca_common_irregular_int(mca_common_irregular_vars_t *vars, const char *name,
                              const char *help, const char *unit, const char *zero, int flags,
                              int scope, int most, int *storage);
/** A string, with its own flags and scope. */
void mca_common_irregular_string(mca_common_irregular_vars_t *vars, const char *name,
                                 const char *help, int flags, int scope, char **storage);

/** A variable that is gone: its name, and what stands in its place (a sentence goes on with it). */
typedef struct mca_common_irregular_gone_t {
    const char *name, *instead;
    char *value; /**< NULL: nobody has set it */
} mca_common_irregular_gone_t;

/** Tells a user who has set a variable that is gone what stands in its place; keeps `gone`. */
void mca_common_irregular_gone(mca_common_irregular_vars_t *vars, mca_common_irregular_gone_t *gone,
                               size_t count);

/** Reports the values out of range to the user, if there are any. */
void mca_common_irregular_complain(mca_common_irregular_vars_t *vars);

/** Performance variables: a counter, which only grows, and a level, the last value. */
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
 * The bytes of memory that `count` elements of a type lie in, and in *gap how far behind the
 * address of the elements these bytes begin. opal_datatype_span gives this too, but not where
 * the extent is negative, so that each element lies before the last.
 */
size_t mca_common_irregular_span(const ompi_datatype_t *type, size_t count, ptrdiff_t *gap);

/**
 * Whether an address is memory of a device, which the host must neither read nor write. Ranks
 * may differ in this, so it must not decide anything that ranks have to agree on.
 */
bool mca_common_irregular_on_device(const void *address);

/** As mca_common_irregular_copy, by Open MPI's own function for memory of devices. */
int mca_common_irregular_copy_by_device(void *to, const void *from, size_t bytes);

/**
 * Copies bytes between areas that do not overlap. `on_device`: either may be memory of a
 * device. OMPI_ERROR if the device cannot copy.
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
 * opal_convertor_pack and opal_convertor_unpack with one piece of packed memory. A convertor
 * knows only of the unpacked side whether it is memory of a device; `on_device`: the packed side
 * may be. Returns the bytes packed or unpacked, up to `bytes`; 0: no more are possible.
 */
size_t mca_common_irregular_pack(opal_convertor_t *packer, char *packed, size_t bytes,
                                 bool on_device);
size_t mca_common_irregular_unpack(opal_convertor_t *unpacker, const char *packed, size_t bytes,
                                   bool on_device);

/* ---- requests (common_irregular_requests.c) ---- */

/** The MPI error for an error of Open MPI: out of memory must not become MPI_ERR_INTERN. */
static inline int mca_common_irregular_mpi_error(int rc)
{
    return OMPI_ERR_OUT_OF_RESOURCE == rc ? MPI_ERR_NO_MEM : rc;
}

/**
 * Whether a request is over: complete, or, where Open MPI tolerates failures, its peer or
 * another rank of the communicator has failed, since then nothing would complete it. What another
 * thread has written before it completed the request can be read.
 */
static inline bool mca_common_irregular_is_over(ompi_request_t *request)
{
#if OPAL_ENABLE_FT_MPI
    const bool over = REQUEST_COMPLETE(request) || ompi_request_is_failed(request);
#else
    const bool over = REQUEST_COMPLETE(request);
#endif
    opal_atomic_rmb();
    return over;
}

/** The failure that ends a collective which waits without a request; OMPI_SUCCESS: none. */
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

/** The call that messages belong to, for complaints about them. */
typedef struct mca_common_irregular_caller_t {
    const char *owner; /**< the component's name for users: "pipering" */
    const char *name;  /**< the collective: "iallgatherv" */
    ompi_communicator_t *comm;
} mca_common_irregular_caller_t;

/** The expected length of a message whose length the receiver does not know. */
#define MCA_COMMON_IRREGULAR_ANY_LENGTH SIZE_MAX

/** The part of mca_common_irregular_judge for receives with an error. */
int mca_common_irregular_blame(const mca_common_irregular_caller_t *caller,
                               const ompi_status_public_t *status, size_t expected);

/**
 * The error of a receive that is over: its own, or an error of its length, where ranks disagree
 * on the arguments of a call or on variables: MPI_ERR_TRUNCATE if more bytes than expected were
 * received, MPI_ERR_OTHER if fewer were. Errors of length are reported to the user.
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

/** Whether an error is a failed process or a revoked communicator: Open MPI informs all ranks. */
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
 * Frees the requests [from, to) after a failure; request k is requests[k % window], and may be
 * MPI_REQUEST_NULL. `cancel`: these are receives, and are cancelled. True if a message may still
 * touch their memory, which must then never be freed.
 */
bool mca_common_irregular_abandon(ompi_request_t **requests, uint64_t from, uint64_t to,
                                  unsigned window, bool cancel);

/* ---- segments in shared memory (common_irregular_segment.c) ---- */

#define MCA_COMMON_IRREGULAR_NAME 256

/** The directory for the segments of a component. */
typedef struct mca_common_irregular_directory_t {
    const char *owner; /**< the component's name for users: "pipering" */
    const char *base;  /**< parent directory; owned by the component */
    size_t budget;     /**< bytes that all processes of the job on a node may hold together,
                            0: a part of the free memory */
    char path[MCA_COMMON_IRREGULAR_NAME - 32]; /**< "" before the first segment */
    unsigned made; /**< number of files so far */
    size_t held;   /**< bytes that count as held by this process */
    bool reported; /**< a failure has been reported to the user */
} mca_common_irregular_directory_t;

/** A segment; this structure may be sent to other processes of the node. */
typedef struct mca_common_irregular_segment_t {
    char name[MCA_COMMON_IRREGULAR_NAME]; /**< path for other processes, "": they cannot open it */
    int file;                             /**< descriptor in the process that has made it */
    uint64_t device, inode;               /**< of the file, to identify it */
    size_t size;
    bool sparse;   /**< only reserved parts have memory */
    void *address; /**< NULL: not mapped */
} mca_common_irregular_segment_t;

/** The default parent directory: in shared memory, or else that of the job's other files. */
const char *mca_common_irregular_default_base(void);

/**
 * Bytes that this process may hold, those that it holds included: its share of the directory's
 * budget. The processes of a node have equal shares.
 */
size_t mca_common_irregular_share(const mca_common_irregular_directory_t *directory);

/**
 * Counts `bytes` bytes as held by this process; false: its share is too small, and nothing
 * changes. mca_common_irregular_let_go ends it, with as many bytes. Not thread-safe.
 */
bool mca_common_irregular_hold(mca_common_irregular_directory_t *directory, size_t bytes);
void mca_common_irregular_let_go(mca_common_irregular_directory_t *directory, size_t bytes);

/** Reports to the user, once, that the share of this process is too small for its segments. */
void mca_common_irregular_tell_full(mca_common_irregular_directory_t *directory);

/**
 * Makes a segment of zeros with all of its memory reserved. The memory is freed when the last
 * process that has mapped it ends, in whatever way. On an error (OMPI_ERR_OUT_OF_RESOURCE), which
 * is reported to the user once, the segment is empty. The share is not checked. Not thread-safe.
 */
int mca_common_irregular_segment_make(mca_common_irregular_directory_t *directory,
                                      mca_common_irregular_segment_t *segment, size_t size);

/** Likewise, but without memory: parts of the segment are reserved before they are used. */
int mca_common_irregular_segment_make_sparse(mca_common_irregular_directory_t *directory,
                                             mca_common_irregular_segment_t *segment, size_t size);

/** Reserves the memory of bytes [from, from + size) of a sparse segment of this process. */
int mca_common_irregular_segment_reserve(mca_common_irregular_directory_t *directory,
                                         const mca_common_irregular_segment_t *segment,
                                         size_t from, size_t size);

/**
 * Frees the memory of the first `size` bytes of a sparse segment, for all processes that have
 * it mapped; false: this is not possible.
 */
bool mca_common_irregular_segment_give_back(const mca_common_irregular_segment_t *segment,
                                            size_t size);

/** Maps a segment that another process of the node has made; errors as above. */
int mca_common_irregular_segment_attach(mca_common_irregular_directory_t *directory,
                                        mca_common_irregular_segment_t *segment);

/** Makes a segment of this process unattachable; its memory lives as long as it is mapped. */
void mca_common_irregular_segment_close(mca_common_irregular_segment_t *segment);

void mca_common_irregular_segment_unmap(mca_common_irregular_segment_t *segment);

/** Removes the directory; all segments must be closed. */
void mca_common_irregular_directory_remove(mca_common_irregular_directory_t *directory);

END_C_DECLS

#endif

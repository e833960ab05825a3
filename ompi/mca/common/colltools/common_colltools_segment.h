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
 * Segments in shared memory, each a file without a name.
 */

#ifndef MCA_COMMON_COLLTOOLS_SEGMENT_H
#define MCA_COMMON_COLLTOOLS_SEGMENT_H

#include "ompi_config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ompi/communicator/communicator.h"

BEGIN_C_DECLS

/** Where the segments of a component are. */
typedef struct mca_common_colltools_directory_t {
    const char *owner; /**< the component's name for users: "pipering" */
    const char *base;  /**< directory; owned by the component */
    size_t budget;     /**< bytes that all processes of the job on a node may hold together,
                            0: a part of the free memory */
    size_t held;   /**< bytes that count as held by this process */
    bool reported; /**< a failure has been reported to the user */
} mca_common_colltools_directory_t;

/** A segment; this structure may be sent to other processes of the node. */
typedef struct mca_common_colltools_segment_t {
    char name[64]; /**< path for other processes, "": they cannot open it */
    int file;      /**< descriptor in the process that has made it */
    uint64_t device, inode; /**< of the file, to identify it */
    size_t size;
    bool sparse;   /**< only reserved parts have memory */
    void *address; /**< NULL: not mapped */
} mca_common_colltools_segment_t;

/** The default directory: in shared memory, or else that of the job's other files. */
const char *mca_common_colltools_default_base(void);

/**
 * Bytes that this process may hold, those that it holds included: its share of the directory's
 * budget. The processes of a node have equal shares.
 */
size_t mca_common_colltools_share(const mca_common_colltools_directory_t *directory);

/**
 * Counts `bytes` bytes as held by this process; false: its share is too small, and nothing
 * changes. mca_common_colltools_let_go ends it, with as many bytes. Not thread-safe.
 */
bool mca_common_colltools_hold(mca_common_colltools_directory_t *directory, size_t bytes);
void mca_common_colltools_let_go(mca_common_colltools_directory_t *directory, size_t bytes);

/** Reports to the user, once, that the share of this process is too small for its segments. */
void mca_common_colltools_tell_full(mca_common_colltools_directory_t *directory);

/**
 * Makes a segment of zeros with all of its memory reserved or, if it is sparse, without memory:
 * parts of it are reserved before they are used. The memory is freed when the last process that
 * has mapped it ends, in whatever way. On an error (OMPI_ERR_OUT_OF_RESOURCE), which is reported
 * to the user once, the segment is empty. The share is not checked. Not thread-safe.
 */
int mca_common_colltools_segment_make(mca_common_colltools_directory_t *directory,
                                      mca_common_colltools_segment_t *segment, size_t size,
                                      bool sparse);

/** Reserves the memory of bytes [from, from + size) of a sparse segment of this process. */
int mca_common_colltools_segment_reserve(mca_common_colltools_directory_t *directory,
                                         const mca_common_colltools_segment_t *segment,
                                         size_t from, size_t size);

/** Bytes of the text that says where a segment is, with its end. */
#define MCA_COMMON_COLLTOOLS_SEGMENT_TEXT 160

/** Where a segment is, as a word. Read, it has no name: it is none. */
void mca_common_colltools_segment_write(const mca_common_colltools_segment_t *segment, char *text);
void mca_common_colltools_segment_read(const char *text, mca_common_colltools_segment_t *segment);

/**
 * Frees the memory of the first `size` bytes of a sparse segment, for all processes that have
 * it mapped; false: this is not possible.
 */
bool mca_common_colltools_segment_give_back(const mca_common_colltools_segment_t *segment,
                                            size_t size);

/** Maps a segment that another process of the node has made; errors as above. */
int mca_common_colltools_segment_attach(mca_common_colltools_directory_t *directory,
                                        mca_common_colltools_segment_t *segment);

/** Whether the process that has made a segment has closed it, or is gone itself. */
bool mca_common_colltools_segment_is_gone(const mca_common_colltools_segment_t *segment);

/** Makes a segment of this process unattachable; its memory lives as long as it is mapped. */
void mca_common_colltools_segment_close(mca_common_colltools_segment_t *segment);

void mca_common_colltools_segment_unmap(mca_common_colltools_segment_t *segment);

END_C_DECLS

#endif

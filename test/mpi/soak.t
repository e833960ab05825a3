#!/bin/sh
# A short soak. Ranks are killed, not mpirun: without it nobody removes the files of ring
# buffers, which have names as long as their process lives.
SECONDS_IN_ALL=${SECONDS_IN_ALL:-22} SEED=${SEED:-1} STARTER=${STARTER:-rank} \
    exec "$(dirname "$0")/soak"

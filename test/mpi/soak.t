#!/bin/sh
# A short soak.
SECONDS_IN_ALL=${SECONDS_IN_ALL:-22} SEED=${SEED:-1} exec "$(dirname "$0")/soak"

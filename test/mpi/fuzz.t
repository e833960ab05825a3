#!/bin/sh
# The fuzzer with a fixed seed.
SEED=1 N=${N:-1000} exec "$(dirname "$0")/fuzz"

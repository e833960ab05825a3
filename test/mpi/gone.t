#!/bin/bash
# Variables that are gone: one that is still set, wherever, gets a sentence, and the job goes on.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

build served

# told LABEL [OPTION]...: a job that runs, and is told once what stands in place of the variable.
told() {
    local label=$1
    shift
    on_one "$label" 4 40 "$@" "$bin/served"
    is "$label: told once" "$(lines '^  coll_pipering_reproducible = ')" 1
    yes_if "$label: told what stands in its place" said '^    In its place: .*always have the same bits'
}

told "on the command line" --mca coll_pipering_reproducible false
OMPI_MCA_coll_pipering_reproducible=true told "in the environment"
echo "coll_pipering_reproducible = 1" >"$work/params.conf"
told "in a file" --mca mca_base_param_files "$work/params.conf"

told "among others" --mca coll_pipering_reproducible false --mca coll_pipering_overlap 0 \
    --mca coll_mleader_large 4096
is "among others: told of each" "$(lines '^  coll_[a-z_]* = ')" 3

on_one "not set" 4 40 "$bin/served"
is "not set: not a word" "$(lines 'reproducible')" 0
is "ompi_info does not list it" "$(
    "$OMPI_PREFIX/bin/ompi_info" --all --level 9 --parsable 2>/dev/null | grep -c coll_pipering_reproducible)" 0
finish

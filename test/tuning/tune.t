#!/bin/bash
# pipering-tune end to end, in real time: on eight nodes with links of 100 Mbit/s it must measure the
# machine, prove that the file helps, and write a parameter file by which jobs find it.
# shellcheck source-path=SCRIPTDIR source=../mpi/lib.sh
. "$(dirname "$0")/../mpi/lib.sh"
all_long

can_nodes || skip_all "no nodes can be made here"
command -v python3 >/dev/null || skip_all "no python3"

# tune NAME OPTION...: its status in $status, what it says in $work/NAME.said.
tune() {
    local name=$1
    shift
    timeout -k 5 1200 "$testbed" with --nodes 8 --rate 100mbit -- "$root/contrib/tuning/pipering-tune" \
        --launch "$testbed mpirun --no-machine --timeout 1200 --" "$work/$name" "$@" \
        >"$work/$name.said" 2>&1
    status=$?
    sed 's/^/# /' "$work/$name.said"
    is "$name: the file helps" "$status" 0
    yes_if "$name: it says so first in its report" grep -q '^The file helps' \
        <(head -n 1 "$work/$name/report.txt")
    is "$name: nothing but comments and a setting without blanks" \
        "$(grep -vcE '^#|^coll_pipering_machine=[^ ]+$' "$work/$name/tuned.conf")" 0
    yes_if "$name: pipering-predict takes the costs of the machine" grep -q '^[*]' \
        <("$root/contrib/tuning/pipering-predict" --machine "$work/$name/machine" --ranks 8 --total 1M)
}

tune ob1
build served
on_one "jobs take the file" 4 40 --mca mca_base_param_files "$work/ob1/tuned.conf" \
    --mca coll_pipering_verbose 1 "$bin/served"
yes_if "and know the machine by it" said '# by coll_pipering_machine'
if over ucx; then
    tune ucx
    yes_if "ucx: jobs went over UCX" grep -q 'pml *ucx' "$work/ucx/report.txt"
else
    skip "over UCX" "$why_not"
fi
finish

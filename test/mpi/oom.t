#!/bin/bash
# No memory: errors and their class, by MPI_ERRORS_RETURN and by the default
# handler, with a checking malloc where there is one.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# Where OBJ_NEW writes to what malloc gave, whatever that was.
if "$OMPI_PREFIX/bin/ompi_info" | grep -q 'Internal debug support: yes'; then
    skip_all "Open MPI for debugging (--enable-debug) needs all memory that it asks for"
fi

build oom "$here/allocator.c" -pthread -ldl

check=()
if LD_PRELOAD=libc_malloc_debug.so.0 true 2>&1 | grep -q .; then
    echo "# no libc_malloc_debug.so.0, so malloc checks what it checks by itself"
else
    check=(-x LD_PRELOAD=libc_malloc_debug.so.0 -x MALLOC_CHECK_=3)
fi

# shellcheck disable=SC2034 # of lib.sh
expected=7 # MPI_Abort with ABORTED
on_one "no memory" 3 60 "${check[@]}" "$bin/oom"
on_one "no memory, folds" 3 60 "${check[@]}" -x SET=1 "$bin/oom"
on_one "no memory, leaders" 3 60 "${check[@]}" --mca coll_mleader_groups 2 -x SET=2 "$bin/oom"
on_one "no memory, exchanges" 3 30 "${check[@]}" -x SET=3 "$bin/oom"
long on_one "no memory, exchanges, on a mesh" 4 30 "${check[@]}" \
    --mca coll_pipering_mesh 2x2 -x SET=3 "$bin/oom"

# dies NAME [OPTION]...: a test; under the default handler the job ends at once,
# and not well. Of their last words mpirun of 4.1 loses some, so those of all
# jobs are judged together.
: >"$work/words"
dies() {
    local name=$1 status
    shift
    "$testbed" local -n 3 --timeout 60 -- "$@" "$bin/oom" >"$work/out" 2>&1
    status=$?
    yes_if "$name: the job ends at once, with an error" test 0 -ne $status -a 124 -ne $status
    grep -a -o -E 'MPI_ERR_[A-Z_]+' "$work/out" >>"$work/words"
}

for k in 1 2 3 4 5; do
    dies "default handler, blocking, request $k" -x FATAL=$k -x FORM=0
    dies "default handler, nonblocking, request $k" -x FATAL=$k -x FORM=1
done
for form in 0 1 3; do
    dies "default handler, an exchange, form $form" -x FATAL=1 -x FORM=$form -x SET=3
done
dies "default handler, a communicator" -x CREATION=1
for k in 1 2; do
    dies "default handler, a communicator with leaders, request $k" -x CREATION=$k -x SET=2
done
is "default handler: the errors that are named" "$(sort -u "$work/words")" MPI_ERR_NO_MEM

for pml in ucx ofi; do
    if over "$pml"; then
        on_one "no memory" 3 90 "$bin/oom"
        long on_one "no memory, exchanges" 3 60 -x SET=3 "$bin/oom"
    else
        skip "no memory, over $pml" "$why_not"
    fi
done
finish

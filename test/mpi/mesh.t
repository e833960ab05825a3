#!/bin/bash
# Calls along a mesh: results, bytes, which calls go along it, and what is said of a mesh that is
# not there.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

build mesh
build served
build_fuzz

loud=(--mca coll_pipering_verbose 1)
trees='trees of a mesh'

# along COMMUNICATOR TEXT: calls on it that went along the mesh so.
along() {
    lines "pipering: [a-z_]+ on $1: $2, "
}

# goes LABEL COMMUNICATOR TEXT: some of its calls have; stays LABEL COMMUNICATOR: none has.
goes() {
    yes_if "$1: calls on $2 go along $3" test 0 -lt "$(along "$2" "$3")"
}

stays() {
    is "$1: no call on $2 goes along a mesh" "$(lines "pipering: [a-z_]+ on $2: [^:]* of a mesh")" 0
}

# on_mesh P MESH: all of it on a mesh of ranks.
on_mesh() {
    on_one "mesh $2" "$1" 60 --mca coll_pipering_mesh "$2" "${loud[@]}" "$bin/mesh"
    goes "$2" all "$trees"
    goes "$2" all 'path of a mesh, there and back'
}

# ---- on one machine ----

on_mesh 8 4x2
goes 4x2 half "$trees"
goes 4x2 all 'paths of a mesh'
goes 4x2 all 'cycles of a mesh'
stays 4x2 torso
on_mesh 9 3tx3t
goes 3tx3t all 'cycles of a mesh'
on_mesh 9 3x3
goes 3x3 all 'paths of a mesh'
is "3x3: it has no cycle" "$(along all 'cycles of a mesh')" 0
on_mesh 8 2x2x2
on_mesh 5 5
goes 5 half "$trees"
on_mesh 5 5t
goes 5t torso "$trees"

on_one "no mesh" 4 60 "${loud[@]}" "$bin/mesh"
stays "no mesh" all
stays "no mesh" grid
on_one cartesian 6 60 --mca coll_pipering_mesh cartesian "${loud[@]}" "$bin/mesh"
goes cartesian grid "$trees"
stays cartesian all

# ---- declarations that are wrong ----

# wrong LABEL MESH PATTERN: one message, and right results without a mesh.
wrong() {
    on_one "$1" 4 60 --mca coll_pipering_mesh "$2" "${loud[@]}" -x TEST_SHORT=1 "$bin/mesh"
    is "$1: one message" "$(lines "$3")" 1
    stays "$1" all
}

wrong "bad extents" 2y2 'is not of the form 4x4x2'
wrong "too many vertices" 3x3 'declares a mesh of 9 vertices, which is not there'
wrong "no file" "@$work/none" 'cannot be used: No such file'
wrong "a large extent" 2x99999999999 'has more than 16777216 vertices'
wrong "a directory" "@$work" 'cannot be used: it is not a regular file'
: >"$work/mesh"
wrong "an empty file" "@$work/mesh" 'cannot be used: it has no line "extents"'
printf 'extents 2x2\n#%01100d\n' 0 >"$work/mesh"
wrong "a long line" "@$work/mesh" 'whose line 2 is longer than 1022 characters'
echo '2x2' >"$work/mesh"
wrong "a file without extents" "@$work/mesh" 'whose line 1 is not the line "extents"'
printf '# nodes\nextents 2x2\nnobody 0 2\n' >"$work/mesh"
wrong "coordinates outside" "@$work/mesh" 'whose line 3 is not a host and a coordinate'
printf 'extents 2x2\nnobody 0 1\n' >"$work/mesh"
wrong "a host that is missing" "@$work/mesh" 'has no line for host'

# One rank alone has it: as with any variable that differs, others serve all calls.
alone coll_pipering_mesh 2x2
on_one "on one rank only" 4 60 "$work/alone" "$bin/served"
yes_if "on one rank only: a message" said 'coll_pipering_mesh: rank 1'
is "on one rank only: no other one" "$(lines 'see different meshes')" 0

# ---- on nodes ----

on_nodes "mesh 2x2" 1,1,1,1 block 60 --mca coll_pipering_mesh 2x2 "${loud[@]}" "$bin/mesh"
can_nodes && goes "four nodes" all "$trees" && goes "four nodes" half "$trees"
on_nodes "mesh 2x2" 2,3,1,2 cyclic 60 --mca coll_pipering_mesh 2x2 "${loud[@]}" "$bin/mesh"
can_nodes && goes "nodes of several ranks" all "$trees" &&
    goes "nodes of several ranks" all 'cycles of a mesh'
on_nodes "mesh 2x2x2, ranks of a node the last dimension" 2,2,2,2 block 60 \
    --mca coll_pipering_mesh 2x2x2 "${loud[@]}" "$bin/mesh"
can_nodes && goes "ranks as a dimension" all "$trees"
printf 'extents 4x2 # of the machine\nn3 1 1\nn0 2 0\nn1 1 0\n\nn2 2 1\n' >"$work/mesh"
on_nodes "mesh by a file" 1,2,1,1 block 60 --mca coll_pipering_mesh "@$work/mesh" "${loud[@]}" \
    "$bin/mesh"
can_nodes && goes "a box of the machine" all "$trees"
printf 'extents 4x2\nn3 1 1\nn0 2 0\nn1 1 0\nn2 3 1\n' >"$work/mesh"
on_nodes "no box by a file" 1,1,1,1 block 60 --mca coll_pipering_mesh "@$work/mesh" "${loud[@]}" \
    -x TEST_SHORT=1 "$bin/mesh"
can_nodes && stays "no box" all &&
    is "no box: one message, of a job that uses no MPI_COMM_WORLD" \
        "$(lines 'declares a mesh, 4x2, in which the job.s nodes are not a box')" 1
# faulty LABEL PATTERN HOSTS: a file with these lines of hosts n0 to n3 is no mesh.
faulty() {
    printf 'extents 4x2\n%s' "$3" >"$work/mesh"
    on_nodes "$1" 2,1,1,1 block 60 --mca coll_pipering_mesh "@$work/mesh" "${loud[@]}" \
        -x TEST_SHORT=1 "$bin/mesh"
    can_nodes && stays "$1" all && is "$1: one message" "$(lines "$2")" 1
}
faulty "two hosts at one place" 'whose line 5 gives two hosts the same coordinates' \
    $'n3 1 1\nn0 2 0\nn1 1 0\nn2 2 0\n'
faulty "a host twice" 'whose line 4 names a host a second time' \
    $'n3 1 1\nn0 2 0\nn0 1 0\nn2 2 1\nn1 3 1\n'

# One rank finds another file by the same name.
cat >"$work/elsewhere" <<'END'
#!/bin/sh
cd "$1/$([ "$OMPI_COMM_WORLD_RANK" = 1 ] && echo there || echo here)" || exit 1
shift
exec "$@"
END
chmod +x "$work/elsewhere"
mkdir "$work/here" "$work/there"
printf 'extents 4\nn0 0\nn1 1\nn2 2\nn3 3\n' >"$work/here/wiring"
printf 'extents 4\nn0 0\nn2 1\nn1 2\nn3 3\n' >"$work/there/wiring"
on_nodes "files that differ" 1,1,1,1 block 60 --mca coll_pipering_mesh @wiring "${loud[@]}" \
    -x TEST_SHORT=1 "$work/elsewhere" "$work" "$bin/mesh"
can_nodes && yes_if "files that differ: a message" said 'see different meshes, or some of them none' &&
    stays "files that differ" all

# ---- exchanges ----

# exchange LABEL GOOD PATTERN MESH: MPI_Alltoall alone on four nodes; it goes as on a mesh if GOOD
# is 1; one message has PATTERN, or there is none if that is empty.
exchange() {
    on_nodes "exchange, $1" 1,1,1,1 block 60 --mca coll_pipering_mesh "$4" "${loud[@]}" \
        -x TEST_EXCHANGE=1 "$bin/mesh"
    can_nodes || return
    is "exchange, $1: in place" "$(lines 'alltoall on all: pairs, in place; ')" 1
    is "exchange, $1: permuted" "$(lines 'alltoall on all: permuted; ')" "$2"
    is "exchange, $1: messages" "$(lines 'coll_pipering_mesh')" "$([ -z "$3" ]; echo $?)"
    [ -z "$3" ] || is "exchange, $1: what it says" "$(lines "$3")" 1
}

exchange "a mesh" 1 '' 2x2
exchange "topologies" 1 '' cartesian
exchange "bad extents" 0 'is not of the form 4x4x2' 2y2
exchange "too many vertices" 0 'declares a mesh of 9 vertices, which is not there' 3x3
exchange "a file that is not there" 1 'cannot be used: No such file' "@$work/none"

# One node has no links; the message is there as on others.
on_one "exchange on one node" 4 60 --mca coll_pipering_mesh 2x2 "${loud[@]}" -x TEST_EXCHANGE=1 \
    "$bin/mesh"
is "exchange on one node: it goes to the module below" "$(lines 'alltoall on all: permuted')" 0
on_one "bad extents, exchange on one node" 4 60 --mca coll_pipering_mesh 3x3 "${loud[@]}" \
    -x TEST_EXCHANGE=1 "$bin/mesh"
is "bad extents, exchange on one node: one message" "$(lines 'declares a mesh of 9 vertices')" 1

# ---- random calls ----

on_one fuzz 8 60 --mca coll_pipering_mesh 4tx2 -x SEED=3 -x N=150 "$bin/fuzz"
on_one fuzz 9 60 --mca coll_pipering_mesh 3x3 -x SEED=4 -x N=100 "$bin/fuzz"
on_one fuzz 12 60 --mca coll_pipering_mesh 3tx4t -x SEED=5 -x N=60 "$bin/fuzz"
on_nodes fuzz 2,1,1,2 block 60 --mca coll_pipering_mesh 2x2 -x SEED=6 -x N=100 "$bin/fuzz"

# on_wiring WIRING OPTION...: the fuzzer on nodes that are wired as a mesh.
on_wiring() {
    local wiring=$1
    shift
    # shellcheck disable=SC2016  # for the inner shell
    job "fuzz, $wiring" "$testbed" with --wiring "$wiring" -- bash -c \
        '"$0" mpirun --timeout 300 -- --mca coll_pipering_mesh "$TESTBED_MESH" "$@"' "$testbed" \
        "$@" "$bin/fuzz"
}

if can_nodes; then
    on_wiring mesh:2x2 -x SEED=7 -x N=200
    on_wiring torus:3x2 -x SEED=8 -x N=200
else
    skip "fuzz on meshes of nodes" "$why_not"
fi
finish

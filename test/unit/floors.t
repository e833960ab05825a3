#!/bin/bash
# Floors of coll/pipering: no #include points up, the component is touched on the floor of calls
# alone, and plans know no header of Open MPI.
#
#   floors.t [DIR]   of the component's sources
set -u
shopt -s extglob
dir=${1:-$(cd "$(dirname "$0")/../.." && pwd)/ompi/mca/coll/pipering}

# floor FILE: its number, from below.
floor() {
    case ${1##*/} in
        coll_pipering_plan*) echo 0 ;;
        coll_pipering_@(compat|fifo|arena|copy|wire|agree|task|nodes).[ch]) echo 1 ;;
        coll_pipering_@(engine*|staging).[ch]) echo 2 ;;
        coll_pipering_@(params.h|context.h|registry.[ch]|setup.[ch]|lessons.[ch])) echo 3 ;;
        coll_pipering_@(decide*|draft|choice).[ch]) echo 3 ;;
        coll_pipering_@(request*|share).[ch]) echo 4 ;;
        *) echo 5 ;;
    esac
}

count=0
failures=0

# report NAME LINES: a test that passes if there are none.
report() {
    count=$((count + 1))
    if [[ -z $2 ]]; then
        echo "ok $count - $1"
    else
        failures=$((failures + 1))
        echo "not ok $count - $1"
        while read -r line; do echo "# $line"; done <<<"$2"
    fi
}

mapfile -t files < <(find "$dir" -name '*.[ch]' | sort)
[[ 60 -lt ${#files[@]} ]] || {
    echo "Bail out! only ${#files[@]} sources in $dir"
    exit 1
}

upwards='' globals='' foreign=''
for file in "${files[@]}"; do
    mine=$(floor "$file")
    while read -r header; do
        if [[ $header == coll_pipering* && $(floor "$header") -gt $mine ]]; then
            upwards+="${file##*/} includes $header"$'\n'
        fi
        if [[ 0 -eq $mine && $header == */* && $header != ompi/mca/common/irregular/* ]]; then
            foreign+="${file##*/} includes $header"$'\n'
        fi
    done < <(sed -n 's/^#[ ]*include "\([^"]*\)".*/\1/p' "$file")
    if [[ 5 -gt $mine ]] && grep -q '\<mca_coll_pipering_component\>' "$file"; then
        globals+="${file##*/}"$'\n'
    fi
done
report 'no #include points up' "${upwards%$'\n'}"
report 'the component is touched by calls alone' "${globals%$'\n'}"
report 'plans include no header of Open MPI' "${foreign%$'\n'}"
echo "1..$count"
[[ 0 -eq $failures ]]

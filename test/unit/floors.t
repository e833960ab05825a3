#!/bin/bash
# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
#
# The floors of coll/pipering: a file includes files of its own floor and of those below,
# plans and the choice include no header of Open MPI, and only the floors from that of calls on know
# the state of the component. No files call each other in a circle.
# What components share knows neither of them. One file knows the release of Open MPI.
# Plans and the choice use no function of libm whose last bits differ between processors.

set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# From the ground up.
floors=(plan mesh engine decide call alltoall component)

# level FLOOR: its number, or nothing.
level() {
    local i
    for i in "${!floors[@]}"; do
        [[ ${floors[i]} != "$1" ]] || echo "$i"
    done
}

# included FILE: what it includes by name, one a line.
included() {
    sed -nE 's/^ *# *include +"([^"]*)".*/\1/p' "$1"
}

# look_up TREE: includes of coll/pipering that point up, or out of their folder by a bare name.
look_up() {
    local dir=$1/ompi/mca/coll/pipering file header floor own other
    for file in "$dir"/*/*.[ch]; do
        floor=$(basename "$(dirname "$file")")
        own=$(level "$floor")
        [[ -n $own ]] || echo "${file#"$1/"}: $floor is no floor"
        while IFS= read -r header; do
            case $header in
            ompi/mca/coll/pipering/*/*)
                other=$(level "$(basename "$(dirname "$header")")")
                ((${other:-99} <= own)) || echo "${file#"$1/"} includes $header"
                ;;
            coll_pipering*)
                [[ -f $dir/$floor/$header ]] || echo "${file#"$1/"} includes $header by its bare name"
                ;;
            ompi/mca/coll/mleader/*) echo "${file#"$1/"} includes $header" ;;
            esac
        done < <(included "$file")
    done
    for file in "$dir"/*.[ch]; do
        [[ ! -f $file ]] || echo "${file#"$1/"} stands on no floor"
    done
}

# look_out TREE: headers of Open MPI in plans and in the choice.
look_out() {
    local file header dir=$1/ompi/mca/coll/pipering
    for file in "$dir"/{plan,mesh,alltoall}/coll_pipering_plan*.[ch] \
        "$dir"/decide/coll_pipering_{choice,decide_*,draft,make,params,registry,ways}.[ch] \
        "$1"/ompi/mca/coll/mleader/coll_mleader_plan*.[ch]; do
        [[ -f $file ]] || continue
        while IFS= read -r header; do
            case $header in
            coll_pipering_plan* | coll_mleader_plan* | ompi/mca/coll/pipering/plan/* | ompi/mca/coll/pipering/mesh/* | */common_colltools_exchange.h | */common_colltools_variable.h) ;;
            common_colltools_exchange.h) ;;
            coll_pipering_choice.h | coll_pipering_draft.h | coll_pipering_params.h | coll_pipering_ways.h) ;;
            coll_pipering_registry.h | */coll_pipering_fifo.h) ;;
            *) echo "${file#"$1/"} includes $header" ;;
            esac
        done < <(included "$file")
    done
}

# look_round TREE: the state of the component, below the floor of calls; what users have set, outside
# the one file that has it.
look_round() {
    local floor
    for floor in plan mesh engine decide; do
        (cd "$1" && grep -HnwoE 'mca_coll_pipering(_component|_given)?' \
            ompi/mca/coll/pipering/"$floor"/*.[ch]) | grep -v '/coll_pipering_params\.[ch]:'
    done
}

# look_aside TREE: components, in what they share.
look_aside() {
    (cd "$1" && grep -HnE 'coll/(pipering|mleader)/|coll_(pipering|mleader)' \
        ompi/mca/common/colltools/*.[ch])
    (cd "$1" && grep -HnE 'coll/pipering/|coll_pipering' ompi/mca/coll/mleader/*.[ch])
}

# look_at_release TREE: the release of Open MPI, beside the one file that knows it.
look_at_release() {
    (cd "$1" && grep -rnE --include='*.[ch]' 'OMPI_(MAJOR|MINOR|RELEASE)_VERSION' ompi opal |
        grep -v '^ompi/mca/common/colltools/common_colltools_compat\.h:')
}

# look_at_libm TREE: functions whose last bits are not the same everywhere, where ranks decide.
look_at_libm() {
    (cd "$1" && grep -nE '\b(pow|exp2?|expm1|log|log1p|log2|log10|cbrt|hypot|fma|sin|cos|tan|tgamma)[fl]?\(' \
        ompi/mca/coll/pipering/{plan,mesh,decide}/*.[ch])
}

count=0
# none LABEL LINES: a test that there are none.
none() {
    count=$((count + 1))
    if [[ -z $2 ]]; then
        echo "ok $count - $1"
    else
        echo "not ok $count - $1"
        printf '# %s\n' "${2//$'\n'/$'\n# '}"
    fi
}

# some LABEL LINES: a test that the one line is found.
some() {
    count=$((count + 1))
    if [[ -n $2 && $2 != *$'\n'* ]]; then
        echo "ok $count - $1"
    else
        echo "not ok $count - $1: ${2:-nothing} was found"
    fi
}

none "no file of coll/pipering includes one of a floor above its own" "$(look_up "$root")"
none "plans and the choice are pure C" "$(look_out "$root")"
none "no circles of files that call each other" \
    "$("$here/circles" "$root" ompi/mca contrib/tuning/predict contrib/tuning/why)"
none "only calls know the state of the component" "$(look_round "$root")"
none "what components share knows neither, and mleader does not know pipering" "$(look_aside "$root")"
none "one file knows the release of Open MPI" "$(look_at_release "$root")"
none "plans and the choice use no pow, exp, log or the like" "$(look_at_libm "$root")"

# The same on trees with one defect each: the looks find it.
mkdir -p "$work"/opal "$work"/ompi/mca/{common/colltools,coll/mleader,coll/pipering/{plan,mesh,engine,decide,call,alltoall}}
tree=$work/ompi/mca
for file in plan/coll_pipering_plan mesh/coll_pipering_plan_mesh engine/coll_pipering_engine decide/coll_pipering_decide \
    decide/coll_pipering_choice call/coll_pipering alltoall/coll_pipering_alltoall; do
    echo '#include <stddef.h>' >"$tree/coll/pipering/$file.h"
done
echo >"$tree/coll/mleader/coll_mleader_plan.h"
echo >"$tree/common/colltools/common_colltools.h"
echo '#if 5 <= OMPI_MAJOR_VERSION' >"$tree/common/colltools/common_colltools_compat.h"
none "(a tree without defects)" \
    "$(look_up "$work"; look_out "$work"; look_round "$work"; look_aside "$work"; look_at_release "$work"
        look_at_libm "$work")"

# defect LOOK FILE LINE
defect() {
    cp "$tree/$2" "$work/saved"
    echo "$3" >>"$tree/$2"
    some "found in ${2##*/}: $3" "$("$1" "$work")"
    cp "$work/saved" "$tree/$2"
}
defect look_up coll/pipering/engine/coll_pipering_engine.h \
    '#include "ompi/mca/coll/pipering/decide/coll_pipering_decide.h"'
defect look_up coll/pipering/decide/coll_pipering_decide.h '#include "coll_pipering.h"'
defect look_up coll/pipering/call/coll_pipering.h '#include "ompi/mca/coll/mleader/coll_mleader.h"'
defect look_out coll/pipering/plan/coll_pipering_plan.h '#include "ompi/op/op.h"'
defect look_up coll/pipering/plan/coll_pipering_plan.h \
    '#include "ompi/mca/coll/pipering/mesh/coll_pipering_plan_mesh.h"'
defect look_out coll/pipering/decide/coll_pipering_choice.h '#include "coll_pipering_context.h"'
defect look_out coll/mleader/coll_mleader_plan.h '#include "opal/util/output.h"'
defect look_up coll/pipering/call/coll_pipering.h \
    '#include "ompi/mca/coll/pipering/alltoall/coll_pipering_alltoall.h"'
defect look_round coll/pipering/decide/coll_pipering_decide.h '&mca_coll_pipering_component;'
defect look_round coll/pipering/engine/coll_pipering_engine.h 'mca_coll_pipering.priority'
defect look_round coll/pipering/decide/coll_pipering_choice.h 'mca_coll_pipering_given.window'
defect look_aside common/colltools/common_colltools.h '/* coll_mleader */'
defect look_at_release common/colltools/common_colltools.h '#if 5 <= OMPI_MAJOR_VERSION'
defect look_at_release coll/pipering/call/coll_pipering.h '#if 0 == OMPI_MINOR_VERSION'
defect look_at_libm coll/pipering/plan/coll_pipering_plan.h 'x = ceil(log2(n));'
defect look_at_libm coll/pipering/decide/coll_pipering_choice.h 'x = powf(n, 2);'
defect look_aside coll/mleader/coll_mleader_plan.h '#include "ompi/mca/coll/pipering/plan/x.h"'

# A circle of three, by a function, a variable and an inline function.
printf 'int mca_a(void)\n{\n    return mca_b;\n}\n' >"$tree/common/colltools/a.c"
printf 'int mca_b = 1;\nint mca_d(void)\n{\n    return mca_c();\n}\n' >"$tree/common/colltools/b.c"
printf 'static inline int mca_c(void)\n{\n    return mca_a();\n}\n' >"$tree/common/colltools/c.h"
some "found: a circle" "$("$here/circles" "$work" ompi)"
rm "$tree/common/colltools/c.h"
none "(without one of its files there is none)" "$("$here/circles" "$work" ompi)"

echo "1..$count"

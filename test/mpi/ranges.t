#!/bin/bash
# Ranges of numeric variables as ompi_info --parsable tells them to programs, and as they are
# enforced: the ends are taken, what lies beyond them is not.
# shellcheck source-path=SCRIPTDIR source=lib.sh
# shellcheck disable=SC2016 # expressions of awk
. "$(dirname "$0")/lib.sh"

readonly OURS='(coll_(pipering|mleader)|opal_datatype_(lookahead|seek|units))'

# info [NAME=VALUE]...: what ompi_info says of this project's variables, with these values.
info() {
    env -i PATH="$PATH" HOME="$work" "${@/#/OMPI_MCA_}" timeout 150 \
        "$OMPI_PREFIX/bin/ompi_info" --all --level 9 --parsable 2>/dev/null |
        grep -E "^mca:\w+:\w+:param:$OURS"
}

# numbers: NAME LOW HIGH DEFAULT of each numeric variable; "-" for what its help does not tell.
numbers() {
    perl -ne '
        /^mca:\w+:\w+:param:(\w+):(\w+):(?:\d+:)?(.*)/ or next;
        $of{$1}{$2} = $3 =~ s/^"(.*)"$/$1/r;
        END {
            my $number = qr/\d+(?:\.\d+)?/;
            for (sort keys %of) {
                my %is = %{$of{$_}};
                next if $is{type} =~ /string|bool/ || exists $is{enumerator};
                my ($low, $high) = $is{help} =~
                    / \[($number)\.\.($number)(?: [a-z]+)?(?:; 0: [^][]+)?\]$/;
                print join(" ", $_, $low // "-", $high // "-", $is{value} + 0), "\n";
            }
        }' "$work/info"
}

info >"$work/info"
numbers >"$work/numbers"
yes_if "numeric variables are found" test 15 -le "$(wc -l <"$work/numbers")"
is "the help of each ends with its range" "$(grep -e ' - ' "$work/numbers")" ""

# set_to SET WANTED: names of the variables that, set to SET, do not have the value WANTED; both
# are expressions of awk on the fields of $work/numbers.
set_to() {
    local settings
    mapfile -t settings < <(awk "{ print \$1 \"=\" $1 }" "$work/numbers")
    info "${settings[@]}" |
        perl -ne '/:param:(\w+):value:(.*)/ and print "$1 ", $2 + 0, "\n"' >"$work/values"
    awk "{ print \$1, $2 }" "$work/numbers" | grep -v -x -F -f "$work/values"
}

is "the least value is taken" "$(set_to '$2' '$2')" ""
is "the largest value is taken" "$(set_to '$3' '$3')" ""
is "beyond the largest value, the default is" "$(set_to '$3 + 1' '$4')" ""
is "below the least value, the default is" "$(set_to '$2 - 1' '$4')" ""
finish

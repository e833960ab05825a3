#!/bin/bash
# The manual, README.pipering and docs/, against the tree: links, files, variables with their
# levels and defaults, targets of make, commands, verbose lines. The README of folders, which are
# plain text, against the tree too: files, variables, targets, commands. Each check is also tried
# on a copy of the manual that is broken on purpose, where it must find a fault.
# shellcheck source-path=SCRIPTDIR source=../mpi/lib.sh
# shellcheck disable=SC2016,SC2317 # backquotes of Markdown; checks are called by their names
. "$(dirname "$0")/../mpi/lib.sh"

readonly README_MOST=130 GLOSSARY_MOST=25

# Beginnings of the names of variables of this project.
readonly OURS='(?:coll_(?:pipering|mleader)|opal_datatype_(?:lookahead|seek|units))'

# ---- the manual ----

pages() {
    printf '%s\n' "$1/README.pipering" "$1"/docs/*.md
}

# The README of folders.
readmes() {
    printf '%s\n' "$1"/{contrib/tuning,opal/datatype-lookahead,test/bench}/README
}

# parts KIND PAGE: what a page has of a kind: blocks of commands, each followed by a line "--";
# code, which is lines of blocks and what stands between backquotes; fenced lines; prose.
parts() {
    perl -e '
        my ($kind, $page) = @ARGV;
        my ($fenced, $block, $blank) = (0, 0, 1);
        open(my $in, "<", $page) or die;
        while (my $line = <$in>) {
            if ($line =~ /^\s*```/) { $fenced = !$fenced; next }
            if ($fenced) { print $line if $kind eq "fenced"; next }
            my $was = $block;
            $block = $line =~ /^    / && ($block || $blank);
            $blank = $line =~ /^\s*$/;
            print "--\n" if $kind eq "blocks" && $was && !$block;
            if ($block) {
                $line =~ s/^    //;
                print $line if $kind eq "blocks" || $kind eq "code";
            } elsif ($kind eq "prose") {
                print $line;
            } elsif ($kind eq "code") {
                print "$1\n" while $line =~ /`([^`]+)`/g;
            }
        }
        print "--\n" if $kind eq "blocks" && $block' "$@"
}

# code DIR: of all pages.
code() {
    local page
    pages "$1" | while read -r page; do
        parts code "$page"
    done
}

# ---- what Open MPI says ----

info=$work/info
env -i PATH="$PATH" HOME="$work" "$OMPI_PREFIX/bin/ompi_info" --all --level 9 --parsable \
    >"$info" 2>/dev/null

# known KIND: names of all variables (param) or performance variables (pvar).
known() {
    sed -nE "s/^mca:[^:]*:[^:]*:$1:([A-Za-z0-9_]+):.*/\\1/p" "$info" | sort -u
}

# ours: level, name and default of each variable of this project; numbers without idle zeros.
ours() {
    perl -ne '
        my ($name, $what, $is) = /^mca:\w+:\w+:param:('"$OURS"'\w*):(value|level):(.*)/ or next;
        $of{$name}{$what} = $is =~ /^\d+\.\d+$/ ? $is + 0 : $is;
        END { print "$of{$_}{level} $_ $of{$_}{value}\n" for keys %of }' "$info" | sort
}

# ---- checks: each prints the faults of the manual in a directory, one a line ----

# anchors PAGE: of its headings.
anchors() {
    parts prose "$1" | sed -n 's/^##* //p' | tr '[:upper:]' '[:lower:]' |
        sed 's/[^a-z0-9 _-]//g; s/ /-/g'
}

links() {
    local page target file
    pages "$1" | while read -r page; do
        parts prose "$page" | grep -oE '\]\([^)]*\)' | sed 's/^](//; s/)$//' |
            while read -r target; do
                file=$page
                [[ $target != [!#]* ]] || file=${page%/*}/${target%%#*}
                if [[ ! -e $file ]]; then
                    echo "${page##*/}: $target leads nowhere"
                elif [[ $target == *#* ]] && ! anchors "$file" | grep -qxF -- "${target##*#}"; then
                    echo "${page##*/}: $target: ${file##*/} has no such heading"
                fi
            done
    done
}

# README leads to each page, each page says for whom it is, and README.md is README.pipering.
shape() {
    local page lines
    for page in "$1"/docs/*.md; do
        grep -qF "](docs/${page##*/}" "$1/README.pipering" ||
            echo "README does not link ${page##*/}"
        sed -n 3p "$page" | grep -q '^This page is for ' || echo "${page##*/}: for whom?"
    done
    cmp -s "$1/README.pipering" "$1/README.md" || echo "README.md is another text"
    lines=$(wc -l <"$1/README.pipering")
    [[ $lines -le $README_MOST ]] || echo "README has $lines lines, more than $README_MOST"
}

glossary() {
    local words
    words=$(sed -n '/^## Glossary/,/^## [^G]/p' "$1/docs/internals.md" | grep -c '^| [^|]*[a-z]')
    words=$((words - 1)) # its head
    [[ $words -ge 1 && $words -le $GLOSSARY_MOST ]] ||
        echo "the glossary has $words words: 1 to $GLOSSARY_MOST are wanted"
}

# Names of variables and performance variables, and what is set by --mca.
variables() {
    { pages "$1"; readmes "$1"; } | xargs cat | perl -ne '
        print "$1\n" while /(?<![\w\/])(?:OMPI_MCA_)?('"$OURS"'(?:_[a-z0-9_]+)?)(?![\w{*]|\.[ch]\b|\.\{)/g;
        print "$1\n" while /--mca ([a-z0-9_]+) /g' | sort -u |
        grep -vxF -f <(known param; known pvar) | sed 's/$/: there is no such variable/'
}

# Rows of the tables of tuning.md, below a heading that tells their level.
levels() {
    diff <(perl -ne '
        $level = $1 if /^## (?:Level (\d))?/;
        print "$level $1 $2\n" if $level && /^\| `(\w+)` \| (\S*) /' "$1/docs/tuning.md" | sort) \
        <(ours) | sed -n 's/^</tuning.md has:/p; s/^>/ompi_info has:/p'
}

targets() {
    local line word
    code "$1" | sed -nE 's/"[^"]*"//g; s/ #.*//; s/^make( |$)//p' | while read -r line; do
        for word in $line; do
            case $word in
            [A-Z]*=*) grep -qw -- "${word%%=*}" "$root/GNUmakefile" ||
                echo "make ... $word: GNUmakefile has no such variable" ;;
            *) grep -q -- "^$word:" "$root/GNUmakefile" ||
                echo "make $word: GNUmakefile has no such target" ;;
            esac
        done
    done
}

# Files of the tree; NAME is one that the reader writes.
files() {
    local name file
    code "$1" | perl -ne '
        print "$1\n" while m{(?<![\w./-])((?:\./)?autogen\.sh|(?:ompi|opal|test|config|docs|contrib)/[\w./{},*-]+)}g;
        print "ompi/mca/coll/pipering/", $1 // "*/", "$2\n"
            while m{(?<![\w/])((?:plan|engine|decide|call|alltoall)/)?(coll_pipering_[\w{},*]+\.[ch])}g' |
        grep -v NAME | sort -u |
        while read -r name; do
            for file in $(cd "$1" && eval "echo $name"); do
                [[ -e $1/$file ]] || echo "$name: there is no ${file#"$1"/}"
            done
        done
}

# Sections of benchmarks, as the benchmarks list them.
sections() {
    local script words word
    code "$1" | grep -oE 'test/bench/[a-z0-9/]+ [a-z0-9 ]+' | sort -u | while read -r script words; do
        for word in $words; do
            "$1/$script" --list 2>&1 | grep -qw -- "$word" ||
                echo "$script $word: there is no such section"
        done
    done
}

# Files that a README of a folder names, which are in that folder or, by their whole name, in the
# tree: sources and scripts, and what begins a row of a list and has a "/".
readme_files() {
    local readme dir name file
    readmes "$1" | while read -r readme; do
        dir=${readme%/README}
        perl -ne '
            print "$1\n" 
                while m~(?<![\w./*\]-])([\w./{},*\[\]-]*[\w*]\.(?:c|h|py|t|sh|awk|patch|\{h,c\}))(?![\w{])~g;
            print "$1\n" if m~^ +([\w.-]+/[\w./-]*)(?:  |$)~;' "$readme" | sort -u |
            while read -r name; do
                for file in $(cd "$dir" && eval "echo $name"); do
                    [[ $file != .../* ]] || file=${file##*/}
                    [[ -e $dir/$file || -e $1/$file ||
                        -n $(find "$dir/" -name "${file##*/}" -path "*/$file") ]] ||
                        echo "${readme#"$1"/}: there is no $file"
                done
            done
    done
}

# Targets of make, beside the verb of a sentence.
readme_targets() {
    local readme word
    readmes "$1" | while read -r readme; do
        grep -oE '\bmake [a-z][a-z-]*' "$readme" | sort -u | while read -r _ word; do
            [[ $word == the || $word == bench- ]] || grep -q -- "^$word:" "$root/GNUmakefile" ||
                echo "${readme#"$1"/}: make $word: GNUmakefile has no such target"
        done
    done
}

# commands DIR: lines of blocks, without comments.
commands() {
    local page
    pages "$1" | while read -r page; do
        parts blocks "$page" | grep -vE '^(--|#.*|)$' | sed 's/  *#.*//'
    done
}

readonly PROGRAMS='make|mpirun|salloc|ompi_info|cloc|apt-get|export|\./autogen\.sh|contrib/tuning/[a-z-]+|test/[a-z/]+|/opt/[a-z/-]*mpirun'

# Blocks are commands that bash can parse; drawings and output are fenced. Of the README of folders
# one has commands, the others indent lists.
blocks() {
    local page line block=''
    { pages "$1"; echo "$1/opal/datatype-lookahead/README"; } | while read -r page; do
        parts blocks "$page" | while IFS= read -r line; do
            if [[ $line != -- ]]; then
                block+=$line$'\n'
                continue
            fi
            bash -n <<<"$block" 2>"$work/parse" || echo "${page##*/}: $(head -n 1 "$work/parse")"
            block=
        done
    done
    commands "$1" | grep -vE "^([A-Z_]+=(\"[^\"]*\"|[^ ]*) )*($PROGRAMS)( |\$)" |
        sed 's/$/: not a command that the manual uses/'
}

# The files that make check-long runs.
long_files() {
    local asks_for_long
    . <(grep '^asks_for_long=' "$root/config/run-tests.sh")
    diff <(sed -nE 's/^\| `(test[^`]*\.t)` .*/\1/p' "$1/docs/hacking.md" | sort) \
        <(cd "$root" && grep -lE "$asks_for_long" test/*/*.t | sort) |
        sed -n 's/^</hacking.md has:/p; s/^>/check-long runs:/p'
}

# The cells of the annotated line are parts of it.
annotated() {
    local line part
    line=$(parts fenced "$1/docs/troubleshooting.md" | grep -m 1 'bytes copied; call')
    sed -n '/^## Reading the verbose line/,/^Other lines/p' "$1/docs/troubleshooting.md" |
        sed -nE 's/^\| `([^`]*)` .*/\1/p' | while IFS= read -r part; do
        [[ $line == *"$part"* ]] || echo "$part: the annotated line has no such part"
    done
}

# ---- the manual as it is, and broken ----

# broken LABEL CHECK FAULT FILE SED: in a copy of the manual that SED has changed the check must
# print that fault and no other.
broken() {
    local label=$1 check=$2 fault=$3 file=$4 copy=$work/copy
    rm -rf "$copy"
    mkdir "$copy"
    ln -s "$root"/* "$copy"
    rm -rf "$copy"/{README.*,docs} "$copy/${file%%/*}"
    cp -r "$root"/{README.pipering,docs} "$copy"
    ln -s README.pipering "$copy/README.md"
    [[ -e $copy/$file ]] || cp -r "$root/${file%%/*}" "$copy"
    sed -E -i "$5" "$copy/$file"
    if cmp -s "$root/$file" "$copy/$file"; then
        not_ok "$check: $label: $5 changes nothing in $file"
    else
        is "$check finds $label" "$("$check" "$copy" | sed "/${fault//\//\\/}/d; s/^/not meant: /")$(
            "$check" "$copy" | grep -c -m 1 -e "$fault")" 1
    fi
}

for check in links shape glossary variables levels targets files sections blocks annotated \
    long_files readme_files readme_targets; do
    is "$check" "$("$check" "$root")" ""
done

broken "a link to no page" links 'tuned.md leads nowhere' \
    README.pipering 's,\(docs/tuning\.md\),(docs/tuned.md),'
broken "a link to no heading" links 'troubleshooting.md has no such heading' \
    README.pipering 's,#ranks-that-differ,#ranks-that-agree,'
broken "a link to no heading of the same page" links 'tuning.md has no such heading' \
    docs/tuning.md 's,\(#the-machine,(#the-machines,'
broken "a page that nobody finds" shape 'does not link hacking.md' \
    README.pipering 's,docs/hacking\.md,docs/,g'
broken "a page for nobody" shape 'results.md: for whom' docs/results.md '3s/for/about/'
broken "a README that is too long" shape 'README has [0-9]* lines' \
    README.pipering "\$s/\$/$(printf '\\n%.0s' {1..99})/"
broken "another README.md" shape 'README.md is another' README.md '1s/$/ and more/'
broken "a long glossary" glossary 'the glossary has 2[67] words' docs/internals.md \
    's/^\| (lane|link) .*/&\n&/'
broken "no glossary" glossary 'the glossary has -1 words' docs/internals.md '/^## Glossary/,$d'
broken "an unknown variable" variables 'coll_pipering_verbosity: ' \
    README.pipering 's/(coll_pipering_verbos)e/\1ity/'
broken "an unknown setting of Open MPI" variables 'mpi_yield: ' \
    docs/troubleshooting.md 's/mpi_yield_when_idle/mpi_yield/'
broken "a wrong default" levels 'coll_pipering_.*52428[89]$' docs/tuning.md \
    '/ring_buffer_size/s/\| 524288 \|/| 524289 |/'
broken "a variable that is not there" levels 'coll_mleader_segment_size' \
    docs/tuning.md '/^\| `coll_mleader_segment_size`/d'
broken "a wrong level" levels '_priority ' docs/tuning.md 's/^## Level 2/## Level 5/'
broken "an unknown target" targets 'make demonstration: ' README.pipering \
    's/make demo /make demonstration /'
broken "an unknown variable of make" targets 'HOURS=' docs/hacking.md 's/MINUTES=/HOURS=/'
broken "a script that is not there" files 'no test/bench/walk' docs/results.md \
    's,test/bench/run ,test/bench/walk ,'
broken "a source that is not there" files 'no .*plan_squares.c' docs/internals.md \
    's/\{rounds,/{squares,/'
broken "a section that is not there" sections 'run 9nodes: ' docs/results.md \
    's/run 8nodes/run 9nodes/'
broken "a block that does not parse" blocks 'README.pipering: bash: line' README.pipering \
    's/^    make clean .*|^    make demo .*/    make demo "/'
broken "a drawing where commands stand" blocks 'not a command\|internals.md: bash: line' \
    docs/internals.md 's/^```text$//'
broken "a long test that nobody finds" long_files 'check-long runs: test/mpi/large.t' \
    docs/hacking.md '/^\| `test.mpi.large/d'
broken "an annotation of nothing" annotated 'xB 1: ' docs/troubleshooting.md 's/`B [0-9]+`/`xB 1`/'

broken "an unknown variable of a README" variables 'opal_datatype_seek_places: ' \
    opal/datatype-lookahead/README 's/opal_datatype_seek_checkpoints/opal_datatype_seek_places/'
broken "a source that is not there" readme_files 'no opal_convertor_lost.c' \
    opal/datatype-lookahead/README 's/opal_convertor_context\.c/opal_convertor_lost.c/'
broken "a module that is not there" readme_files 'no lunch.py' contrib/tuning/README \
    's/launch\.py/lunch.py/'
broken "a door that is not there" readme_files 'no traff/trough' test/bench/README \
    's,traff/traff,traff/trough,'
broken "a target that is not there" readme_targets 'make stack' test/bench/README \
    's/make stock/make stack/'
broken "a block of a README that does not parse" blocks '^README: bash: line' \
    opal/datatype-lookahead/README 's/^    make series$/    make "series/'

# ---- commands that are cheap ----

bin=$bin/docs
mkdir -p "$bin"
compile "$bin/program" "$root/test/docs/calls.c" >"$work/cc" 2>&1 || {
    sed 's/^/# /' "$work/cc"
    echo "Bail out! calls.c does not compile"
    exit 1
}

# A place like the tree, with a program, where the programs of Open MPI are those under test;
# jobs have a time limit.
here=$work/here
mkdir -p "$here/bin"
ln -s "$root"/* "$bin/program" "$here"
ln -s "$OMPI_PREFIX/bin/ompi_info" "$here/bin"
cat >"$here/bin/mpirun" <<'MPIRUN'
#!/bin/bash
ranks=2
words=()
while [[ $# -gt 0 ]]; do
    case "$1 ${2-}" in
    "-n "*) ranks=$2; shift ;;
    "pml ucx") export TESTBED_PML=ucx; words+=("$1") ;;
    "mtl ofi") export TESTBED_PML=ofi; words+=("$1") ;;
    *) words+=("$1") ;;
    esac
    shift
done
exec test/testbed/testbed local -n "$ranks" --timeout 150 -- "${words[@]}"
MPIRUN
chmod +x "$here/bin/mpirun"

# run COMMAND: in that place, its output in $work/out; it must succeed and say something.
run() {
    (cd "$here" && PATH=$here/bin:$PATH timeout 300 bash -c "${1/% .../ ./program}") \
        >"$work/out" 2>&1 </dev/null || return 1
    case $1 in
    *...* | *./program*) said '^right$' ;;
    *) [[ -s $work/out ]] ;;
    esac
}

no_nodes="no nodes can be made here"

# why_not_here COMMAND: sets why_not if this machine or this Open MPI cannot run it.
why_not_here() {
    why_not=
    case $1 in
    *"pml ucx"*) (over ucx) || why_not="this Open MPI was built without ucx" ;;
    *"mtl ofi"*) (over ofi) || why_not="this Open MPI was built without ofi" ;;
    *"testbed slurm"*) can_slurm || why_not="Slurm cannot be run here" ;;
    *"testbed with"*) can_nodes || why_not=$no_nodes ;;
    esac
}

# runs COMMAND: a test.
runs() {
    why_not_here "$1"
    if [[ -n $why_not ]]; then
        skip "$1" "$why_not"
    elif run "$1"; then
        ok "$1"
    else
        not_ok "$1"
        tail -n 5 "$work/out" | sed 's/^/# /'
    fi
}

commands "$root" | grep -E '^(mpirun|ompi_info|test/testbed/testbed) |^make help$| --(help|list)$' |
    grep -v -e --hostfile -e tuning | sort -u >"$work/cheap"
yes_if "there are cheap commands" test 15 -le "$(wc -l <"$work/cheap")"
while IFS= read -r command; do
    runs "$command"
done <"$work/cheap"
yes_if "a command that fails is seen" eval '! run "mpirun ./program.none"'
yes_if "a script that refuses is seen" eval '! run "test/bench/run --lists"'

# The line that switches the components off for a site.
export OMPI_MCA_coll_pipering_verbose=1 OMPI_MCA_coll_mleader_verbose=1
sed -nE 's/.*`(coll = [^`]*)`.*/\1/p' "$root/README.pipering" >"$work/site.conf"
is "README has a line for sites" "$(wc -l <"$work/site.conf")" 1
run "mpirun ..."
yes_if "without it the components speak" said 'coll/pipering: '
OMPI_MCA_mca_base_param_files=$work/site.conf runs "mpirun  ..."
is "with it they do not" "$(lines 'coll/(pipering|mleader): ')" 0

# ---- verbose lines ----

# forms: of verbose lines: without host, numbers, and what differs between one node and several.
forms() {
    sed -nE 's/^\[[^]]*\] (coll\/.*)/\1/p' | sed -E 's/[0-9]+(\.[0-9]+)?/N/g; s/ in lanes//' |
        sort -u
}

run "mpirun -n 4 --mca coll_pipering_allgatherv_algorithm ring --mca coll_mleader_groups 2 \
    --mca coll_mleader_allgather_algorithm leaders ./program"
forms <"$work/out" >"$work/printed"
if can_nodes; then
    for machine in '' ' --no-machine'; do
        run "test/testbed/testbed with --nodes 2 --rate 100mbit -- test/testbed/testbed mpirun \
            --ppn 4$machine --timeout 300 -- ./program"
        forms <"$work/out" >>"$work/printed"
    done
fi

parts fenced "$root/docs/troubleshooting.md" | forms >"$work/shown"
yes_if "verbose lines are shown" test 5 -le "$(wc -l <"$work/shown")"
while IFS= read -r form; do
    if grep -qxF -- "$form" "$work/printed"; then
        ok "a job prints: ${form:0:60} ..."
    elif ! can_nodes; then
        skip "a job prints: ${form:0:60} ..." "$no_nodes"
    else
        not_ok "a job prints: $form"
    fi
done <"$work/shown"
is "a line of another form is seen" \
    "$(sed 's/ window / windows /' "$work/shown" | grep -c -vxF -f "$work/printed")" 1
finish

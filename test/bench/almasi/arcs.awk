# How the bytes of a call lie on the arcs of a mesh, from the lines of testbed links.
#   awk -v name=TEXT [-v goal=ARCS] -f common.awk -f arcs.awk FILE

BEGIN { FS = " " }

# An arc is in use if it carries more than acknowledgements and the start of the job do.
{
    bytes[NR] = $3
    sum += $3
    most = $3 > most ? $3 : most
}

END {
    for (i = 1; i <= NR; i++) {
        used += bytes[i] > most / 4
        least = i == 1 || bytes[i] < least ? bytes[i] : least
    }
    printf "%-24s %3d arcs: least %.2f MB, mean %.2f, most %.2f; %d carry a quarter of that\n",
        name, NR, least / 1e6, sum / NR / 1e6, most / 1e6, used
    if (goal != "")
        at_least(name ": arcs in use", used, goal)
}

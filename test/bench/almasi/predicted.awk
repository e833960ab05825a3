# Rows of almasi-predicted.tsv from what pipering-predict says of algorithms along a mesh.
#   awk -v mesh=EXTENTS -v coll=NAME -v bytes=N -f predicted.awk

BEGIN {
    OFS = "\t"
}

# The mesh takes so many bytes of a rank; plans have theirs besides.
$1 == "mesh:" {
    held = $(NF - 4)
}

/^[* ] (mesh_|permuted)/ {
    chosen = substr($0, 1, 1) == "*" ? "yes" : "no"
    $0 = substr($0, 3)
    print mesh, coll, bytes, $1, chosen, $4 / 1000, $6, held + $7, $3
}

# Rows of almasi-predicted.tsv from what pipering-predict says of algorithms along a mesh: followed
# message by message (predicted), or where these are too many by the closed form (modelled). Exchanges
# and barriers have a closed form alone, which says nothing of links.
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
}

NF == 4 && /^(mesh_|permuted)/ {
    print mesh, coll, bytes, $1, chosen, $4 / 1000, "-", held, $2, "modelled"
}

NF == 8 && /^mesh_/ {
    followed = $5 != "-"
    print mesh, coll, bytes, $1, chosen, (followed ? $5 : $4) / 1000, $7, held + $8, $3,
        followed ? "predicted" : "modelled"
}

# Of an all-to-all on a mesh, by its routes: messages over the busiest arc when each node has one
# for each other, and the nodes.
#   awk -v mesh=4tx4t -f mesh.awk -f bound.awk

BEGIN { print busiest_arc(), NODES }

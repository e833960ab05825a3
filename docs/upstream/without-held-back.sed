# Without exchanges of all with all and meshes, which are held back.
# Gone: alltoall mesh plan/coll_pipering_plan_permuted.c plan/coll_pipering_plan_permuted.h
/#include ".*\/pipering\/\(alltoall\|mesh\)\//d

# exchanges
/FORMS_OF(EACH, \(neighbor_\)\{0,1\}alltoall/d
/MCA_COLL_PIPERING_OPTIONAL, /d
s/complete &= MCA_COLL_PIPERING_OPTIONAL == when/complete = false/
/int \*permutation; .*exchanges/d
/module->permutation/d
/mca_coll_pipering_exchange_params_register(/d
s/\(TEXT_NO_DATA, MCA_COLL_PIPERING_TEXT_FIXED_POINT\),$/\1};/
/^ *MCA_COLL_PIPERING_TEXT_LINES,$/d
/mca_coll_pipering_exchange_algorithm_text(/d
/MCA_COLL_PIPERING_EXCHANGE_IN_PLACE}/d
/define MCA_COLL_PIPERING_TEXT_LINES/d
s/; lines of a mesh serve barriers, too//
/^ \*     alltoall /d

# the barrier along a mesh
/FORMS_OF(EACH, barrier,/d
/int barrier; /d
/^static const .* barriers\[\]$/,/^$/d
/\.name = "barrier_algorithm"/,/},$/d
s/^\( *MCA_COLL_PIPERING_ALWAYS\), *$/\1/
/MCA_COLL_PIPERING_ON_MESH   /d
/^ *if (mesh || MCA_COLL_PIPERING_ON_MESH != when)/d
/^ *module->super.super.coll_##function = /{
s/^    //
N
s/; *\\\n.*/;/
}
s/^\(#define OFFER(function, when)\) *\\/\1 \\/

# the mesh of a communicator
/^ \*     mesh /d
/^struct mca_coll_pipering_ways_t;$/d
/ways_t \*ways; /d
/\.name = "mesh"/,/},$/d
s/^\(static char \*backing_directory\), \*mesh/\1/
/^ *mesh = "";$/d
/const char \*mesh; /d
/process\.mesh = mesh;/d
/mca_coll_pipering_mesh_declared(/d
/mca_coll_pipering_mesh_forget(/d

# what ranks have in common
/^\/\*$/{
N
/describes the mesh/{
:mesh
N
/\n}$/!b mesh
N
d
}
}
/own->mesh = read_mesh(process->mesh);/d
s/bool machine, mesh, below, leaf;/bool machine, below, leaf;/
/found->mesh |= /d
/^    if (found\.mesh) {/,/^    }$/d
/mca_coll_pipering_ways_free(/d
s/ || NULL != setup->ways)/)/

# schedules
/^ \*     mesh_lines /d
/^ *if (MCA_COLL_PIPERING_MESH_LINES == plan->row->algorithm) {/,/}/d

# plans
/^\/\* False: no memory for the cycles of its mesh/,/^$/d
s/is_wound(setup) ? \(.*\) : NULL/\1/
/^    if (!is_wound(setup)) {/,/^    }/d
/^ *const mca_coll_pipering_ways_t \*ways, /s//                         /
s/, ways, &pipes/, \&pipes/
s/at->ranks, at->ways, key/at->ranks, key/
/if (row->along_mesh && NULL != ways) {/,/}/d
s/int its_pipes = row->pipes, its_links = row->links;/const int its_pipes = row->pipes, its_links = row->links;/
/bool along_mesh; /d
s/^\/\* All rows, those along a mesh last\. \*\//\/* All rows. *\//
/^static const .* \*row_behind(/,/^}/{
/mesh = mca_coll_pipering_mesh_rows;/,/^$/d
/if (rows + ROWS - 1 == row) {/,/}/d
s/mesh + MCA_COLL_PIPERING_MESH_ROWS - 1 == row/rows + ROWS - 1 == row/
}
s/(!row->along_mesh || NULL != draft->at\.ways) && (\(NULL == row->can || row->can(draft)\))/\1/

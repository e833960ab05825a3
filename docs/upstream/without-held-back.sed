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
s/MCA_COLL_PIPERING_TEXT_FIXED_POINT, MCA_COLL_PIPERING_TEXT_LINES,/MCA_COLL_PIPERING_TEXT_FIXED_POINT};/
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
/^const mca_coll_pipering_ways_t/d

# what ranks have in common
s/ and the same mesh$//
s/both_t arch, variables, mesh,/both_t arch, variables,/
/widen(&mine->mesh,/d
/mca_coll_pipering_ways_\(hash\|find\|free\)(/d
/^\/\* A mesh that some ranks see/,/^$/d
/are_equal(join\.mesh)/,/}/d

# tags and schedules
/^ \* Tags that any plan of a call may have/,/^ \*\/$/c\
 * Tags that any plan of a call may have: of a reduce-scatter and a ring. No more, since tags are few\
 * with some transports.\
 */
/^static int most_tags(/,/^}/{
/_collective_row_t \*row$/d
/= mca_coll_pipering_collective_row(/d
/const int ring = /d
/^$/d
/return mca_coll_pipering_mesh_common(/d
s/ *: 1 + ring;/    return 1 + mca_coll_pipering_most_tags(ompi_comm_size(request->super.comm));/
}
/^ \*     mesh_lines /d
s/\(ROUNDS\] = make_rounds\),$/\1};/
/MCA_COLL_PIPERING_MESH_LINES\] = /d

# plans
s/= wound ? \(malloc(.*)\) : NULL/= \1/
/const bool wound = /d
s/\.machine = machine_of(context, key),/.machine = machine_of(context, key)};/
/\.ways = \(known->ways\|facts->ways\)/d
/^ *const mca_coll_pipering_ways_t \*ways, /s//                         /
s/, ways, &pipes/, \&pipes/
s/facts->ranks, facts->ways, key/facts->ranks, key/
/if (row->along_mesh && NULL != ways) {/,/}/d
s/int its_pipes = row->pipes, its_links = row->links;/const int its_pipes = row->pipes, its_links = row->links;/
/bool along_mesh; /d
s/MCA_COLL_PIPERING_MESH_STREAMS/1/
s/^\/\* All rows, those along a mesh last\. \*\//\/* All rows. *\//
/^static const .* \*row_behind(/,/^}/{
/mesh = mca_coll_pipering_mesh_rows;/,/^$/d
/if (rows + ROWS - 1 == row) {/,/}/d
s/mesh + MCA_COLL_PIPERING_MESH_ROWS - 1 == row/rows + ROWS - 1 == row/
}
s/(!row->along_mesh || NULL != draft->ways) && (\(NULL == row->can || row->can(draft)\))/\1/

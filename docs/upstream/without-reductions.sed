# Without reductions and MPI_Bcast.
# Gone: fixed_point decide/coll_pipering_decide_chain.c call/coll_pipering_bcast.c
# Gone: call/coll_pipering_reduction.c call/coll_pipering_reductions.c
# Gone: call/coll_pipering_request_reduce.c engine/coll_pipering_reduce_rounds.c
# Gone: plan/coll_pipering_plan_chain.c
# Gone: plan/coll_pipering_plan_chain.h plan/coll_pipering_plan_stages.c
# Gone: decide/coll_pipering_decide_scan.c engine/coll_pipering_scan_rounds.c
# Gone: plan/coll_pipering_plan_scan.c
# Gone: plan/coll_pipering_plan_scan.h
/#include ".*\/pipering\/fixed_point\//d
/#include "coll_pipering_plan_chain\.h"/d

# calls
/^ *MCA_COLL_PIPERING_FORMS_OF(EACH, \(bcast\|reduce\|scan\|exscan\|allreduce\|reduce_scatter\), /d
/^ *MCA_COLL_PIPERING_FORMS_OF(EACH, reduce_scatter_block,/,/)/d
s/if (i == (int) mca_coll_pipering_variable_of((mca_coll_pipering_collective_t) i)) {/if (NULL != mca_coll_pipering_next_row((mca_coll_pipering_collective_t) i, NULL)) {/
s/NULL == request->call\.op ? begin_copies(request)$/begin_copies(request);/
/^ *: mca_coll_pipering_request_reduce(request);/d
/^\/\*\* Makes the pipelines, or the schedule, of a reduction/,/;$/d
/^\/\* ---- values of reductions and scans /,/^END_C_DECLS$/{
/^END_C_DECLS$/!d
}
/^ *if (mca_coll_pipering_scans(call->collective)) {/,/^    }/d
s/return NULL == call->op ? mca_coll_pipering_gather_rounds_new(&args, made)$/return mca_coll_pipering_gather_rounds_new(\&args, made);/
/^ *: mca_coll_pipering_reduce_rounds_new(&args, made);/d
s/const int rc = combines(leaders)$/const int rc = mca_coll_pipering_gather_rounds_new(\&leaders->across, inner);/
/^ *[?:] mca_coll_pipering_\(reduce\|gather\)_rounds_new(&leaders->across, inner)/d

# sums in fixed point
/^ \*     fixed_point /d
/addends_t \*addends;/d
/module->addends/d
/bool fixed_point_sum; /d
/{\.name = "fixed_point_sum"/,/},$/d
/{"fixed_point_sums"/,/},$/d
/^\/\*\* Whether sums of a collective are made in fixed point/,/^$/d
/|| 0 < mca_coll_pipering\.process\.verbose$/{
N
s/\n *|| mca_coll_pipering_is_fixed(collective)//
}
s/plans, fixed_point_sums;/plans;/
s/TEXT_NO_DATA, MCA_COLL_PIPERING_TEXT_FIXED_POINT}/TEXT_NO_DATA}/
/define MCA_COLL_PIPERING_TEXT_FIXED_POINT/d

# rows
/^ *{\.collective = MCA_COLL_PIPERING_\(BCAST\|REDUCE\|SCAN\|EXSCAN\|ALLREDUCE\|REDUCE_SCATTER\|REDUCE_SCATTER_BLOCK\),/,/},$/d
/^#define \(BACKWARDS ROUNDS,\|SCAN_ROUNDS \|PIPELINE \)/,/^$/d
/^\/\* Of a reduce-scatter\. \*\/$/,/^$/d

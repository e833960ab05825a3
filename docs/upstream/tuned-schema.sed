# coll/tuned: names of collectives in the schema and the converter of rule files
#
# The schema of rule files in JSON and the converter from older files call
# two collectives "reducescatter" and "reducescatterblock". The component
# knows them as "reduce_scatter" and "reduce_scatter_block" alone
# (mca_coll_base_colltype_to_str()), so it does not accept what the converter
# writes, and a file that it accepts is not valid by the schema. The schema
# also lacks "allgatherv".
#
#     mpirun -n 2 --mca coll_tuned_verbose 30 --mca coll_tuned_use_dynamic_rules 1
#         --mca coll_tuned_dynamic_rules_filename rules.json ./program
#
# With 6.0.0rc2 a file with rules for "reducescatter" is "valid json, but there
# were errors reading the rules from the file"; one with "reduce_scatter" is
# taken. (Without verbose output the former is ignored in silence.)
#
# File: docs/tuning-apps/tuned_dynamic_file_schema.json
# File: contrib/coll_tuned_rulefile_converter.py
s/reducescatterblock/reduce_scatter_block/g
s/reducescatter/reduce_scatter/g
s/\^(allgather|allreduce/^(allgather|allgatherv|allreduce/
s/^\( *\)"allgather",/&\n\1"allgatherv",/

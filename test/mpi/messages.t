#!/bin/bash
# Messages of data in blocks, small and large, with opal/datatype-lookahead: sent as they
# lie in memory or packed, and received in order or by two ways that overtake each other.
#
#   N=20       rows of messages in each job
#   SEED=1     of all that is random; "time" for another one each time
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

build messages
seed=${SEED:-1}
[[ $seed != time ]] || seed=$(date +%s)
echo "# SEED=$seed"
tcp=(-x SEED="$seed" -x N="${N:-20}" --mca btl tcp,self)
small=(--mca btl_tcp_eager_limit 4096 --mca btl_tcp_max_send_size 16384)

for mode in off research dual; do
    on_one "$mode" 2 60 "${tcp[@]}" --mca opal_datatype_lookahead "$mode" "$bin/messages"
done
on_one 'all as it lies' 2 60 "${tcp[@]}" --mca opal_datatype_lookahead_min_segment 0 \
    "$bin/messages"
on_one 'all as it lies, small fragments' 2 60 "${tcp[@]}" "${small[@]}" \
    --mca opal_datatype_lookahead_min_segment 0 "$bin/messages"
on_one 'one segment ahead' 2 60 "${tcp[@]}" "${small[@]}" \
    --mca opal_datatype_lookahead_segments 1 "$bin/messages"

# Fragments of a message by shared memory and by TCP.
two=(-x SEED="$seed" -x N="${N:-20}" --mca btl sm,tcp,self --mca btl_tcp_exclusivity 65536
    --mca btl_tcp_bandwidth 20000 --mca btl_tcp_max_send_size 16384
    --mca pml_ob1_send_pipeline_depth 16)
on_one 'two ways' 2 60 "${two[@]}" "$bin/messages"
on_one 'two ways, checkpoints only' 2 60 "${two[@]}" --mca opal_datatype_seek_index_stride 0 \
    "$bin/messages"
on_one 'two ways, index only' 2 60 "${two[@]}" --mca opal_datatype_seek_checkpoints 0 \
    "$bin/messages"
on_one 'two ways, no lists of units' 2 60 "${two[@]}" --mca opal_datatype_units_per_entry 0 \
    "$bin/messages"
on_one 'two ways, long lists of units' 2 60 "${two[@]}" --mca opal_datatype_units_per_entry 64 \
    "$bin/messages"
on_one 'two ways, off' 2 60 "${two[@]}" --mca opal_datatype_lookahead off "$bin/messages"

# Values out of range are said to be so, and the default works.
on_one 'bad values' 2 60 -x N=1 --mca opal_datatype_lookahead_segments 16 \
    --mca opal_datatype_seek_checkpoints -1 --mca opal_datatype_units_per_entry 65 "$bin/messages"
yes_if 'segments out of range' said \
    'opal_datatype_lookahead_segments = 16 is out of range \(1 to 15\); 15 is used instead'
yes_if 'checkpoints out of range' said \
    'opal_datatype_seek_checkpoints = -1 is out of range \(0 to 64\); 8 is used instead'
yes_if 'units out of range' said \
    'opal_datatype_units_per_entry = 65 is out of range \(0 to 64\); 16 is used instead'
on_one 'no such mode' 2 60 -x N=1 --mca opal_datatype_lookahead dense "$bin/messages"
yes_if 'which modes there are' said 'Valid values *: .*off.*research.*dual'
finish

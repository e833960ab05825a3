#!/bin/bash
# Ranks reach communicators in different orders; with and without a description of the machine.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

build orders -pthread

on_nodes "orders, by a file" 1,1,1,1,1 block 60 "$bin/orders"
on_nodes "orders, without a file" 1,1,1,1,1 block 60 --mca coll_pipering_machine "" "$bin/orders"
on_nodes "orders, without a file" 2,2,2 cyclic 60 --mca coll_pipering_machine "" "$bin/orders"
finish

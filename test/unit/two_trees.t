#!/bin/sh
exec "$(dirname "$0")/run-topic.sh" two_trees

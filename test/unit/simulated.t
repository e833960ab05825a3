#!/bin/sh
exec "$(dirname "$0")/run-topic.sh" simulated

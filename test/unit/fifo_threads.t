#!/bin/sh
exec "$(dirname "$0")/run-threads.sh" fifo_threads

#!/bin/sh
exec "$(dirname "$0")/run-threads.sh" turns_threads

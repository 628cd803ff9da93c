#!/bin/sh
# sampled.sh HOW PROGRAM: runs it while it is sampled.
set -eu
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT
here=$(cd "$(dirname "$0")" && pwd)
case $1 in
perf) "$PERF" record -q -e cpu-clock -F 1000 -g -o "$data/perf.data" "$2" ;;
pointers | dwarf)
    "$here/../../../testlog" record -o "$data" --sample --sample-stacks="$1" -- "$2"
    ;;
timers)
    "$here/no_perf" "$here/../../../testlog" record -o "$data" --sample -- "$2"
    ;;
esac 2>/dev/null

#!/bin/sh
# uftrace.sh PROGRAM: runs it under uftrace.
set -eu
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT
uftrace record --no-libcall --no-pager -d "$data/trace" "$1"

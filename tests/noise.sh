#!/usr/bin/env bash
# noise.sh BUILD: counts what `testlog diff --fail-over` finds and misses while
# busy loops keep the processors.
#
# BUSY is how many loops run, PAIRS how many pairs of equal runs are compared, SIZES
# how long calls take. Not a test: its figures depend on the machine.
set -u
cd "$(dirname "$0")/.." || exit
build=$PWD/${1:?a folder of build/}
work=$(mktemp -d)
cd "$work" || exit
cp "$build/testlog" "$build/tests/programs/traced/noise_test" .
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$work"' EXIT
export TRACE_DIR=runs TESTLOG_KEEP=1000
for ((i = 0; i < ${BUSY:-5}; i++)); do
    while :; do :; done &
done

# measure SLOW FILTER [FLAG...]: runs tests; their run is runs/latest.
measure() {
    SLOW=$1 ./noise_test --filter "$2" "${@:3}" >log 2>&1 || cat log
}

# alarms KIND NEW...: how many tests or spans a comparison calls slower.
alarms() {
    ./testlog diff "${@:2}" --by="${BY:-time}" --json >diff.json
    /usr/bin/python3 -c '
import json, sys
print(sum(one["verdict"] == "slower" for one in json.load(open("diff.json"))[sys.argv[1]]
          if "verdict" in one))' "$1"
}

# count TITLE PAIRS SLOW FILTER KIND [FLAG...]: compares pairs of runs.
count() {
    local title=$1 pairs=$2 slow=$3 filter=$4 kind=$5 all=0 found=0 one i
    for ((i = 0; i < pairs; i++)); do
        measure 1 "$filter" "${@:6}"
        measure "$slow" "$filter" "${@:6}"
        one=$(alarms "$kind" latest~1 latest)
        all=$((all + one)) found=$((found + (one > 0)))
    done
    echo "$title: in $found of $pairs pairs, $all in all"
}

for size in ${SIZES-1000 20000}; do
    export SIZE=$size
    echo "calls of $size steps and more:"
    count "  1.5 times as long, found" 20 1.5 single/span spans
    count "  1.5 times as long, one of 200 spans, found" 20 1.5 noise/spans spans
    count "  equal, 200 spans, alarms" "${PAIRS:-40}" 1 noise/spans spans
done
if [ -n "${TIMES-1}" ]; then
count "equal, 20 tests, with a history, alarms" "${PAIRS:-40}" 1 'tests/*' tests
count "equal, 20 tests, --repeat=5, alarms" "${PAIRS:-40}" 1 'tests/*' tests --repeat=5
count "1.5 times as long, 20 tests, --repeat=5, found" 5 1.5 'tests/*' tests \
    --repeat=5
fi
if command -v valgrind >/dev/null; then
    export BY=instructions SIZE=1000
    count "1 % more instructions, --callgrind, found" 20 1.01 single/span spans \
        --callgrind
    count "equal instructions, --callgrind, alarms" "${PAIRS:-100}" 1 single/span \
        spans --callgrind
fi

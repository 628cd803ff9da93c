#!/usr/bin/env bash
# fuzz.sh FOLDER: builds the fuzz targets with clang and runs all of them side
# by side, each for FUZZ_SECONDS. New inputs go to FOLDER/corpus, failing inputs
# to FOLDER. The last line counts the targets.
set -u
folder=$1
clang=${FUZZ_CC:-clang}
targets='filter reader format activity zones'
rooms='trace log harness/machine harness/run runners/stat
    runners/export'
libs= pages=
if pkg-config --exists libzstd libcjson; then
    targets="$targets pack"
    rooms="$rooms runners/runs"
    libs=$(pkg-config --libs libzstd)
fi
if [ "$libs" ] && pkg-config --exists libmicrohttpd; then
    targets="$targets request report"
    rooms="trace log harness runners/runs runners/run runners/stat runners/export \
        runners/commands runners/view runners/programs"
    libs="$libs $(pkg-config --libs libcjson)"
    pages=build/base/harness/run/page
fi
mkdir -p "$folder"

if ! echo 'int LLVMFuzzerTestOneInput(const char *d, long n) { return 0; }' |
    "$clang" -fsanitize=fuzzer -xc -o "$folder/probe" - 2>/dev/null; then
    echo "testlog: [SKIP] fuzzing: $clang has no libFuzzer (Debian: clang)"
    echo "0 passed, 0 failed, $(echo $targets | wc -w) skipped"
    exit 0
fi

flags="-g -O1 -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE -DTRACE_BUILD \
    -I. -I${INCLUDE:-build/base/include} $(pkg-config --cflags criterion libcjson)"

# compile FILE: its object in $folder/objects, of which each target takes what it
# needs.
compile() {
    "$clang" $flags -c "$1" -o "$folder/objects/${1//\//_}.o"
}

build() {
    local more=
    [ "$1" != activity ] || more=$(find trace/devices -name '*.c' ! -name audit.c)
    "$clang" $flags "tests/fuzz/fuzz_$1.c" $more "$folder/objects.a" \
        ${PCRE2_LIBS:--lpcre2-8} $libs -lpthread -o "$folder/fuzz_$1"
}

# A recording with a second chunk is longer than other inputs.
fuzz() {
    local longest=4096
    [ "$1" != reader ] || longest=69632
    mkdir -p "$folder/corpus/$1"
    "$folder/fuzz_$1" -max_total_time="${FUZZ_SECONDS:-600}" -verbosity=0 \
        -timeout=25 -rss_limit_mb=2048 -max_len=$longest -print_final_stats=1 \
        -artifact_prefix="$folder/$1-" "$folder/corpus/$1" \
        $([ ! -d "tests/fuzz/corpus/$1" ] || echo "tests/fuzz/corpus/$1") \
        >"$folder/$1.log" 2>&1
}

rm -rf "$folder/objects" "$folder/objects.a"
mkdir -p "$folder/objects"
export -f compile build
export folder clang flags libs
find $rooms $pages -name '*.c' ! -name no_view.c ! -path 'trace/devices/*' |
    xargs -P "$(nproc)" -I{} bash -c 'compile {}' || exit 1
ar rcs "$folder/objects.a" "$folder"/objects/*.o
printf '%s\n' $targets |
    xargs -P "$(nproc)" -I{} bash -c 'build {}' || exit 1

failed=0 passed=0 jobs=()
for target in $targets; do
    fuzz "$target" &
    jobs+=($!)
done
for target in $targets; do
    if wait "${jobs[0]}"; then
        passed=$((passed + 1))
        runs=$(sed -n 's/^stat::number_of_executed_units: *//p' \
            "$folder/$target.log")
        echo "testlog: fuzz_$target: nothing found in $runs runs"
    else
        failed=$((failed + 1))
        echo "testlog: fuzz_$target: fails with the inputs $folder/$target-*:" >&2
        tail -n 60 "$folder/$target.log" >&2
    fi
    jobs=("${jobs[@]:1}")
done
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]

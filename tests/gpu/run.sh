#!/usr/bin/env bash
# run.sh [--out DIR] [--debs DIR] [--dry-run] [--limit SECONDS] [--launches N]
# [--repetitions N] [--built DIR]: tests everything that needs a GPU, in one command.
# run.sh --download DIR: downloads the packages for --debs, on another machine.
#
# It needs gcc, python3, a CUDA toolkit and a driver, but no network, and installs
# nothing: make, Criterion and other libraries are unpacked from the .deb files in
# the folder that --debs names. If a step fails or hangs, the others still run.
#
# It writes four files to DIR: RESULTS.md, the summary; results.jsonl, every number;
# env.txt; and results.tar.gz, the output of each step, fixtures and a trace. With
# --dry-run, one library replaces CUPTI by playback and another replaces the GPU;
# that only shows that the script works. --built names a folder of build/ in which
# everything is already built.
#
# Ends with "N passed, N failed, N skipped"; exits with 1 if any failed.
set -u
export LC_ALL=C.UTF-8 NO_COLOR=1
unset -v "${!TESTLOG_@}" "${!PLAYBACK_@}" "${!BENCH_@}" LOG LOG_FORMAT TRACE_FILTER \
    TRACE_DIR TRACE_SCRATCH TRACE_LIMIT TRACE_OPTIONS NOCAPTURE CUDA_INJECTION64_PATH MAKEFLAGS MAKELEVEL
export TRACE_OPTIONS=compress=0 # what counts records reads them as written

out='' debs='' dry=0 limit=540 launches='' repetitions='' built=''
download=''
while [ $# -gt 0 ]; do
    case $1 in
    --dry-run) dry=1 ;;
    --out | --debs | --download | --limit | --launches | --repetitions | --built)
        [ $# -ge 2 ] || { echo "run.sh: $1 wants a value" >&2; exit 2; }
        declare "${1#--}=$2"
        shift
        ;;
    *)
        sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" >&2
        exit 2
        ;;
    esac
    shift
done
if [ $dry = 1 ]; then
    launches=${launches:-100} repetitions=${repetitions:-2}
else
    launches=${launches:-100000} repetitions=${repetitions:-3}
fi

for path in out debs download built; do
    [ -z "${!path}" ] || declare "$path=$(realpath -m "${!path}")"
done
cd "$(dirname "$0")/../.." || exit
out=${out:-$PWD/build/gpu-results}

# ---- Packages ----

packages=(make libcriterion-dev libcjson-dev libpcre2-dev libzstd-dev)

# Prints the packages and the libraries that theirs need, without the C library and
# the compiler's, which must match those of the machine.
needed() {
    {
        printf '%s\n' "${packages[@]}"
        apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts \
            --no-breaks --no-replaces --no-enhances "${packages[@]}" |
            grep '^[a-z]' | grep -v -- '-dev$'
    } | grep -vE '^(libc6|libc-|libgcc|gcc-|pkg|libpkgconf|rpcsvc)' | sort -u
}

if [ -n "$download" ]; then
    mkdir -p "$download" && cd "$download" || exit
    # shellcheck disable=SC2046
    apt-get -qq -o APT::Sandbox::User=root download $(needed) || exit
    echo "$(ls ./*.deb | wc -l) packages in $PWD: $(du -ch ./*.deb | tail -n 1 | cut -f 1)"
    exit
fi

mkdir -p "$out/log" "$out/fixtures" || exit
out=$(cd "$out" && pwd) results=$out/results.jsonl
rm -rf "$out/runs" "${out:?}/log/"* "${out:?}/fixtures/"*
: >"$results"
CC=${CC:-$(command -v cc || echo gcc)}
export CC
export BENCH_OUT=$results TMPDIR="${TMPDIR:-/tmp}"

b=${built:-$PWD/build/base-trace}
tools=$b/tests/gpu
testlog=$b/testlog
injected=$b/libtestlog-gpu.so
export TESTLOG_GPU_LIBRARY="$injected" # for programs that are run alone
playback=$b/tests/playback.so

# ---- Output ----

# quoted TEXT: as a JSON string
quoted() {
    printf '%s' "$1" | tr '\n\t' '  ' | tr -d '\000-\037' |
        sed 's/[\\"]/\\&/g; s/^/"/; s/$/"/' | grep . || printf '""'
}

# verdict WHAT NAME pass|fail|skip NOTE
verdict() {
    printf '{"kind":"%s","name":%s,"verdict":"%s","seconds":%d,"note":%s}\n' \
        "$1" "$(quoted "$2")" "$3" "$SECONDS" "$(quoted "$4")" >>"$results"
    case $3 in
    pass) printf 'ok       %s%s\n' "$2" "${4:+: $4}" ;;
    fail) printf 'FAILED   %s: %s\n' "$2" "$4" ;;
    skip) printf '[SKIP]   %s: %s\n' "$2" "$4" ;;
    esac
}

# step NAME SECONDS COMMAND...: runs a step with a time limit, within that of all
# steps. A longer --limit gives each step more. The last 20 seconds are kept for the
# summary.
kept=20
step() {
    local name=$1 seconds=$2 log code left=$((limit - kept - SECONDS))
    log=$out/log/$(tr -c 'a-zA-Z0-9\n' _ <<<"$1").txt
    shift 2
    [ $limit -le 540 ] || seconds=$((seconds * limit / 540))
    if [ $left -lt 5 ]; then
        verdict step "$name" skip "no time is left of $limit s"
        return 125
    fi
    [ "$seconds" -le $left ] || seconds=$left
    timeout -k 5 "$seconds" "$@" >"$log" 2>&1 </dev/null
    code=$?
    case $code in
    0) verdict step "$name" pass '' ;;
    124 | 137) verdict step "$name" fail "no end after $seconds s" ;;
    *) verdict step "$name" fail "exit $code: $(grep . "$log" | tail -n 1)" ;;
    esac
    return $code
}

skip() { verdict step "$1" skip "$2"; }

# ask NUMBER JSON: records the answer to a question of summary.py
ask() {
    printf '{"kind":"question","number":%d,"seen":%s}\n' "$1" "${2:-null}" \
        >>"$results"
}

# last FIELD: prints a number of the last measurement
last() { grep '"kind":"bench"' "$results" | tail -n 1 | sed -n "s/.*\"$1\":\\([0-9.-]*\\).*/\\1/p"; }

# ---- Requirements ----

# Libraries of the system are preferred.
unpack() {
    local deb library prefix=$out/prefix triplet
    for deb in "$debs"/*.deb; do
        dpkg -x "$deb" "$prefix" || return
    done
    triplet=$("$CC" -print-multiarch 2>/dev/null)
    for library in "$prefix"{/usr,}/lib/"$triplet"/*.so.*; do
        ldconfig -p | grep -qF "${library##*/} (" && rm -f "$library"
    done
    PATH=$PATH:$prefix/usr/bin
    CPATH=$prefix/usr/include:$prefix/usr/include/$triplet${CPATH:+:$CPATH}
    LD_LIBRARY_PATH=$prefix/usr/lib/$triplet:$prefix/lib/$triplet${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    LIBRARY_PATH=$LD_LIBRARY_PATH${LIBRARY_PATH:+:$LIBRARY_PATH}
    PKG_CONFIG_PATH=$prefix/usr/lib/$triplet/pkgconfig
    PKG_CONFIG_SYSROOT_DIR=$prefix
    export CPATH LIBRARY_PATH LD_LIBRARY_PATH PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR
}

# Links a program with all libraries and runs it.
links() {
    make --version && echo 'int main(void) { return 0; }' |
        "$CC" -include criterion/criterion.h -include cjson/cJSON.h -xc - -o "$out/linked" \
            -Wl,--no-as-needed -lcriterion -lcjson -lpcre2-8 -lzstd && "$out/linked"
}

prepare() {
    local name="make and libraries${debs:+ from $debs}"
    if { [ -z "$debs" ] || unpack; } >"$out/log/libraries.txt" 2>&1 &&
        links >>"$out/log/libraries.txt" 2>&1; then
        verdict step "$name" pass ''
    else
        verdict step "$name" fail "$(tail -n 1 "$out/log/libraries.txt"); run.sh \
--download DIR, where there is a network, then --debs DIR"
    fi
    rm -f "$out/linked"
}

build() {
    local flags='-O2 -g'
    [ $dry = 1 ] || flags="$flags -arch=native"
    step "build, what is measured with" 200 make -k "-j$(nproc)" TRACING=1 \
        NVCCFLAGS="$flags" gpu-tools
    step "build" 300 make -k "-j$(nproc)" TRACING=1 NVCCFLAGS="$flags" all
}

find_cupti() {
    local root place
    [ -z "${TRACE_CUPTI:-}" ] || return
    root=$(make CUDA="${CUDA:-auto}" toolkit | sed -n 's/.* toolkit: \(\/.*\) (.*/\1/p')
    for place in "$root"/{lib64,lib,extras/CUPTI/lib64}/libcupti.so* \
        $(python3 -c 'import sys; print(*sys.path, sep="\n")' 2>/dev/null |
            sed -n 's|$|/nvidia/|p' | xargs -rI{} find {} -name 'libcupti.so*' 2>/dev/null); do
        [ -e "$place" ] && export TRACE_CUPTI=$place && return
    done
}

environment() {
    {
        date -u +%FT%TZ
        sed -n 's/.*TEST_LOG_VERSION "\(.*\)"/testlog \1/p' harness/version.h
        git log -1 --format='commit %h of %cs' 2>/dev/null
        uname -srm
        sed -n 's/^PRETTY_NAME=//p' /etc/os-release
        echo "$(nproc) processors"
        "$CC" --version | head -n 1
        make CUDA="${CUDA:-auto}" toolkit
        python3 --version
        nvidia-smi --format=csv,noheader \
            --query-gpu=name,driver_version,clocks.sm,clocks.mem,persistence_mode
        echo "TRACE_CUPTI=${TRACE_CUPTI:-}"
        env | grep '^CUDA_'
    } >"$out/env.txt" 2>&1
    device=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -n 1)
    driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1)
    [ $dry = 0 ] || device='none (dry run)' driver=none
    printf '{"kind":"environment","dry_run":%s,"date":"%s","device":%s,"driver":%s,"cupti":%s,"launches":%d}\n' \
        "$([ $dry = 1 ] && echo true || echo false)" "$(date -u +%F)" \
        "$(quoted "$device")" "$(quoted "$driver")" \
        "$(quoted "${TRACE_CUPTI:-}")" "$launches" >>"$results"
}

# ---- Measuring ----

# CUPTI's thread gets a separate processor.
pin=()
if [ "$(nproc)" -ge 4 ] && command -v taskset >/dev/null; then
    pin=(taskset -c "2,3")
fi

# bench MODE WORK COUNT
bench() {
    step "$1, $2${BENCH_REPETITION:+, $BENCH_REPETITION}" 60 \
        "${pin[@]}" "$tools/bench" "$@"
}

# ours LABEL WORK COUNT: measures under testlog record, and counts the recording
ours() {
    local label=$1 runs=$out/runs/$1 recording name
    shift
    name="ours, $1${BENCH_REPETITION:+, $BENCH_REPETITION} ($label)"
    BENCH_LABEL=${BENCH_LABEL:-ours} step "$name" 90 "${pin[@]}" "$testlog" record \
        --output "$runs" -- "$tools/bench" off "$@"
    for recording in "$runs"/latest/tests/*/process.*/recording; do
        [ -e "$recording" ] || continue
        step "$name: counted" 60 "$tools/count" "$label" "$recording"
        printf '{"kind":"files","label":%s,"recording":%d,"trace":%d}\n' \
            "$(quoted "$label")" "$(stat -c %s "$recording")" \
            "$(stat -c %s "${recording%/*}/trace.json" 2>/dev/null || echo 0)" \
            >>"$results"
    done
    # Large files are kept once.
    [ "$label" = empty.1 ] || rm -rf "$runs"
}

has_torch=0
torch() { # MODE WORK COUNT
    [ $has_torch = 1 ] || return
    step "torch:$1, $2${BENCH_REPETITION:+, $BENCH_REPETITION}" 90 \
        "${pin[@]}" python3 tests/gpu/bench_torch.py "$@"
}

find_torch() {
    if [ $dry = 1 ]; then
        skip "torch.profiler" "a dry run has no GPU"
    elif python3 -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' \
        >/dev/null 2>&1; then
        has_torch=1
    else
        skip "torch.profiler" "python3 here has no torch that sees a GPU"
    fi
}

# play FIXTURE KERNELS COPIES SETS CAPTURED: what generate.py put into a fixture.
# The stand-in claims these numbers, and CUPTI must report them.
play() {
    local fixture=$1 seen
    shift
    export PLAYBACK_FIXTURE=$PWD/tests/playback/$fixture.fixture STANDIN_WORK=$*
    BENCH_LABEL="playback of $fixture" bench min:10,1,22,2 none 1 || return
    seen="$(last seen_kernels) $(last seen_copies) $(last seen_sets)"
    [ "$seen" = "${*:1:3}" ] ||
        verdict step "playback of $fixture, counted" fail "$seen, not ${*:1:3}"
}

stand_in() {
    export BENCH_LAUNCHES=$tools/standin.so
    if [ ! -e "$playback" ]; then
        skip "playback" "there is no ${playback##*/}"
        return 1
    fi
    export TRACE_CUPTI=$playback
    play plain 9 2 1 0
}

has_gpu() {
    export BENCH_LAUNCHES=$tools/launches.so
    BENCH_OUT=/dev/null step "a GPU" 60 "$tools/bench" off none 1
}

# The worst case: the threads of CUPTI and of the program take turns.
one_processor() {
    local pin=(taskset -c 0)
    if ! command -v taskset >/dev/null; then
        skip "one processor" "no taskset"
        return
    fi
    BENCH_LABEL="off, one processor" bench off empty "$launches"
    BENCH_LABEL="ours, one processor" ours one-processor empty "$launches"
}

# More than two repetitions only narrow the ranges.
overhead() {
    local r
    for ((r = 1; r <= repetitions; r++)); do
        if [ $r -gt 2 ] && [ $((limit - SECONDS)) -lt $((limit / 2)) ]; then
            skip "repetition $r" "other steps need the time"
            break
        fi
        export BENCH_REPETITION=$r
        bench off empty "$launches"
        bench min:10 empty "$launches"
        bench min:10,5 empty "$launches"
        bench min:10,5,4 empty "$launches"
        bench min:10,5,4,39 empty "$launches"
        ours "empty.$r" empty "$launches"
        torch off empty "$launches"
        torch cuda empty "$launches"
    done
    one_processor
    unset BENCH_REPETITION
}

# compare WORK COUNT
compare() {
    bench off "$@"
    ours "$1" "$@"
    torch cuda "$@"
}

graphs() {
    compare graph "$launches"
    compare capture 2000
}

other_work() {
    compare streams:16 "$launches"
    compare threads:8 "$launches"
    compare mixed "$launches"
    ours spin spin 100
    busy
}

# Another client of CUPTI comes first.
busy() {
    step "a busy CUPTI" 60 "$testlog" record --output "$out/runs/busy" -- \
        "$tools/probe" first &&
        step "a busy CUPTI: counted" 20 "$tools/count" busy \
            "$out"/runs/busy/latest/tests/*/process.*/recording
}

compiling() {
    CUDA_CACHE_PATH=$(mktemp -d)
    export CUDA_CACHE_PATH
    ours jit.cold jit 1000
    ours jit.warm jit 1000
    rm -rf "$CUDA_CACHE_PATH"
    unset CUDA_CACHE_PATH
    CUDA_CACHE_DISABLE=1 ours jit.disabled jit 1000
    CUDA_MODULE_LOADING=EAGER ours jit.eager jit 1000
}

# zones TRACE: parts of a kernel that it timed itself
zones() {
    local found
    found=$(python3 -c 'import json, sys
trace = json.load(open(sys.argv[1]))
events = trace["traceEvents"]
zones = [e for e in events if e.get("cat") == "zone"]
kernel = [e for e in events if e["name"].startswith("identity_timed") and e["ph"] == "X"][0]
end = kernel["ts"] + kernel["dur"]
print(json.dumps({
    "zones": len(zones), "kernel_us": kernel["dur"],
    "multiprocessors": len({z["args"]["unit"] for z in zones}),
    "in_launch": sum("kernel" in z["args"] for z in zones),
    "outside": sum(z["ts"] < kernel["ts"] or z["ts"] + z["dur"] > end for z in zones),
    "clock": trace["otherData"]["gpu.zones.clock"],
    "dropped": trace["otherData"]["gpu.zones.dropped"]}))' "$1" 2>/dev/null)
    ask 13 "$found"
    case $found in
    '{"zones": 512,'*'"dropped": "0"}') verdict step "zones of a kernel" pass '' ;;
    *) verdict step "zones of a kernel" fail "not 512: ${found:-no trace}" ;;
    esac
}

# The suite must not be skipped; its lines show what was recorded.
suite() {
    local program=$b/examples/cuda_identity_test
    if [ ! -x "$program" ]; then
        skip "examples" "$(make CUDA="${CUDA:-auto}" toolkit)"
        return
    fi
    step "examples" 120 "$testlog" run "$program" -- \
        --trace-dir="$out/runs/examples" --log=info,gpu=trace --show-output
    if [ $dry = 0 ] && grep -q 'no GPU' "$out/log/examples.txt"; then
        verdict step "examples saw the GPU" fail "some were skipped"
    fi
    [ $dry = 1 ] || zones "$out/runs/examples/latest/tests/cuda_identity_test/cuda_identity.times_the_parts_of_a_kernel/trace.json"
    for recording in "$out"/runs/examples/latest/tests/*/*/recording; do
        [ -e "$recording" ] && step "$(basename "$(dirname "$recording")")" 20 \
            "$tools/count" "$(basename "$(dirname "$recording")")" "$recording"
    done
}

# ---- Questions; summary.py has their texts ----

questions() {
    local threads
    [ $dry = 1 ] || ask 1 "$("$tools/probe" setenv "$injected" 2>/dev/null)"
    CUDA_INJECTION64_PATH='' bench min:10 none 1
    ours unsynced unsynced 1000
    ours none none 1
    bench off none 1
    for threads in 8 16 64; do
        BENCH_LABEL="off, memory" bench off threads:$threads 64000
        BENCH_LABEL="ours, memory" ours memory.$threads threads:$threads 64000
    done
    bench min:10,5 empty "$launches"
    bench min+flush:10,5 empty "$launches"
    [ $dry = 0 ] || return
    ask 7 "$(env CUDA_INJECTION64_PATH="$injected" TESTLOG_RECORD="$out/runs/probe" \
        "$tools/probe" subscriber 2>/dev/null)"
    if [ $has_torch = 1 ]; then
        mkdir -p "$out/runs/injected"
        BENCH_LABEL=torch:injected CUDA_INJECTION64_PATH=$injected \
            TESTLOG_RECORD=$out/runs/injected torch cuda mixed 1000
    fi
    ask 10 "{\"sampling\":$("$tools/probe" sampling 2>/dev/null || echo null),\"icds\":$(
        quoted "$(ls /etc/OpenCL/vendors 2>/dev/null; ldconfig -p | grep -o 'libnvidia-opencl[^ ]*')")}"
}

# record NAME WORK COUNT KINDS: records a fixture for tests/playback, with half the
# COUNT as long as it is too large. Replays it; summary.py compares.
record() {
    local name=$1 work=$2 count=$3 file=$out/fixtures/$1.fixture code=3
    local replay=$out/runs/fixture.$1
    if [ $((limit - kept - SECONDS)) -lt 5 ]; then
        skip "fixture $name" "no time is left of $limit s"
        return
    fi
    while [ $code = 3 ] && [ "$count" -gt 0 ]; do
        timeout -k 5 20 "$tools/record_fixture" "$file" "$work" "$count" "$4" \
            "$device" "$driver" >"$out/log/fixture_$name.txt" 2>&1
        code=$?
        [ $code = 3 ] && count=$((count / 2))
    done
    if [ $code != 0 ]; then
        verdict step "fixture $name" fail "exit $code: $(tail -n 1 "$out/log/fixture_$name.txt")"
        return
    fi
    cat "$file.counts" >>"$results"
    step "fixture $name is read" 20 python3 -c 'import sys
sys.path.insert(0, "tests/playback")
import fixture
assert fixture.read(sys.argv[1])["buffers"]' "$file"
    TRACE_CUPTI=$playback PLAYBACK_FIXTURE=$file BENCH_LAUNCHES=$tools/standin.so \
        BENCH_LABEL="fixture $name" step "fixture $name is replayed" 60 \
        "$testlog" record --output "$replay" -- "$tools/bench" off none 1 &&
        step "fixture $name is counted" 20 "$tools/count" "fixture.$name" \
            "$replay"/latest/tests/*/process.*/recording
}

fixtures() {
    record plain empty 50 10,5,4,39,8,9,37
    record copies mixed 40 10,5,4,39,1,2,22,49
    record graph graph 60 10,5,4,39
    record capture capture 60 10,5,4,39
    record jit jit 10 10,5,4,39,52,17
    record memory mixed 20 10,5,4,1,2,22,38,49
    ask 12 "$(quoted "$(cd "$out/fixtures" && stat -c '%n %s bytes' ./*.fixture 2>/dev/null)")"
}

# The four files are few and small enough to be copied from anywhere.
pack() {
    local log size
    while read -r log; do
        tail -c 256K "$log" >"$log.end" && mv "$log.end" "$log"
    done < <(find "$out/log" -type f -size +256k)
    mkdir -p "$out/log/traces"
    find "$out/runs/examples" -path '*/tests/*' -name trace.json -size -1024k 2>/dev/null |
        while read -r trace; do
            cp "$trace" "$out/log/traces/$(basename "${trace%/*}").json"
        done
    if ! tar -C "$out" -czf "$out/results.tar.gz" log fixtures; then
        verdict step archive fail "tar cannot write it; the folders log and fixtures are kept"
        return
    fi
    size=$(stat -c %s "$out/results.tar.gz")
    [ "$size" -le $((16 << 20)) ] || verdict step archive fail "$size bytes, 16 MiB at most"
    rm -rf "$out/log" "$out/fixtures"
}

# ---- The run ----

prepare
[ -n "$built" ] || build
find_cupti
environment
suite
find_torch
if [ ! -x "$tools/bench" ]; then
    verdict step "measuring" fail "what it needs was not built"
elif if [ $dry = 1 ]; then stand_in; else has_gpu; fi; then
    fixtures
    overhead
    [ $dry = 0 ] || play capture 5 0 0 4
    graphs
    [ $dry = 0 ] || play jit 1 0 0 0
    compiling
    [ $dry = 0 ] || play plain 9 2 1 0
    other_work
    questions
elif [ $dry = 0 ]; then
    verdict step "measuring" fail "no GPU here: --dry-run needs none"
fi
limit=$((SECONDS + 15)) kept=0 # whatever happened, there is a summary
if command -v python3 >/dev/null; then
    step "summary" 15 python3 tests/gpu/summary.py "$results" "$out/RESULTS.md"
    # It appends the criteria, which count as results.
    sed -n 's/.*"kind": "criterion".*"name": "\(.*\)", "verdict": "\(.*\)", "note": "\(.*\)"}/\2 \1: \3/p' \
        "$results" | sed 's/^pass/ok      /; s/^fail/FAILED  /; s/^skip/[SKIP]  /'
else
    skip "criteria and summary" "no python3"
fi

pack
rm -rf "$out/prefix" "$out/runs"

count() { grep -cE "\"verdict\": ?\"$1\"" "$results"; }

echo "results: $out"
[ $dry = 0 ] || echo "This was a dry run: no GPU was used."
failed=$(count fail)
echo "$(count pass) passed, $failed failed, $(count skip) skipped"
[ "$failed" -eq 0 ]

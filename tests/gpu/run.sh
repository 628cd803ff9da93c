#!/usr/bin/env bash
# run.sh [--out DIR] [--debs DIR] [--dry-run] [--limit SECONDS] [--launches N]
# [--repetitions N] [--built DIR] [--only PART,...]: tests everything that needs a GPU,
# in one command and six minutes.
# run.sh --download DIR: downloads the packages for --debs, on another machine.
#
# The parts are suite, counts, timing, ab, gate, sampling, questions and fixtures; without --only,
# all run except fixtures, which are in tests/playback/h100.
#
# It needs gcc, python3, a CUDA toolkit and a driver, but no network, and installs
# nothing: make, Criterion and other libraries are unpacked from the .deb files in
# the folder that --debs names. If a step fails or hangs, the others still run.
#
# It writes four files to DIR: RESULTS.md, the summary; results.jsonl, every number;
# env.txt; and results.tar.gz, the output of each step, fixtures and a trace. With
# --dry-run, one library replaces CUPTI by playback and another replaces the GPU;
# that only shows that the script works. --built names a folder of build/ in which
# everything is already built, also on another machine:
#
#     make TRACING=1 NVCCFLAGS='-O2 -arch=sm_90' gpu-tools all
#
# Ends with "N passed, N failed, N skipped"; exits with 1 if any failed.
set -u
export LC_ALL=C.UTF-8 NO_COLOR=1
unset -v "${!TESTLOG_@}" "${!PLAYBACK_@}" "${!BENCH_@}" LOG LOG_FORMAT TRACE_FILTER \
    TRACE_DIR TRACE_SCRATCH TRACE_LIMIT TRACE_OPTIONS NOCAPTURE CUDA_INJECTION64_PATH MAKEFLAGS MAKELEVEL
export TRACE_OPTIONS=compress=0 # what counts records reads them as written

out='' debs='' dry=0 limit=360 launches='' repetitions='' built='' only=''
download=''
while [ $# -gt 0 ]; do
    case $1 in
    --dry-run) dry=1 ;;
    --out | --debs | --download | --limit | --launches | --repetitions | --built | --only)
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
parts=suite,counts,timing,ab,gate,sampling,questions
if [ $dry = 1 ]; then
    launches=${launches:-100} repetitions=${repetitions:-2} only=${only:-$parts,fixtures}
else
    launches=${launches:-20000} repetitions=${repetitions:-7} only=${only:-$parts}
fi
for part in ${only//,/ }; do
    [[ ,$parts,fixtures, == *,"$part",* ]] ||
        { echo "run.sh: --only: no part \"$part\"; there are $parts and fixtures" >&2; exit 2; }
done

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

# wants PART: whether it is to run
wants() { [[ ,$only, == *,"$1",* ]]; }

# verdict WHAT NAME pass|fail|skip NOTE [SECONDS]
verdict() {
    printf '{"kind":"%s","name":%s,"verdict":"%s","seconds":%d,"note":%s}\n' \
        "$1" "$(quoted "$2")" "$3" "${5:-0}" "$(quoted "$4")" >>"$results"
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
    local name=$1 seconds=$2 log code began=$SECONDS left=$((limit - kept - SECONDS))
    log=$out/log/$(tr -c 'a-zA-Z0-9\n' _ <<<"$1").txt
    shift 2
    [ $limit -le 360 ] || seconds=$((seconds * limit / 360))
    if [ $left -lt 5 ]; then
        verdict step "$name" skip "no time is left of $limit s"
        return 125
    fi
    [ "$seconds" -le $left ] || seconds=$left
    timeout -k 5 "$seconds" "$@" >"$log" 2>&1 </dev/null
    code=$?
    case $code in
    0) verdict step "$name" pass '' $((SECONDS - began)) ;;
    124 | 137) verdict step "$name" fail "no end after $seconds s" "$seconds" ;;
    *) verdict step "$name" fail "exit $code: $(grep . "$log" | tail -n 1)" $((SECONDS - began)) ;;
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
        lscpu -e=CPU,CORE,SOCKET
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

# Threads of CUPTI and testlog get a processor of another core than the launching one.
# Two processors of one core slow each other down.
core_of() { cat "/sys/devices/system/cpu/cpu$1/topology/core_id" 2>/dev/null; }
launch_cpu=2 other_cpu='' sibling_cpu='' pin=()
if [ "$(nproc)" -ge 4 ] && command -v taskset >/dev/null; then
    for ((cpu = 3; cpu < $(nproc); cpu++)); do
        if [ "$(core_of $cpu)" = "$(core_of $launch_cpu)" ]; then
            sibling_cpu=${sibling_cpu:-$cpu}
        else
            other_cpu=${other_cpu:-$cpu}
        fi
    done
    pin=(taskset -c "$launch_cpu,${other_cpu:-3}")
fi

# bench MODE WORK COUNT
bench() {
    step "${BENCH_LABEL:-$1}, $2${BENCH_REPETITION:+, $BENCH_REPETITION}" 60 \
        "${pin[@]}" "$tools/bench" "$@"
}

# ours WORK COUNT: measures with testlog's library alone, so nothing is exported
ours() {
    rm -rf "$out/runs/timed"
    mkdir -p "$out/runs/timed"
    BENCH_LABEL=${BENCH_LABEL:-ours} CUDA_INJECTION64_PATH=$injected \
        TESTLOG_RECORD=$out/runs/timed bench off "$@"
}

# counted LABEL WORK COUNT: runs it under testlog record, and counts the recording
counted() {
    local label=$1 runs=$out/runs/$1 recording name="counted, $1"
    shift
    BENCH_LABEL=${BENCH_LABEL:-counted} step "$name" 60 "${pin[@]}" "$testlog" record \
        --output "$runs" -- "$tools/bench" off "$@"
    for recording in "$runs"/latest/tests/*/process.*/recording; do
        [ -e "$recording" ] || continue
        step "$name: read" 30 "$tools/count" "$label" "$recording"
        printf '{"kind":"files","label":%s,"recording":%d,"trace":%d}\n' \
            "$(quoted "$label")" "$(stat -c %s "$recording")" \
            "$(stat -c %s "${recording%/*}/trace.json" 2>/dev/null || echo 0)" \
            >>"$results"
    done
    # Large files are kept once.
    [ "$label" = empty.1 ] || rm -rf "$runs"
}

has_torch=0
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

# torch NAME WORKS COUNT REPETITIONS
torch() {
    local name=$1
    shift
    [ $has_torch = 0 ] ||
        step "$name" 90 "${pin[@]}" python3 tests/gpu/bench_torch.py "$@"
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

captured=2000 # graphs

# Compares the records with the launches, and with those that torch sees.
counts() {
    local r
    for r in 1 2; do
        BENCH_REPETITION=$r counted empty.$r empty "$launches"
    done
    [ $dry = 0 ] || play capture 5 0 0 4
    TRACE_OPTIONS=gpu_raw=true counted raw empty "$launches"
    TRACE_OPTIONS=gpu_raw=true counted raw.threads threads:8 "$launches"
    counted graph graph "$launches"
    counted capture capture $captured
    [ $dry = 0 ] || play plain 9 2 1 0
    counted streams:16 streams:16 "$launches"
    counted threads:8 threads:8 "$launches"
    counted mixed mixed "$launches"
    counted spin spin 100
    counted unsynced unsynced 1000
    busy
    [ $dry = 0 ] || play jit 1 0 0 0
    compiling
    [ $dry = 0 ] || play plain 9 2 1 0
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
    counted jit.cold jit 1000
    counted jit.warm jit 1000
    rm -rf "$CUDA_CACHE_PATH"
    unset CUDA_CACHE_PATH
}

# Times launches: short runs in turns, so that all see the same machine. torch
# takes seconds to start, so it repeats the works in one process.
timing() {
    local r work
    torch "torch.profiler" \
        "empty,streams:16,threads:8,graph,mixed,capture=$captured" "$launches" 3
    for ((r = 1; r <= repetitions; r++)); do
        if [ $((limit - SECONDS)) -lt $((limit / 3)) ] && [ $r -gt 2 ]; then
            skip "repetition $r" "other steps need the time"
            break
        fi
        for work in empty streams:16 threads:8 graph mixed; do
            BENCH_REPETITION=$r bench off $work "$launches"
            BENCH_REPETITION=$r ours $work "$launches"
            BENCH_LABEL=raw BENCH_REPETITION=$r \
                TESTLOG_RECORD_OPTIONS=gpu_raw=true ours $work "$launches"
        done
    done
    torch "torch.profiler, again" "empty,streams:16,threads:8,graph,mixed" \
        "$launches" 3
    # Longer than 2 s, so it is decoded while it launches.
    BENCH_LABEL="off, long" bench off empty $((50 * launches))
    BENCH_LABEL="ours, long" ours empty $((50 * launches))
    BENCH_LABEL="raw, long" TESTLOG_RECORD_OPTIONS=gpu_raw=true \
        ours empty $((50 * launches))
    if command -v taskset >/dev/null; then # threads of CUPTI take turns with it
        local pin=(taskset -c 0)
        BENCH_LABEL="off, one processor" bench off empty "$launches"
        BENCH_LABEL="ours, one processor" ours empty "$launches"
    fi
}

# Measures which part of tracing costs how much.
ab() {
    local few=(off "torch's" "all kinds" "all, pool+zeroed+prefault" "all, decode 3us other")
    export AB_LAUNCH_CPU=$launch_cpu AB_SIBLING_CPU=$sibling_cpu AB_OTHER_CPU=$other_cpu
    [ ${#pin[@]} -gt 0 ] || unset AB_LAUNCH_CPU
    [ $dry = 0 ] || local -x STANDIN_WORK=launch
    step "ab, empty" 50 "$tools/ab" empty $((launches / 5)) $((repetitions + 5))
    step "ab, threads:8" 25 "$tools/ab" threads:8 $((launches / 2)) 6 "${few[@]}"
    step "ab, graph" 25 "$tools/ab" graph $((launches / 2)) 6 "${few[@]}"
}

# Tells whether CUPTI can write into a file that outlives the process.
gate() {
    local work file=$out/runs/gate
    [ $dry = 0 ] || local -x STANDIN_WORK=launch
    mkdir -p "$out/runs"
    for work in empty threads:8; do
        rm -f "$file"
        BENCH_LABEL="private memory" bench min:10,5 $work "$launches"
        # shellcheck disable=SC2016
        step "gate, $work" 30 sh -c '"$@"; test $? = 137' 'it kills itself' \
            "${pin[@]}" "$tools/gate" run "$file" $work "$launches"
        step "gate, $work: read" 20 "$tools/gate" read "$file" $work
    done
    rm -f "$file"
}

# sample LABEL OPTIONS WORK COUNT [COMMAND...]: samples counters, and reads them
sample() {
    local label=$1 options=$2 work=$3 count=$4 folder=$out/runs/sampled.$1
    local recording pin=()
    shift 4
    mkdir -p "$folder"
    chmod 777 "$folder"
    BENCH_LABEL="sampled $label" CUDA_INJECTION64_PATH=$injected TESTLOG_RECORD=$folder \
        TESTLOG_RECORD_OPTIONS=$options step "sampled, $label" 30 \
        "$@" "$tools/bench" off "$work" "$count"
    for recording in "$folder"/process.*/recording; do
        [ -e "$recording" ] || continue
        step "sampled, $label: read" 20 "$tools/sampled" "$label" "$recording"
        [ "$work" != fma ] ||
            step "sampled, $label: counted" 20 "$tools/count" "$label" "$recording"
    done
    rm -rf "$folder"
}

# Samples hardware counters, and what may keep it from that.
sampling() {
    local beside default=gpu_pm_sample_counters=default
    if [ $dry = 1 ]; then
        STANDIN_WORK=launch sample phases $default phases 1 \
            env LD_PRELOAD="$(dirname "$(realpath "$playback")")/driver/libcuda.so.1"
        return
    fi
    sample phases $default phases 1
    sample fma.sampled $default fma 20
    sample fma.plain gpu_leaks=warn fma 20
    sample launches $default empty "$launches"
    sample fast $default,gpu_pm_sample_interval_us=10 phases 1
    sample passes \
        gpu_pm_sample_counters=sm__throughput.avg.pct_of_peak_sustained_elapsed phases 1
    sample unknown gpu_pm_sample_counters=sm__cycle_active.avg phases 1
    BENCH_OUT=/dev/null CUDA_INJECTION64_PATH=$injected TESTLOG_RECORD=$out/runs/beside \
        TESTLOG_RECORD_OPTIONS=$default "$tools/bench" off spin 3000 >/dev/null 2>&1 &
    beside=$!
    sleep 1
    sample beside $default phases 1
    kill $beside 2>/dev/null
    wait $beside 2>/dev/null
    if command -v setpriv >/dev/null && [ "$(id -u)" = 0 ]; then
        chmod a+rx "$out" "$out/runs"
        BENCH_OUT='' sample nobody $default phases 1 \
            setpriv --reuid=65534 --regid=65534 --clear-groups
    fi
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
    bench off none 1
    ours none 1
    for threads in 8 16 64; do
        BENCH_LABEL="ours, memory" ours threads:$threads 64000
    done
    [ $dry = 0 ] || return
    ask 7 "$(env CUDA_INJECTION64_PATH="$injected" TESTLOG_RECORD="$out/runs/probe" \
        "$tools/probe" subscriber 2>/dev/null)"
    mkdir -p "$out/runs/injected"
    BENCH_LABEL=torch:injected CUDA_INJECTION64_PATH=$injected \
        TESTLOG_RECORD=$out/runs/injected torch "torch in a traced process" mixed 1000 1
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
! wants suite || suite
find_torch
if [ ! -x "$tools/bench" ]; then
    verdict step "measuring" fail "what it needs was not built"
elif if [ $dry = 1 ]; then stand_in; else has_gpu; fi; then
    for part in fixtures timing gate sampling counts ab questions; do
        ! wants $part || $part
    done
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

#!/usr/bin/env bash
# criterion.sh BUILD: runs Criterion's own samples and tests, and two programs of
# ours, with every test logged and traced, and compares the results with
# Criterion's.
#
# Each program is linked twice from one object file: with Criterion alone, and
# with -Wl,-u,test_log_all -ltestlog. Both run at -j1 and -j8, ours captured
# and live. Verdicts, exit codes and what Criterion prints with --verbose must be
# the same, except for the table below.
# Without Criterion's source, only our programs run. The last line is
# "N passed, N failed, N skipped".
#
# PKG_CONFIG_PATH may name another version of Criterion, and CRITERION_SOURCE its
# source. Use a clone for each version: testlog is built with Criterion's headers.
set -u
cd "$(dirname "$0")/.." || exit
export LC_ALL=C.UTF-8 NO_COLOR=1
lib=$PWD/${1:?a folder of build/}
work=$PWD/build/criterion
criterion=${CRITERION_SOURCE:-}
other= # flags for another version
if [ "$criterion" ]; then
    libraries=$(pkg-config --variable=libdir criterion)
    other="$(pkg-config --cflags criterion) -L$libraries -Wl,-rpath,$libraries"
fi
unset -v "${!TESTLOG_@}" "${!TEST_LOG_@}" "${!CRITERION_@}" LOG LOG_TIME \
    LOG_FIELDS LOG_FORMAT LOG_SPAN_EVENTS TRACE_FILTER TRACE_DIR TRACE_LIMIT \
    TRACE_SCRATCH TRACE_OPTIONS NOCAPTURE SHOW_OUTPUT FORCE_COLOR CLICOLOR_FORCE

# Program, test (or "exit"), Criterion's verdict, our verdict.
# testlog-program(7) says why, under STANDARDS.
known_differences() {
    sed 's/ *#.*//' <<'END'
whole.c          ends/exits_with_0 passed failed   # before its end
whole.c          ends/exits_in_fini passed failed
whole.c          ends/fails_in_fini passed failed
whole.c          ends/aborts_in_fini passed crashed   # died in its teardown
whole.c          ends/aborts_at_exit passed crashed
exit.c           exit_with_fixtures/fini_exits passed failed
exit.cc          exit_with_fixtures/fini_exits passed failed
log.c            exit 1 0   # warnings fail no run
log.cc           exit 1 0
END
    case ${FLAGS:-} in
    *address*) ;; # exits on SIGSEGV, which passes in a teardown
    *)
        echo "other-crashes.c  misc/teardown_crash passed crashed"
        echo "other-crashes.cc misc/teardown_crash passed crashed"
        ;;
    esac
}

# ---- The source ----

missing() {
    echo "testlog: [SKIP] Criterion's own samples: $*"
    return 1
}

# Runs apt in its own folder, with a list of Debian's source packages.
apt() {
    apt-get -o Dir::Etc::sourcelist="$work/apt/sources.list" \
        -o Dir::Etc::sourceparts=- -o Dir::State::lists="$work/apt/lists" \
        -o Dir::Cache="$work/apt/cache" -o APT::Sandbox::User="$(id -un)" \
        -o Acquire::Retries=0 -o Acquire::http::Timeout=20 \
        -o APT::Get::List-Cleanup=false -qq "$@"
}

fetch() {
    command -v apt-get >/dev/null || missing "apt-get is not installed" ||
        return
    local package version source
    package=$(dpkg-query -W -f='${source:Package} ${source:Version}' \
        libcriterion-dev 2>/dev/null) ||
        missing "libcriterion-dev is not installed" || return
    read -r source version <<<"$package"
    mkdir -p "$work/apt/lists/partial" "$work/apt/cache/archives/partial"
    # The system's package repositories, as source repositories.
    # shellcheck disable=SC2016
    apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' \
        'Created-By: Packages' 2>/dev/null | sort -u |
        sed 's|^|deb-src |' >"$work/apt/sources.list"
    apt update 2>&1 || missing "apt-get update failed: no network?" || return
    (cd "$work/apt" && rm -f ./*.orig.tar.* &&
        apt source --tar-only "$source=$version" 2>&1) ||
        missing "apt-get source $source=$version failed" || return
    rm -rf "$work/source" "$work/source.new"
    mkdir "$work/source.new"
    tar xf "$work"/apt/*.orig.tar.* --strip-components=1 \
        -C "$work/source.new" || missing "the fetched archive is damaged" ||
        return
    mv "$work/source.new" "$work/source"
}

# ---- The programs ----

list_programs() {
    ls "$PWD"/tests/programs/whole*.c*
    [ $skipped = 1 ] || ls "$criterion"/samples/*.c* "$criterion"/test/{full,unit}/*.c*
}

# name_of SOURCE: a unit test may have the name of a sample.
name_of() {
    case $1 in
    */unit/*) echo "unit-${1##*/}" ;;
    *) echo "${1##*/}" ;;
    esac
}

# build SOURCE: builds both programs, unless they are up to date. Criterion's
# unit tests need its private headers and functions that only its archive has.
build() {
    local to=$out/$(name_of "$1") compiler=${CC:-cc} headers= archive=
    [ "${1##*.}" = c ] || compiler=${CXX:-c++}
    [ "$to/whole" -nt "$lib/libtestlog.a" ] &&
        [ "$to/whole" -nt "$1" ] && return
    case $1 in
    */unit/*)
        headers="-I$criterion/src -include criterion/criterion.h -include criterion/new/assert.h"
        archive=-l:libcriterion.a
        ;;
    esac
    mkdir -p "$to"
    # shellcheck disable=SC2086
    {
        $compiler ${FLAGS:-} $other -w -g -D_GNU_SOURCE -I"$lib/include" $headers -c \
            -o "$to/object.o" "$1" &&
            $compiler ${FLAGS:-} $other -o "$to/plain" "$to/object.o" -lcriterion \
                $archive -lm &&
            $compiler ${FLAGS:-} $other -o "$to/whole" "$to/object.o" \
                -Wl,-u,test_log_all -L"$lib" -ltestlog -lcriterion $archive \
                -lpcre2-8 -lm
    } >"$to/build.log" 2>&1
}

# ---- Their verdicts and ours: lines "suite/test outcome" ----

read_theirs() {
    awk -F'"' '
        /^      "name": "/ { suite = $4 }
        /^          "name": "/ { test = $4 }
        /^          "status": "/ {
            status = $4
            if (status != "ERRORED")
                print suite "/" test, tolower(status)
        }
        /^          "messages": / && status == "ERRORED" {
            print suite "/" test, $4 ~ /timed out/ ? "timeout" : "crashed"
        }' "$1" | sort
}

# We call an instance "name[07]", Criterion calls all of them "name".
read_ours() {
    sed -n 's/.*"name":"\([^"]*\)","outcome":"\([^"]*\)".*/\1 \2/p' "$1" |
        sed 's/\[[0-9]*\] / /' | sort
}

# Criterion's own lines, without those about our files and instances, and the
# parts that differ between runs.
console() {
    grep -aE '^\[(----|====|[A-Z ]{4})\] ' "$1" |
        grep -avE 'Writing json report in|Running [0-9]+ tests? from' | sed 's/([0-9.]*s)/(TIME)/; s/0x[0-9a-f]*/0x/g
        s/\(::[^[ ]*\)\[[0-9]*\]/\1/
        s/: \(in its [a-z]*: \)*uncaught .*/: an exception/
        s/: Caught [a-z]* unexpected exception during the test .*/: an exception/' | sort
}

# expected PROGRAM FILE: the file with the known differences applied. A
# difference that does not occur is an error, so that the table stays true.
expected() {
    known_differences | awk -v program="$1" '
        FNR == NR { if ($1 == program) { to[$2 " " $3] = $4 }; next }
        $0 in to { print $1, to[$0]; met[$0]; next }
        { print }
        END { for (known in to) if (!(known in met)) print "not met:", known }
    ' - "$2"
}

# Lists tests that ran without a recording.
unrecorded() {
    local run=testlog-runs/latest folder
    [ -e $run/run.json ] || return
    grep -E '"outcome":"(passed|failed|crashed|timeout)"' $run/run.json |
        grep '"folder":null'
    sed -n 's/.*"folder":"\([^"]*\)".*/\1/p' $run/run.json |
        while read -r folder; do
            set -- "$run/$folder"/recording*
            [ -s "$1" ] || echo "no recording: $folder"
        done
}

run() { # OUT COMMAND...: writes OUT.out, OUT.err and OUT.code
    local out=$1
    shift
    timeout -k 5 60 "$@" >"$out.out" 2>"$out.err" </dev/null
    echo "exit $?" >"$out.code"
}

# same WHAT EXPECTED ACTUAL: prints the differences of two files
same() {
    diff -u --label "Criterion: $1" --label "testlog: $1" "$2" "$3" | tail -n +1
}

compare() { # PROGRAM JOBS MODE FLAG...
    local program=$1 jobs=$2 mode=$3
    shift 3
    rm -rf testlog-runs
    run whole ../whole "-j$jobs" --verbose "$@"
    { read_theirs plain.json; cat plain.code; } >theirs
    {
        [ ! -e testlog-runs ] || read_ours testlog-runs/latest/run.json
        cat whole.code
    } >ours
    expected "$program" theirs | sort >theirs.known
    sort ours -o ours
    console plain.err >theirs.console
    console whole.err >ours.console
    {
        same "verdicts" theirs.known ours
        same "console" theirs.console ours.console
        unrecorded
    } >differences
    if [ ! -s differences ] && [ -s theirs ]; then
        echo "ok: $program -j$jobs $mode"
    else
        echo "FAILED: $program -j$jobs $mode"
        sed 's/^/    /' differences
    fi
}

# check SOURCE: prints the results of one program.
check() {
    local program=$(name_of "$1") jobs
    if ! build "$1"; then
        echo "FAILED: $program cannot be built"
        sed 's/^/    /' "$out/$program/build.log"
        return
    fi
    mkdir -p "$out/$program/run"
    cd "$out/$program/run" || return
    for jobs in 1 8; do
        run plain ../plain "-j$jobs" --verbose --json=plain.json
        compare "$program" $jobs captured
        compare "$program" $jobs live --nocapture
    done
    rm -rf testlog-runs
}

out=$lib/criterion
mkdir -p "$out"
log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT
skipped=0
[ "$criterion" ] || [ -d "$work/source/samples" ] || fetch || skipped=1
criterion=${criterion:-$work/source}
echo "$(list_programs | wc -l) programs"
running=0
for source in $(list_programs); do
    (check "$source" >"$log/$(name_of "$source")" 2>&1) &
    running=$((running + 1))
    [ $running -lt "$(nproc)" ] || { wait -n; running=$((running - 1)); }
done
wait
cat "$log"/*
passed=$(cat "$log"/* | grep -c '^ok: ')
failed=$(cat "$log"/* | grep -c '^FAILED: ')
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]

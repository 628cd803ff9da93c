#!/usr/bin/env bash
# aarch64.sh: builds the last commit for aarch64 with Debian's cross compiler, and runs
# the tests of trace, log, harness and runners in qemu's user mode.
#
# Needs root, mmdebstrap, g++-aarch64-linux-gnu, qemu-user-static, and binfmt_misc, where
# qemu is registered for as long as the tests run. The last line is "N passed, N failed,
# N skipped".
set -u
cd "$(dirname "$0")/.." || exit
. tests/bare.sh

# These tests need something that qemu's user mode lacks; a real machine may have it.
lacks() {
    sed 's/ *#.*//' <<'END'
harness_scratch/*                                   # leases on files
harness_supervisor/takes_no_signal_without_a_thread # SIGINT stays qemu's
trace_bomb/*                                        # limits on memory: qemu needs more
trace_critical/tolerates_the_skew_of_clocks         # a clock of its own
trace_fatal_signal/*                                # stacks of signals, ptrace
trace_merge_threads/releases_the_memory_*           # memory is qemu's, too
trace_recorder/*child*                              # raw clones
trace_recorder/inherits_spans_across_a_raw_clone    # raw clones
trace_recorder/reports_a_full_disk_*                # SIGBUS at a full disk
trace_room/reuses_tails_of_any_size                 # minutes
trace_capture/keeps_no_descriptor_of_a_client       # minutes
trace_start/gives_back_address_space                # memory is qemu's, too
trace_seal/keeps_chunks_*                           # prctl(PR_SET_CHILD_SUBREAPER)
log_expect/judges_while_another_thread_records      # minutes
END
}

count=$(lacks | wc -l)
need "aarch64" "$count"
for program in aarch64-linux-gnu-g++ qemu-aarch64-static; do
    command -v $program >/dev/null || skip "aarch64" "$count" "not installed: $program"
done
grep -q binfmt_misc /proc/filesystems || skip "aarch64" "$count" "no binfmt_misc"

root=$work/root source=$work/source
packages=$(sed -n '/^DEPS :=/,/[^\\]$/p' GNUmakefile | tr -s ' \\\n' '\n' |
    grep -E '^lib.*-dev$' | tr '\n' ',')
mmdebstrap --quiet --variant=extract --arch=arm64 \
    --include="${packages}libc6-dev,libgcc-12-dev,libstdc++-12-dev" bookworm "$root" ||
    exit
# The linker takes absolute links for those of this machine.
(cd "$root" && find . -type l | while read -r link; do
    to=$(readlink "$link")
    [ "${to#/}" = "$to" ] ||
        ln -sfn "$(realpath -m --relative-to="$(dirname "$link")" ".$to")" "$link"
done)
mkdir "$source"
git archive HEAD | tar -x -C "$source"
tests=$(cd tests/unit && find trace log harness runners -name '*_test.c' -printf '%h\n' |
    sort -u | sed 's|/|_|g; s|.*|build/base/tests/&_test|')
export PKG_CONFIG_SYSROOT_DIR=$root
export PKG_CONFIG_LIBDIR=$root/usr/lib/aarch64-linux-gnu/pkgconfig
# shellcheck disable=SC2086
make -C "$source" "-j$(nproc)" CC="aarch64-linux-gnu-gcc --sysroot=$root" \
    CXX="aarch64-linux-gnu-g++ --sysroot=$root" CFLAGS='-O1 -g' CXXFLAGS='-O1 -g' \
    all $tests >"$work/log" 2>&1 || { tail -n 40 "$work/log"; exit 1; }

# run_one PROGRAM: prints its closing line, and all if a test failed. At times qemu stops in
# a fork; then the program starts again.
run_one() {
    local code try log closing
    log=$(mktemp)
    for try in 1 2 3; do
        timeout -k 5 900 "$1" --timeout=180 --pass-with-no-tests --filter "!($FILTER)" \
            --trace-dir "$log.runs" >"$log" 2>&1 </dev/null
        code=$?
        rm -rf "$log.runs"
        [ $code = 124 ] || [ $code = 137 ] || break
    done
    [ $code = 0 ] || sed "s|^|$(basename "$1"): |" "$log"
    closing=$(grep -E '^[0-9]+ passed, ' "$log" | tail -n 1)
    echo "${closing:-0 passed, 1 failed, 0 skipped}"
    rm -f "$log"
}
export -f run_one

FILTER=$(lacks | tr '\n' '|')
export FILTER=${FILTER%|} QEMU_LD_PREFIX=$root
unshare --mount bash -c '
    binfmt=/proc/sys/fs/binfmt_misc name=testlog-aarch64
    mount -t binfmt_misc none $binfmt
    trap "echo -1 >$binfmt/$name" EXIT
    printf %s ":$name:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:$(command -v qemu-aarch64-static):F" >$binfmt/register
    cd "$1" && shift && printf "%s\n" "$@" |
        xargs -P "$(nproc)" -I@ bash -c "run_one @"' bash "$source" $tests >"$work/results"
grep -vE '^[0-9]+ passed, ' "$work/results"
lacks | sed 's/^/[SKIP] aarch64: qemu lacks what it needs: /'
awk -v lacks="$count" '/^[0-9]+ passed, / { passed += $1; failed += $3; skipped += $5 }
    END {
        print passed " passed, " failed " failed, " skipped + lacks " skipped"
        exit failed > 0
    }' "$work/results"

#!/usr/bin/env bash
# aarch64.sh TESTLOG: builds the last commit for aarch64 with Debian's cross compiler, and
# runs the tests of trace, log, harness and runners in qemu's user mode, with TESTLOG.
#
# Needs root, mmdebstrap, g++-aarch64-linux-gnu, qemu-user-static, and binfmt_misc, where
# qemu is registered for as long as the tests run. The last line is "N passed, N failed,
# N skipped".
set -u
testlog=$(realpath "$1")
cd "$(dirname "$0")/.." || exit
. tests/bare.sh

# What qemu's user mode does not have; the tests may pass on a real machine.
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
tests=$(cd tests/unit && find trace log harness runners -name '*_test.c*' |
    sed 's|.*/|build/base/tests/|; s|\.c.*||' | sort)
export PKG_CONFIG_SYSROOT_DIR=$root
export PKG_CONFIG_LIBDIR=$root/usr/lib/aarch64-linux-gnu/pkgconfig
# shellcheck disable=SC2086
make -C "$source" "-j$(nproc)" CC="aarch64-linux-gnu-gcc --sysroot=$root" \
    CXX="aarch64-linux-gnu-g++ --sysroot=$root" CFLAGS='-O1 -g' CXXFLAGS='-O1 -g' \
    all $tests >"$work/log" 2>&1 || { tail -n 40 "$work/log"; exit 1; }

filter=$(lacks | tr '\n' '|')
unshare --mount sh -c '
    binfmt=/proc/sys/fs/binfmt_misc name=testlog-aarch64
    mount -t binfmt_misc none $binfmt
    trap "echo -1 >$binfmt/$name" EXIT
    printf %s ":$name:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:$(command -v qemu-aarch64-static):F" >$binfmt/register
    cd "$1"; root=$2 testlog=$3 filter=$4; shift 4
    QEMU_LD_PREFIX=$root "$testlog" run "$@" -- --timeout=180 --filter "!($filter)" \
        --trace-dir "$root/runs"' sh "$source" "$root" "$testlog" "${filter%|}" $tests |
    sed "\$s/ 0 skipped\$/ $count skipped/"
exit "${PIPESTATUS[0]}"

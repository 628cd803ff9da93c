#!/usr/bin/env bash
# chroot.sh: runs the commands of examples/shards/ as their schedulers would, each
# file in a bare Debian 12 that has nothing of testlog.
#
# Needs root, mmdebstrap, python3-yaml and Debian's archive. The suite is a small
# program whose makefile finds testlog with pkg-config. The last line is
# "N passed, N failed, N skipped".
set -u
cd "$(dirname "$0")/.." || exit
source=$PWD
. tests/bare.sh
passed=0 failed=0
files="github gitlab kubernetes"
name="examples/shards in a bare chroot"

need "$name" 3
/usr/bin/python3 -c 'import yaml' || skip "$name" 3 "not installed: python3-yaml"
mmdebstrap --quiet --variant=minbase bookworm "$work/bare" ||
    skip "$name" 3 "no bare system could be made"

write_suite() {
    mkdir "$1"
    cat >"$1/GNUmakefile" <<'END'
build: build/small_test
build/small_test: small.c
	mkdir -p build
	cc -DTRACING $< -o $@ $$(pkg-config --cflags --libs testlog)
END
    cat >"$1/small.c" <<'END'
#include <testlog/test_log.h>
#define ADDS(n) TEST_LOG(small, adds_##n) { cr_expect_eq(n + n, 2 * n); }
ADDS(1) ADDS(2) ADDS(3) ADDS(4) ADDS(5) ADDS(6) ADDS(7) ADDS(8)
END
}

# Does what every scheduler does before the first command.
prepare() {
    cp -a "$work/bare" "$1"
    cp /etc/resolv.conf "$1/etc/"
    git clone -q --depth 1 "file://$source" "$1/testlog.git"
    write_suite "$1/suite"
    if [ "$2" = github ]; then
        chroot "$1" sh -c 'apt-get -qq update && apt-get -qq install -y make sudo' \
            >/dev/null 2>&1
        cp -a "$1/testlog.git" "$1/suite/.testlog"
    fi
}

run_file() {
    local root=$work/$1
    prepare "$root" "$1" || return
    /usr/bin/python3 tests/e2e/run/shard_files.py "examples/shards/$1.yml" whole \
        >"$work/commands" || return
    { echo "cd /suite; export TESTLOG_URL=file:///testlog.git DEBIAN_FRONTEND=noninteractive"
        cat "$work/commands"; } | inside "$root" >"$work/log" 2>&1 &&
        [ "$(tail -n 1 "$work/log")" = "8 passed, 0 failed, 0 skipped" ]
}

for file in $files; do
    if run_file "$file"; then
        echo "ok: examples/shards/$file.yml"
        passed=$((passed + 1))
    else
        echo "failed: examples/shards/$file.yml"
        tail -n 40 "$work/log"
        failed=$((failed + 1))
    fi
    rm -rf --one-file-system "${work:?}/$file"
done
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]

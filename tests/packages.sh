#!/usr/bin/env bash
# packages.sh [RELEASE...]: builds the Debian packages of the last commit twice in
# a clean system of each release (bookworm, trixie), compares the two, and uses
# them in a bare system: a suite is built with pkg-config and with CMake.
#
# Needs root, mmdebstrap and Debian's archive. The last line is "N passed, N failed,
# N skipped".
set -u
cd "$(dirname "$0")/.." || exit
releases=${*:-bookworm trixie}
source=$PWD
. tests/bare.sh
passed=0 failed=0

need "Debian packages" "$(wc -w <<<"$releases")"

depends() {
    sed -n '/^Build-Depends:/,/^[A-Z].*:/p' debian/control | sed '1s/^[^:]*://; /^[A-Z]/d' |
        sed 's/ *([^)]*)//g; s/:any//g; s/debhelper-compat/debhelper/' | tr -d '\n'
}

# Builds in two folders; the packages must be equal.
build() {
    mmdebstrap --quiet --variant=buildd --include="$(depends | tr -d ' '),lintian" \
        "$1" "$2" || return
    for folder in one another; do
        mkdir -p "$2/$folder"
        git archive --prefix=testlog/ HEAD | tar -x -C "$2/$folder"
    done
    inside "$2" <<'END'
set -x
for folder in one another; do
    (cd /$folder/testlog && dpkg-buildpackage -us -uc -b)
done
for package in /one/*.deb; do
    cmp $package /another/${package##*/}
done
lintian --allow-root --fail-on warning /one/*.changes
END
}

# Uses the packages as a newcomer would.
use() {
    mmdebstrap --quiet --variant=minbase --include=gcc,libc6-dev,make,pkg-config,cmake \
        "$1" "$2" || return
    cp /etc/resolv.conf "$2/etc/"
    mkdir "$2/packages" "$2/suite"
    cp "$3"/one/*.deb "$2/packages/"
    rm -f "$2"/packages/*-dbgsym_*
    cp -r "$source/tests/build-systems/." "$2/suite/"
    inside "$2" <<'END'
set -x
apt-get -qq update
apt-get -qq install -y --no-install-recommends /packages/*.deb
cd /suite
gcc -DTRACING store.c -o store_test $(pkg-config --cflags --libs testlog)
cp -r /usr/include/testlog .
gcc -Wall -Wextra -Werror -I. -DTRACING -c store.c -o /dev/null
! ./store_test >out
grep "^2 passed, 1 failed, 2 skipped" out
testlog log latest store/fails | grep "about to fail"
cmake -S cmake -B build -DMODE=POST_BUILD
cmake --build build
! (cd build && ctest)
test -e build/testlog-runs/latest/report.html
END
}

for release in $releases; do
    echo "---- $release"
    if build "$release" "$work/$release" && use "$release" "$work/$release-bare" \
        "$work/$release"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]

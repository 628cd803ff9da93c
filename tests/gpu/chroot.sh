#!/usr/bin/env bash
# chroot.sh DEBS OUT [run.sh's flags]: runs run.sh --dry-run on a bare machine: a
# chroot that has gcc, python3 and the CUDA toolkit, but no make, no libraries, no git,
# no network and no path to the toolkit's libraries. DEBS is a folder that
# run.sh --download filled, OUT gets what run.sh writes.
#
# The chroot consists of packages that are installed here. Exits with 77 if this
# machine cannot do it.
set -u
export LC_ALL=C.UTF-8
packages=(base-files bash coreutils dash diffutils dpkg findutils gcc g++ grep gzip hostname libc-bin
    libc6-dev mawk python3 sed tar util-linux)

lacks() {
    echo "chroot.sh: $1"
    exit 77
}

[ $# -ge 2 ] || { sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" >&2; exit 2; }
mkdir -p "$2" || exit
debs=$(cd "$1" && pwd) out=$(cd "$2" && pwd) || exit
shift 2
cd "$(dirname "$0")/../.." || exit
toolkit=$(make toolkit | sed -n 's/.* toolkit: \(\/.*\) (.*/\1/p')
[ "${toolkit:-/usr}" != /usr ] || lacks "no CUDA toolkit in a folder of its own"
command -v dpkg-query apt-cache >/dev/null || lacks "no Debian packages"
unshare --mount --net true 2>/dev/null || lacks "no permission for a chroot"

root=$(mktemp -d "$out/chroot.XXXXXX")
trap 'rm -rf --one-file-system "$root"' EXIT

# Files of packages and of what they depend on.
files() {
    apt-cache depends --recurse --installed --no-recommends --no-suggests \
        --no-conflicts --no-breaks --no-replaces --no-enhances "${packages[@]}" |
        grep '^[a-z]' | sort -u | xargs dpkg-query -L 2>/dev/null |
        grep -v -e ^/usr/share/doc -e ^/usr/share/man -e ^/usr/share/locale
    find /etc/alternatives /bin/sh /usr/bin/cc /usr/bin/c++ /usr/bin/awk
    ls -d /bin /sbin /lib /lib64
}

mkdir -p "$root"/usr/{bin,sbin,lib,lib64}
files | sort -u | tar -C / --no-recursion --ignore-failed-read -cf - -T - 2>/dev/null |
    tar -C "$root" -xf - || exit
mkdir -p "$root"/{proc,dev,tmp,src,debs,"$toolkit"}
tar --exclude=./build --exclude=./.git --exclude=./testlog-runs -cf - . |
    tar -C "$root/src" -xf - || exit
cp "$debs"/*.deb "$root/debs" || exit

# within ROOT TOOLKIT FLAG...: runs as a separate process, so that all mounts end
# with it.
within() {
    local root=$1 toolkit=$2
    shift 2
    mount --rbind "$toolkit" "$root$toolkit" && mount -t proc proc "$root/proc" &&
        mount --rbind /dev "$root/dev" && ldconfig -r "$root" || exit
    if chroot "$root" bash -c 'type -P make git pkg-config apt-get nvidia-smi' ||
        chroot "$root" ldconfig -p | grep -e nvrtc -e criterion; then
        echo "chroot.sh: this is no bare machine" >&2
        exit 1
    fi
    exec chroot "$root" env -i PATH="/usr/bin:/usr/sbin:/bin:/sbin:$toolkit/bin" \
        ${CFLAGS:+CFLAGS="$CFLAGS"} /src/tests/gpu/run.sh --dry-run --debs /debs \
        --out /out "$@"
}

export -f within
unshare --mount --net --pid --fork --kill-child \
    bash -c 'within "$@"' within "$root" "$toolkit" "$@"
code=$?
cp -r "$root"/out/* "$out"
exit $code

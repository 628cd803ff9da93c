# bare.sh: what scripts share that run commands in bare systems of mmdebstrap's. It sets
# `work`, a folder that is removed at the end.
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT

# need NAME COUNT: skips COUNT checks of NAME if there can be no bare system.
need() {
    [ "$(id -u)" = 0 ] || skip "$1" "$2" "needs root"
    command -v mmdebstrap >/dev/null || skip "$1" "$2" "not installed: mmdebstrap"
}

# skip NAME COUNT REASON: ends the script.
skip() {
    echo "[SKIP] $1: $3"
    echo "0 passed, 0 failed, $2 skipped"
    exit 0
}

# inside ROOT: runs the commands of stdin in a chroot, and ends with the first that
# fails. The mounts end with them.
inside() {
    unshare --mount --pid --fork sh -c "
        mount --rbind /proc '$1/proc' && mount --rbind /dev '$1/dev' &&
        exec chroot '$1' sh -e -c '. /dev/fd/0'"
}

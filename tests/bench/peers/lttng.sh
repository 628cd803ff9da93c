#!/bin/sh
# lttng.sh PROGRAM: runs it inside a new recording session of LTTng.
set -eu
home=$(mktemp -d)
export LTTNG_HOME="$home" LTTNG_UST_REGISTER_TIMEOUT=3000
daemon=
lttng-sessiond --no-kernel --quiet </dev/null >/dev/null 2>&1 & daemon=$!

end() {
    kill "$daemon" 2>/dev/null || true
    wait "$daemon" 2>/dev/null || true
    rm -rf "$home"
}
trap end EXIT

quietly() {
    "$@" </dev/null >/dev/null 2>&1
}
tries=0
until quietly lttng --no-sessiond create bench --snapshot; do
    tries=$((tries + 1))
    [ $tries -lt 50 ] || exit 1
    sleep 0.1
done
quietly lttng enable-channel --userspace --overwrite --subbuf-size=1M bench
for event in begin end fetched; do
    quietly lttng enable-event --userspace --channel=bench "bench:$event"
done
quietly lttng start
status=0
"$1" || status=$?
quietly lttng destroy bench || true
exit $status

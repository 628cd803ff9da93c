// track_order.js: the order of tracks in pictures: the test's own process with
// its main thread, other threads as they appear, then devices and streams by
// number.
const trackOrder = (() => {
    // The recording has threads in the order in which they appear.
    function firsts(count, idOf) {
        const first = new Map();

        for (let track = 0; track < count; track++) {
            if (!first.has(idOf(track)))
                first.set(idOf(track), track);
        }
        return first;
    }

    // The spans of a thread that overlap have a track beside its own.
    function threadKeys({ pid, tracks }) {
        const { rows, tid } = tracks;
        const thread = (track) => `${tracks.pid[track]} ${tid[track]}`;
        const processes = firsts(rows, (track) => tracks.pid[track]);
        const threads = firsts(rows, thread);

        return (track) => [
            tracks.pid[track] === pid ? -1 : processes.get(tracks.pid[track]),
            tid[track] === tracks.pid[track] ? -1 : threads.get(thread(track)),
            track,
        ];
    }

    function compare(a, b) {
        const at = a.findIndex((number, i) => number !== b[i]);

        return at < 0 ? 0 : a[at] - b[at];
    }

    // of() returns the numbers of all tracks in that order.
    function of(recording) {
        const { tracks, string } = recording;
        const { device, context, stream } = tracks;
        const threadKey = threadKeys(recording);
        const keys = Array.from(tracks.kind, (kind, track) =>
            string(kind) === 'thread' ? [0, ...threadKey(track)] :
                [device[track], context[track], stream[track], track]);

        return keys.map((unused, track) => track)
            .sort((a, b) => compare(keys[a], keys[b]));
    }

    return { of };
})();

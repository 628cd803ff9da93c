// idle.js: times in which nothing happens, which the time line can skip.
//
// Nothing begins, ends or is logged then, and no device works. If a test uses
// no device, its innermost slices are its work.
const idle = (() => {
    // Idle times are long if they take a larger part of what is shown.
    const SHARE = 0.2;
    const MOST = 200;

    // deviceSpan() is from the first work of a device to the last, or null.
    function deviceSpan({ slices }) {
        const span = { start: Infinity, end: -Infinity };

        for (let row = 0; row < slices.rows; row++) {
            if (slices.state[row] & recordings.ON_DEVICE) {
                span.start = Math.min(span.start, slices.start[row]);
                span.end = Math.max(span.end, slices.ends[row]);
            }
        }
        return span.end > span.start ? span : null;
    }

    // worksOf() tells of each slice whether it is work.
    function worksOf(recording) {
        const { rows, state } = recording.slices;
        const works = new Uint8Array(rows);

        if (deviceSpan(recording)) {
            for (let row = 0; row < rows; row++)
                works[row] = state[row] & recordings.ON_DEVICE ? 1 : 0;
            return works;
        }
        works.fill(1);
        for (let row = 0; row < rows; row++) {
            for (const outer of [recordings.around(recording, row),
                recordings.parent(recording, row)]) {
                if (outer >= 0)
                    works[outer] = 0;
            }
        }
        return works;
    }

    function sweep(recording) {
        const { slices, start, zero, bodyEnd, end } = recording;
        const times = recordings.moments(recording, start, zero, bodyEnd, end);
        const works = worksOf(recording);
        const gaps = { from: [], to: [] };
        let busy = -Infinity;
        let row = 0;

        for (let i = 0; i + 1 < times.length; i++) {
            for (; row < slices.rows && slices.start[row] <= times[i]; row++) {
                if (works[row])
                    busy = Math.max(busy, slices.ends[row]);
            }
            if (times[i + 1] > times[i] && busy <= times[i]) {
                gaps.from.push(times[i]);
                gaps.to.push(times[i + 1]);
            }
        }
        return gaps;
    }

    // of() are all idle times of a recording, which keeps them.
    function of(recording) {
        recording.idle = recording.idle || sweep(recording);
        return recording.idle;
    }

    // most() are the longest idle times between two times, in order. Each that
    // is skipped leaves a smaller rest, so that a few are enough.
    function most(recording, start, end) {
        const { from, to } = of(recording);
        let lengths = [];
        let least = 0;

        for (let i = 0; i < from.length; i++) {
            const length = Math.min(to[i], end) - Math.max(from[i], start);

            if (length > least)
                lengths.push(length);
            if (lengths.length >= 2 * MOST) {
                lengths = lengths.sort((a, b) => b - a).slice(0, MOST);
                least = lengths[MOST - 1];
            }
        }
        return lengths.sort((a, b) => b - a);
    }

    // longest() is the least length that is skipped from start to end: the
    // longest idle times are skipped until all others are short beside the
    // rest. Without any, it is 0.
    function longest(recording, start, end) {
        let rest = Math.min(end, recording.end) -
            Math.max(start, recording.start);
        let least = 0;

        for (const length of most(recording, start, end)) {
            if (length <= rest * SHARE || length >= rest)
                break;
            rest -= length;
            least = length;
        }
        return least;
    }

    // atLeast() are the idle times of a length as breaks of the time line, or
    // null.
    function atLeast(recording, length) {
        if (!(length > 0))
            return null;
        const { from, to } = of(recording);
        const rows = [...from.keys()].filter((row) =>
            to[row] - from[row] >= length);

        return scale.breaks(rows.map((row) => [from[row], to[row]]));
    }

    return { deviceSpan, longest, atLeast };
})();

// nesting.js: how slices nest in those around them on their thread, and how
// much of its time each leaves to itself: in a whole recording, or in a range
// of it, to which slices are clipped. `testlog stat` does the same in
// runners/stat/sums_by_name.c.
const nesting = (() => {
    const NEVER_ENTERED = 2;
    const ON_DEVICE = 4;

    // clip() writes the part of each slice that is in a range, and returns
    // which have one. A slice of 0 ns is in the range that begins with it, but
    // not in one that ends there.
    function clip({ rows, start, ends, state }, [from, to], starts, stops) {
        const inside = new Uint8Array(rows);

        for (let row = 0; row < rows; row++) {
            const first = starts[row] = Math.max(from, start[row]);
            const last = stops[row] = Math.min(to, ends[row]);

            inside[row] = !(state[row] & NEVER_ENTERED) &&
                (start[row] === ends[row] ? first === last && first < to :
                    first < last) ? 1 : 0;
        }
        return inside;
    }

    // stacks() returns an array for each track on which slices nest. Spans that
    // no thread entered overlap without being nested.
    function stacks({ tracks, string }) {
        return Array.from(tracks.kind, (kind, track) =>
            string(kind) === 'thread' && !tracks.overlapping[track] ? [] :
                null);
    }

    // nest() finds the innermost slice around each slice, -1 for none, the time
    // of each that the slices in it don't take, and the time that no earlier
    // slice of the same name on its thread has. Slices come by start, so that a
    // thread needs only its open ones.
    function nest(recording, inside, starts, stops) {
        const { rows, track, state, name } = recording.slices;
        const own = Float64Array.from(stops, (stop, row) =>
            inside[row] ? stop - starts[row] : 0);
        const around = new Int32Array(rows).fill(-1);
        const once = Float64Array.from(own);
        const open = stacks(recording);
        const until = open.map(() => new Map());

        for (let row = 0; row < rows; row++) {
            const stack = open[track[row]];

            if (!stack || !inside[row] || state[row] & ON_DEVICE)
                continue;
            while (stack.length &&
                stops[stack[stack.length - 1]] <= starts[row])
                stack.pop();
            if (stack.length) {
                const outer = around[row] = stack[stack.length - 1];
                const end = Math.min(stops[row], stops[outer]);

                own[outer] = Math.max(0, own[outer] - (end - starts[row]));
            }
            const ends = until[track[row]];
            const from = Math.max(starts[row], ends.get(name[row]) || 0);

            once[row] = Math.max(0, stops[row] - from);
            ends.set(name[row], Math.max(from, stops[row]));
            stack.push(row);
        }
        return { own, around, once };
    }

    // within() returns what a range has of each slice: `has` whether it has
    // any, `length` how much, `own` how much of that no slice in it takes,
    // `around` the innermost slice around it, and `once` how much of it no
    // earlier one of the same name has: the time of recursion is that of its
    // outermost call.
    function within(recording, range) {
        const { rows } = recording.slices;
        const starts = new Float64Array(rows);
        const stops = new Float64Array(rows);
        const inside = clip(recording.slices, range, starts, stops);
        const nested = nest(recording, inside, starts, stops);

        return {
            has: (row) => inside[row] === 1,
            length: (row) => stops[row] - starts[row], ...nested,
        };
    }

    // of() does so for a whole recording, which keeps it.
    function of(recording) {
        recording.nesting = recording.nesting ||
            within(recording, [-Infinity, Infinity]);
        return recording.nesting;
    }

    return { within, of };
})();

// innermost.js: the innermost slice of a track at each moment.
const innermost = (() => {
    // A line: the innermost slice changes to rows[i] at times[i]; -1 is none.
    // A change that lasts no time is undone.
    function change({ times, rows }, time, row) {
        if (times.length && times[times.length - 1] === time) {
            times.pop();
            rows.pop();
        }
        if (rows.length ? rows[rows.length - 1] !== row : row >= 0) {
            times.push(time);
            rows.push(row);
        }
    }

    // Ends slices up to a time.
    function close(line, open, time) {
        while (open.length && open[open.length - 1].end <= time) {
            const { end } = open.pop();

            change(line, end, open.length ? open[open.length - 1].row : -1);
        }
    }

    // A slice that outlasts the one in which it begins ends with that one, as
    // in `testlog stat --critical`.
    function begin(line, open, row, { start, ends }) {
        const outer = open.length ? open[open.length - 1].end : Infinity;

        open.push({ row, end: Math.min(ends[row], outer) });
        change(line, start[row], row);
    }

    function build({ slices, tracks }) {
        const { rows, start, track, state } = slices;
        const lines = Array.from({ length: tracks.rows }, () =>
            ({ times: [], rows: [] }));
        const open = lines.map(() => []);

        for (let row = 0; row < rows; row++) {
            const at = track[row];

            if (state[row] & recordings.NEVER_ENTERED)
                continue;
            close(lines[at], open[at], start[row]);
            begin(lines[at], open[at], row, slices);
        }
        lines.forEach((line, i) => close(line, open[i], Infinity));
        return lines;
    }

    // lines() has a line for each track. The recording keeps them.
    function lines(recording) {
        recording.innermost = recording.innermost || build(recording);
        return recording.innermost;
    }

    // each() visits the pieces of a line from one time to another: visit(from,
    // to, row).
    function each({ times, rows }, from, to, visit) {
        let next = layout.firstAt(times, times.length, from, 0);

        if (next < times.length && times[next] === from)
            next++;
        while (from < to) {
            const end = next < times.length ? Math.min(times[next], to) : to;

            visit(from, end, next ? rows[next - 1] : -1);
            from = end;
            next++;
        }
    }

    return { lines, each };
})();

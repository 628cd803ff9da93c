// recordings.js: what one test recorded: slices and how they nest, lines, and
// counters.
const recordings = (() => {
    const OPEN = 1;
    const NEVER_ENTERED = 2;
    const ON_DEVICE = 4;
    // Records that take less than this share of the body are not seen in it.
    const HAIRLINE = 0.05;

    // The rows of a table of fields lie in the order of their owners.
    function firsts(counts, rows) {
        const first = new Uint32Array(rows + 1);

        for (let row = 0; row < rows; row++)
            first[row + 1] = first[row] + counts[row];
        return first;
    }

    function fieldsOf(recording, table, first, row) {
        const fields = [];

        for (let i = first[row]; i < first[row + 1]; i++) {
            fields.push([recording.string(table.name[i]),
                recording.string(table.value[i])]);
        }
        return fields;
    }

    function ends({ rows, start, duration }) {
        const values = new Float64Array(rows);

        for (let row = 0; row < rows; row++)
            values[row] = start[row] + duration[row];
        return values;
    }

    // lastOf() returns when the main thread recorded last, and when any thread
    // did.
    function lastOf({ slices, lines, tracks }) {
        const main = Array.from(tracks.tid).findIndex((tid, track) =>
            tid && tid === tracks.pid[track]);
        const last = { own: 0, all: 0 };
        const add = (time, track) => {
            last.all = Math.max(last.all, time);
            if (track === main)
                last.own = Math.max(last.own, time);
        };

        slices.ends.forEach((time, row) => add(time, slices.track[row]));
        lines.time.forEach((time, row) => add(time, lines.track[row]));
        return last;
    }

    // The runner notes a test's start before its body runs, so the body begins
    // as late as it must to end no earlier than its last record.
    function estimatedZero(recording, test, first, last) {
        const began = Math.max(test.start - (recording.offset || 0),
            last.own - test.duration);

        return test.start < 0 && first < Infinity ? first :
            Math.min(first, began);
    }

    // The recording spans the test's phases and all records. Times count from
    // `zero`, the beginning of the body; those of the setup are negative. The
    // duration in run.json includes Criterion's messages about the test.
    // `used` is the body and all records; around it, Criterion prepares a
    // process and ends it. `opens` is what a time line shows at first: that, or
    // the records alone, if they would be a hairline in it.
    function span(recording, test) {
        const { slices, lines, counters } = recording;
        const { setup, body, teardown, end } = recording.phases =
            { setup: 0, body: 0, teardown: 0, end: 0, ...recording.phases };
        const last = lastOf(recording);
        const first = Math.min(...[slices.start, lines.time, counters.time]
            .filter((times) => times.length).map((times) => times[0]));

        recording.zero = body || setup ||
            estimatedZero(recording, test, first, last);
        recording.start = Math.min(first, setup || recording.zero);
        recording.bodyEnd = teardown || recording.zero + test.duration;
        recording.used = [Math.min(first, recording.zero),
            Math.max(last.all, recording.bodyEnd, recording.zero + 1)];
        recording.end = Math.max(end, recording.used[1]);
        recording.opens = last.all > first && last.all - first <
            HAIRLINE * (recording.used[1] - recording.used[0]) ?
            [first, last.all] : recording.used;
    }

    // extend() makes a recording of which only the part from a time on is known
    // end now.
    function extend(recording, from, now) {
        const { used } = recording;

        recording.start = Math.max(recording.start, from);
        recording.end = Math.max(recording.end, now);
        recording.used = [Math.max(used[0], from), Math.max(used[1], now)];
        recording.opens = recording.used;
        return recording;
    }

    // Linux gives the main thread the first characters of its program's name.
    function threadName({ tracks, string }, track, program) {
        const name = string(tracks.name[track]);
        const { pid, tid } = tracks;

        return tid[track] && tid[track] === pid[track] &&
            program.startsWith(name) ? 'main' : name;
    }

    // Threads of the same name are told apart by their number.
    function trackNames(recording, program) {
        const { tracks, string } = recording;
        const names = Array.from(tracks.name, (unused, track) =>
            [string(tracks.process[track]),
                threadName(recording, track, program) ||
                    string(tracks.kind[track])]
                .filter((part) => part).join(' · '));

        return names.map((name, track) => tracks.tid[track] &&
            names.indexOf(name) !== names.lastIndexOf(name) ?
            `${name} ${tracks.tid[track]}` : name);
    }

    function prepare(recording, test) {
        const slices = recording.slices = recording.table('slices');
        const lines = recording.lines = recording.table('lines');

        recording.tracks = recording.table('tracks');
        recording.sites = recording.table('sites');
        recording.flows = recording.table('flows');
        recording.counters = recording.table('counters');
        recording.sliceFirst = firsts(slices.fields, slices.rows);
        recording.lineFirst = firsts(lines.fields, lines.rows);
        recording.trackNames = trackNames(recording, test.program);
        slices.ends = ends(slices);
        span(recording, test);
        return recording;
    }

    function selfTimes(recording) {
        return nesting.of(recording).own;
    }

    // around() is the slice around another one on its thread, or -1.
    function around(recording, row) {
        return nesting.of(recording).around[row];
    }

    // A later entering of a span has the fields of the first.
    function sliceFields(recording, row) {
        const late = recording.late?.get(row - recording.slices.again[row]);

        return late || fieldsOf(recording, recording.table('slice_fields'),
            recording.sliceFirst, row - recording.slices.again[row]);
    }

    function lineFields(recording, row) {
        return fieldsOf(recording, recording.table('line_fields'),
            recording.lineFirst, row);
    }

    function withFields(name, fields) {
        if (!fields.length)
            return name;
        return `${name}{${fields.map((field) => field.join('=')).join(' ')}}`;
    }

    function sliceName(recording, row) {
        return recording.string(recording.slices.name[row]);
    }

    function parent(recording, row) {
        const distance = recording.slices.parent[row];

        return distance ? row - distance : -1;
    }

    function ancestors(recording, row) {
        const rows = [];

        for (; row >= 0; row = parent(recording, row))
            rows.unshift(row);
        return rows;
    }

    // breadcrumb() names the spans around a line, the outermost first.
    function breadcrumb(recording, slice) {
        return ancestors(recording, slice).map((row) => withFields(
            sliceName(recording, row), sliceFields(recording, row)));
    }

    function message(recording, row) {
        const fields = lineFields(recording, row)
            .map((field) => field.join('=')).join(' ');
        const text = recording.string(recording.lines.text[row]);

        return text && fields ? `${text} ${fields}` : text || fields;
    }

    function trackName(recording, track) {
        return recording.trackNames[track] || '';
    }

    function site(recording, number) {
        const { sites, string } = recording;

        return {
            name: string(sites.name[number]),
            target: string(sites.target[number]),
            place: format.place(string(sites.file[number]),
                sites.line[number]),
            function: string(sites.function[number]),
            level: sites.level[number],
            kind: string(sites.kind[number]),
        };
    }

    // moments() are the times at which something was recorded, and others, in
    // order.
    function moments({ slices, lines }, ...others) {
        const times = new Float64Array(
            2 * slices.rows + lines.rows + others.length);

        times.set(slices.start, 0);
        times.set(slices.ends, slices.rows);
        times.set(lines.time, 2 * slices.rows);
        times.set(others, 2 * slices.rows + lines.rows);
        return times.sort();
    }

    // firstLineAt() is the first line at a time or after it.
    function firstLineAt(recording, time) {
        const { lines } = recording;
        let low = 0;
        let high = lines.rows;

        while (low < high) {
            const middle = (low + high) >> 1;

            if (lines.time[middle] < time)
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    }

    return {
        prepare, extend, selfTimes, around, sliceFields, lineFields, sliceName,
        parent, ancestors, breadcrumb, message, trackName, site, firstLineAt,
        moments, withFields, OPEN, NEVER_ENTERED, ON_DEVICE,
    };
})();

// layout.js: where a recording's slices, lines and counters lie on the time
// line: rows from top to bottom, each with its slices by time.
const layout = (() => {
    const SIZE = {
        ruler: 24, ticks: 12, head: 22, row: 18, curve: 40, gap: 6,
    };
    // Deeper calls get no rows.
    const DEEPEST = 500;

    function depths({ rows, track, depth }, tracks) {
        const deepest = new Uint32Array(tracks);

        for (let i = 0; i < rows; i++) {
            if (depth[i] >= deepest[track[i]])
                deepest[track[i]] = Math.min(DEEPEST, depth[i] + 1);
        }
        return deepest;
    }

    function emptyRow(count) {
        return {
            ids: new Uint32Array(count), starts: new Float64Array(count),
            ends: new Float64Array(count), length: 0,
        };
    }

    function append(row, { start, ends }, id) {
        row.ids[row.length] = id;
        row.starts[row.length] = start[id];
        row.ends[row.length++] = ends[id];
    }

    // pack() puts each slice into the row of its track and depth. Slices come
    // by start time, so that rows are sorted.
    function pack(slices, deepest) {
        const { rows, track, depth, state } = slices;
        const first = new Uint32Array(deepest.length + 1);

        deepest.forEach((count, i) => { first[i + 1] = first[i] + count; });
        const places = new Uint32Array(rows);
        const counts = new Uint32Array(first[deepest.length]);

        for (let i = 0; i < rows; i++) {
            places[i] = first[track[i]] + Math.min(depth[i], DEEPEST - 1);
            counts[places[i]]++;
        }
        const result = Array.from(counts, emptyRow);

        for (let i = 0; i < rows; i++) {
            if (!(state[i] & recordings.NEVER_ENTERED))
                append(result[places[i]], slices, i);
        }
        return { first, places, rows: result };
    }

    // rowsOf() finds, for each row with some of these slices, a row of them.
    function rowsOf({ places, rows }, slices, ids) {
        const counts = new Uint32Array(rows.length);
        const found = new Map();

        for (const id of ids)
            counts[places[id]]++;
        counts.forEach((count, place) => count &&
            found.set(rows[place], emptyRow(count)));
        for (const id of ids)
            append(found.get(rows[places[id]]), slices, id);
        return found;
    }

    function ticks(recording) {
        const { lines, sites } = recording;
        const byLevel = [1, 2, 3, 4, 5].map(() => []);

        for (let i = 0; i < lines.rows; i++) {
            const level = sites.level[lines.site[i]] || 5;

            byLevel[level - 1].push(lines.time[i]);
        }
        return byLevel.map((times) => Float64Array.from(times));
    }

    // arrows() lead from a call to the work that it launched, and from a span
    // to one that runs on another track, in the order in which they end.
    function arrows(recording) {
        const { flows, slices } = recording;
        const { parent, track } = slices;
        const pairs = [];

        for (let i = 0; i < flows.rows; i++)
            pairs.push([flows.from[i], flows.to[i]]);
        for (let i = 0; i < slices.rows; i++) {
            if (parent[i] && track[i - parent[i]] !== track[i] &&
                !(slices.state[i] & recordings.ON_DEVICE))
                pairs.push([i - parent[i], i]);
        }
        pairs.sort((a, b) => a[1] - b[1]);
        return {
            length: pairs.length,
            from: Uint32Array.from(pairs, ([from]) => from),
            to: Uint32Array.from(pairs, ([, to]) => to),
            times: Float64Array.from(pairs, ([, to]) => slices.start[to]),
        };
    }

    // groups() are what a head stands for: a track with its rows, of which
    // `first` is the number of the first one, or the curve of a counter.
    function groups(recording, packed) {
        const threads = trackOrder.of(recording).map((id) => ({
            id, first: packed.first[id],
            name: format.line(recordings.trackName(recording, id)),
            rows: packed.rows.slice(packed.first[id], packed.first[id + 1]),
        }));

        return [...threads, ...curves.of(recording).map((curve, i) => ({
            id: threads.length + i, first: 0, rows: [], curve,
            name: format.line(curve.name),
        }))];
    }

    // hues() are the colors of names, by their numbers.
    function hues({ slices, strings }) {
        const result = new Uint8Array(strings.length);
        const seen = new Uint8Array(strings.length);

        for (const number of slices.name) {
            if (!seen[number])
                result[number] = paint.hue(strings[number]);
            seen[number] = 1;
        }
        return result;
    }

    // of() is the layout of a recording, which keeps it.
    function of(recording) {
        if (!recording.layout) {
            const deepest = depths(recording.slices, recording.tracks.rows);
            const packed = pack(recording.slices, deepest);

            recording.layout = {
                groups: groups(recording, packed),
                rowCount: packed.rows.length,
                ticks: ticks(recording),
                arrows: arrows(recording),
                hues: hues(recording),
                places: packed.places,
                rowsOf: (ids) => rowsOf(packed, recording.slices, ids),
            };
        }
        return recording.layout;
    }

    // firstAt() is the first of sorted values that is not below a limit, from
    // some index on. It gallops: neighbors are found in a few steps.
    function firstAt(values, length, limit, from) {
        let low = from;
        let step = 1;

        while (low + step < length && values[low + step] < limit) {
            low += step;
            step *= 2;
        }
        let high = Math.min(length, low + step);

        while (low < high) {
            const middle = (low + high) >>> 1;

            if (values[middle] < limit)
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    }

    // firstEndingAfter() is the first slice of a row that ends after a time.
    function firstEndingAfter(row, time, from) {
        const next = firstAt(row.starts, row.length, time, from);

        return next > from && row.ends[next - 1] > time ? next - 1 : next;
    }

    return { of, firstAt, firstEndingAfter, SIZE };
})();

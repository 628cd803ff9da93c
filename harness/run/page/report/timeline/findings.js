// findings.js: sentences about where a test's time went. Each is computed, is
// worth a line only from a threshold on, and leads to its place.
const findings = (() => {
    const { make } = dom;
    // The least shares that are worth a line: of the body, of the time between
    // a device's first and last work, and, for phases, of the whole.
    const LEAST = {
        name: 0.2, compile: 0.1, wait: 0.1, nothing: 0.25, idleBefore: 0.05,
        phase: 0.25,
    };
    // The least times in ns. The messages between Criterion's processes are
    // part of the setup and the teardown, and take long on a busy machine.
    const LONG = { wait: 1e4, nothing: 1e6, phase: 1e8 };
    const NAMES = 3;

    function median(values) {
        const sorted = [...values].sort((a, b) => a - b);
        const middle = sorted.length >> 1;

        return sorted.length % 2 ? sorted[middle] :
            (sorted[middle - 1] + sorted[middle]) / 2;
    }

    // A test that never returned has no teardown: its path ends its body.
    function bodyOf(recording) {
        const { zero, bodyEnd, phases } = recording;
        const last = criticalPath.of(recording).at(-1);
        const to = phases.teardown || (last ? last.to : bodyEnd);

        return { from: zero, to, length: to - zero };
    }

    // onPath() are the pieces of the path in the body.
    function onPath(recording) {
        return criticalPath.of(recording).filter(({ phase: name }) =>
            name !== 'setup' && name !== 'teardown');
    }

    /* ---- What the test waited for ---- */

    function names(recording) {
        const { length } = bodyOf(recording);
        const pieces = onPath(recording).filter(({ row }) => row >= 0);

        return criticalPath.sums(pieces, (piece) =>
            criticalPath.name(recording, piece))
            .filter(({ total }) => total >= LEAST.name * length)
            .slice(0, NAMES)
            .map(({ key, total, longest }) => ({
                text: `${format.percent(total, length)} of the time in ` +
                    format.line(key), place: longest,
            }));
    }

    function isMain({ tracks, pid }, track) {
        return track < 0 || (tracks.tid[track] === pid &&
            tracks.pid[track] === pid);
    }

    function waits(recording) {
        const { length } = bodyOf(recording);
        const { tracks, string } = recording;
        const others = onPath(recording).filter(({ track, row }) =>
            row >= 0 && !isMain(recording, track));

        return criticalPath.sums(others, ({ track }) => track)
            .filter(({ total }) => total >= LEAST.wait * length &&
                total >= LONG.wait)
            .map(({ key, total, longest }) => ({
                text: `The test waited ${format.duration(total)} for ${
                    string(tracks.kind[key]) === 'thread' ? 'thread ' : ''}${
                    format.line(recordings.trackName(recording, key))}`,
                place: longest,
            }));
    }

    function nothing(recording) {
        const { length } = bodyOf(recording);
        const pieces = onPath(recording).filter(({ row }) => row < 0);

        return criticalPath.sums(pieces, () => '')
            .filter(({ total }) => total >= LEAST.nothing * length &&
                total >= LONG.nothing)
            .map(({ total, longest }) => ({
                text: `Nothing was recorded in ${
                    format.percent(total, length)} of the test body`,
                place: longest,
            }));
    }

    /* ---- Compilations ---- */

    // Compilations of several threads at a time count once.
    function compilations(recording) {
        const { slices, string } = recording;
        const body = bodyOf(recording);
        const found = { total: 0, end: body.from, longest: null };

        for (let row = 0; row < slices.rows; row++) {
            if (string(slices.kind[row]) !== 'compile')
                continue;
            const from = Math.max(slices.start[row], found.end);
            const to = Math.min(slices.ends[row], body.to);

            found.total += Math.max(0, to - from);
            found.end = Math.max(found.end, to);
            if (!found.longest || slices.duration[row] >
                slices.duration[found.longest.row]) {
                found.longest = { row, from: slices.start[row],
                    to: slices.ends[row] };
            }
        }
        const share = format.percent(found.total, body.length);

        return found.total >= LEAST.compile * body.length && found.longest ? [{
            text: `Compilations took ${share} of the test body`,
            place: found.longest, share,
        }] : [];
    }

    // addsTo() returns whether a sentence about compilations says more than one
    // about a name, which may be that of all compilations.
    function addsTo(named, { share, place }) {
        return !named.some((one) => one.place.row === place.row &&
            one.text.startsWith(share));
    }

    /* ---- Devices ---- */

    function idleBefore(recording, device, kind, word) {
        const { slices, string } = recording;
        const found = device.gaps.filter(({ before }) =>
            string(slices.kind[before]) === kind);
        const lengths = found.map(({ from, to }) => to - from);
        const total = lengths.reduce((sum, length) => sum + length, 0);

        if (found.length < 2 ||
            total < LEAST.idleBefore * (device.end - device.start))
            return [];
        const longest = found[lengths.indexOf(Math.max(...lengths))];

        return [{
            text: `${format.line(device.name)} was idle ${
                format.duration(median(lengths))} before each ${word} ` +
                `(median of ${format.count(found.length)}; ${
                    format.duration(total)} in all)`,
            place: { ...longest, row: longest.before },
        }];
    }

    // A slice that was left out has no row.
    function rowOf({ slices }, from, duration) {
        for (let row = 0; row < slices.rows; row++) {
            if (slices.start[row] === from &&
                slices.duration[row] === duration)
                return row;
        }
        return -1;
    }

    function blocking(recording) {
        const { rows, text, start, duration } = recording.table('blocking');

        return Array.from({ length: rows }, (unused, row) => ({
            text: format.line(recording.string(text[row])),
            place: { from: start[row], to: start[row] + duration[row],
                row: rowOf(recording, start[row], duration[row]) },
        }));
    }

    function devices(recording) {
        return gaps.devicesOf(recording).flatMap((device) => [
            ...idleBefore(recording, device, 'memcpy', 'copy'),
            ...idleBefore(recording, device, 'kernel', 'kernel'),
        ]);
    }

    /* ---- Phases ---- */

    function phase(recording, name, from, to) {
        const { start, end } = recording;

        return from && to && to - from >= LONG.phase &&
            to - from >= LEAST.phase * (end - start) ? [{
                text: `The ${name} took ${format.duration(to - from)}, ${
                    format.percent(to - from, end - start)} of the whole`,
                place: { from, to, row: -1 },
            }] : [];
    }

    function phases(recording) {
        const { setup, body, teardown, end } = recording.phases;

        return [...phase(recording, 'setup', setup, body),
            ...phase(recording, 'teardown', teardown, end)];
    }

    // of() returns the findings: {text, place}.
    function of(recording) {
        const named = names(recording);
        const compiled = compilations(recording)
            .filter((one) => addsTo(named, one));

        return [...named, ...waits(recording), ...compiled,
            ...blocking(recording), ...devices(recording),
            ...nothing(recording), ...phases(recording)];
    }

    function fill(control) {
        const found = of(control.recording);

        return found.length ? make('ul', { class: 'findings' },
            found.map(({ text, place }) => make('li', {}, make('button', {
                type: 'button', click: () => critical.goTo(control, place),
            }, text)))) :
            make('p', { class: 'muted' }, 'Nothing stands out.');
    }

    panels.add('findings', { title: 'Findings', fill });

    return { of };
})();

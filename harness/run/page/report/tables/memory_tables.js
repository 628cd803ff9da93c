// memory_tables.js: memory of devices in numbers: what was allocated, what was
// in use at the peak, on which streams, and what was released late.
const memoryTables = (() => {
    const { make } = dom;
    const UNKNOWN = 'allocated before the recording, or lost';
    const EXPLAINED = 'Unused is for how long no device worked before the ' +
        'release, or the end of the recording: the memory was unused for at ' +
        'least as long. Memory is released late if it was unused for over ' +
        'half of the time since its allocation.';

    // A sum of allocations; `one` is the largest of them. Numbers that no
    // recording tells are null.
    function newSum(members) {
        return { ...members, count: 0, bytes: 0, releases: 0, released: 0,
            leaks: null, leaked: null, unused: null, held: 0, one: null };
    }

    function add(sum, recording, one) {
        const unused = memory.unusedTime(recording, one);

        sum.count++;
        sum.bytes += one.bytes;
        if (one.to < Infinity && !one.isReplaced) {
            sum.releases++;
            sum.released += one.bytes;
        }
        if (memory.isWhole(recording)) {
            const isLeaked = memory.isLeaked(one);

            sum.leaks += isLeaked;
            sum.leaked += isLeaked ? one.bytes : 0;
        }
        sum.held = Math.max(sum.held,
            Math.min(one.to, recording.end) - one.from);
        if (unused !== null)
            sum.unused = Math.max(sum.unused, unused);
        if (!sum.one || one.bytes > sum.one.bytes)
            sum.one = one;
    }

    // sumsOf() sums up allocations by some members.
    function sumsOf(recording, allocations, membersOf, sums = new Map()) {
        for (const one of allocations) {
            const members = membersOf(one);
            const key = JSON.stringify(members);

            if (!sums.has(key))
                sums.set(key, newSum(members));
            add(sums.get(key), recording, one);
        }
        return sums;
    }

    function bySize(sums) {
        return [...sums.values()].sort((a, b) => b.bytes - a.bytes);
    }

    function streamName({ tracks, string }, { device, stream }) {
        const track = tracks.stream.findIndex((number, i) =>
            number === stream && string(tracks.process[i]) === device);

        return track >= 0 ? string(tracks.name[track]) : `stream ${stream}`;
    }

    // highest() is how much of these allocations was in use at one time.
    function highest(allocations) {
        const steps = allocations.flatMap(({ row, last, bytes }) =>
            [[row, bytes], [last, -bytes]]).sort((a, b) => a[0] - b[0]);
        let now = 0;

        return steps.reduce((most, [, bytes]) => {
            now += bytes;
            return Math.max(most, now);
        }, 0);
    }

    function streamsOf(recording, allocations) {
        const ordered = allocations.filter(({ stream }) => stream);

        return bySize(sumsOf(recording, ordered, (one) => ({
            device: one.device, number: one.stream,
            stream: streamName(recording, one),
        }))).map((sum) => ({ ...sum, highest: highest(ordered.filter((one) =>
            one.device === sum.device && one.stream === sum.number)) }));
    }

    // live() sums up by span what was in use at a peak.
    function live(recording, device, peak) {
        const rows = bySize(sumsOf(recording, peak.live, (one) => ({
            place: memory.place(recording, one), kind: one.kind })));

        if (peak.unknown > 0) {
            rows.push({ ...newSum({ place: UNKNOWN, kind: '' }), count: null,
                bytes: peak.unknown });
        }
        return rows.map((row) => ({ ...row,
            share: peak.bytes ? 100 * row.bytes / peak.bytes : 0 }));
    }

    function lateOf(recording, allocations) {
        return sumsOf(recording, allocations.filter((one) =>
            memory.finding(recording, one)), (one) => ({
            finding: memory.finding(recording, one), device: one.device,
            kind: one.kind, place: memory.place(recording, one) }));
    }

    /* ---- Sections ---- */

    const DEVICE = ['Device', (sum) => sum.device];
    const KIND = ['Memory', (sum) => sum.kind];
    const SUMS = [
        ['Allocations', (sum) => sum.count],
        ['Bytes', (sum) => sum.bytes, 'bytes'],
        ['Largest', (sum) => sum.one ? sum.one.bytes : null, 'bytes'],
    ];
    const RELEASES = [
        ['Released', (sum) => sum.releases],
        ['Bytes released', (sum) => sum.released, 'bytes'],
        ['Never released', (sum) => sum.leaks],
        ['Bytes never released', (sum) => sum.leaked, 'bytes'],
    ];
    const TOTALS = [DEVICE, KIND, ...SUMS, ...RELEASES];
    const STREAMS = [['Stream', (sum) => sum.stream],
        ['Device', (sum) => sum.device, 'text'], ...SUMS,
        ['Highest', (sum) => sum.highest, 'bytes'], ...RELEASES];
    const LATE = [
        ['Finding', (sum) => sum.finding, 'text'], ...SUMS,
        ['Held', (sum) => sum.held, 'time'],
        ['Unused', (sum) => sum.unused, 'time'], KIND,
        ['Device', (sum) => sum.device, 'text'],
    ];

    // placeColumn() names spans; open(sum, text) makes a link to the largest
    // allocation.
    function placeColumn(open) {
        return ['Span', (sum) => sum.place, undefined, (sum, text) =>
            sum.one ? open(sum, text) : text];
    }

    function liveTable(rows, device, open) {
        return sumTable.make(`Live at the peak of ${device}`, rows, [
            placeColumn(open), KIND,
            ['Bytes', (sum) => sum.bytes, 'bytes'],
            ['Share', (sum) => sum.share, 'percent'],
            ['Allocations', (sum) => sum.count],
            ['Largest', (sum) => sum.one ? sum.one.bytes : null, 'bytes'],
        ]);
    }

    function empty() {
        return { totals: new Map(), peaks: new Map(), late: [], streams: [] };
    }

    // collect() adds a test to the sums. The highest peak of each device stays.
    function collect(sums, recording, test) {
        const { allocations, uses } = memory.of(recording);
        const zeroed = (sum) => Object.assign(sum, { test,
            zero: recording.zero });

        sumsOf(recording, allocations, ({ device, kind }) =>
            ({ device, kind }), sums.totals);
        sums.late.push(...[...lateOf(recording, allocations).values()]
            .map(zeroed));
        sums.streams.push(...streamsOf(recording, allocations)
            .map((sum) => ({ ...sum, test })));
        for (const device of uses.keys()) {
            const peak = memory.peak(recording, device);
            const known = sums.peaks.get(device);

            if (!known || peak.bytes > known.peak.bytes) {
                sums.peaks.set(device, zeroed({ device, peak,
                    rows: live(recording, device, peak).map(zeroed) }));
            }
        }
    }

    function link({ test, zero }, time, text) {
        return make('a', { href: state.link({ view: 'timeline', test: test.id,
            t: Math.round(time - zero) }) }, text);
    }

    function peakSection({ device, peak, rows, ...at }, isOne) {
        const time = format.seconds(peak.time - at.zero);
        const open = (sum, text) => link(sum, sum.one.from, text);

        return [make('h3', {}, `Live at the peak of ${format.line(device)}: ${
            format.bytes(peak.bytes)}, `, link(at, peak.time, `at ${time} s${
            isOne ? '' : ` of ${format.line(at.test.title)}`}`)),
        liveTable(rows, device, open)];
    }

    function lateSection(late, isOne) {
        const open = (sum, text) => link(sum, sum.one.from, text);
        const test = ['Test', (sum) => sum.test.title, 'text'];

        return late.length ? [make('h3', {}, 'Released late or never'),
            make('p', { class: 'muted' }, EXPLAINED),
            sumTable.make('Released late or never',
                late.sort((a, b) => b.bytes - a.bytes),
                [placeColumn(open), ...LATE, ...isOne ? [] : [test]])] : [];
    }

    // sections() shows the sums of one test, or of several.
    function sections({ totals, peaks, late, streams }, isOne) {
        const test = ['Test', (sum) => sum.test.title, 'text'];

        if (!totals.size)
            return [];
        return [make('h2', {}, 'Memory of devices'),
            sumTable.make('Memory of devices', bySize(totals), TOTALS),
            [...peaks.values()].map((one) => peakSection(one, isOne)),
            lateSection(late, isOne),
            streams.length ? [make('h3', {}, 'By stream'),
                sumTable.make('Memory by stream',
                    streams.sort((a, b) => b.bytes - a.bytes),
                    [...STREAMS, ...isOne ? [] : [test]])] : []];
    }

    return { empty, collect, sections, live, liveTable, EXPLAINED };
})();

// memory.js: what a test allocated on devices, what was in use at a moment, and
// what was released late or never.
const memory = (() => {
    const RELEASE = 1;
    const RELEASE_OF_ALL = 2;
    // A program must release these; log/devices/device_summary.c judges leaks
    // by the same kinds.
    const OWNED = new Set(['device', 'managed', 'array', 'pinned']);
    // Hosts can't use these, so that they are unused while no device works.
    const OF_DEVICES = new Set(['device', 'array']);

    /* ---- Moments ---- */

    // isMoment() tells whether a slice has no duration by its nature.
    function isMoment({ slices, string }, row) {
        return !slices.duration[row] && ['allocate', 'release', 'event']
            .includes(string(slices.kind[row]));
    }

    // extent() is how long a slice took, or how many bytes it is about.
    function extent(recording, row) {
        if (!isMoment(recording, row))
            return format.duration(recording.slices.duration[row]);
        const bytes = new Map(recordings.sliceFields(recording, row))
            .get('bytes');

        return bytes ? format.bytes(Number(bytes)) : '';
    }

    /* ---- Allocations ---- */

    // An allocation, until its release in row `last`, at time `to`.
    function allocation({ string }, table, row) {
        return {
            row, last: Infinity, from: table.time[row], to: Infinity,
            slice: table.slice[row] - 1, span: table.span[row] - 1,
            bytes: table.bytes[row], device: string(table.device[row]),
            stream: table.stream[row], isPooled: !!table.async[row],
            kind: string(table.memory[row]),
            isCounted: table.in_use[row] > 0, isReplaced: false,
        };
    }

    function finish(one, table, row, changes = {}) {
        Object.assign(one, { last: row, to: table.time[row], ...changes });
    }

    // An address that is allocated again was released without a record.
    function allocationsOf(recording) {
        const table = recording.table('memory');
        const open = new Map();
        const all = [];

        for (let row = 0; row < table.rows; row++) {
            const address = table.address[row];
            const known = open.get(address);
            const what = table.release[row];

            if (what === RELEASE_OF_ALL) {
                open.forEach((one) => finish(one, table, row));
                open.clear();
            } else if (known) {
                finish(known, table, row, { isReplaced: what !== RELEASE });
                open.delete(address);
            }
            if (!what) {
                all.push(allocation(recording, table, row));
                open.set(address, all[all.length - 1]);
            }
        }
        return all;
    }

    // usesOf() lists the bytes that are in use, by device.
    function usesOf({ table, string }) {
        const { rows, in_use: inUse, device, time } = table('memory');
        const uses = new Map();

        for (let row = 0; row < rows; row++) {
            const name = string(device[row]);

            if (!inUse[row])
                continue;
            if (!uses.has(name))
                uses.set(name, []);
            uses.get(name).push({ row, time: time[row],
                bytes: inUse[row] - 1 });
        }
        return uses;
    }

    function of(recording) {
        if (!recording.memory) {
            recording.memory = {
                allocations: allocationsOf(recording),
                uses: usesOf(recording),
            };
        }
        return recording.memory;
    }

    // peak() is the moment of a device's highest use, in a range or in all.
    // Bytes in use that no allocation explains are `unknown`.
    function peak(recording, device, range) {
        const [start, end] = range || [-Infinity, Infinity];
        const { allocations, uses } = of(recording);
        let found = null;

        for (const use of uses.get(device) || []) {
            if (use.time > end)
                break;
            if (!found || use.time <= start || use.bytes > found.bytes)
                found = use;
        }
        if (!found)
            return null;
        const live = allocations.filter((one) => one.device === device &&
            one.isCounted && one.row <= found.row && one.last > found.row);

        return { ...found, live, unknown: found.bytes -
            live.reduce((sum, { bytes }) => sum + bytes, 0) };
    }

    /* ---- Releases ---- */

    // isWhole() tells whether what is missing in a recording did not happen.
    function isWhole(recording) {
        return recording.ended && recording.devices_whole === true;
    }

    // isLeaked() tells so of an allocation in a whole recording.
    function isLeaked({ kind, last }) {
        return OWNED.has(kind) && last === Infinity;
    }

    // worksOf() lists when devices began to work, and by when they had ended
    // what they began before.
    function worksOf(recording) {
        const { slices } = recording;
        const starts = [];
        const ends = [];

        for (let row = 0; row < slices.rows; row++) {
            if (slices.state[row] & recordings.ON_DEVICE) {
                starts.push(slices.start[row]);
                ends.push(Math.max(slices.ends[row], ends.at(-1) ?? 0));
            }
        }
        return { starts, ends };
    }

    // unusedTime() is for how long no device worked before memory was released,
    // or before the end: it was unused for at least as long. It is null if that
    // is unknown.
    function unusedTime(recording, one) {
        if (!isWhole(recording) || recording.cut || report.run.head.part ||
            one.isReplaced || !OF_DEVICES.has(one.kind))
            return null;
        const kept = of(recording);

        kept.works = kept.works || worksOf(recording);
        const { starts, ends } = kept.works;
        const to = Math.min(one.to, recording.end);
        const next = layout.firstAt(starts, starts.length, to, 0);

        return Math.max(0, to - Math.max(one.from, ends[next - 1] ?? 0));
    }

    // finding() tells what is wrong with the release of an allocation; it is
    // empty if nothing is, or if that is unknown.
    function finding(recording, one) {
        const { teardown } = recording.phases;
        const length = Math.min(one.to, recording.end) - one.from;
        const unused = unusedTime(recording, one);

        if (isWhole(recording) && isLeaked(one))
            return 'never released';
        if (one.to === Infinity || one.isReplaced || !OWNED.has(one.kind))
            return '';
        if (unused === length)
            return 'unused';
        if (unused > length / 2)
            return 'released late';
        return teardown && one.from < teardown && one.to >= teardown ?
            'released in the teardown' : '';
    }

    // place() names the spans around an allocation.
    function place(recording, { span }) {
        return recordings.ancestors(recording, span).map((row) =>
            recordings.sliceName(recording, row)).join(' › ') ||
            'outside spans';
    }

    return {
        of, peak, isWhole, isLeaked, unusedTime, finding, place, isMoment,
        extent,
    };
})();

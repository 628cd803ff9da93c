// growing_test.js: recordings to which blocks are added.
'use strict';

/* global recordings, unpack */

const assert = require('node:assert');

// blocksOf() makes blocks. Each has short spans, with a field and a line, in a
// span that is open from the first block to the last. It runs in the page.
function blocksOf(count) {
    const strings = ['', 'thread', 'step', 'outer', 'line', 'i', '0', '1'];
    const table = (rows, columns) => ({ rows, ...Object.fromEntries(
        Object.entries(columns).map(([name, values]) =>
            [name, ['start', 'duration', 'time', 'slice'].includes(name) ?
                Float64Array.from(values) : Uint32Array.from(values)])) });
    const slices = (i) => {
        const names = [...i ? [] : [3], 2, 2, 2];
        const all = (values) => names.map((one, k) => values(one === 3, k));
        const before = i ? 3 * i + 1 : 0;

        return table(names.length, {
            start: all((outer, k) => 1000 * i + 100 * k),
            duration: all((outer) => outer ? 0 : 50), track: all(() => 0),
            depth: all((outer) => outer ? 0 : 1), name: names,
            site: all((outer) => outer ? 0 : 1),
            parent: all((outer, k) => outer ? 0 : before + k),
            again: all(() => 0), state: all((outer) => outer ? 1 : 0),
            kind: all(() => 0), fields: all((outer) => outer ? 0 : 1),
        });
    };
    const first = {
        tracks: table(1, { kind: [1], name: [1], process: [0], pid: [1],
            tid: [1] }),
        sites: table(2, { name: [3, 2], target: [0, 0], level: [3, 3] }),
    };
    const last = {
        ended: table(1, { row: [0], duration: [1000 * count], fields: [1] }),
        ended_fields: table(1, { name: [5], value: [7] }),
    };
    const tablesOf = (i) => ({
        ...i ? {} : first, ...i === count - 1 ? last : {}, slices: slices(i),
        slice_fields: table(3, { name: [5, 5, 5],
            value: [6 + i % 2, 6 + i % 2, 6 + i % 2] }),
        lines: table(1, { time: [1000 * i + 110], track: [0], site: [1],
            slice: [3 * i + 4], text: [4], shown: [1], fields: [0] }),
    });

    return Array.from({ length: count }, (unused, i) => {
        const tables = tablesOf(i);

        return { name: 'a/b', now: 1000 * (i + 1), phases: {}, strings,
            string: (number) => strings[number],
            table: (name) => unpack.fill(name, tables[name] || { rows: 0 }) };
    });
}

// described() is what there is to know of a recording. It runs in the page.
function described(recording) {
    const { slices, lines } = recording;
    const all = (value) => Array.from({ length: slices.rows },
        (unused, row) => value(row));

    return {
        rows: slices.rows, lines: lines.rows, skipped: recording.skipped,
        moved: recording.moved(0), zero: recording.zero,
        start: recording.start, end: recording.end,
        names: all((row) => recordings.sliceName(recording, row)),
        parents: all((row) => recordings.parent(recording, row)),
        fields: all((row) => recordings.sliceFields(recording, row).join()),
        around: Array.from(lines.slice, (slice) => slice &&
            recordings.sliceName(recording, slice - 1)),
        durations: [...slices.duration], states: [...slices.state],
    };
}

async function grown(open, options) {
    const page = await open('mixed');

    return page.evaluate(`(() => {
        ${blocksOf}
        ${described}
        const { blocks, limits } = ${JSON.stringify(options)};
        const growth = growing.make(limits);
        const test = { program: 'p', name: 'a/b', duration: 0, start: -1 };

        return blocksOf(blocks).map((block) => {
            growth.add(block);
            return described(growth.recording(test));
        });
    })()`);
}

module.exports = {
    async adds_blocks_to_a_recording(open) {
        const made = await grown(open, { blocks: 4 });
        const [first] = made;
        const last = made.at(-1);

        assert.deepStrictEqual(made.map(({ rows }) => rows), [4, 7, 10, 13]);
        assert.deepStrictEqual(first.durations, [1000, 50, 50, 50]);
        assert.deepStrictEqual(last.names,
            ['outer', ...Array(12).fill('step')]);
        assert.deepStrictEqual(last.parents, [-1, ...Array(12).fill(0)]);
        assert.deepStrictEqual(last.around, Array(4).fill('step'));
        assert.strictEqual(first.fields[0], '');
        assert.strictEqual(last.fields[0], 'i,1');
        assert.strictEqual(last.fields[3], 'i,0');
        assert.strictEqual(last.fields[5], 'i,1');
        assert.strictEqual(last.durations[0], 4000);
        assert.strictEqual(last.states[0], 0);
        assert.ok(made.every(({ zero }) => zero === first.zero));
    },

    async forgets_the_first_rows_and_keeps_open_slices(open) {
        const made = await grown(open, { blocks: 12, limits: {
            slices: { most: 12, kept: 6 }, lines: { most: 4, kept: 2 },
            texts: { most: 3 } } });
        const last = made.at(-1);

        for (const one of made) {
            assert.ok(one.rows <= 13, `${one.rows} rows`);
            assert.strictEqual(one.names[0], 'outer');
            assert.strictEqual(one.moved, 0);
            assert.deepStrictEqual(new Set(one.parents.slice(1)),
                new Set([0]));
            assert.strictEqual(one.end >= one.start, true);
            assert.ok(one.around.every((name) => !name || name === 'step'));
            assert.ok(one.fields.slice(1).every((text) =>
                /^i,[01]$/.test(text)), one.fields.join(' '));
        }
        assert.strictEqual(last.skipped + last.lines, 12);
        assert.ok(made.some(({ skipped }) => skipped));
        assert.ok(last.start > made[0].start);
        assert.strictEqual(last.fields[0], 'i,1');
        assert.strictEqual(last.states[0], 0);
    },
};

// against_sample.js: makes pages that compare two runs, with every kind of
// change in them.
'use strict';

const { writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { assemble, block } = require('./assemble.js');
const { requests, testBlock } = require('./samples.js');

const PAIRS = {
    program: 's', name: 's', change: 's', old_outcome: 's', new_outcome: 's',
    old_reason: 's', new_reason: 's', old_duration: 'i', new_duration: 'i',
    bound: 'i',
};
const NAMES = {
    kind: 's', name: 's', shape: 's', verdict: 'n', noise: 'f',
    old_count: 'i', new_count: 'i', old_total: 'i', new_total: 'i',
    old_self: 'i', new_self: 'i', old_median: 'i', new_median: 'i',
    old_p99: 'i', new_p99: 'i', old_most: 'i', new_most: 'i',
};
const BUCKETS = { name: 'd', from: 'i', to: 'i', old: 'i', new: 'i' };
const PATHS = {
    parent: 'd', name: 's', old_count: 'i', new_count: 'i', old_total: 'i',
    new_total: 'i', old_self: 'i', new_self: 'i',
};

function columns(rows, encodings) {
    return Object.fromEntries(Object.entries(encodings).map(([name, kind]) =>
        [name, [kind, rows.map((row) =>
            row[name] ?? (kind === 's' ? '' : 0))]]));
}

// recording() is that of the first test in a run, whose body begins late.
function recording(side, begin, many) {
    return testBlock(0, {
        phases: { setup: begin - 5e5, body: begin, teardown: begin + 9e6,
            end: begin + 9.1e6 },
    }, requests(begin, many)).replace('id="t', `id="${side}`);
}

// against() is a page of the given rows.
function against({ pairs, names, buckets, paths, ...members }) {
    const run = (name) => ({ run: name, path: `testlog-runs/${name}`,
        duration_ns: 2e9, tests: 9, recordings: 8 });

    return assemble([block('against', {
        testlog: '0.1.0', old: run('2026-11-22T08-00-00.123456'),
        new: run('2026-11-22T09-00-00.654321'),
        left_out: { pairs: 0, names: 0, paths: 0 }, ...members,
    }, {
        pairs: columns(pairs, PAIRS), names: columns(names, NAMES),
        buckets: columns(buckets, BUCKETS), paths: columns(paths, PATHS),
    }), recording('o', 1e6, 20), recording('n', 7e6, 10)], 'against');
}

function pair(name, change, before, after, more = {}) {
    return { program: 'store_test', name, change,
        old_outcome: before[0], old_duration: before[1],
        new_outcome: after[0], new_duration: after[1], ...more };
}

function name(kind, text, verdict, before, after, more = {}) {
    const side = (prefix, [count, median, self]) => Object.fromEntries(
        Object.entries({ count, median, self, total: count * median,
            p99: 2 * median, most: 3 * median })
            .map(([key, value]) => [`${prefix}_${key}`, value]));

    return { kind, name: text, verdict, ...side('old', before),
        ...side('new', after), ...more };
}

const MIXED = {
    pairs: [
        pair('store/evicts_oldest', 'newly-failing', ['passed', 8e7],
            ['crashed', 9e7],
            { new_reason: 'SIGSEGV: null pointer, in store_query' }),
        pair('store/reopens', 'newly-passing', ['failed', 2e7],
            ['passed', 2e7], { old_reason: 'store_test.c:31: 2 != 3' }),
        pair('pool/stops', 'other-outcome', ['passed', 1e6], ['skipped', 0]),
        pair('http/serves_1000', 'slower', ['passed', 4e8], ['passed', 1.3e9],
            { bound: 4.2e8 }),
        pair('http/times_out', 'faster', ['passed', 1e9], ['passed', 2e8],
            { bound: 9e8 }),
        pair('gpu/adds_vectors', 'added', ['', 0], ['passed', 2e8]),
        pair('store/old', 'gone', ['passed', 5e6], ['', 0]),
        pair('store/opens', 'unchanged', ['passed', 5e6], ['passed', 6e6]),
        pair('pool/runs_jobs', 'unchanged', ['passed', 4e7], ['passed', 3e7]),
    ],
    names: [
        name('span', 'query', 1, [1000, 1e5, 8e7], [1000, 1.5e5, 9e7],
            { noise: 0.05 }),
        name('span', 'parse', 4, [500, 4e5, 9e7], [500, 2e5, 8e7]),
        name('kernel', 'saxpy', 2, [100, 9e4, 9e6], [300, 9e4, 2.7e7],
            { shape: 'grid=(64, 1, 1) block=(256, 1, 1)' }),
        name('span', 'request', 0, [1000, 1e6, 7e8], [1000, 1.01e6, 7e8]),
        name('span', 'retry', 0, [0, 0, 0], [20, 3e6, 6e7]),
        name('span', 'legacy', 0, [30, 2e6, 6e7], [0, 0, 0]),
    ],
    buckets: [],
    paths: [
        { parent: 0, name: 'request', old_count: 1000, new_count: 1000,
            old_total: 1e9, new_total: 1.01e9, old_self: 7e8, new_self: 7e8 },
        { parent: 1, name: 'query', old_count: 1000, new_count: 1000,
            old_total: 1e8, new_total: 1.5e8, old_self: 1e8, new_self: 1.5e8 },
        { parent: 1, name: 'parse', old_count: 500, new_count: 500,
            old_total: 2e8, new_total: 1e8, old_self: 2e8, new_self: 1e8 },
        { parent: 1, name: 'retry', new_count: 20, new_total: 6e7,
            new_self: 6e7 },
        { parent: 3, name: 'query', old_count: 10, new_count: 10,
            old_total: 4e7, new_total: 3e7, old_self: 4e7, new_self: 3e7 },
        { parent: 0, name: 'legacy', old_count: 30, old_total: 6e7,
            old_self: 6e7 },
    ],
};

// Buckets around each median, an eighth of a power of two wide.
for (const [i, one] of MIXED.names.entries()) {
    const middle = Math.max(one.old_median, one.new_median);

    for (let step = -12; step < 8; step++) {
        const from = Math.round(middle * 2 ** (step / 8));
        const near = (median) => median ? Math.round(100 *
            Math.exp(-((Math.log2(from / median) * 4) ** 2))) : 0;

        MIXED.buckets.push({ name: i, from,
            to: Math.round(middle * 2 ** ((step + 1) / 8)),
            old: near(one.old_median), new: near(one.new_median) });
    }
}

// write() writes a page into a folder and returns its path.
function write(folder, file, rows = MIXED) {
    const path = join(folder, `${file}.html`);

    writeFileSync(path, against(rows));
    return path;
}

module.exports = { write, MIXED };

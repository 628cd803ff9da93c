// samples.js: makes reports whose data no test program would give: huge ones,
// hostile ones, and ones with everything in them. `node samples.js DIR` writes
// them all.
'use strict';

const { existsSync, mkdirSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { assemble } = require('./assemble.js');
const { runBlock, testBlock, endBlock } = require('./blocks.js');
const { waits } = require('./waits_sample.js');

// randomness() repeats: reports of the same name are the same.
function randomness(seed) {
    return () => {
        seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
        return seed / 4294967296;
    };
}

const SITE_LIST = [
    { name: 'request', target: 'http::server', file: 'http/server.c', line: 40,
        function: 'serve', level: 3, kind: 'span' },
    { name: 'query', target: 'store', file: 'store/store.c', line: 88,
        function: 'store_query', level: 4, kind: 'span' },
    { target: 'store', file: 'store/store.c', line: 93,
        function: 'store_query', level: 4, kind: 'event' },
    { target: 'http::server', file: 'http/server.c', line: 51,
        function: 'serve', level: 3, kind: 'event' },
    { target: 'http::server', file: 'http/server.c', line: 66,
        function: 'serve', level: 2, kind: 'event' },
    { target: 'store', file: 'store/store.c', line: 120,
        function: 'store_check', level: 1, kind: 'event' },
    { name: 'gpu', target: 'gpu::kernel', level: 4, kind: 'device' },
    { name: 'queue', target: 'store', file: 'store/store.c', line: 10,
        function: 'store_push', level: 4, kind: 'counter' },
];

function line(data, row, fields) {
    data.lines.push({ ...row, fields: fields.length });
    data.lineFields.push(...fields.map(([name, value]) => ({ name, value })));
}

function slice(data, row, fields) {
    data.slices.push({ ...row, fields: fields.length });
    data.sliceFields.push(...fields.map(([name, value]) => ({ name, value })));
}

function kernel(data, start, parent, i) {
    const row = data.slices.length;

    slice(data, {
        start, duration: 90000 + 1000 * (i % 7), track: 2, name:
            i % 3 ? 'saxpy' : 'reduce_sum', site: 6, parent: row - parent,
        state: 4, kind: 'kernel',
    }, [['device', '0'], ['stream', '7'], ['count', '(64, 1, 1)'],
        ['block', '(256, 1, 1)'], ['registers', '32'], ['shared', '4096'],
        ['occupancy', '75']]);
    data.flows.push({ from: parent, to: row });
}

// requests() is a test that serves requests on two threads and a GPU.
function requests(start, many) {
    const data = {
        tracks: [
            { kind: 'thread', name: 'store_test', pid: 100, tid: 100,
                depth: 2 },
            { kind: 'thread', name: 'pool 1', pid: 100, tid: 101, depth: 1 },
            { kind: 'stream', name: 'stream 7', process: 'GPU 0: NVIDIA H100',
                device: 1, context: 1, stream: 7, depth: 1 },
        ],
        sites: SITE_LIST, slices: [], sliceFields: [], flows: [], lines: [],
        lineFields: [], counters: [],
    };

    for (let i = 0; i < many; i++) {
        const at = start + 1000000 + i * 400000;
        const request = data.slices.length;

        slice(data, { start: at, duration: 360000, track: 0, name: 'request',
            site: 0 }, [['id', String(i)], ['user', '"root"']]);
        line(data, { time: at + 20000, site: 3, slice: request + 1,
            text: 'request received', shown: 1 }, [['bytes', '512']]);
        slice(data, { start: at + 40000, duration: 240000 - 900 * (i % 50),
            track: 0, depth: 1, name: 'query', site: 1, parent: 1 },
        [['table', '"users"']]);
        line(data, { time: at + 60000, site: i % 17 === 5 ? 4 : 2,
            slice: request + 2, text: `row ${i} found` }, []);
        slice(data, { start: at + 80000, duration: 150000, track: 1,
            name: 'query', site: 1, parent: 1 }, []);
        if (i % 4 === 0)
            kernel(data, at + 120000, request + 1, i);
        data.counters.push({ time: at, name: 'queue', value: i % 13 });
    }
    return data;
}

const NAMES = ['store/opens', 'store/evicts_oldest', 'store/reopens',
    'pool/runs_jobs', 'pool/stops', 'http/parses_headers', 'http/serves_1000',
    'http/times_out', 'greet/greets', 'gpu/adds_vectors'];

function failure(number) {
    return {
        test: number,
        where: number === 7 ? 'main thread in take (pool.c:41), waits for ' +
            'mutex 0x55aa\nthread pool 1 in serve (server.c:40)\n' : '',
        stacks: 'SIGSEGV at 0: null pointer\n  thread 100 store_test, ' +
            'which crashed:\n    store/store.c:93: store_query\n    ' +
            'store/store_test.c:20: store_evicts_oldest_impl\n  ' +
            'thread 101 pool, waits for mutex 0x55aa:\n    pool.c:41: take',
        output: 'a line of output\nand another\n', output_cut: 70000,
        lines: '08:00:00.1Z  INFO request{id=1}: http::server: received',
        recorded: '08:00:00.2Z DEBUG request{id=1}: store: row 1 found',
        open: 'store_test 100: request{id=1}:query{table="users"}',
    };
}

// mixed() has one test of each outcome, tries, changes and devices.
function mixed() {
    const outcomes = ['passed', 'crashed', 'failed', 'passed', 'passed',
        'skipped', 'passed', 'timeout', 'passed', 'passed'];
    const reasons = ['', 'SIGSEGV: null pointer, in store_query ' +
        '(store/store.c:93)', 'store/store_test.c:31: eq(int, count, 3) ' +
        'actual=2 expected=3', '', '', 'no network here', '',
    'after 1.00 s', '', ''];
    const tests = NAMES.map((name, i) => ({
        program: name.startsWith('http') ? 'http_test' : 'store_test', name,
        outcome: outcomes[i], reason: reasons[i], file: 'store/store_test.c',
        line: 10 + i, duration: [5e6, 8e7, 2e7, 4e7, 3e6, 0, 1.3e9, 1e9, 1e5,
            2e8][i],
        start: 1e6 + i * 5e7 + 1, worker: i % 2 + 1, tries: i === 3 ? 2 : 1,
        filter: 'info', rerun: `testlog run a -- --filter '${name}'`,
        debug: `testlog run a -- --filter '${name}' --debug=gdb`,
        ...[1, 6].includes(i) ? { cpu: i * 1e9, voluntary: 1,
            involuntary: 20, peak: 5 * 2 ** 30, read: 2048, written: 0,
            minor: 30, major: 4 } : {},
    }));
    const blocks = [];
    const counts = [];

    tests.forEach((test, i) => {
        if (test.outcome === 'skipped' || i === 8)
            return;
        const data = requests(test.start - 1, i === 6 ? 1000 : 20);

        blocks.push(testBlock(i, { name: test.name,
            end: test.start + test.duration }, data));
        if (test.tries > 1) {
            blocks.push(testBlock(`${i}.1`, { name: test.name, try: 1 },
                requests(0, 2)));
        }
        counts.push({ test: i, spans: data.slices.length,
            lines: data.lines.length, slices: data.slices.length,
            kernels: data.slices.filter((row) => row.kind).length });
    });
    return assemble([runBlock({
        rerun: 'testlog run a -- --failed',
        previous: {
            run: '2026-11-22T07-00-00.000001', path: 'testlog-runs/before',
            newly_failing: [1, 2], newly_passing: [3], gone: ['store/old'],
            new: [9], slower: [[6, 4e8, 1.3e9]],
        },
    }, tests, [{ test: 3, try: 1, outcome: 'failed', reason: 'flaked',
        start: 8e8, worker: 3, duration: 3e8 }],
    [1, 2, 7].map(failure)), ...blocks,
    endBlock(counts, [{ test: 8, why: 'large',
        command: 'testlog report latest greet/greets' }])]);
}

// interrupted() is a run that ^C ended.
function interrupted() {
    return assemble([runBlock({ interrupted: 'SIGINT' }, [
        { name: 'store/opens', outcome: 'passed', duration: 1e6, tries: 1 },
        { name: 'store/reopens', outcome: 'none' }], [], []),
    endBlock([], [])]);
}

// repeated() is a run whose tests ran three times.
function repeated() {
    return assemble([runBlock({}, [
        { name: 'store/opens#1', outcome: 'passed', duration: 1e6, tries: 1 },
        { name: 'store/opens#2', outcome: 'failed', duration: 2e6, tries: 1,
            reason: 'a.c:1: no' },
        { name: 'store/opens#3', outcome: 'passed', duration: 3e6, tries: 1 },
        { name: 'store/grows#1', outcome: 'passed', duration: 1e6, tries: 1 },
        { name: 'store/grows#2', outcome: 'passed', duration: 1e6, tries: 1 },
        { name: 'mends issue #12', outcome: 'passed', duration: 1, tries: 1 }],
    [], []), endBlock([], [])]);
}

// running() is a run that goes on.
function running() {
    return assemble([runBlock({}, [
        { name: 'store/opens', outcome: 'passed', duration: 1e6, tries: 1 },
        { name: 'store/grows', outcome: 'running' },
        { name: 'store/reopens', outcome: 'none' }], [], []),
    endBlock([], [])]);
}

// merged() is a run of the shards of two hosts; the third shard is missing.
function merged() {
    const part = (host, offset, error, end) => ({
        run: `${host}/latest`, host, testlog: '0.1.0', end,
        shard: { index: 0, total: 3, by: 'slice' },
        start: '2026-11-22T08:00:00.123456Z', offset_ns: offset,
        uncertainty_ns: error, tests: 2,
    });
    const test = (host, i, worker) => ({
        program: 'store_test', name: `store/test_${i}`, outcome: 'passed',
        duration: 4e8, start: i * 5e8 + 1, worker, tries: 1, host,
    });

    return assemble([runBlock({
        duration_ns: 2e9,
        merged: [part('node1', 0, 0, 'finished'),
            part('node2', -1500000, 20000, 'killed')],
    }, [test('node1', 0, 1), test('node1', 1, 1), test('node2', 2, 2),
        test('node2', 3, 2),
        { program: 'shard 3 of 3', name: 'shard 3 of 3', outcome: 'failed',
            reason: 'missing: 1 test is unknown: store/reopens', tries: 1 },
        { program: 'store_test', name: 'store/reopens', outcome: 'none' }],
    [], []), endBlock([], [{ test: 0, why: 'size',
        command: 'testlog report' }])]);
}

// twins() is a run of two programs whose tests have the same names.
function twins() {
    const test = (program) => ({
        program, name: 'store/opens', outcome: 'failed', reason: 'a.c:1: no',
        duration: 1e6, start: 1, worker: 1, tries: 1,
    });

    return assemble([runBlock({ duration_ns: 1e9 },
        [test('one_test'), test('two_test')], [], []), endBlock([], [])]);
}

// many() is a run of 10,000 tests.
function many() {
    const random = randomness(1);
    const tests = Array.from({ length: 10000 }, (unused, i) => ({
        program: `program_${i % 40}`, name: `suite_${i % 100}/test_${i}`,
        outcome: i % 997 === 5 ? 'failed' : i % 501 === 7 ? 'skipped' :
            'passed',
        reason: i % 997 === 5 ? `a.c:${i}: expected ${i}` : '', file: 'a.c',
        line: i, duration: Math.floor(1e6 * (1 + 30 * random() ** 6)),
        start: Math.floor(i / 8) * 8e6 + 1, worker: i % 8 + 1, tries: 1,
    }));

    return assemble([runBlock({ duration_ns: 1e10 }, tests, [], []),
        endBlock([], [])]);
}

// huge() is a test of some slices on 8 tracks, nested four deep, and lines.
function huge(slices, lines) {
    const random = randomness(2);
    const data = { tracks: [], sites: SITE_LIST, slices: [], sliceFields: [],
        lines: [], lineFields: [] };
    const perTrack = Math.ceil(slices / 8);
    const rows = [];
    let group = 0;

    for (let track = 0; track < 8; track++)
        data.tracks.push({ kind: 'thread', name: `worker ${track}`, depth: 4 });
    for (let i = 0; i < perTrack; i++) {
        const depth = i % 4;

        group += depth ? 0 : 40000 + Math.floor(random() * 10000);

        for (let track = 0; track < 8 && rows.length < slices; track++) {
            rows.push({ start: group + depth * 1000 + track, track, depth,
                duration: 36000 - depth * 9000 + Math.floor(random() * 7000),
                name: `span_${Math.floor(random() * 60)}`, site: depth % 2 });
        }
    }
    data.slices = rows;
    rows.forEach((row, i) => {
        row.parent = row.depth ? 8 : 0;
        if (i < 8)
            row.parent = 0;
    });
    for (let i = 0; i < lines; i++) {
        data.lines.push({ time: i * 20000, site: 2 + i % 4, slice: 0,
            text: `line ${i} of ${lines}`, shown: 1 });
    }
    const end = group + 50000;
    const tests = [{ program: 'huge_test', name: 'huge/huge',
        outcome: 'passed', duration: end, start: 1, worker: 1, tries: 1,
        file: 'huge.c', line: 1 }];

    return assemble([runBlock({ duration_ns: end }, tests, [], []),
        testBlock(0, { end }, data),
        endBlock([{ test: 0, spans: slices, slices, lines }], [])]);
}

// single() is a report of one test. Slices have their fields as pairs.
function single(data, test = {}, members = {}) {
    const end = test.duration || 1e6;
    const slices = data.slices || [];
    const fields = slices.flatMap((row) => row.fields || []);

    return assemble([runBlock({ duration_ns: end }, [{
        program: 'one_test', name: 'one/one', outcome: 'passed', duration: end,
        tries: 1, ...test,
    }], [], []), testBlock(0, { end, ...members }, {
        sites: SITE_LIST, ...data,
        slices: slices.map((row) => ({ ...row, fields:
            (row.fields || []).length })),
        sliceFields: fields.map(([name, value]) => ({ name, value })),
    }), endBlock([{ test: 0, slices: slices.length }], [])]);
}

// threaded() is a test whose main thread waits for another one.
function threaded() {
    const data = {
        tracks: [
            { kind: 'thread', name: 'prepares', pid: 100, tid: 101, depth: 1 },
            { kind: 'thread', name: 'works', pid: 100, tid: 102, depth: 1 }],
        sites: SITE_LIST,
        slices: [
            { start: 0, duration: 1e6, track: 0, name: 'request' },
            { start: 1e6, duration: 9e6, track: 1, name: 'query', site: 1 }],
    };
    const tests = [{ program: 'pool_test', name: 'pool/joins',
        outcome: 'passed', duration: 1e7, tries: 1 }];

    return assemble([runBlock({ duration_ns: 1e7 }, tests, [], []),
        testBlock(0, { end: 1e7 }, data),
        endBlock([{ test: 0, spans: 2, slices: 2 }], [])]);
}

// crowded() is a test of 500 threads; each has a span in another one.
function crowded() {
    const numbers = Array.from({ length: 500 }, (unused, i) => i);
    const data = {
        tracks: numbers.map((i) => ({ kind: 'thread', name: `thread ${i + 1}`,
            pid: 100, tid: 101 + i, depth: 2 })),
        sites: SITE_LIST,
        slices: numbers.flatMap((i) => [
            { start: i * 1000, duration: 8e5, track: i, name: `task ${i + 1}` },
            { start: i * 1000, duration: 4e5, track: i, depth: 1, parent: 1,
                name: `step ${i + 1}` }]),
        counters: numbers.map((i) => ({ time: i * 1000, name: 'queue',
            value: i % 7 })),
    };
    const tests = [{ program: 'pool_test', name: 'pool/crowds',
        outcome: 'passed', duration: 2e6, tries: 1 }];

    return assemble([runBlock({ duration_ns: 2e6 }, tests, [], []),
        testBlock(0, { end: 2e6 }, data),
        endBlock([{ test: 0, spans: 1000, slices: 1000 }], [])]);
}

// phased() is a test with a setup, a body of 3 ms and a teardown. Its recording
// was opened 2 ms before the setup.
function phased() {
    const data = {
        tracks: [{ kind: 'thread', name: 'store_test', pid: 100, tid: 100,
            depth: 1 }],
        sites: SITE_LIST,
        slices: [
            { start: 2.5e6, duration: 1e6, name: 'request' },
            { start: 5e6, duration: 2e6, name: 'query', site: 1 }],
        lines: [
            { time: 3e6, site: 3, slice: 1, text: 'it is set up', shown: 1 },
            { time: 4e6, site: 3, text: 'it begins', shown: 1 }],
    };
    const tests = [{ program: 'store_test', name: 'store/opens',
        outcome: 'passed', duration: 3.4e6, start: 1, tries: 1 }];

    return assemble([runBlock({ duration_ns: 9e6 }, tests, [], []),
        testBlock(0, { end: 9e6, phases: { setup: 2e6, body: 4e6,
            teardown: 7e6, end: 8e6 } }, data),
        endBlock([{ test: 0, spans: 2, slices: 2 }], [])]);
}

// brief() is a test whose records take 18 us of a body of 489 ms.
function brief() {
    const data = {
        tracks: [{ kind: 'thread', name: 'store_test', pid: 100, tid: 100,
            depth: 1 }],
        sites: SITE_LIST,
        slices: [{ start: 1e6, duration: 9e3, name: 'request' },
            { start: 1.009e6, duration: 9e3, name: 'query', site: 1 }],
        lines: [],
    };
    const tests = [{ program: 'store_test', name: 'store/opens',
        outcome: 'failed', duration: 489e6, start: 1, tries: 1 }];

    return assemble([runBlock({ duration_ns: 500e6 }, tests, [], []),
        testBlock(0, { end: 495e6, phases: { setup: 5e5, body: 9e5,
            teardown: 489.9e6, end: 490e6 } }, data),
        endBlock([{ test: 0, spans: 2, slices: 2 }], [])]);
}

const EVIL = '</script><script>document.title="owned"</script>' +
    '<img src=x onerror=alert(1)>"\'&amp;\u202Egnp.exe\u0007\u001b[31m\n@JS@';

function hostile() {
    const data = requests(0, 3);

    data.lines.forEach((row) => { row.text = EVIL; });
    data.lines[1].text = 'x'.repeat(3 << 20);
    data.slices.forEach((row) => { row.name = EVIL; });
    data.lineFields.forEach((row) => { row.value = EVIL; });
    data.tracks[0].name = EVIL;
    const tests = ['failed', 'crashed', 'passed'].map((outcome, i) => ({
        program: EVIL, name: `${EVIL}/${'long_'.repeat(i * 400)}`, outcome,
        reason: EVIL, assertions: `${EVIL}\n${EVIL}`, file: EVIL, line: i,
        duration: 1e6, start: 1, worker: 1, tries: 2, rerun: EVIL, debug: EVIL,
    }));
    const text = { stacks: EVIL, output: EVIL, lines: EVIL, recorded: EVIL,
        open: EVIL };

    return assemble([runBlock({ command: EVIL, environment: { [EVIL]: EVIL },
        run: EVIL, path: EVIL, host: { name: EVIL }, interrupted: EVIL,
        merged: [null, 1, { host: EVIL }, { host: {}, offset_ns: EVIL,
            uncertainty_ns: {} }],
        rerun: EVIL, previous: { run: EVIL, path: EVIL,
            newly_failing: [0], newly_passing: [], gone: [EVIL], new: [],
            slower: [] } }, tests, [{ test: 0, try: 1, outcome: 'failed',
        reason: EVIL, duration: 1 }], [{ test: 0, ...text }]),
    ...tests.map((test, i) => testBlock(i, { end: 2e6 }, data)),
    endBlock([], [])]);
}

// mistyped() has a value in place of each that run.json has.
function mistyped(value) {
    const names = ['run', 'path', 'command', 'start', 'duration_ns',
        'interrupted', 'host', 'processors', 'filters', 'gpu', 'gpu_summary',
        'shard', 'versions', 'environment', 'rerun', 'previous', 'merged',
        'whole', 'strange'];
    const tests = [{ program: 'a_test', name: 'a/a', outcome: 'failed',
        duration: 1e6, start: 1, worker: 1, tries: 1 }];

    return assemble([runBlock(Object.fromEntries(names.map((name) =>
        [name, value])), tests, [], []), endBlock([], [])]);
}

const SAMPLES = {
    mixed, many, hostile, interrupted, running, threaded, crowded, merged,
    twins, phased, brief, waits, repeated,
    huge: () => huge(20000, 100000),
    million: () => huge(1000000, 1000),
    large: () => huge(1600000, 1000),
};

function write(folder, names) {
    mkdirSync(folder, { recursive: true });
    for (const name of names)
        writeFileSync(join(folder, `${name}.html`), SAMPLES[name]());
}

// once() writes a sample unless the folder has it, and returns its path.
function once(folder, name) {
    const file = join(folder, `${name}.html`);

    if (!existsSync(file))
        write(folder, [name]);
    return file;
}

if (require.main === module)
    write(process.argv[2], process.argv.slice(3).concat(
        process.argv[3] ? [] : Object.keys(SAMPLES)));

module.exports = {
    SAMPLES, EVIL, write, once, mistyped, single, requests, testBlock,
};

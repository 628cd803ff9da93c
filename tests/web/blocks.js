// blocks.js: the blocks of a report, from rows of their tables.
'use strict';

const { block } = require('./assemble.js');

const TESTS = {
    program: 's', name: 's', title: 's', outcome: 's', reason: 's',
    assertions: 's', file: 's', line: 'n', duration: 'n', start: 'n',
    worker: 'n', tries: 'n', filter: 's', dropped: 'n', gpu: 's', rerun: 's',
    debug: 's', host: 's', cpu: 'n', voluntary: 'n', involuntary: 'n',
    peak: 'n', read: 'n', written: 'n', minor: 'n', major: 'n',
};
const TRIES = {
    test: 'n', try: 'n', outcome: 's', reason: 's', start: 'n', worker: 'n',
    duration: 'n',
};
const FAILURES = {
    test: 'n', where: 's', stacks: 's', output: 's', output_cut: 'n',
    lines: 's', recorded: 's', open: 's',
};
const COUNTS = {
    test: 'n', try: 'n', spans: 'n', lines: 'n', slices: 'n', kernels: 'n',
    copies: 'n', compiles: 'n', start: 'n', end: 'n', compiling: 'n',
    waiting: 'n',
};
const LEFT_OUT = { test: 'n', try: 'n', why: 's', command: 's' };
const TRACKS = {
    kind: 's', name: 's', pid: 'n', tid: 'n', process: 's', device: 'n',
    context: 'n', stream: 'n', depth: 'n',
};
const SITES = {
    name: 's', target: 's', file: 's', line: 'n', function: 's', level: 'n',
    kind: 's',
};
const SLICES = {
    start: 'd', duration: 'n', track: 'n', depth: 'n', name: 's', site: 'n',
    parent: 'n', again: 'n', state: 'n', kind: 's', fields: 'n',
};
const FIELDS = { name: 's', value: 's' };
const FLOWS = { from: 'n', to: 'n' };
const LINES = {
    time: 'd', track: 'n', site: 'n', slice: 'i', text: 's', shown: 'n',
    fields: 'n',
};
const MEMORY = {
    time: 'd', slice: 'n', span: 'n', release: 'n', bytes: 'n', address: 'n',
    device: 's', stream: 'n', memory: 's', in_use: 'n', async: 'n',
};
const BLOCKING = { text: 's', start: 'd', duration: 'n' };
const COUNTERS = {
    time: 'd', name: 's', value: 'f', track: 'n', device: 'n',
};

const CRITICAL = { begin: 'd', track: 'n' };

// columns() turns rows into columns; what a row lacks is "" or 0.
function columns(rows, encodings) {
    return Object.fromEntries(Object.entries(encodings).map(([name, kind]) =>
        [name, [kind, rows.map((row) =>
            row[name] ?? (kind === 's' ? '' : 0))]]));
}

function runBlock(members, tests, tries, failures) {
    const count = (...outcomes) => tests.filter((test) =>
        outcomes.includes(test.outcome)).length;

    return block('run', {
        testlog: '0.1.0', command: 'testlog run build/examples/store_test',
        run: '2026-11-22T08-00-00.123456',
        path: 'testlog-runs/2026-11-22T08-00-00.123456',
        start: '2026-11-22T08:00:00.123456Z', duration_ns: 2e9,
        interrupted: null,
        passed: count('passed'), skipped: count('skipped'),
        failed: count('failed', 'crashed', 'timeout'),
        host: {
            name: 'box', system: 'Linux', release: '6.1', machine: 'x86_64',
            processors: 2,
        },
        filters: { log: 'info', log_origin: 'LOG', trace: 'trace',
            trace_origin: 'default', unseen: [] },
        gpu: { state: 'no-driver', notice: 'GPU trace off' }, shard: null,
        versions: { testlog: '0.1.0', compiler: 'GCC 12.2.0' },
        environment: { LOG_FORMAT: 'json' }, rerun: null, previous: null,
        ...members,
    }, {
        tests: columns(tests, TESTS), tries: columns(tries, TRIES),
        failures: columns(failures, FAILURES),
    });
}

function endBlock(counts, leftOut) {
    return block('end', { whole: true, report: 'testlog report latest' }, {
        counts: columns(counts, COUNTS), left_out: columns(leftOut, LEFT_OUT),
    });
}

function testBlock(number, members, data) {
    return block(`t${number}`, {
        name: '', try: 0, pid: 100, origin: '2026-11-22T08:00:00.123456Z',
        ended: true, lost: [], metas: [], cut: null, lines_cut: 0,
        strings_cut: 0, ...members,
    }, {
        tracks: columns(data.tracks || [], TRACKS),
        sites: columns(data.sites || [], SITES),
        slices: columns(data.slices || [], SLICES),
        slice_fields: columns(data.sliceFields || [], FIELDS),
        flows: columns(data.flows || [], FLOWS),
        lines: columns(data.lines || [], LINES),
        line_fields: columns(data.lineFields || [], FIELDS),
        counters: columns(data.counters || [], COUNTERS),
        critical: columns(data.critical || [], CRITICAL),
        memory: columns(data.memory || [], MEMORY),
        blocking: columns(data.blocking || [], BLOCKING),
    });
}

module.exports = { runBlock, testBlock, endBlock };

// truth_test.js: sums of the page, of `testlog stat` and of the events in
// trace.json are the same to the nanosecond, of whole tests and of ranges.
'use strict';

/* global timeline, nesting, statistics, recordings */

const assert = require('node:assert');
const { execFileSync } = require('node:child_process');
const { existsSync } = require('node:fs');
const { join } = require('node:path');
const { ROOT } = require('./chromium.js');

const WEB = join(ROOT, 'build/web');
const TESTLOG = join(ROOT, 'build/base-trace/testlog');
const LEVELS = new Set(['error', 'warn', 'info', 'debug', 'trace']);

function run(...words) {
    return execFileSync(TESTLOG, words, { encoding: 'utf8',
        maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'ignore'] });
}

/* ---- testlog stat ---- */

// A folder of a test is a run of one test.
function statOf(folder, range) {
    const flags = range ? [`--from=${range[0]}ns`, `--to=${range[1]}ns`] : [];
    const { rows } = JSON.parse(run('stat', '--json', ...flags, folder));

    return Object.fromEntries(rows.map((row) => [row.name,
        [row.count, row.total_ns, row.self_ns]]));
}

/* ---- The page ---- */

function pageOf(page, range) {
    return page.evaluate((given) => {
        const { recording } = timeline.control;
        const { slices, string } = recording;
        const window = given ? given.map((time) => recording.zero + time) :
            [-Infinity, Infinity];
        const part = nesting.within(recording, window);
        const groups = statistics.finish(statistics.collect(recording, (row) =>
            part.has(row) && string(slices.kind[row]) === '', new Map(), part));

        return Object.fromEntries(groups.map((one) =>
            [one.name, [one.count, one.total, one.self]]));
    }, range);
}

// factsOf() are those that the page knows of its times.
function factsOf(page) {
    return page.evaluate(() => {
        const { recording } = timeline.control;
        const { slices } = recording;
        const starts = Array.from(slices.start).filter((start, row) =>
            !(slices.state[row] & recordings.NEVER_ENTERED));

        return { first: Math.min(...starts), zero: recording.zero,
            start: recording.start - recording.zero,
            end: recording.end - recording.zero };
    });
}

/* ---- trace.json ---- */

// A time in µs with three decimals, in ns.
function ns(text) {
    return Math.round(text * 1000);
}

function eventsOf(folder, first) {
    const all = JSON.parse(run('export', '--chrome', folder)).traceEvents
        .filter(({ ph, cat }) => ph === 'X' && cat !== 'test')
        .map(({ ts, dur, name, cat, pid, tid }) => ({ name, thread:
            `${pid} ${tid}`, isSpan: LEVELS.has(cat), start: ns(ts),
        end: ns(ts) + ns(dur) }));
    const shift = Math.min(...all.map(({ start }) => start)) - first;

    return all.map((one) => ({ ...one, start: one.start - shift,
        end: one.end - shift }));
}

function clipped(event, [from, to]) {
    const start = Math.max(from, event.start);
    const end = Math.min(to, event.end);
    const isIn = event.start === event.end ? start === end && start < to :
        start < end;

    return isIn ? [{ ...event, start, end }] : [];
}

// selfOf() is the time of an event that no event inside it covers.
function selfOf(event, inside) {
    let self = event.end - event.start;
    let covered = event.start;

    for (const { start, end } of inside) {
        self -= Math.max(0, end - Math.max(start, covered));
        covered = Math.max(covered, end);
    }
    return self;
}

// Events of a thread are nested; those of one thread come by start, the
// longest first.
function traceOf(events, range) {
    const sums = {};
    const threads = {};

    for (const event of events.flatMap((one) => clipped(one, range)))
        (threads[event.thread] ||= []).push(event);
    for (const list of Object.values(threads)) {
        const until = {}; // ends of what earlier events have, by name

        list.forEach((event, i) => {
            const inside = [];

            for (let at = i + 1; at < list.length &&
                list[at].start < event.end; at++)
                inside.push(list[at]);
            if (!event.isSpan)
                return;
            const [count, total, self] = sums[event.name] || [0, 0, 0];

            const from = Math.max(event.start, until[event.name] || 0);

            until[event.name] = Math.max(from, event.end);
            sums[event.name] = [count + 1, total + until[event.name] - from,
                self + selfOf(event, inside)];
        });
    }
    return sums;
}

/* ---- Tests ---- */

function expectEqual(actual, expected, what) {
    assert.deepStrictEqual(Object.fromEntries(Object.entries(actual).sort()),
        Object.fromEntries(Object.entries(expected).sort()), what);
}

function compares(runs, program, test) {
    return async (open) => {
        const latest = join(WEB, runs, 'latest');
        const folder = join(latest, 'tests', program, test);

        if (!existsSync(folder) || !existsSync(TESTLOG))
            return 'no recording';
        const page = await open(join(latest, 'report.html'),
            `view=timeline&test=${test.replace('.', '/')}`);

        await page.waitForFunction(() => timeline.isPainted());
        const { first, zero, start, end } = await factsOf(page);
        const events = eventsOf(folder, first);
        const at = (share) => Math.round(start + (end - start) * share);

        assert.ok(events.some(({ isSpan }) => isSpan));
        expectEqual(await pageOf(page), statOf(folder), 'the whole test');
        for (const range of [[at(0), at(1)], [at(0.2), at(0.7)],
            [at(0.45), at(0.46)], [at(0.6), at(2)], [at(-1), at(0.4)]]) {
            const sums = await pageOf(page, range);
            const text = `${test}, ${range}`;

            expectEqual(sums, statOf(folder, range), `stat of ${text}`);
            expectEqual(sums, traceOf(events,
                range.map((time) => zero + time)), `trace of ${text}`);
        }
        return '';
    };
}

module.exports = {
    sums_up_threads: compares('runs', 'pool_test',
        'pool.shares_a_store_between_threads'),
    sums_up_calls_of_a_device: compares('runs', 'opencl_waves_test',
        'opencl.keeps_the_water'),
    sums_up_calls_of_a_driver: compares('nested', 'nesting_test',
        'nesting.calls_a_driver'),
    sums_up_spans_entered_again: compares('nested', 'nesting_test',
        'nesting.enters_spans_again'),
};

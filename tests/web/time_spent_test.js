// time_spent_test.js: where a run and its slowest test spent their time.
'use strict';

const assert = require('node:assert');
const { writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { assemble } = require('./assemble.js');
const { runBlock, testBlock, endBlock } = require('./blocks.js');

const MS = 1e6;

// Two workers for 100 ms. A flaky test ran twice; the last test failed.
const TESTS = [
    { name: 'a/flaky', outcome: 'passed', start: 25, duration: 20, worker: 1,
        tries: 2 },
    { name: 'a/compiles', outcome: 'passed', start: 50, duration: 40,
        worker: 1 },
    { name: 'a/fails', outcome: 'failed', start: 10, duration: 60, worker: 2 },
    { name: 'a/skipped', outcome: 'skipped', start: -1e-6, duration: 0,
        worker: 0 },
].map((test) => ({ tries: 1, program: 'a', ...test,
    start: test.start * MS + 1, duration: test.duration * MS }));
const TRIES = [{ test: 0, try: 1, outcome: 'failed', start: 5 * MS + 1,
    worker: 1, duration: 15 * MS }];
const COUNTS = [
    { test: 1, compiles: 3, compiling: 25 * MS, waiting: 5 * MS },
    // More than the test took: its setup compiled, too.
    { test: 0, try: 1, compiles: 1, compiling: 20 * MS, waiting: 1 * MS },
    { test: 2 }];

async function panel(open, folder, html) {
    const file = join(folder, 'report.html');

    writeFileSync(file, html);
    const page = await open(file, 'view=overview');
    const found = page.locator('.panel', { hasText: 'Where the time went' });

    await page.locator('body[data-shown]').waitFor();
    return (await found.count()) ?
        (await found.innerText()).replace(/\s+/g, ' ') : '';
}

function report(members, blocks = []) {
    return assemble([runBlock({ duration_ns: 100 * MS, ...members }, TESTS,
        TRIES, []), ...blocks, endBlock(COUNTS, [])]);
}

module.exports = {
    async parts_add_up_to_the_time_of_all_workers(open, folder) {
        const shown = await panel(open, folder, report({}));

        assert.match(shown, /The run: 200 ms of 2 workers/);
        assert.match(shown, /running test code 90\.0 ms 45\.0 %/);
        assert.match(shown, /compiling in tests 40\.0 ms 20\.0 %/);
        assert.match(shown, /waiting for devices in tests 5\.00 ms 2\.5 %/);
        assert.match(shown, /before a worker's first test 15\.0 ms 7\.5 %/);
        assert.match(shown, /between tests 10\.0 ms 5\.0 %/);
        assert.match(shown, /after a worker's last test 40\.0 ms 20\.0 %/);
    },

    // Hosts begin and end at different times.
    async a_merged_run_counts_each_host_from_its_first_test(open, folder) {
        const shown = await panel(open, folder, report({ merged: [] }));

        assert.match(shown, /The run: 170 ms of 2 workers/);
        assert.match(shown, /before a worker's first test 5\.00 ms/);
        assert.match(shown, /between tests 10\.0 ms/);
        assert.match(shown, /after a worker's last test 20\.0 ms/);
    },

    async the_slowest_test_may_have_failed(open, folder) {
        const spans = await panel(open, folder, report({}, [testBlock(2,
            { end: 60 * MS }, {
                tracks: [{ kind: 'thread', name: 'main', pid: 1, tid: 1,
                    depth: 1 }],
                slices: [{ start: 0, duration: 30 * MS, name: 'work' }],
            })]));

        assert.match(spans, /Slowest test: a\/fails, 60\.0 ms/);
        assert.match(spans, /work 30\.0 ms 50\.0 %/);
    },

    async says_that_a_test_recorded_no_spans(open, folder) {
        const shown = await panel(open, folder, report({},
            [testBlock(2, { end: 60 * MS }, {})]));

        assert.match(shown, /It recorded no spans\./);
        assert.doesNotMatch(shown, /outside spans/);
    },

    async shows_nothing_of_a_run_without_times(open, folder) {
        const test = { name: 'a/b', program: 'a', outcome: 'none', tries: 1 };

        assert.strictEqual(await panel(open, folder, assemble([
            runBlock({}, [test], [], []), endBlock([], [])])), '');
    },
};

// left_out_test.js: says truly what a page has no recordings of.
'use strict';

const assert = require('node:assert');
const { writeFileSync } = require('node:fs');
const { join } = require('node:path');
const chromium = require('./chromium.js');
const { lacking } = require('./lacking_sample.js');

// Why the tests of a run have no recording in its page.
const ONE = ['large'];
const ALL = ['passing', 'large', 'missing', ''];
const SOME = ['size', 'passing', 'empty', 'empty', '', ''];
const EMPTY = ['empty'];

function opened(open, folder, whys, hash) {
    const file = join(folder, 'report.html');

    writeFileSync(file, lacking(...whys));
    return open(file, hash);
}

async function shownOn(page) {
    const view = page.locator('#tables, #log, #timeline, #overview')
        .and(page.locator(':not([hidden])'));

    await page.locator('body[data-shown]').waitFor();
    return (await view.innerText()).replace(/\s+/g, ' ');
}

async function text(open, folder, whys, hash = 'view=tables') {
    return shownOn(await opened(open, folder, whys, hash));
}

module.exports = {
    async includes_one_test_by_its_command(open, folder) {
        const shown = await text(open, folder, ONE);

        assert.match(shown, /No test has a recording in this file\. The /);
        assert.match(shown, /The recording of 1 test is not in this file\./);
        assert.match(shown,
            /Include it testlog report latest store\/test_0 Copy/);
        assert.doesNotMatch(shown, /No spans|no spans/);
    },

    async includes_several_tests_by_one_command(open, folder) {
        const shown = await text(open, folder, ALL);

        assert.match(shown, /1 test recorded nothing\./);
        assert.match(shown, /The recording of 1 test cannot be read\./);
        assert.match(shown, /The recordings of 2 tests are not in this file\./);
        assert.match(shown, /Include them testlog report latest Copy/);
    },

    // A command for all tests would leave out what exceeds the file again.
    async names_no_command_that_would_not_help(open, folder) {
        const shown = await text(open, folder, SOME);

        assert.match(shown, /Sums of 2 tests\. 2 tests recorded nothing\./);
        assert.match(shown, /The recordings of 2 tests are not in this file\./);
        assert.match(shown,
            /The recordings have no spans and no device activities\./);
        assert.doesNotMatch(shown, /Copy/);
    },

    async says_that_a_recording_is_empty(open, folder) {
        assert.match(await text(open, folder, EMPTY), new RegExp(
            'Sums of 1 test\\. The recording has no spans and no device'));
        assert.match(await text(open, folder, EMPTY,
            'view=tables&test=store/test_0'), /The recording has no spans/);
    },

    async says_why_a_test_has_no_recording_here(open, folder) {
        const cases = [['passing', 0, /have 8 MiB of this report, the slowest/],
            ['large', 1, /too large to be read at the end of a run/],
            ['missing', 2, /Its recording is missing/],
            ['', 3, /It recorded nothing/]];

        for (const view of ['log', 'timeline', 'tables']) {
            const page = await opened(open, folder, ALL, `view=${view}`);

            for (const [why, number, sentence] of cases) {
                await chromium.go(page,
                    `view=${view}&test=store/test_${number}`);
                const shown = await shownOn(page);

                assert.match(shown, sentence, `${view} ${why}`);
                assert.doesNotMatch(shown, /no device activities/);
            }
        }
    },

    async overview_counts_what_is_left_out(open, folder) {
        assert.match(await text(open, folder, ONE, 'view=overview'),
            /only results and counts of 1 test: its recording/);
        assert.match(await text(open, folder, ALL, 'view=overview'),
            /only results and counts of 2 tests: their recordings/);
        assert.doesNotMatch(await text(open, folder, EMPTY, 'view=overview'),
            /only results/);
    },
};

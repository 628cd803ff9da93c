// stat_test.js: the page's sums are those of `testlog stat`.
'use strict';

const assert = require('node:assert');
const { execFileSync } = require('node:child_process');
const { existsSync, readFileSync } = require('node:fs');
const { join } = require('node:path');
const { ROOT } = require('./chromium.js');

const TESTLOG = join(ROOT, 'build/base-trace/testlog');

function statOf(run) {
    const { rows } = JSON.parse(execFileSync(TESTLOG,
        ['stat', '--json', run], { encoding: 'utf8' }));

    return Object.fromEntries(rows.map(({ name, ...sums }) => [name, sums]));
}

// tableOf() is what the page's table of spans downloads.
async function tableOf(open, run) {
    const page = await open(join(run, 'report.html'), 'view=tables');
    const [download] = await Promise.all([page.waitForEvent('download'),
        page.locator('[aria-label="Download Spans as CSV"]').click()]);
    const [, ...lines] = readFileSync(await download.path(), 'utf8').trim()
        .split('\n');

    return Object.fromEntries(lines.map((line) => {
        const [name, count, total, self, average, min, median, p99, max] =
            line.split(',');

        return [name, { count, total, self, average, min, median, p99, max }];
    }));
}

// Medians and percentiles of testlog stat are at most 0.4 % off; an average
// that ends with a half may be rounded either way.
function expectSame(page, stat) {
    assert.deepStrictEqual(Object.keys(page).sort(), Object.keys(stat).sort());
    for (const [name, sums] of Object.entries(page)) {
        for (const [column, value] of Object.entries(sums)) {
            const other = stat[name][`${column}_ns`] ?? stat[name][column];
            const least = { average: 1, median: 0.005 * other + 1,
                p99: 0.005 * other + 1 }[column] || 0.5;

            assert.ok(Math.abs(Number(value) - other) <= least,
                `${column} of ${name}: ${value}, not ${other}`);
        }
    }
}

function compares(folder) {
    return async (open) => {
        const run = join(ROOT, 'build/web', folder, 'latest');

        if (!existsSync(run) || !existsSync(TESTLOG))
            return 'no report';
        expectSame(await tableOf(open, run), statOf(run));
        return '';
    };
}

module.exports = {
    sums_up_examples_as_testlog_stat: compares('runs'),
    sums_up_nested_calls_and_spans_entered_again: compares('nested'),
};

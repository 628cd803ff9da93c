// index_test.js: index.html, the page of the runs in a folder.
'use strict';

const assert = require('node:assert');
const { execFileSync } = require('node:child_process');
const { existsSync, mkdirSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const chromium = require('./chromium.js');

const TESTLOG = join(chromium.ROOT, 'build/base-trace/testlog');

const LATER = [
    ['passed', 'ring/keeps_the_oldest'],
    ['failed', 'ring/wraps<b>'],
    ['skipped', 'ring/grows'],
];
let runs = '';
const EARLIER = [['passed', 'ring/wraps<b>'], ['passed', 'ring/grows']];

function addRun(folder, name, results) {
    const run = join(folder, name);

    mkdirSync(join(run, 'tests'), { recursive: true });
    writeFileSync(join(run, 'run.json'), '{}');
    writeFileSync(join(run, 'report.html'), 'report');
    writeFileSync(join(run, 'summary.tsv'), 'end\tfinished\nhost\tvm\n' +
        `duration_ns\t1500\npassed\t2\nfailed\t${results.length - 2}\n`);
    writeFileSync(join(run, 'results.tsv'), results.map(([outcome, test]) =>
        `${outcome}\t1500\tring_test\t${test}\n`).join(''));
}

// make() makes a folder of three runs once; the last one writes the page.
function make(folder) {
    if (!existsSync(runs)) {
        runs = join(folder, 'runs');
        addRun(runs, '2026-11-20T10-00-00.000001', EARLIER);
        addRun(runs, '2026-11-20T11-00-00.000001', LATER);
        execFileSync(TESTLOG, ['run', '/bin/true'],
            { env: { ...process.env, TRACE_DIR: runs }, stdio: 'ignore' });
    }
    return join(runs, 'index.html');
}

module.exports = {
    async list_runs_and_tests(open, folder) {
        const page = await open(make(folder));
        const rows = await page.locator('#runs tbody tr').allInnerTexts();
        const tests = await page.locator('#tests tbody tr').allInnerTexts();

        assert.strictEqual(rows.length, 3);
        assert.match(rows[1], /2026-11-20T11-00-00.000001\s+failed\s+2\s+1/);
        assert.match(rows[2], /2026-11-20T10-00-00.000001\s+passed\s+2\s+0/);
        assert.match(tests[0], /^ring\/wraps<b> ring_test\s+newly failing/);
        assert.match(tests[0], /failed 1.50µs\s+1.50µs/);
        assert.strictEqual(tests.length, 4);
    },

    // Outcomes stay beside a long name, which is cut.
    async wrap_long_names(open, folder) {
        const long = join(folder, 'long');
        const run = ['a', 'b'].map((letter, i) => ['passed',
            `s/${letter.repeat(i ? 9000 : 150)}`]);

        addRun(long, '2026-11-20T10-00-00.000001', run);
        execFileSync(TESTLOG, ['run', '/bin/true'],
            { env: { ...process.env, TRACE_DIR: long }, stdio: 'ignore' });

        const page = await open(join(long, 'index.html'));
        const right = await page.evaluate(() => Math.max(...Array.from(
            document.querySelectorAll('.trend td'),
            (cell) => cell.getBoundingClientRect().right)));
        const rows = await page.locator('#tests tbody tr').allInnerTexts();

        assert.ok(right < 1000, `cells end at ${right}`);
        assert.ok(rows.every((row) => row.length < 400));
    },

    async keep_names_readable_beside_many_runs(open, folder) {
        const many = join(folder, 'many');

        for (let i = 10; i < 35; i++)
            addRun(many, `2026-11-20T10-${i}-00.000001`, [['passed', 's/t']]);
        execFileSync(TESTLOG, ['run', '/bin/true'],
            { env: { ...process.env, TRACE_DIR: many }, stdio: 'ignore' });

        const page = await open(join(many, 'index.html'));
        const row = await page.locator('#tests tbody tr').first().boundingBox();

        assert.ok(row.height < 30, `a row has ${row.height} px`);
    },

    async follow_a_link_to_a_test(open, folder) {
        const page = await open(make(folder));

        assert.match(
            await page.locator('#tests td a').first().getAttribute('href'),
            /^2026-11-20T11.*report.html#view=log&test=ring_test%3Aring\/wraps%3Cb%3E$/);
        await page.locator('#runs tbody a').last().click();
        await page.waitForURL(/2026-11-20T10-00-00.000001\/report.html$/);
        await page.goBack();
        await page.waitForSelector('body[data-ready]');
    },

    async find_tests(open, folder) {
        const page = await open(make(folder));

        await page.getByLabel('Find a test').fill('GROWS');
        assert.deepStrictEqual(
            await page.locator('#tests tbody tr:visible th').allInnerTexts(),
            ['ring/grows ring_test']);
        assert.strictEqual(
            await page.locator('#tests [role=status]').innerText(), ' 1 of 4');
        await page.getByLabel('Find a test').fill('');
        assert.strictEqual(
            await page.locator('#tests tbody tr:visible').count(), 4);
    },

    async need_no_script(open, folder) {
        const page = await open(make(folder));
        const plain = await page.context().browser().newContext(
            { javaScriptEnabled: false });
        const other = await plain.newPage();

        await other.goto(page.url());
        assert.strictEqual(await other.locator('#runs tbody tr').count(), 3);
        await plain.close();
    },

    async be_accessible(open, folder) {
        const file = make(folder);

        for (const colorScheme of ['light', 'dark']) {
            const page = await open(file, '', { colorScheme });

            assert.deepStrictEqual(await chromium.serious(page), []);
        }
    },
};

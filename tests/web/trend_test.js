// trend_test.js: testlog view: a test over all runs, and the search in them.
'use strict';

const assert = require('node:assert');
const { mkdirSync, readdirSync, truncateSync, writeFileSync } =
    require('node:fs');
const { join } = require('node:path');
const chromium = require('./chromium.js');
const { serve, openPage, record, OLD } = require('./view_server.js');

const EVIL = 'ring/<b>"&\u202e';
const TEST = 'store/stores_any_string';

// RUNS are results of a test, the oldest first: an outcome, ms, a reason.
const RUNS = [
    ...Array.from({ length: 4 }, () => ['passed', 12]),
    ...Array.from({ length: 4 }, () => ['passed', 31]),
    ['skipped', 0, 'no GPU'], ['failed', 30, 'ring_test.c:7: <i>full</i>'],
    ['crashed', 31, 'SIGSEGV'], ['timeout', 5000, 'timed out'],
];

function nameOf(number) {
    return `2026-11-21T10-00-00.0000${10 + number}`;
}

function addRun(runs, number, [outcome, ms, reason = null]) {
    const run = join(runs, nameOf(number));
    const name = EVIL.replace('\u202e', '?');

    mkdirSync(join(run, 'tests'), { recursive: true });
    writeFileSync(join(run, 'run.json'), '{}');
    writeFileSync(join(run, 'summary.tsv'),
        `end\tfinished\nhost\tvm\ncommit\tabc${number}\n`);
    writeFileSync(join(run, 'results.tsv'),
        `${outcome}\t${ms * 1e6}\tring_test\t${name}\n`);
    writeFileSync(join(run, 'results.jsonl'), `${JSON.stringify({
        schema: 1, event: 'test', program: 'ring_test', name, outcome, reason,
        duration_ns: ms * 1e6,
    })}\n`);
}

function addRuns(runs) {
    RUNS.forEach((result, number) => addRun(runs, number, result));
}

async function ready(page) {
    await page.waitForSelector('body[data-ready]');
    await page.waitForSelector('#picture svg, #runs');
}

async function lines(page) {
    return page.locator('#found .lines li').count();
}

async function search(page, text) {
    await page.getByLabel('Search all runs').fill(text);
    await page.getByLabel('Search all runs').press('Enter');
    await page.waitForFunction(() => / match.* in |^Stopped/i.test(
        ` ${document.getElementById('finding-state').textContent}`));
    return page.locator('#finding-state').innerText();
}

// openTest() adds runs and opens the page of a test that has all outcomes.
async function openTest(address, runs) {
    addRuns(runs);
    const page = await openPage(address);

    await ready(page);
    await page.locator('#tests tr', { hasText: 'ring_test' })
        .getByRole('link').first().click();
    await page.waitForURL('**/test#*');
    await ready(page);
    return page;
}

module.exports = {
    async lead_from_a_test_to_its_runs_and_back(open, folder) {
        await serve(folder, 'lead', async (address, runs) => {
            const first = await record(runs);
            const page = await openPage(address);

            await ready(page);
            await page.locator('#tests').getByRole('link', { name: TEST })
                .press('Enter');
            await page.waitForURL('**/test#program=store_test&test=*');
            await ready(page);
            assert.strictEqual(await page.locator('h1').innerText(),
                `${TEST} store_test`);
            assert.strictEqual(await page.locator('.durations .mark').count(),
                1);
            await record(runs);
            await page.waitForFunction(() =>
                document.querySelectorAll('.durations .mark').length === 2 &&
                document.querySelectorAll('tbody tr').length === 2);
            assert.deepStrictEqual(await chromium.serious(page), []);
            await page.getByRole('link', { name: first }).press('Enter');
            await page.waitForURL(`**/report/${first}#view=log&test=*`);
            await page.waitForSelector('body[data-shown=log]');
            assert.ok((await page.locator('#log h1').innerText())
                .includes(TEST));
            await page.getByRole('link', { name: 'History' }).press('Enter');
            await page.waitForURL('**/test#program=store_test&test=*');
            await ready(page);
            assert.strictEqual(await page.locator('tbody tr').count(), 2);
            await page.getByRole('link', { name: 'All runs' }).press('Enter');
            await page.waitForSelector('#runs');
            assert.deepStrictEqual(page.problems, []);
            await page.context().close();
        });
    },

    async tell_outcomes_apart_by_shape_and_color(open, folder) {
        await serve(folder, 'shapes', async (address, runs) => {
            const page = await openTest(address, runs);

            const drawn = await page.locator('.durations .mark').evaluateAll(
                (all) => all.map((mark) => ({
                    shape: mark.getAttribute('d'), kind: mark.classList[1],
                    color: getComputedStyle(mark).fill,
                    x: mark.getBoundingClientRect().x,
                })));
            const kinds = new Set(drawn.map(({ kind }) => kind));

            assert.strictEqual(drawn.length, RUNS.length);
            assert.deepStrictEqual(drawn.map(({ kind }) => kind),
                RUNS.map(([outcome]) => `is-${outcome}`));
            assert.ok(drawn.every(({ x }, i) => !i || x > drawn[i - 1].x));
            for (const key of ['shape', 'color']) {
                assert.strictEqual(
                    new Set(drawn.map((one) => one[key])).size, kinds.size);
            }
            assert.match(await page.getByRole('img').getAttribute('aria-label'),
                /^Durations of 12 runs, from 12.0 ms to 5.00 s; the latest is/);
            assert.match(await page.locator('.legend').innerText(),
                /passed 8\s*failed 1\s*crashed 1\s*timed out 1\s*skipped 1/);
            await page.context().close();
        });
    },

    async say_when_a_test_changed(open, folder) {
        await serve(folder, 'changed', async (address, runs) => {
            const page = await openTest(address, runs);

            assert.deepStrictEqual(
                await page.locator('.changes li').allInnerTexts(), [
                    `First failed in ${nameOf(9)}, commit abc9`,
                    `Slower since ${nameOf(4)}, commit abc4: 12.0 ms → ` +
                        '31.0 ms']);
            assert.strictEqual(
                await page.locator('.durations .change').count(), 2);
            assert.match(await page.locator('tbody').innerText(),
                /ring_test\.c:7: <i>full<\/i>/);
            assert.strictEqual(await page.locator('main i, h1 b').count(), 0);
            for (const colorScheme of ['light', 'dark']) {
                await page.emulateMedia({ colorScheme });
                assert.deepStrictEqual(await chromium.serious(page), []);
            }
            await page.setViewportSize({ width: 400, height: 800 });
            await page.waitForFunction(() => document.documentElement
                .scrollWidth <= 400);
            assert.deepStrictEqual(page.problems, []);
            await page.context().close();
        });
    },

    async say_that_no_run_has_a_test(open, folder) {
        await serve(folder, 'none', async (address) => {
            const page = await openPage(address);

            await ready(page);
            const home = page.url();

            for (const [hash, words] of [
                ['program=p&test=s/t', 'No run has the test s/t of p.'],
                ['', 'The address names no test'],
                ['program=%zz', 'The address names no test']]) {
                await page.goto(new URL('.', home).href);
                await page.goto(new URL(`test#${hash}`, home).href);
                await page.getByText(words).waitFor();
            }
            await page.context().close();
        });
    },

    async ask_for_the_token_of_a_test(open, folder) {
        await serve(folder, 'secret', async (address) => {
            const page = await openPage(
                new URL('/test#program=p&test=old/test', address).href);

            await page.getByText('Open the address that testlog view printed')
                .waitFor();
            await page.context().close();
        });
    },

    async search_lines_and_tests_of_all_runs(open, folder) {
        await serve(folder, 'searched', async (address, runs) => {
            await record(runs);
            const latest = await record(runs);
            const page = await openPage(address);

            await ready(page);
            assert.strictEqual(await search(page, 'FOX -> red'),
                '2 matches in 3 runs');
            assert.strictEqual(await page.locator('#found h3 a').first()
                .innerText(), latest);
            assert.deepStrictEqual(await chromium.serious(page), []);
            await page.locator('#found .lines a').first().press('Enter');
            await page.waitForURL(`**/report/${latest}#*&t=*`);
            await page.waitForSelector('body[data-shown=log]');
            await page.locator('.line-details').waitFor();
            assert.match(await page.locator('.line-details').innerText(),
                /fox -> red/);
            await page.goBack();
            await page.getByText('2 matches in 3 runs').waitFor();
            assert.strictEqual(
                await page.getByLabel('Search all runs').inputValue(),
                'FOX -> red');
            assert.strictEqual(await search(page, 'old/test'),
                'No match in 3 runs');
            assert.strictEqual(await search(page, TEST), '2 matches in 3 runs');
            assert.strictEqual(await lines(page), 0);
            await search(page, '<b>');
            await page.getByLabel('Search all runs').fill('');
            await page.getByLabel('Search all runs').press('Enter');
            await page.locator('#found').waitFor({ state: 'hidden' });
            assert.deepStrictEqual(page.problems, []);
            assert.ok(page.asked.every((url) =>
                url.startsWith(address.split('#')[0])), page.asked.join(' '));
            await page.context().close();
        });
    },

    async say_what_a_search_left_out(open, folder) {
        await serve(folder, 'bounded', async (address, runs) => {
            await record(runs, '--repeat=60', `--filter=${TEST}`);
            const page = await openPage(address);

            await ready(page);
            assert.strictEqual(await search(page, 'evicted'),
                '500 matches in 1 run');
            assert.strictEqual(await lines(page), 500);
            assert.match(await page.locator('.left-out').innerText(),
                /: \d+ tests not searched\s+1 earlier run not searched, because/);
            assert.deepStrictEqual(await chromium.serious(page), []);
            await page.context().close();
        });
    },

    async search_beside_what_is_damaged(open, folder) {
        await serve(folder, 'damaged', async (address, runs) => {
            const run = await record(runs);
            const tests = join(runs, run, 'tests/store_test');

            for (const test of readdirSync(tests).slice(0, 2))
                truncateSync(join(tests, test, 'recording'), 100);
            const page = await openPage(address);

            await ready(page);
            await page.route(`**/api/search?run=${OLD}&*`, (route) =>
                route.fulfill({ status: 500, body: 'failed' }));
            assert.match(await search(page, 'fox -> red'), /1 match in 2 runs/);
            assert.match(await page.locator('.left-out').innerText(),
                new RegExp(`${OLD}: it cannot be searched`));
            await page.context().close();
        });
    },

    async stop_a_search(open, folder) {
        await serve(folder, 'stopped', async (address) => {
            const page = await openPage(address);

            await ready(page);
            await page.route('**/api/search?*', () => 0); // no answer
            await page.getByLabel('Search all runs').fill('x');
            await page.getByLabel('Search all runs').press('Enter');
            await page.getByText('searching run 1 of 1').waitFor();
            await page.getByRole('button', { name: 'Stop' }).press('Enter');
            await page.getByText('Stopped').waitFor();
            assert.strictEqual(await page.getByRole('button',
                { name: 'Stop' }).count(), 0);
            await page.context().close();
        });
    },
};

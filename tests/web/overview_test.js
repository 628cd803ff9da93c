// overview_test.js: what failed and why, at first sight.
'use strict';

const assert = require('node:assert');
const chromium = require('./chromium.js');

function text(page, selector) {
    return page.locator(selector).first().innerText();
}

module.exports = {
    async shows_failures_with_their_reasons(open) {
        const page = await open('mixed');
        const cards = page.locator('#overview article');

        assert.match(await text(page, '#overview h1'), /3 of 9 tests failed/);
        assert.strictEqual(await cards.count(), 3);
        assert.match(await cards.nth(0).innerText(), /store\/evicts_oldest/);
        assert.match(await cards.nth(0).innerText(),
            /SIGSEGV: null pointer, in store_query/);
        assert.match(await page.title(), /3 failed/);
    },

    async opens_the_parts_of_a_failure(open) {
        const page = await open('mixed');
        const card = page.locator('#overview article').nth(1);

        assert.ok(!(await card.innerText()).includes('Stacks'));
        await card.locator('summary').click();
        await card.locator('.part').first().waitFor();
        const parts = await card.innerText();

        for (const part of ['Stacks', 'Open spans', 'Last lines', 'Output',
            'Run again', 'Debug'])
            assert.ok(parts.includes(part), part);
    },

    async says_where_a_test_hung(open) {
        const page = await open('mixed');
        const summary = await text(page, 'article.is-timeout summary');

        assert.match(summary, /^after 1.00 s\nmain thread in take \(pool.c:41\)/);
        assert.match(summary, /\nthread pool 1 in serve/);
        assert.match(summary, /\nin span request\{id=1\}:query/);
    },

    async says_where_the_slowest_test_spent_its_time(open) {
        const page = await open('mixed');
        const panel = page.locator('.panel',
            { hasText: 'Where the time went' });

        await panel.locator('.bars li').first().waitFor();
        const shown = await panel.innerText();

        assert.match(shown, /http\/serves_1000/);
        assert.match(shown, /query[\s\S]*%/);
    },

    async sums_up_the_thread_that_worked_most(open) {
        const page = await open('threaded');
        const panel = page.locator('.panel',
            { hasText: 'Where the time went' });

        await panel.locator('.bars li').first().waitFor();
        assert.match(await panel.innerText(),
            /Thread works:[\s\S]*query[\s\S]*90.0 %/);
    },

    async says_that_a_run_was_interrupted(open) {
        const page = await open('interrupted');

        assert.match(await text(page, '#overview h1'),
            /1 test passed until interrupted/);
        assert.match(await text(page, '#overview .notice'), /SIGINT/);
    },

    async says_that_a_run_goes_on(open) {
        const page = await open('running');

        assert.strictEqual(await text(page, '#overview h1'),
            '1 test ended, 1 running');
        assert.strictEqual(await text(page, '#verdict'), 'running');
        assert.match(await text(page, '#overview .counts'),
            /1 passed\s*1 running\s*1 no result/);
        assert.deepStrictEqual(await chromium.serious(page), []);
        await page.getByRole('link', { name: '1 running' }).press('Enter');
        await page.waitForSelector('body[data-shown=tests]');
        assert.deepStrictEqual(
            await page.locator('#tests .badge').allInnerTexts(), ['running']);
    },

    async lists_changes_since_the_previous_run(open) {
        const page = await open('mixed');
        const changes = await page.locator('.panel', { hasText: 'Changes' })
            .innerText();

        assert.match(changes, /Newly failing \(2\)/);
        assert.match(changes, /Newly passing \(1\)/);
        assert.match(changes, /http\/serves_1000 400 ms → 1.30 s/);
        assert.match(changes, /store\/old/);
    },

    async copies_a_command(open) {
        const page = await open('mixed', '', {
            permissions: ['clipboard-read', 'clipboard-write'],
        });

        await page.locator('[aria-label="Copy: Run again"]').first().click();
        await page.waitForFunction(() =>
            document.getElementById('status').textContent === 'Copied');
        assert.match(await page.evaluate('navigator.clipboard.readText()'),
            /testlog run a -- --filter 'store\/evicts_oldest'/);
    },

    async selects_a_command_if_the_clipboard_is_refused(open) {
        const page = await open('mixed');

        await page.evaluate(() => {
            navigator.clipboard.writeText = () => Promise.reject(new Error());
        });
        await page.locator('[aria-label="Copy: Run again"]').first().click();
        await page.waitForFunction(() =>
            String(window.getSelection()).startsWith('testlog run a'));
        assert.match(await page.locator('#status').textContent(), /Ctrl\+C/);
    },

    async leads_to_the_tests_of_a_status(open) {
        const page = await open('mixed');

        await page.locator('.count', { hasText: 'flaky' }).click();
        await page.locator('.grid-tests .grid-rows .row').first().waitFor();
        assert.strictEqual(
            await page.locator('.grid-tests .grid-rows .row').count(), 1);
        assert.match(page.url(), /view=tests&status=flaky/);
    },

    async names_flaky_tests_with_their_reasons(open) {
        const page = await open('mixed');
        const panel = page.locator('.panel', { hasText: 'Flaky tests' });

        assert.match(await panel.innerText(), /pool\/runs_jobs flaked/);
    },

    async draws_the_tests_of_each_worker(open) {
        const page = await open('mixed');
        const canvas = page.locator('canvas.workers');

        assert.match(await canvas.getAttribute('aria-label'), /3 workers/);
        await canvas.scrollIntoViewIfNeeded();
        const box = await canvas.boundingBox();

        await page.mouse.click(box.x + box.width * 0.6, box.y + 8);
        await page.waitForFunction(() =>
            location.hash.includes('view=timeline'));
    },

    async names_the_programs_of_tests_with_one_name(open) {
        const page = await open('twins');
        const cards = page.locator('#overview article');

        assert.match(await cards.nth(0).innerText(), /one_test:store\/opens/);
        assert.match(await cards.nth(1).innerText(), /two_test:store\/opens/);
    },

    async groups_workers_by_host(open) {
        const page = await open('merged');

        assert.match(await text(page, '#overview'), /2 runs merged · 2 hosts/);
        assert.match(await text(page, '#overview'),
            /2 workers of 2 hosts, 1.90 s/);
        assert.match(await text(page, '#overview'), /1 no result/);
        assert.match(await text(page, '#overview'),
            /only results and counts of 1 test:/);
        const canvas = page.locator('canvas.workers');

        await canvas.scrollIntoViewIfNeeded();
        const box = await canvas.boundingBox();

        await page.mouse.move(box.x + box.width * 0.6, box.y + 27);
        assert.match(await canvas.getAttribute('title'),
            /^node2: store\/test_2: passed/);
    },

    async shows_the_clocks_of_hosts(open) {
        const page = await open('merged', 'view=facts');

        assert.match(await text(page, '#facts'),
            /node1\s+1 run; offset of its clock \+0 ns, uncertainty 0 ns/);
        assert.match(await text(page, '#facts'),
            /1 run, 1 killed; offset of its clock −1.50 ms, uncertainty 20.0 µs/);
    },

    async leads_to_an_earlier_try_of_a_test(open) {
        const page = await open('mixed');
        const canvas = page.locator('canvas.workers');

        await canvas.scrollIntoViewIfNeeded();
        const { x, y, width, height } = await canvas.boundingBox();

        await page.mouse.click(x + width * 0.6, y + height - 8);
        await page.waitForFunction(() =>
            location.hash.includes('test=pool/runs_jobs&try=1'));
    },
};

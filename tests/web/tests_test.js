// tests_test.js: the table of all tests.
'use strict';

const assert = require('node:assert');

const ROWS = '.grid-tests .grid-rows .row';

function names(page) {
    return page.locator(`${ROWS} .c-name`).allInnerTexts();
}

module.exports = {
    async sorts_by_duration(open) {
        const page = await open('mixed', 'view=tests');

        await page.locator('.c-duration button').click();
        assert.strictEqual((await names(page))[0], 'http/serves_1000');
        assert.strictEqual(await page.locator('[role=columnheader]' +
            '.c-duration').getAttribute('aria-sort'), 'descending');
        await page.locator('.c-duration button').click();
        assert.strictEqual((await names(page))[0], 'http/parses_headers');
        await page.waitForFunction(() =>
            location.hash.includes('sort=duration'));
    },

    // The numbers of 6 s and 5 GiB do not fit into 32 bits.
    async shows_what_tests_used(open) {
        const page = await open('mixed', 'view=tests');
        const cells = page.locator(`${ROWS} .c-cpu span`);

        await page.locator('.c-cpu button').click();
        assert.deepStrictEqual(await names(page).then((all) => all.slice(0, 2)),
            ['http/serves_1000', 'store/evicts_oldest']);
        assert.strictEqual(await cells.nth(0).innerText(), '6.00 s');
        assert.strictEqual(await cells.nth(2).innerText(), '');
        assert.strictEqual(await cells.nth(0).getAttribute('title'),
            '6.00 s of processor time; waited 1 time; preempted 20 times; ' +
            '5.00 GiB of memory at most; 2.00 KiB read; 0 bytes written; ' +
            '34 page faults, 4 of them from disk');
    },

    async shows_the_usage_of_a_failed_test(open) {
        const page = await open('mixed', 'view=overview');
        const card = page.locator('.failure.is-crashed');

        assert.match(await card.locator('h3').innerText(), /CPU 1\.00 s/);
        if (!await card.locator('.parts').isVisible())
            await card.locator('summary').first().click();
        assert.match(await card.innerText(), /preempted 20 times/);
    },

    // The worst outcome of the repetitions is that of the test.
    async shows_repetitions_as_one_test(open) {
        const page = await open('repeated', 'view=tests');

        assert.deepStrictEqual(await names(page), ['store/opens 2 of 3 passed',
            'store/grows 2 of 2 passed', 'mends issue #12']);
        await page.locator('[data-status=failed]').click();
        assert.deepStrictEqual(await names(page),
            ['store/opens 2 of 3 passed']);
        await page.locator(`${ROWS} .c-name a`).click();
        await page.waitForFunction(() =>
            location.hash.includes('test=store%2Fopens%232') ||
            location.hash.includes('test=store/opens%232'));
        await page.goto(page.url().replace(/#.*/, '#view=log&test=store/opens'));
        await page.reload();
        assert.match(await page.locator('#log h1').innerText(),
            /store\/opens#2/);
    },

    async filters_by_text_and_status(open) {
        const page = await open('mixed', 'view=tests');

        await page.locator('[aria-label="Filter tests"]').fill('sigsegv');
        assert.deepStrictEqual(await names(page), ['store/evicts_oldest']);
        await page.locator('[aria-label="Filter tests"]').fill('');
        await page.locator('[data-status=skipped]').click();
        assert.deepStrictEqual(await names(page), ['http/parses_headers']);
        assert.match(await page.locator('#tests [role=status]').innerText(),
            /1 of 10 tests/);
    },

    async restores_filters_from_the_address(open) {
        const page = await open('mixed',
            'view=tests&status=crashed,timeout&sort=name:down');

        assert.deepStrictEqual(await names(page),
            ['store/evicts_oldest', 'http/times_out']);
    },

    async counts_spans_lines_and_kernels(open) {
        const page = await open('mixed', 'view=tests&q=serves');
        const row = await page.locator(ROWS).innerText();

        assert.match(row, /3,250/);
        assert.match(row, /2,000/);
        assert.match(row, /250/);
    },

    async shows_only_some_of_10000_tests(open) {
        const page = await open('many', 'view=tests');
        const grid = page.locator('.grid-tests');

        assert.strictEqual(await grid.getAttribute('aria-rowcount'), '10001');
        assert.ok(await page.locator(ROWS).count() < 100);
        await page.locator('.grid-tests .grid-view').focus();
        await page.keyboard.press('End');
        await page.locator(`${ROWS}[aria-rowindex="10001"]`).waitFor();
        assert.match((await names(page)).at(-1), /test_9999/);
    },

    async opens_the_log_with_the_keyboard(open) {
        const page = await open('mixed', 'view=tests');

        await page.locator('.grid-tests .grid-view').focus();
        await page.keyboard.press('ArrowDown');
        await page.keyboard.press('ArrowDown');
        await page.keyboard.press('Enter');
        await page.locator('#log h1').waitFor();
        assert.match(await page.locator('#log h1').innerText(),
            /store\/evicts_oldest/);
    },
};

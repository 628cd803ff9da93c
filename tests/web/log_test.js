// log_test.js: the lines of a test.
'use strict';

const assert = require('node:assert');

const ROWS = '.grid-log .grid-rows .row';
const TEST = 'test=http/serves_1000';

function total(page) {
    return page.locator('#log .tools .muted').innerText();
}

// filtered() is the total of a filter, which applies as it is typed.
async function filtered(page, filter) {
    await page.locator('[aria-label="Filter by level, target and span"]')
        .fill(filter);
    return total(page);
}

module.exports = {
    async filters_by_level(open) {
        const page = await open('mixed', TEST);

        await page.locator('#log [data-level="2"]').click();
        const levels = await page.locator(`${ROWS} .c-level`).allInnerTexts();

        assert.deepStrictEqual([...new Set(levels)], ['WARN']);
        assert.match(await total(page), /59 of 2,000 lines/);
        assert.match(await page.locator('#log .command code').last()
            .innerText(), /--filter=warn/);
    },

    async understands_levels_targets_and_spans(open) {
        const page = await open('mixed', `${TEST}&filter=info`);

        assert.match(await total(page), /1,059 of 2,000/);
        assert.match(await filtered(page, 'off,store=debug'),
            /941 of 2,000/);
        assert.match(await filtered(page, 'warn,http=info'), /1,059 of 2,000/);
        assert.match(await filtered(page, '[query]=trace'), /1,000 of 2,000/);
        assert.match(await filtered(page, '[request{id=7}]'), /2 of 2,000/);
    },

    async names_directives_that_it_cannot_apply(open) {
        const page = await open('mixed', `${TEST}&filter=info,!net`);

        assert.match(await page.locator('.problem').innerText(),
            /testlog log supports !net/);
    },

    async tells_mistakes_from_directives_that_it_does_not_read(open) {
        const page = await open('mixed',
            `${TEST}&filter=${encodeURIComponent('[lx]=trac,info')}`);
        const problem = page.locator('.problem');

        assert.strictEqual(await problem.innerText(),
            'Ignored: trac in [lx]=trac is not a level');
        await filtered(page, '[lx=trace,info,^net=warn');
        assert.strictEqual(await problem.innerText(),
            'Ignored: [lx=trace,info,^net=warn is not a directive');
        await filtered(page, 'x y,!net,info');
        assert.strictEqual(await problem.innerText(), 'Ignored: x y is not ' +
            'a directive; only testlog log supports !net');
        await filtered(page, 'info');
        assert.strictEqual(await problem.innerText(), '');
    },

    async searches_text(open) {
        const page = await open('mixed', TEST);

        await page.locator('[aria-label="Search in lines"]')
            .fill('row 123 found');
        assert.match(await total(page), /1 of 2,000/);
        await page.locator('[aria-label="Search in lines"]').fill('id=77 ');
        assert.match(await total(page), /of 2,000/);
    },

    async shows_where_a_line_was_logged(open) {
        const page = await open('mixed', TEST);

        await page.locator(ROWS).nth(1).click();
        const details = await page.locator('.line-details').innerText();

        assert.match(details, /store\/store.c:93/);
        assert.match(details, /request\{id=0 user="root"\}/);
        assert.match(details, /query\{table="users"\}/);
        await page.waitForFunction(() => /t=\d+/.test(location.hash));
    },

    async leads_to_the_time_line_and_back(open) {
        const page = await open('mixed', TEST);

        await page.locator(ROWS).nth(3).click();
        await page.locator('text=Show on the time line').click();
        await page.locator('#timeline h2', { hasText: 'query' }).waitFor();
        await page.locator('.slice-lines a').first().click();
        await page.locator('.line-details').waitFor();
        assert.match(await page.locator('.line-text').innerText(),
            /row 1 found/);
    },

    async scrolls_through_100000_lines(open) {
        const page = await open('huge', 'view=log');

        await page.locator(ROWS).first().waitFor();
        assert.strictEqual(await page.locator('.grid-log')
            .getAttribute('aria-rowcount'), '100001');
        assert.ok(await page.locator(ROWS).count() < 120);
        await page.locator('.grid-log .grid-view').focus();
        await page.keyboard.press('End');
        await page.locator(ROWS, { hasText: 'line 99999' }).waitFor();
    },

    async goes_to_the_time_in_the_address(open) {
        const page = await open('mixed', `${TEST}&t=300000000`);

        await page.locator(`${ROWS}.is-active`).waitFor();
        assert.match(await page.locator(`${ROWS}.is-active .c-time`)
            .innerText(), /^0\.300/);
    },

    async shows_an_earlier_try(open) {
        const page = await open('mixed', 'test=pool/runs_jobs');

        assert.match(await total(page), /40 lines/);
        await page.locator('text=Log of try 1').click();
        await page.waitForFunction(() => document.querySelector(
            '#log .tools .muted').textContent === '4 lines');
        assert.match(await page.locator('.test-head').innerText(),
            /failed[\s\S]*300 ms[\s\S]*try 1 of 2/);
    },

    async names_the_command_for_a_recording_left_out(open) {
        const page = await open('mixed', 'test=greet/greets');

        assert.match(await page.locator('#log').innerText(),
            /testlog report latest greet\/greets/);
    },

    async says_that_a_test_is_unknown(open) {
        const page = await open('mixed', 'test=no/such');

        assert.match(await page.locator('#log .notice').innerText(),
            /no test no\/such/);
    },

    async resizes_after_a_test_without_a_recording(open) {
        const page = await open('mixed', TEST);

        await page.locator(ROWS).first().waitFor();
        await page.evaluate(() => { location.hash = 'test=greet/greets'; });
        await page.locator('#log .empty').first().waitFor();
        await page.setViewportSize({ width: 900, height: 500 });
        await page.evaluate(() => new Promise((done) => {
            requestAnimationFrame(() => requestAnimationFrame(done));
        }));
        assert.deepStrictEqual(page.problems, []);
    },
};

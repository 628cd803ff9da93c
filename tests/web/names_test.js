// names_test.js: the durations of one name: a histogram, its slices, callers
// and callees.
'use strict';

/* global timeline, histogram */

const assert = require('node:assert');
const { writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { single } = require('./samples.js');

// calls() is a test in which `outer` runs 12 times with two `inner` in each,
// the last of which take 10 times as long, and `inner` runs once by itself.
function calls() {
    const slices = [];

    for (let i = 0; i < 12; i++) {
        const start = i * 1e5;
        const unit = i === 11 ? 10 : 1;

        slices.push({ start, duration: 4000 * unit, name: 'outer' },
            { start: start + 100, duration: 1000 * unit, depth: 1,
                name: 'inner', parent: 1 },
            { start: start + 20000, duration: i ? 1000 * unit : 0, depth: 1,
                name: 'inner', parent: 2 });
    }
    slices.push({ start: 2e6, duration: 1500, name: 'inner' });
    return { tracks: [{ kind: 'thread', name: 'main', pid: 100, tid: 100,
        depth: 2 }], slices };
}

async function opened(open, folder, hash) {
    const file = join(folder, 'calls.html');

    writeFileSync(file, single(calls()));
    const page = await open(file, hash);

    await page.waitForSelector('[data-shown]', { state: 'attached' });
    return page;
}

// rowsOf() are the cells of a table, by its label.
function rowsOf(page, label) {
    return page.locator(`table[aria-label="${label}"] tbody tr`)
        .evaluateAll((list) => list.map((row) =>
            [...row.children].map((cell) => cell.innerText)));
}

const bars = (page) => page.locator('.histogram-bar');

module.exports = {
    async shows_how_durations_are_spread(open, folder) {
        const page = await opened(open, folder, 'view=timeline');

        await page.waitForFunction(() => timeline.isPainted());
        await page.locator('table[aria-label="Slices in sum"] button',
            { hasText: 'inner' }).click();
        assert.match(await page.locator('.panel-content h2').innerText(),
            /inner 25 slices in the test/);
        assert.deepStrictEqual(await bars(page).evaluateAll((list) =>
            list.map((bar) => bar.getAttribute('aria-label'))),
        ['1 slice of 0 ns', '21 slices of 939 ns to 1.02 µs',
            '1 slice of 1.45 µs to 1.58 µs',
            '2 slices of 9.74 µs to 10.6 µs']);
        assert.match(await page.locator('.histogram-axis').innerText(),
            /median 1.00 µs · p99 10.0 µs/);
    },

    async lists_the_slices_of_a_bar(open, folder) {
        const page = await opened(open, folder, 'view=timeline');

        await page.waitForFunction(() => timeline.isPainted());
        await page.locator('table[aria-label="Slices in sum"] button',
            { hasText: 'inner' }).click();
        await bars(page).last().click();
        assert.strictEqual(await bars(page).last()
            .getAttribute('aria-pressed'), 'true');
        const list = page.locator('.name-slices li');

        assert.deepStrictEqual(await list.allInnerTexts(),
            ['0.001100 s 10.0 µs', '0.001120 s 10.0 µs']);
        await list.nth(1).locator('button').click();
        assert.strictEqual(await page.evaluate(() => timeline.control
            .recording.slices.start[timeline.control.view.selected]), 1120000);
    },

    async walks_to_callers_and_callees(open, folder) {
        const page = await opened(open, folder, 'view=timeline');

        await page.waitForFunction(() => timeline.isPainted());
        await page.locator('table[aria-label="Slices in sum"] button',
            { hasText: 'inner' }).click();
        assert.deepStrictEqual(
            await rowsOf(page, 'Inside which spans inner ran'),
            [['outer', '13', '31.0 µs', '31.0 µs'],
                ['(no enclosing span)', '12', '11.5 µs', '11.5 µs']]);
        await page.locator('.sandwich button.link', { hasText: 'outer' })
            .click();
        assert.deepStrictEqual(await rowsOf(page, 'What ran inside outer'),
            [['inner', '13', '31.0 µs', '31.0 µs']]);
        assert.match(await page.locator('.panel-content h2').innerText(),
            /outer 12 slices/);
    },

    async counts_only_the_range(open, folder) {
        const page = await opened(open, folder, 'view=timeline');

        await page.waitForFunction(() => timeline.isPainted());
        await page.evaluate(() => {
            const { control } = timeline;

            control.select(1, true);
            control.setRange([500, 100600].map((time) =>
                control.recording.zero + time));
            control.parts.panels.open('name');
        });
        assert.match(await page.locator('.panel-content h2').innerText(),
            /inner 3 slices in the range/);
        assert.deepStrictEqual(
            await rowsOf(page, 'Inside which spans inner ran'),
            [['outer', '2', '1.10 µs', '1.10 µs'],
                ['(no enclosing span)', '1', '0 ns', '0 ns']]);
    },

    async leads_from_tables_to_the_time_line(open, folder) {
        const page = await opened(open, folder, 'view=tables');

        await page.locator('table[aria-label=Spans] button',
            { hasText: 'inner' }).click();
        await bars(page).last().click();
        await page.locator('.name-slices a').first().click();
        await page.waitForSelector('[data-shown=timeline]',
            { state: 'attached' });
        assert.strictEqual(await page.evaluate(() => timeline.control
            .recording.slices.start[timeline.control.view.selected]), 1100100);
    },

    // Sums of all bars are those of the durations, whatever these are.
    async counts_each_duration_once(open, folder) {
        const page = await opened(open, folder, 'view=overview');

        assert.deepStrictEqual(await page.evaluate(() => {
            const wrong = [];

            for (let round = 0; round < 200; round++) {
                const durations = Float64Array.from({ length: 1 + round },
                    () => Math.floor(10 ** (12 * Math.random()) - 1));
                const counts = [];
                const element = histogram.make(durations, (has, label) =>
                    counts.push([durations.filter(has).length,
                        Number(label.replaceAll(',', '').split(' ')[0])]));

                for (const bar of element
                    .querySelectorAll('.histogram-bar'))
                    bar.click();
                if (counts.some(([a, b]) => a !== b || !a) ||
                    counts.reduce((sum, [a]) => sum + a, 0) !==
                        durations.length || counts.length > 49)
                    wrong.push([...durations]);
            }
            return wrong;
        }), []);
    },
};

// phases_test.js: times count from the beginning of a test's body.
'use strict';

/* global timeline, paint */

const assert = require('node:assert');

const HASH = 'view=timeline&test=store/opens';

async function opened(open, more = '') {
    const page = await open('phased', HASH + more);

    await page.waitForFunction(() => timeline.isPainted());
    return page;
}

module.exports = {
    async count_times_from_the_body(open) {
        const page = await opened(open);
        const span = await page.evaluate(() => {
            const { zero, start, end } = timeline.control.recording;

            return { zero, start, end };
        });

        assert.deepStrictEqual(span, { zero: 4e6, start: 2e6, end: 8e6 });
    },

    async draw_the_test_as_long_as_its_body(open) {
        const page = await opened(open, '&from=0&to=6000000');
        const [left, width] = await page.evaluate(() => {
            const { fillRect } = CanvasRenderingContext2D.prototype;
            const boxes = [];

            CanvasRenderingContext2D.prototype.fillRect = function (...box) {
                boxes.push([this.fillStyle, ...box]);
            };
            timeline.paintNow();
            CanvasRenderingContext2D.prototype.fillRect = fillRect;
            const color = paint.color('--passed-back');
            const box = boxes.find(([style]) =>
                style.toLowerCase() === color.trim().toLowerCase());
            const whole = document.querySelector('#timeline canvas')
                .clientWidth;

            return [box[1] / whole, box[3] / whole];
        });

        assert.ok(Math.abs(left) < 1e-6 && Math.abs(width - 0.5) < 1e-6,
            `${left} ${width}`);
    },

    async select_a_slice_by_its_time_in_the_body(open) {
        const page = await opened(open, '&t=1500000');

        await page.locator('#timeline h2', { hasText: 'query' }).waitFor();
        assert.match(await page.locator('.panel-content').innerText(),
            /start\s+0\.001000 s/);
    },

    async show_negative_times_of_the_setup(open) {
        const page = await opened(open, '&t=-1400000');

        await page.locator('#timeline h2', { hasText: 'request' }).waitFor();
        assert.match(await page.locator('.panel-content').innerText(),
            /start\s+-0\.001500 s[\s\S]*-0\.001000/);
        const lines = await open('phased', 'view=log&test=store/opens');

        assert.match(await lines.locator('#log').innerText(),
            /-0\.001000[\s\S]*0\.000000/);
    },

    // Criterion's work before the setup's first record, and after the body,
    // would take most of the screen.
    async show_the_body_and_all_records_first(open) {
        const page = await opened(open, '');
        const shown = () => page.evaluate(() => {
            const { view, recording: { zero } } = timeline.control;
            const margin = (view.end - view.start) / 102;

            return [view.start + margin - zero, view.end - margin - zero]
                .map((time) => Math.round(time / 1e3));
        });

        assert.deepStrictEqual(await shown(), [-1500, 3000]);
        assert.doesNotMatch(page.url(), /from=/);
        await page.keyboard.press('f');
        assert.deepStrictEqual(await shown(), [-2000, 4000]);
        await page.keyboard.press('f');
        assert.deepStrictEqual(await shown(), [-1500, 3000]);
    },

    // Otherwise they would be a hairline.
    async show_short_records_first_and_then_the_body(open) {
        const page = await open('brief', HASH);
        const length = () => page.evaluate(() => {
            const { view } = timeline.control;

            return Math.round((view.end - view.start) / 1.02);
        });

        await page.waitForFunction(() => timeline.isPainted());
        assert.strictEqual(await length(), 18e3);
        assert.doesNotMatch(page.url(), /from=/);
        await page.keyboard.press('f');
        assert.strictEqual(await length(), 489e6);
        await page.keyboard.press('f');
        assert.strictEqual(await length(), 489.5e6);
        await page.keyboard.press('f');
        assert.strictEqual(await length(), 18e3);
    },

    // Neither a range nor a slice as wide as the screen holds F.
    async fit_a_selection_then_more(open) {
        const page = await opened(open);
        const press = async () => {
            await page.keyboard.press('f');
            return page.evaluate(() => {
                const { view } = timeline.control;

                return Math.round((view.end - view.start) / 1e4) * 10;
            });
        };

        await page.evaluate(() => {
            const { setRange, recording: { zero } } = timeline.control;

            setRange([zero + 1e6, zero + 2e6]);
        });
        assert.deepStrictEqual([await press(), await press(), await press()],
            [1000, 4590, 6120]);
        await page.keyboard.press('Escape');
        await page.evaluate(() => {
            const { select, recording: { slices, start, end } } =
                timeline.control;

            slices.start[0] = start;
            slices.ends[0] = end;
            select(0);
        });
        assert.deepStrictEqual([await press(), await press()], [4590, 6120]);
    },
};

// idle_test.js: how the time line skips idle times and shows device work.
'use strict';

/* global timeline, scale, idle */

const assert = require('node:assert');
const { writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { single } = require('./samples.js');

const KERNELS = 13;
const FIRST = 1.2e9 + 30000;
const LAST = 1.2e9 + 30000 * KERNELS + 28000;

// training() has a slice of three seconds with 390 µs of kernels.
function training() {
    const kernels = Array.from({ length: KERNELS }, (unused, i) => ({
        start: FIRST + 30000 * i, duration: 28000, track: 1, name: 'saxpy',
        site: 6, state: 4, kind: 'kernel', parent: 1 + i,
    }));

    return single({
        tracks: [{ kind: 'thread', name: 'main', depth: 1 },
            { kind: 'stream', name: 'stream 7', device: 1, depth: 1 }],
        slices: [{ start: 0, duration: 3e9, name: 'train' }, ...kernels],
    }, { duration: 3e9, start: 1 });
}

// waits() uses no device: its innermost slice works, the one around it waits.
function waits() {
    return single({
        tracks: [{ kind: 'thread', name: 'main', depth: 2 }],
        slices: [{ start: 0, duration: 1e9, name: 'wait' },
            { start: 3e8, duration: 1e8, depth: 1, name: 'work', parent: 1 }],
    }, { duration: 1e9, start: 1 });
}

async function opened(open, folder, sample = training(), more = '') {
    const file = join(folder, 'idle.html');

    writeFileSync(file, sample);
    const page = await open(file, `view=timeline${more}`);

    await page.waitForFunction(() => timeline.isPainted());
    return page;
}

// pixels() are the edges of times on the screen.
function pixels(page, ...times) {
    return page.evaluate((all) => all.map((time) =>
        timeline.control.scaleOf().x(timeline.control.recording.zero + time)),
    times);
}

function breaks(page) {
    return page.evaluate(() => timeline.control.scaleOf().breaks.map(
        ({ from, to }) => [from, to].map((time) =>
            time - timeline.control.recording.zero)));
}

module.exports = {
    async makes_short_kernels_readable_by_a_key(open, folder) {
        const page = await opened(open, folder);
        const [left, right] = await pixels(page, FIRST, LAST);

        assert.ok(right - left < 1);
        await page.keyboard.press('i');
        const [from, to] = await pixels(page, FIRST, LAST);

        assert.ok(to - from > 900, `${to - from} pixels`);
        assert.deepStrictEqual(await breaks(page),
            [[0, FIRST], [LAST, 3e9]]);
        assert.strictEqual(await page.locator('[aria-pressed=true]',
            { hasText: 'Skip idle' }).count(), 1);
        await page.keyboard.press('i');
        assert.deepStrictEqual(await breaks(page), []);
        assert.deepStrictEqual(await pixels(page, FIRST, LAST),
            [left, right]);
    },

    async prints_how_much_a_break_skips(open, folder) {
        const page = await opened(open, folder);

        await page.keyboard.press('i');
        const texts = await page.evaluate(() => {
            const { fillText } = CanvasRenderingContext2D.prototype;
            const found = [];

            CanvasRenderingContext2D.prototype.fillText = (text, x, y) =>
                y < 24 && found.push(text);
            timeline.paintNow();
            CanvasRenderingContext2D.prototype.fillText = fillText;
            return found;
        });

        assert.ok(texts.includes('1.20 s') && texts.includes('1.80 s'), texts);
        assert.ok(texts.includes('+100 µs'), texts.join());
    },

    async zooms_and_moves_across_breaks(open, folder) {
        const page = await opened(open, folder);

        await page.keyboard.press('i');
        for (const time of [FIRST + 5000, 6e8, 2e9]) {
            await page.keyboard.press('f');
            const [before] = await pixels(page, time);

            await page.evaluate((fixed) => timeline.control.zoom(0.8,
                timeline.control.recording.zero + fixed), time);
            const [after] = await pixels(page, time);

            assert.ok(Math.abs(before - after) < 0.01, `${before} ${after}`);
        }
        const [before] = await pixels(page, FIRST);

        await page.keyboard.press('ArrowLeft');
        const width = await page.evaluate(
            'timeline.control.parts.canvas.clientWidth');
        const [after] = await pixels(page, FIRST);

        assert.ok(after > before && after - before <= width / 10 + 0.01);
        await page.keyboard.press('f');
        assert.deepStrictEqual((await pixels(page, 0, 3e9))
            .map(Math.round), [0, width]);
    },

    async keeps_breaks_in_the_address(open, folder) {
        const page = await opened(open, folder);

        await page.keyboard.press('i');
        await page.waitForFunction(() => /skip=\d+/.test(location.hash));
        const [, length] = /skip=(\d+)/.exec(page.url());
        const again = await opened(open, folder, training(),
            `&skip=${length}`);

        assert.deepStrictEqual(await breaks(again), await breaks(page));
        const strange = await opened(open, folder, training(), '&skip=x');

        assert.deepStrictEqual(await breaks(strange), []);
    },

    async works_in_innermost_slices_without_a_device(open, folder) {
        const page = await opened(open, folder, waits());

        await page.keyboard.press('i');
        assert.deepStrictEqual(await breaks(page), [[0, 3e8], [4e8, 1e9]]);
    },

    async says_if_nothing_is_idle(open, folder) {
        const page = await opened(open, folder, waits());

        await page.evaluate(() => timeline.control.look(
            timeline.control.recording.zero + 3e8,
            timeline.control.recording.zero + 4e8));
        await page.keyboard.press('i');
        assert.match(await page.locator('#status').textContent(),
            /No idle time/);
        assert.deepStrictEqual(await breaks(page), []);
    },

    async fits_device_work_by_a_key(open, folder) {
        const page = await opened(open, folder);

        await page.keyboard.press('g');
        const [from, to] = await pixels(page, FIRST, LAST);

        assert.ok(from > 0 && from < 40 && to - from > 1100);
        const other = await opened(open, folder, waits());

        assert.strictEqual(await other.locator('button', { hasText: 'Device' })
            .count(), 0);
    },

    async maps_times_and_pixels_both_ways(open) {
        const page = await open('mixed');
        const problems = await page.evaluate(() => {
            const wrong = [];
            let seed = 7;
            const random = (most) => {
                seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
                return Math.floor(seed / 4294967296 * most);
            };
            const expect = (is, ...values) => is || wrong.push(values);

            for (let turn = 0; turn < 200; turn++) {
                const pairs = [];
                let end = 0;

                for (let i = 0; i < random(40); i++) {
                    const from = end + random(3) * random(1000);

                    end = from + 1 + random(10) ** random(6);
                    pairs.push([from, end]);
                }
                const breaks = scale.breaks(pairs);
                const window = { start: random(end), breaks };

                window.end = window.start + 1 + random(end);
                const map = scale.of(window, 1000);
                let before = -Infinity;

                for (let x = 0; x <= 1000; x += 50) {
                    const time = map.time(x);

                    expect(time > before, turn, x, time);
                    expect(Math.abs(map.x(time) - x) < 1e-6, turn, x);
                    before = time;
                    if (!map.breaks.length)
                        continue;
                    for (const [at, far] of [[window.start, x],
                        [window.end, x - 1000]]) {
                        expect(Math.abs(scale.at(breaks, at, far, map.pixels) -
                            time) < 1e-6 * end, turn, x, at);
                    }
                }
                // A break that is drawn is as wide as all; others are narrower.
                const wide = pairs.filter(([from, to]) => map.breaks.length &&
                    to > window.start && from < window.end &&
                    (to - from) * map.pixels > 52.001);

                expect(!map.breaks.length ||
                    wide.length === map.breaks.length, turn, 'breaks');
            }
            return wrong.slice(0, 5);
        });

        assert.deepStrictEqual(problems, []);
    },

    async skips_within_as_many_steps_as_there_are_pixels(open) {
        const page = await open('huge', 'view=timeline');

        await page.waitForFunction(() => timeline.isPainted());
        const rects = await page.evaluate(() => {
            const fill = CanvasRenderingContext2D.prototype.fillRect;
            const { control } = timeline;
            let count = 0;

            control.view.breaks = idle.atLeast(control.recording, 1);
            CanvasRenderingContext2D.prototype.fillRect = () => count++;
            timeline.paintNow();
            CanvasRenderingContext2D.prototype.fillRect = fill;
            return count;
        });

        assert.ok(rects < 32 * 640 + 4000, `${rects} rectangles`);
    },
};

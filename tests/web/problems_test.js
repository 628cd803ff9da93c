// problems_test.js: how the time line shows lines, and leads to problems.
'use strict';

/* global timeline, layout, findings */

const assert = require('node:assert');
const { writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { single } = require('./samples.js');

const LEVELS = [1, 2, 3, 4, 5];
// The middle of the marks of lines.
const MARKS = 30;

// levels() has a line of each level, 100 µs apart, and an open slice.
function levels() {
    return single({
        tracks: [{ kind: 'thread', name: 'main', depth: 1 }],
        sites: LEVELS.map((level) => ({ target: 'store', file: 'store.c',
            line: level, level, kind: 'event' })),
        slices: [{ start: 50000, duration: 200000, name: 'request' },
            { start: 450000, duration: 550000, name: 'stop', state: 1 }],
        lines: LEVELS.map((level, i) => ({ time: (i + 1) * 100000, site: i,
            slice: level === 1 ? 1 : 0, text: `line of level ${level}` })),
    }, { outcome: 'failed', start: 1 });
}

async function opened(open, folder, sample = levels()) {
    const file = join(folder, 'problems.html');

    writeFileSync(file, sample);
    const page = await open(file, 'view=timeline');

    await page.waitForFunction(() => timeline.isPainted());
    return page;
}

function placeOf(page, time) {
    return page.evaluate((at) => timeline.control.scaleOf().x(
        timeline.control.recording.zero + at), time);
}

module.exports = {
    async tells_levels_by_shape(open, folder) {
        const page = await opened(open, folder);
        // Two shapes are the same if they cover the same pixels.
        const shapes = await page.evaluate((all) => {
            const canvas = document.querySelector('#timeline .chart canvas');
            const { SIZE } = layout;
            const { control } = timeline;

            timeline.paintNow();
            return all.map((level) => {
                const x = control.scaleOf().x(
                    control.recording.zero + level * 100000);
                const { data } = canvas.getContext('2d').getImageData(
                    Math.floor(x) - 6, SIZE.ruler + 1, 12, SIZE.ticks - 1);

                return Array.from({ length: data.length / 4 },
                    (unused, i) => data[4 * i + 3] > 200 ? 1 : 0).join('');
            });
        }, LEVELS);

        assert.strictEqual(new Set(shapes).size, 5);
        for (const shape of shapes)
            assert.ok(shape.includes('1'));
    },

    async names_a_line_and_leads_to_it(open, folder) {
        const page = await opened(open, folder);
        const box = await page.locator('#timeline canvas').boundingBox();
        const x = box.x + await placeOf(page, 200000);

        await page.mouse.move(x + 2, box.y + MARKS);
        assert.strictEqual(await page.locator('.tip').innerText(),
            'WARN line of level 2');
        await page.mouse.click(x + 2, box.y + MARKS);
        await page.locator('#log .row.is-active').waitFor();
        assert.match(await page.locator('#log .row.is-active').innerText(),
            /level 2/);
    },

    async goes_from_problem_to_problem_by_a_key(open, folder) {
        const page = await opened(open, folder);
        const place = () => page.evaluate(() => [
            timeline.control.view.selected,
            timeline.control.view.marked - timeline.control.recording.zero,
            document.querySelector('.tip').textContent]);
        const error = [0, 100000, 'ERROR line of level 1'];
        const unfinished = [1, 450000, 'Unfinished: stop'];

        assert.strictEqual(await page.locator('.problems').innerText(),
            '2 problems');
        await page.keyboard.press('e');
        assert.deepStrictEqual(await place(), error);
        assert.match(await page.locator('#status').textContent(),
            /ERROR line of level 1/);
        await page.keyboard.press('e');
        assert.deepStrictEqual(await place(), unfinished);
        await page.keyboard.press('e');
        assert.deepStrictEqual(await place(), error);
        await page.keyboard.press('Shift+E');
        assert.deepStrictEqual(await place(), unfinished);
        await page.keyboard.press('Escape');
        assert.strictEqual(await page.evaluate(
            'timeline.control.view.marked'), null);
    },

    async brings_a_problem_onto_the_screen(open, folder) {
        const page = await opened(open, folder);

        await page.evaluate(() => {
            const { zero } = timeline.control.recording;

            timeline.control.look(zero + 600000, zero + 700000);
        });
        await page.locator('.problems').click();
        const x = await placeOf(page, 100000);

        assert.ok(x > 0 && x < 1280, `at ${x}`);
    },

    async goes_from_finding_to_finding_by_a_key(open) {
        const page = await open('waits', 'view=timeline');
        const tip = page.locator('.tip');

        await page.waitForFunction(() => timeline.isPainted());
        const texts = await page.evaluate(() =>
            findings.of(timeline.control.recording).map(({ text }) => text));

        assert.ok(texts.length > 1);
        for (const text of [...texts, texts[0]]) {
            await page.keyboard.press('j');
            assert.strictEqual(await tip.innerText(), text);
        }
        await page.keyboard.press('Shift+J');
        assert.strictEqual(await tip.innerText(), texts.at(-1));
    },

    async has_no_button_without_problems(open) {
        const page = await open('threaded', 'view=timeline');

        await page.waitForFunction(() => timeline.isPainted());
        assert.strictEqual(await page.locator('.problems:visible').count(), 0);
        await page.keyboard.press('e');
        assert.match(await page.locator('#status').textContent(),
            /No problems/);
    },
};

// minimap_test.js: the strip above the time line, which shows the whole test.
'use strict';

/* global timeline */

const assert = require('node:assert');
const { writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { single } = require('./samples.js');

const LENGTH = 1e9;

// halves() has slices in its first half, one kernel of a microsecond at three
// quarters, and an error behind it.
function halves() {
    const slices = Array.from({ length: 1000 }, (unused, i) =>
        ({ start: i * 500000, duration: 400000, name: i ? 'step' : 'first' }));

    slices.push({ start: 75e7, duration: 1000, track: 1, name: 'saxpy',
        state: 4, kind: 'kernel' });
    return single({ slices, tracks: [
        { kind: 'thread', name: 'main', depth: 1 },
        { kind: 'stream', name: 'stream 7', device: 1, depth: 1 }],
    lines: [{ time: 9e8, site: 5, text: 'broken' }] },
    { duration: LENGTH, start: 1 });
}

async function opened(open, folder) {
    const file = join(folder, 'halves.html');

    writeFileSync(file, halves());
    const page = await open(file, 'view=timeline');

    await page.waitForFunction(() => timeline.isPainted());
    return page;
}

// shares() are the edges of the part on the screen, as shares of the test.
function shares(page) {
    return page.evaluate((length) => ['start', 'end'].map((name) =>
        (timeline.control.view[name] - timeline.control.recording.zero) /
        length), LENGTH);
}

function near(values, expected) {
    values.forEach((value, i) => assert.ok(
        Math.abs(value - expected[i]) < 0.004, `${values}, not ${expected}`));
}

async function drag(page, from, to) {
    const box = await page.locator('.minimap').boundingBox();
    const y = box.y + box.height / 2;
    // The border is a pixel wide.
    const x = (share) => box.x + 1 + share * (box.width - 2);

    await page.mouse.move(x(from), y);
    await page.mouse.down();
    await page.mouse.move(x((from + to) / 2), y);
    await page.mouse.move(x(to), y);
    await page.mouse.up();
}

// pathOf() returns the first and last place of one of its paths, in percent.
function pathOf(page, name) {
    return page.locator(`.minimap-${name}`).evaluate((path) => {
        const { x, width } = path.getBBox();

        return [x, x + width].map((place) => Math.round(place / 20.48));
    });
}

module.exports = {
    async draws_slices_device_work_and_problems(open, folder) {
        const page = await opened(open, folder);

        assert.deepStrictEqual(await pathOf(page, 'host'), [0, 50]);
        assert.deepStrictEqual(await pathOf(page, 'device'), [75, 75]);
        assert.deepStrictEqual(await pathOf(page, 'problem'), [90, 90]);
        await page.locator('[aria-label="Search slices"]').fill('first');
        await page.evaluate(() => timeline.paintNow());
        assert.deepStrictEqual(await pathOf(page, 'found'), [0, 0]);
        await page.locator('[aria-label="Search slices"]').fill('step');
        await page.evaluate(() => timeline.paintNow());
        assert.deepStrictEqual(await pathOf(page, 'found'), [0, 50]);
    },

    async selects_moves_and_resizes_by_dragging(open, folder) {
        const page = await opened(open, folder);

        await drag(page, 0.2, 0.4);
        near(await shares(page), [0.2, 0.4]);
        await page.evaluate(() => timeline.paintNow());
        await drag(page, 0.3, 0.5);
        near(await shares(page), [0.4, 0.6]);
        await page.evaluate(() => timeline.paintNow());
        await drag(page, 0.6, 0.9);
        near(await shares(page), [0.4, 0.9]);
        await page.evaluate(() => timeline.paintNow());
        await drag(page, 0.4, 0.7);
        near(await shares(page), [0.7, 0.9]);
    },

    async brings_a_place_to_the_middle_by_a_click(open, folder) {
        const page = await opened(open, folder);

        await drag(page, 0.2, 0.4);
        await page.evaluate(() => timeline.paintNow());
        await drag(page, 0.7, 0.7);
        near(await shares(page), [0.6, 0.8]);
    },

    async moves_and_zooms_by_keys(open, folder) {
        const page = await opened(open, folder);
        const part = page.locator('.minimap-part');

        await drag(page, 0.4, 0.6);
        await part.focus();
        await page.keyboard.press('ArrowRight');
        near(await shares(page), [0.42, 0.62]);
        await page.keyboard.press('PageUp');
        near(await shares(page), [0.24, 0.44]);
        await page.keyboard.press('w');
        const [start, end] = await shares(page);

        assert.ok(end - start < 0.13);
        await page.keyboard.press('End');
        near([(await shares(page))[1]], [1.01]);
        await page.evaluate(() => timeline.paintNow());
        assert.match(await part.getAttribute('aria-valuetext'),
            /^0\.\d+ s to 1\.\d+ s$/);
        await page.keyboard.press('f');
        await page.evaluate(() => timeline.paintNow());
        assert.strictEqual(await part.getAttribute('aria-valuenow'), '50');
    },

    async draws_only_the_part_on_the_screen_anew(open) {
        const page = await open('huge', 'view=timeline');

        await page.waitForFunction(() => timeline.isPainted());
        const changes = await page.evaluate(() => {
            const observer = new MutationObserver(() => {});

            observer.observe(document.querySelector('.minimap'),
                { subtree: true, childList: true, attributes: true });
            for (let i = 0; i < 5; i++) {
                timeline.control.zoom(0.8);
                timeline.paintNow();
            }
            return observer.takeRecords().map(({ target }) =>
                target.className).filter((name) => name !== 'minimap-part');
        });

        assert.deepStrictEqual(changes, []);
    },
};

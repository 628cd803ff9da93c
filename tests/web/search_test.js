// search_test.js: what the search of the time line finds, and that it is seen.
'use strict';

/* global timeline */

const assert = require('node:assert');
const { writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { single } = require('./samples.js');

const BATCHES = 20000;
let sample = '';

// A batch is one pixel together with fifteen others. Each has a step in it,
// which is entered twice; only its first entering has fields.
function batches() {
    const slices = [];

    for (let i = 0; i < BATCHES; i++) {
        slices.push({ start: i * 1000, duration: 900, name: 'train',
            fields: [['batch', String(i)], ['file', '"a b.txt"']] });
        slices.push({ start: i * 1000 + 100, duration: 100, depth: 1, site: 1,
            name: 'step', parent: 1, fields: [['loss', String(i % 7)]] });
        slices.push({ start: i * 1000 + 300, duration: 100, depth: 1, site: 1,
            name: 'step', parent: 2, again: 1 });
    }
    return single({ slices, tracks: [
        { kind: 'thread', name: 'main', depth: 2 }] },
    { duration: BATCHES * 1000 });
}

async function opened(open, folder) {
    const file = join(folder, 'batches.html');

    sample = sample || batches();
    writeFileSync(file, sample);
    const page = await open(file, 'view=timeline');

    await page.waitForFunction(() => timeline.isPainted());
    return page;
}

function found(page, text) {
    return page.evaluate((wanted) => {
        const box = document.querySelector('[aria-label="Search slices"]');

        box.value = wanted;
        box.dispatchEvent(new Event('input'));
        timeline.paintNow();
        return document.querySelector('#timeline .tools > .muted').textContent;
    }, text);
}

// colors() are those of the pixels where slices begin: in their rows or at a
// height.
function colors(page, slices, height) {
    return page.evaluate(([ids, fixed]) => {
        const { control } = timeline;
        const canvas = document.querySelector('#timeline .chart canvas');

        return ids.map((id) => {
            const { start } = control.recording.slices;
            const x = Math.floor(control.scaleOf().x(start[id]));
            const y = fixed || control.parts.tracks.yOf(id) + 8;

            return canvas.getContext('2d').getImageData(x, y, 1, 1)
                .data.join();
        });
    }, [slices, height]);
}

module.exports = {
    async shows_a_match_among_slices_of_one_pixel(open, folder) {
        const page = await opened(open, folder);
        const places = [3 * 317, 3 * 12000];

        await found(page, 'batch=none');
        const rows = await colors(page, places);
        const ruler = await colors(page, places, 22);

        assert.strictEqual(await found(page, 'batch=317}'), '0 found');
        assert.strictEqual(await found(page, 'batch=317 '), '11 found');
        assert.strictEqual(await found(page, 'batch=317 file'), '1 found');
        const [row, otherRow] = await colors(page, places);
        const [mark, otherMark] = await colors(page, places, 22);

        assert.notStrictEqual(row, rows[0]);
        assert.strictEqual(otherRow, rows[1]);
        assert.notStrictEqual(mark, ruler[0]);
        assert.strictEqual(otherMark, ruler[1]);
    },

    async finds_what_tables_print(open, folder) {
        const page = await opened(open, folder);

        for (const [text, count] of [
            ['batch=19999', '1'], ['train{batch=77', '111'],
            ['batch=5 file="a b.txt"}', '1'], ['BATCH=19999', '1'],
            ['A B.txt', '20,000'], ['txt', '20,000'], ['{', '60,000'],
            // Later enterings of a step print the fields of the first.
            ['step{loss=6}', '5,714'], ['step{loss=7}', '0'],
            ['train{batch=42 file="a b.txt"} › step', '2'],
            ['=42 file › loss=0', '2'], ['train › train', '0'],
        ])
            assert.strictEqual(await found(page, text), `${count} found`, text);
    },

    async steps_through_matches_from_the_selection(open, folder) {
        const page = await opened(open, folder);
        const selected = () => page.evaluate('timeline.control.view.selected');

        await found(page, 'batch=1234');
        await page.locator('[aria-label="Search slices"]').press('Enter');
        assert.strictEqual(await selected(), 3 * 1234);
        await page.keyboard.press('Enter');
        assert.strictEqual(await selected(), 3 * 12340);
        await page.keyboard.press('Shift+Enter');
        await page.keyboard.press('Shift+Enter');
        assert.strictEqual(await selected(), 3 * 12349);
        await page.evaluate('timeline.control.select(3 * 12341 + 1)');
        await page.keyboard.press('Enter');
        assert.strictEqual(await selected(), 3 * 12342);
    },

    async draws_matches_in_as_many_boxes_as_there_are_pixels(open, folder) {
        const page = await opened(open, folder);

        await found(page, 'batch');
        const boxes = await page.evaluate(() => {
            const fill = CanvasRenderingContext2D.prototype.fillRect;
            let count = 0;

            CanvasRenderingContext2D.prototype.fillRect = () => count++;
            timeline.paintNow();
            CanvasRenderingContext2D.prototype.fillRect = fill;
            return count;
        });

        assert.ok(boxes < 5 * 640 + 200, `${boxes} boxes`);
    },
};

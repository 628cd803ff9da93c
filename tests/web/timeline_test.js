// timeline_test.js: the time line, by mouse and keys.
'use strict';

/* global timeline, recordings */

const assert = require('node:assert');

const HASH = 'view=timeline&test=http/serves_1000';

async function opened(open, name = 'mixed', hash = HASH) {
    const page = await open(name, hash);

    await page.waitForFunction(() => timeline.isPainted());
    return page;
}

function view(page) {
    return page.evaluate(() => ({ ...timeline.control.view,
        length: timeline.control.view.end - timeline.control.view.start }));
}

// colors() counts the colors on the canvas, which has more than one if
// something is drawn.
function colors(page) {
    return page.evaluate(() => {
        timeline.paintNow();
        const canvas = document.querySelector('#timeline canvas');
        const { data } = canvas.getContext('2d')
            .getImageData(0, 0, canvas.width, canvas.height);

        return new Set(new Uint32Array(data.buffer)).size;
    });
}

module.exports = {
    async draws_slices(open) {
        const page = await opened(open);

        assert.ok(await colors(page) > 8);
    },

    async lists_its_keys_on_the_screen(open) {
        const page = await opened(open);
        const list = page.locator('.keys dl');

        await page.keyboard.press('?');
        assert.match(await list.innerText(), /\bF\s+fit the selection/);
        for (const [width, height] of [[1280, 800], [400, 800]]) {
            await page.setViewportSize({ width, height });
            const box = await list.boundingBox();

            assert.ok(box.x >= 0 && box.x + box.width <= width, box);
            assert.ok(box.y >= 0 && box.y + box.height <= height, box);
        }
        await page.keyboard.press('?');
        assert.ok(!await list.isVisible());
    },

    async zooms_pans_and_fits_by_keys(open) {
        const page = await opened(open);
        const before = await view(page);

        await page.keyboard.press('w');
        await page.keyboard.press('w');
        const zoomed = await view(page);

        assert.ok(zoomed.length < before.length / 2);
        await page.keyboard.press('d');
        const moved = await view(page);

        assert.ok(moved.start > zoomed.start);
        await page.keyboard.press('a');
        await page.keyboard.press('s');
        assert.ok((await view(page)).length > zoomed.length);
        await page.keyboard.press('f');
        assert.ok(Math.abs((await view(page)).length - before.length) < 1);
    },

    async selects_a_slice_by_click(open) {
        const page = await opened(open, 'mixed',
            'view=timeline&test=store/opens');
        const box = await page.locator('#timeline canvas').boundingBox();

        await page.evaluate(() => timeline.control.look(
            timeline.control.recording.start + 1000000,
            timeline.control.recording.start + 1400000));
        await page.mouse.click(box.x + box.width / 2, box.y + 80);
        await page.locator('#timeline h2', { hasText: 'request' }).waitFor();
        assert.match(await page.locator('.panel-content').innerText(),
            /http\/server.c:40[\s\S]*request received/);
        await page.keyboard.press('f');
        const { start, end } = await view(page);

        assert.ok(end - start < 500000);
    },

    async searches_with_next_and_previous(open) {
        const page = await opened(open);

        await page.keyboard.press('/');
        await page.keyboard.type('saxpy');
        assert.match(await page.locator('#timeline .tools > .muted')
            .innerText(), /found/);
        await page.keyboard.press('Enter');
        const first = (await view(page)).selected;

        await page.keyboard.press('Enter');
        const second = (await view(page)).selected;

        assert.ok(second > first && first >= 0);
        await page.keyboard.press('Shift+Enter');
        assert.strictEqual((await view(page)).selected, first);
        assert.match(await page.locator('.panel-content').innerText(),
            /occupancy/);
    },

    async walks_along_a_row_by_keys(open) {
        const page = await opened(open);

        await page.keyboard.press('n');
        await page.keyboard.press('n');
        const { selected } = await view(page);

        assert.strictEqual(await page.evaluate((id) => recordings.sliceFields(
            timeline.control.recording, id)[0][1], selected), '1');
        assert.match(await page.locator('#status').textContent(),
            /request, 360 µs/);
        await page.keyboard.press('p');
        assert.strictEqual((await view(page)).selected, 0);
    },

    async sums_up_what_is_on_the_screen(open) {
        const page = await opened(open, 'mixed', `${HASH}&from=0&to=1400000`);
        const rows = page.locator('.panel-content tbody tr');

        assert.match(await page.locator('.panel-content h2').innerText(),
            /On the screen/);
        assert.match(await rows.filter({ hasText: 'request' }).innerText(),
            /request\s+1\s/);
        await page.keyboard.press('f');
        await rows.filter({ hasText: '1,000' }).waitFor();
    },

    async sums_up_a_range(open) {
        const page = await opened(open);
        const box = await page.locator('#timeline canvas').boundingBox();

        await page.mouse.move(box.x + 100, box.y + 10);
        await page.mouse.down();
        await page.mouse.move(box.x + 300, box.y + 10, { steps: 4 });
        await page.mouse.up();
        const panel = page.locator('.panel-content');

        await panel.locator('h2', { hasText: 'Range of' }).waitFor();
        assert.match(await panel.innerText(),
            /Range of [\s\S]*Median[\s\S]*p99[\s\S]*query/);
        assert.ok(await panel.locator('.flame-box').count() > 1);
        await page.keyboard.press('Escape');
        assert.strictEqual((await view(page)).range, null);
        await page.keyboard.press('m');
        assert.ok((await view(page)).range);
    },

    async lists_the_slices_on_the_screen(open) {
        const page = await opened(open);

        await page.locator('[data-panel=slices]').click();
        const rows = page.locator('.grid-slices .grid-rows .row');

        await rows.first().waitFor();
        assert.strictEqual(await page.locator('.grid-slices')
            .getAttribute('aria-rowcount'), '3251');
        await rows.nth(2).click();
        assert.ok((await view(page)).selected >= 0);
    },

    async restores_a_place_from_the_address(open) {
        const page = await opened(open, 'mixed',
            `${HASH}&from=1000000&to=2000000&t=1050000`);
        const { length, selected } = await view(page);

        assert.ok(Math.abs(length - 1000000) < 10);
        assert.ok(selected >= 0);
    },

    async keeps_the_place_in_the_address(open) {
        const page = await opened(open);

        await page.keyboard.press('w');
        await page.waitForFunction(() => /from=-?\d+&to=\d+/
            .test(location.hash));
    },

    async zooms_by_wheel_around_the_mouse(open) {
        const page = await opened(open);
        const box = await page.locator('#timeline canvas').boundingBox();
        const before = await view(page);

        await page.mouse.move(box.x + box.width - 5, box.y + 60);
        await page.keyboard.down('Control');
        await page.mouse.wheel(0, -600);
        await page.keyboard.up('Control');
        await page.waitForFunction((length) => timeline.control.view.end -
            timeline.control.view.start < length, before.length);
        assert.ok(Math.abs((await view(page)).end - before.end) <
            before.length / 50);
    },

    async draws_arrows_if_there_are_few_on_the_screen(open) {
        const page = await opened(open);
        const strokes = () => page.evaluate(() => {
            const curve = CanvasRenderingContext2D.prototype.bezierCurveTo;
            let count = 0;

            CanvasRenderingContext2D.prototype.bezierCurveTo = () => count++;
            timeline.paintNow();
            CanvasRenderingContext2D.prototype.bezierCurveTo = curve;
            return count;
        });

        assert.strictEqual(await strokes(), 0);
        await page.evaluate(() => timeline.control.look(
            timeline.control.recording.start + 2500000,
            timeline.control.recording.start + 3700000));
        assert.strictEqual(await strokes(), 4);
    },

    async paints_no_more_than_there_are_pixels(open) {
        const page = await opened(open, 'huge', 'view=timeline');
        const rects = await page.evaluate(() => {
            const fill = CanvasRenderingContext2D.prototype.fillRect;
            let count = 0;

            CanvasRenderingContext2D.prototype.fillRect = function (...box) {
                count++;
                fill.apply(this, box);
            };
            timeline.paintNow();
            return count;
        });

        assert.ok(rects < 32 * 640 + 2000, `${rects} rectangles`);
    },

    async leaves_for_a_test_without_a_recording_while_it_moves(open) {
        const page = await open('mixed',
            'view=timeline&test=http/serves_1000');

        await page.locator('#timeline canvas').waitFor();
        await page.evaluate(() => {
            timeline.control.pan(0.1);
            timeline.control.zoom(0.5);
            location.hash = 'view=timeline&test=greet/greets';
        });
        await page.locator('#timeline .empty').first().waitFor();
        // Tables follow the time line 200 ms after it has moved.
        await page.evaluate(() => new Promise((done) => {
            setTimeout(done, 300);
        }));
        assert.deepStrictEqual(page.problems, []);
    },
};

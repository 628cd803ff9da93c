// tracks_test.js: the tracks of the time line: scrolling, filtering, pinning,
// collapsing, and the height of the chart.
'use strict';

/* global timeline, recordings, layout */

const assert = require('node:assert');

const NAME = '#timeline h2 >> nth=0';

async function opened(open, hash = 'view=timeline', options = {}) {
    const page = await open('crowded', hash, options);

    await page.waitForFunction(() => timeline.isPainted());
    return page;
}

// heads() returns the names of the tracks that a redraw draws.
function heads(page) {
    return page.evaluate(() => {
        const fill = CanvasRenderingContext2D.prototype.fillText;
        const list = [];

        CanvasRenderingContext2D.prototype.fillText = (text) =>
            list.push(text);
        timeline.paintNow();
        CanvasRenderingContext2D.prototype.fillText = fill;
        return list.filter((text) => /^[▾▸]/.test(text))
            .map((text) => text.slice(2));
    });
}

function scrollTop(page) {
    return page.evaluate(() =>
        timeline.control.parts.scroller.scrollTop);
}

// placeOf() returns where the first slice of a name is on the screen.
function placeOf(page, name) {
    return page.evaluate((wanted) => {
        const { recording, parts, scaleOf } = timeline.control;
        const { slices } = recording;
        const row = Array.from({ length: slices.rows }, (unused, i) => i)
            .find((i) => recordings.sliceName(recording, i) === wanted);
        const box = parts.canvas.getBoundingClientRect();

        return {
            x: box.left + scaleOf().x(slices.start[row] + 1000),
            y: box.top + parts.tracks.yOf(row) + 5, row,
            top: box.top, bottom: box.bottom,
        };
    }, name);
}

// colorAt() is the color of the canvas at a place of the screen.
function colorAt(page, { x, y }) {
    return page.evaluate(([left, top]) => {
        timeline.paintNow();
        const { canvas } = timeline.control.parts;
        const box = canvas.getBoundingClientRect();

        return [...canvas.getContext('2d').getImageData(
            left - box.left, top - box.top, 1, 1).data].join();
    }, [x, y]);
}

// clickLast() selects the slice of the last track, which must be visible.
async function clickLast(page) {
    const place = await placeOf(page, 'task 500');

    assert.ok(place.y > place.top && place.y < place.bottom);
    assert.notStrictEqual(await colorAt(page, place),
        await colorAt(page, { x: place.x, y: place.y - 18 }));
    await page.mouse.click(place.x, place.y);
    assert.match(await page.locator(NAME).innerText(), /^task 500/);
    assert.ok((await heads(page)).includes('thread 500'));
}

module.exports = {
    async reaches_the_last_track_by_wheel(open) {
        const page = await opened(open);
        const box = await page.locator('#timeline canvas').boundingBox();

        assert.ok(!(await heads(page)).includes('thread 500'));
        await page.mouse.move(box.x + 300, box.y + 100);
        await page.mouse.wheel(0, 100000);
        await page.waitForFunction(() => timeline.control.parts.scroller
            .scrollTop > 20000);
        await clickLast(page);
    },

    async reaches_the_last_track_by_keys(open) {
        const page = await opened(open);
        const first = await heads(page);

        await page.keyboard.press('ArrowDown');
        assert.strictEqual(await scrollTop(page), 60);
        await page.keyboard.press('PageDown');
        assert.notDeepStrictEqual(await heads(page), first);
        await page.keyboard.press('End');
        await clickLast(page);
        await page.keyboard.press('Home');
        assert.deepStrictEqual(await heads(page), first);
    },

    async reaches_the_last_track_by_search(open) {
        const page = await opened(open);

        await page.keyboard.press('/');
        await page.keyboard.type('task 500');
        await page.keyboard.press('Enter');
        assert.match(await page.locator(NAME).innerText(), /^task 500/);
        await clickLast(page);
    },

    async draws_only_what_is_on_the_screen(open) {
        const page = await opened(open);
        const count = await page.evaluate(() => {
            const { width, height } = timeline.control.parts.canvas
                .getBoundingClientRect();

            timeline.paintNow();
            return { drawn: timeline.control.parts.tracks.placed.items.length,
                rows: Math.ceil(height / layout.SIZE.row), width };
        });

        assert.ok(count.drawn > 1000);
        assert.ok((await heads(page)).length < count.rows);
    },

    async filters_tracks_by_name(open) {
        const page = await opened(open);

        await page.keyboard.press('t');
        await page.keyboard.type('thread 49');
        assert.deepStrictEqual((await heads(page)).slice(0, 3),
            ['thread 49', 'thread 490', 'thread 491']);
        assert.match(await page.locator('.tracks-menu [role=status]')
            .innerText(), /^11 of 501 tracks$/);
        assert.strictEqual(await page.locator('.tracks-menu summary')
            .innerText(), 'Tracks: 11 of 501');
        await page.waitForFunction(() => /tracks=thread%2049/
            .test(location.hash));
        const other = await opened(open, await page.evaluate(() =>
            location.hash.slice(1)));

        assert.strictEqual((await heads(other))[0], 'thread 49');
        // Selecting a slice shows its track.
        await other.evaluate(() => timeline.control.select(0, true));
        assert.ok((await heads(other)).includes('thread 1'));
    },

    async collapses_a_track_to_one_row(open) {
        const page = await opened(open);
        const before = await placeOf(page, 'task 2');
        const box = await page.locator('#timeline canvas').boundingBox();

        // A click on the head of the first track.
        await page.mouse.click(box.x + 20, box.y + 65);
        assert.strictEqual((await placeOf(page, 'task 2')).y, before.y - 18);
        assert.strictEqual((await placeOf(page, 'step 1')).y,
            (await placeOf(page, 'task 1')).y);
        await page.waitForFunction(() => /collapsed=0(&|$)/
            .test(location.hash));
        await page.evaluate(() => timeline.control.select(1, true));
        assert.strictEqual((await placeOf(page, 'task 2')).y, before.y);
        await page.keyboard.press('t');
        await page.getByRole('button', { name: 'Collapse all' }).click();
        await page.waitForFunction(() => /collapsed=0-500(&|$)/
            .test(location.hash));
    },

    async stays_where_it_is_when_heads_are_clicked_twice(open) {
        const page = await opened(open);
        const box = await page.locator('#timeline canvas').boundingBox();
        const length = () => page.evaluate(() =>
            timeline.control.view.end - timeline.control.view.start);

        await page.keyboard.press('w');
        const before = await length();

        await page.mouse.dblclick(box.x + 20, box.y + 65);
        assert.strictEqual(await length(), before);
        await page.mouse.dblclick(box.x + 20, box.y + 85);
        assert.notStrictEqual(await length(), before);
    },

    async keeps_pinned_tracks_on_the_screen(open) {
        const page = await opened(open);

        await page.keyboard.press('t');
        await page.keyboard.type('thread 400');
        await page.getByRole('button', { name: 'Pin thread 400' }).click();
        assert.strictEqual(await page.evaluate(() =>
            document.activeElement.getAttribute('aria-label')),
        'Pin thread 400');
        await page.locator('.tracks-box input').first().fill('');
        await page.keyboard.press('Escape');
        await page.keyboard.press('End');
        assert.ok((await heads(page)).includes('thread 400'));
        const place = await placeOf(page, 'task 400');

        assert.ok(place.y < place.top + 100);
        await page.mouse.click(place.x, place.y);
        assert.match(await page.locator(NAME).innerText(), /^task 400/);
        await clickLast(page);
        await page.waitForFunction(() => /pinned=399(&|$)/
            .test(location.hash));
    },

    async scrolls_pinned_tracks_that_have_no_room(open) {
        const page = await opened(open, 'view=timeline&pinned=0-49,499');
        const shown = await heads(page);

        assert.ok(shown.includes('thread 1'));
        assert.ok(!shown.includes('thread 50'));
        await page.evaluate(() => timeline.control.select(2 * 49, true));
        assert.ok((await heads(page)).includes('thread 50'));
        await clickLast(page);
        await page.keyboard.press('End');
        assert.ok((await heads(page)).includes('thread 1'));
        assert.ok((await heads(page)).includes('thread 499'));
    },

    async makes_room_for_pinned_tracks_when_resized(open) {
        const page = await opened(open, 'view=timeline&pinned=0-5');
        const edge = () => page.evaluate(() =>
            timeline.control.parts.tracks.placed.edge);
        const before = await edge();

        await page.locator('.chart-edge').focus();
        for (let i = 0; i < 8; i++)
            await page.keyboard.press('ArrowDown');
        await page.waitForFunction((least) =>
            timeline.control.parts.tracks.placed.edge > least, before);
    },

    async prints_the_part_that_is_on_the_screen(open) {
        const page = await opened(open);
        const height = () => page.evaluate(() =>
            timeline.control.parts.frame.clientHeight);

        await page.keyboard.press('End');
        const before = [await height(), await scrollTop(page)];

        await page.emulateMedia({ media: 'print' });
        assert.deepStrictEqual([await height(), await scrollTop(page)],
            before);
    },

    async lists_all_tracks_in_the_menu(open) {
        for (const width of [1280, 700, 400]) {
            const page = await opened(open, 'view=timeline',
                { viewport: { width, height: 800 } });

            await page.keyboard.press('t');
            await page.locator('.track-list li').first().waitFor();
            assert.strictEqual(await page.locator('.track-list li').count(),
                501);
            const box = await page.locator('.tracks-box').boundingBox();

            assert.ok(box.x >= 0 && box.x + box.width <= width, `${width}`);
        }
    },

    async hides_tracks_without_slices_on_the_screen(open) {
        const page = await opened(open, 'view=timeline&empty=hide');

        assert.ok((await heads(page)).includes('thread 1'));
        await page.evaluate(() => timeline.control.look(
            ...[1.25e6, 1.29e6].map((time) =>
                timeline.control.recording.zero + time)));
        await page.waitForFunction(() => timeline.control.parts.tracks.shown
            .length < 60);
        assert.strictEqual((await heads(page))[0], 'thread 452');
        await page.keyboard.press('f');
        await page.waitForFunction(() => timeline.control.parts.tracks.shown
            .length === 501);
    },

    async ignores_settings_that_make_no_sense(open) {
        const page = await opened(open, 'view=timeline&collapsed=9-2,x,-,' +
            '99999999999,0-99999999999&pinned=,,7,1e9&empty=x');

        assert.strictEqual(await page.evaluate(() =>
            timeline.control.parts.tracks.settings.collapsed.size), 501);
        assert.strictEqual((await heads(page))[0], 'thread 1');
    },

    async takes_the_height_that_is_chosen(open) {
        const page = await opened(open);
        const height = () => page.evaluate(() =>
            timeline.control.parts.frame.clientHeight);
        const before = await height();
        const edge = await page.locator('.chart-edge').boundingBox();

        assert.ok(before > 300);
        await page.mouse.move(edge.x + 200, edge.y + 4);
        await page.mouse.down();
        await page.mouse.move(edge.x + 200, edge.y - 146, { steps: 3 });
        await page.mouse.up();
        assert.ok(Math.abs(await height() - before + 150) < 12);
        await page.locator('.chart-edge').focus();
        const dragged = await height();

        await page.keyboard.press('ArrowDown');
        assert.ok(Math.abs(await height() - dragged - 40) < 4);
        await page.locator('.chart-edge').dblclick();
        assert.strictEqual(await height(), before);
    },
};

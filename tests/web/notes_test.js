// notes_test.js: notes on ranges of the time line, which the address keeps.
'use strict';

/* global timeline, state, notes */

const assert = require('node:assert');

const HASH = 'view=timeline&test=http/serves_1000';
const EVIL = '</li><img src=x onerror="document.title=1">\u202E;,%2C"\\';

async function opened(open, hash = HASH) {
    const page = await open('mixed', hash);

    await page.waitForFunction(() => timeline.isPainted());
    return page;
}

function withNotes(list) {
    return `${HASH}&notes=${encodeURIComponent(JSON.stringify(list))}`;
}

async function write(page, text) {
    await page.evaluate(() => {
        const { control } = timeline;
        const zero = control.recording.zero;

        control.setRange([zero + 1000000, zero + 1400000]);
    });
    await page.keyboard.press('c');
    await page.keyboard.type(text);
    await page.keyboard.press('Enter');
}

function texts(page) {
    return page.locator('.note-text').allInnerTexts();
}

// painted() returns the texts that a redraw draws.
function painted(page) {
    return page.evaluate(() => {
        const fill = CanvasRenderingContext2D.prototype.fillText;
        const list = [];

        CanvasRenderingContext2D.prototype.fillText = (text) =>
            list.push(text);
        timeline.paintNow();
        CanvasRenderingContext2D.prototype.fillText = fill;
        return list;
    });
}

module.exports = {
    async keeps_a_note_in_the_address(open) {
        const page = await opened(open);

        await write(page, 'slow since the last change');
        assert.deepStrictEqual(await texts(page),
            ['slow since the last change']);
        await page.waitForFunction(() => location.hash.includes('notes='));
        const address = await page.evaluate(() => location.hash.slice(1));
        const other = await opened(open, address);

        await other.locator('[data-panel=notes]').click();
        assert.deepStrictEqual(await texts(other),
            ['slow since the last change']);
        assert.ok((await painted(other))
            .includes('slow since the last change'));
        await other.evaluate(() => timeline.control.look(
            ...[5e6, 6e6].map((time) =>
                timeline.control.recording.zero + time)));
        await other.locator('.notes button').first().click();
        const { start, end } = await other.evaluate(() => ({
            start: timeline.control.view.start -
                timeline.control.recording.zero,
            end: timeline.control.view.end - timeline.control.recording.zero,
        }));

        assert.deepStrictEqual([start, end].map(Math.round),
            [960000, 1440000]);
    },

    async shows_notes_as_text(open) {
        const page = await opened(open, withNotes([[1e6, 2e6, EVIL]]));

        await page.locator('[data-panel=notes]').click();
        assert.deepStrictEqual(await texts(page),
            [EVIL.replace('\u202E', '\\u{202e}')]);
        assert.strictEqual(await page.locator('.notes img').count(), 0);
        await write(page, EVIL);
        await page.waitForFunction(() =>
            location.hash.split('onerror').length === 3);
        await page.reload();
        await page.waitForFunction(() => timeline.isPainted());
        await page.locator('[data-panel=notes]').click();
        assert.strictEqual((await texts(page)).length, 2);
    },

    async refuses_notes_that_do_not_fit(open) {
        const page = await opened(open, withNotes([[0, 1, 'x'.repeat(8000)]]));

        await write(page, 'y'.repeat(300));
        assert.match(await page.locator('.problem[role=alert]').innerText(),
            /does not fit: the address holds 8 KiB/);
        assert.strictEqual((await texts(page)).length, 1);
        assert.ok(!await page.evaluate(() => location.hash.includes('yyy')));
        await page.getByRole('button', { name: /^Delete/ }).click();
        await write(page, 'short');
        assert.deepStrictEqual(await texts(page), ['short']);
    },

    async ignores_notes_that_are_none(open) {
        const page = await opened(open);

        for (const text of ['1', '"a"', 'null', '{}', '[[]]', '[[1,2]]',
            '[[2,1,"a"]]', '[["1","2","a"]]', '[[1,2,{"a":1}]]', '[null]',
            '[[1,1e999,"a"]]', '[[1,2,', '[[1,null,"a"]]']) {
            assert.strictEqual(await page.evaluate((notesText) => {
                state.note({ notes: notesText });
                return notes.read().length;
            }, text), 0, text);
        }
    },

    async leaves_out_notes_beyond_8_KiB(open) {
        const page = await opened(open, withNotes([[0, 1, 'x'.repeat(9000)]]));

        await page.locator('[data-panel=notes]').click();
        assert.match(await page.locator('.panel-content').innerText(),
            /more than 8 KiB of notes; none is shown/);
        assert.deepStrictEqual(await texts(page), []);
    },

    async follow_the_test_to_its_log_and_back(open) {
        const page = await opened(open, withNotes([[1e6, 2e6, 'mine']]));

        await page.locator('nav [data-view=log]').click();
        await page.waitForSelector('[data-shown=log]');
        await page.locator('nav [data-view=timeline]').click();
        await page.waitForSelector('[data-shown=timeline]');
        await page.locator('[data-panel=notes]').click();
        assert.deepStrictEqual(await texts(page), ['mine']);
        await page.evaluate(() => { location.hash = 'test=store/opens&' +
            'view=timeline'; });
        await page.waitForFunction(() =>
            timeline.control.test.name === 'store/opens');
        assert.deepStrictEqual(await page.evaluate(() =>
            timeline.control.view.notes), []);
    },
};

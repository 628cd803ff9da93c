// media_test.js: the page in forced colors, on paper and on touch screens.
'use strict';

/* global timeline */

const assert = require('node:assert');

const HASH = 'test=http/serves_1000&view=';

async function opened(open, view, options) {
    const page = await open('mixed', HASH + view, options);

    await page.waitForSelector(`body[data-shown=${view}]`);
    return page;
}

// styleOf() returns a computed value of each element that is there.
function styleOf(page, selector, name) {
    return page.locator(selector).evaluateAll((elements, property) =>
        elements.map((element) =>
            getComputedStyle(element).getPropertyValue(property)), name);
}

// colorIn() is the color of a pixel in the middle of an element's right half,
// where no text is.
async function colorIn(page, selector) {
    const element = page.locator(selector).first();
    const image = (await element.screenshot()).toString('base64');

    return page.evaluate(async (text) => {
        const bytes = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
        const bitmap = await createImageBitmap(new Blob([bytes]));
        const context = new OffscreenCanvas(bitmap.width, bitmap.height)
            .getContext('2d');

        context.drawImage(bitmap, 0, 0);
        return `rgb(${context.getImageData(bitmap.width * 0.75,
            bitmap.height / 2, 1, 1).data.slice(0, 3).join(', ')})`;
    }, image);
}

async function lengthOf(page) {
    await page.waitForFunction(() => timeline.isPainted());
    return page.evaluate(() =>
        timeline.control.view.end - timeline.control.view.start);
}

module.exports = {
    async draws_flame_graphs_in_forced_colors(open) {
        const page = await opened(open, 'tables', { forcedColors: 'active' });
        const plain = await opened(open, 'tables');

        await page.locator('.flame-box').first().waitFor();
        await plain.locator('.flame-box').first().waitFor();
        assert.strictEqual(await colorIn(page, '.flame-box'),
            await colorIn(plain, '.flame-box'));
    },

    async underlines_only_the_shown_view_in_forced_colors(open) {
        const page = await opened(open, 'log', { forcedColors: 'active' });
        const back = await styleOf(page, 'body', 'background-color');
        const lines = await styleOf(page, 'nav a', 'border-bottom-color');

        assert.deepStrictEqual(lines.map((color) => color === back[0]),
            [true, true, false, true, true, true]);
    },

    async outlines_the_pressed_button_in_forced_colors(open) {
        const page = await opened(open, 'log', { forcedColors: 'active' });

        assert.deepStrictEqual(await styleOf(page, '.toggle', 'outline-style'),
            ['none', 'none', 'none', 'none', 'solid']);
    },

    async prints_bars_and_flame_graphs(open) {
        for (const [view, selector] of [['tables', '.flame-box'],
            ['overview', '.bar'], ['overview', '.badge']]) {
            const page = await opened(open, view);

            await page.emulateMedia({ media: 'print' });
            await page.locator(selector).first().waitFor();
            for (const value of await styleOf(page, selector,
                'print-color-adjust'))
                assert.strictEqual(value, 'exact', selector);
        }
    },

    async prints_whole_panels_without_controls(open) {
        const page = await opened(open, 'timeline');

        await page.locator('.panel-content table').waitFor();
        await page.emulateMedia({ media: 'print' });
        assert.deepStrictEqual(await page.locator('nav a:visible')
            .allInnerTexts(), ['Time line']);
        assert.strictEqual(await page.locator('.tools:visible').count(), 0);
        const [panel] = await page.locator('.panel-content').evaluateAll(
            (elements) => elements.map((element) =>
                element.scrollHeight - element.clientHeight));

        assert.strictEqual(panel, 0);
    },

    async prints_the_time_line_in_light_colors(open) {
        const page = await opened(open, 'timeline', { colorScheme: 'dark' });

        await page.waitForFunction(() => timeline.isPainted());
        await page.evaluate(() => {
            const canvas = document.querySelector('.chart canvas');
            const color = () => canvas.getContext('2d')
                .getImageData(1, 1, 1, 1).data.slice(0, 3).join();

            window.colors = [color()];
            matchMedia('print').addEventListener('change', () =>
                window.colors.push(color()));
        });
        await page.pdf();
        const [dark, paper, after] = await page.evaluate('colors');

        assert.strictEqual(dark, after);
        assert.strictEqual(paper, '245,246,248');
    },

    async zooms_by_two_fingers(open) {
        const page = await opened(open, 'timeline', { hasTouch: true });
        const before = await lengthOf(page);
        const box = await page.locator('.chart canvas').boundingBox();
        const client = await page.context().newCDPSession(page);
        const middle = box.x + box.width / 2;
        const touch = (type, ...places) =>
            client.send('Input.dispatchTouchEvent', { type, touchPoints:
                places.map((x, id) => ({ x, y: box.y + 80, id })) });
        const time = () => page.evaluate((x) => timeline.control.timeAt(x),
            box.width / 2);
        const held = await time();

        await touch('touchStart', middle - 50);
        await touch('touchStart', middle - 50, middle + 50);
        await touch('touchMove', middle - 100, middle + 100);
        await touch('touchMove', middle - 200, middle + 200);
        await touch('touchEnd');
        await page.waitForFunction((length) => timeline.control.view.end -
            timeline.control.view.start < length / 3.9, before);
        assert.ok(Math.abs(await lengthOf(page) / before - 0.25) < 0.01);
        assert.ok(Math.abs(await time() - held) < before / 1000);
        assert.strictEqual(await page.evaluate(
            'timeline.control.view.selected'), -1);
    },

    async zooms_by_a_pinch_on_a_touchpad(open) {
        const page = await opened(open, 'timeline');
        const before = await lengthOf(page);
        const box = await page.locator('.chart canvas').boundingBox();

        await page.mouse.move(box.x + 300, box.y + 60);
        await page.keyboard.down('Control');
        for (let i = 0; i < 14; i++)
            await page.mouse.wheel(0, -5);
        await page.keyboard.up('Control');
        // A hundred pixels of a pinch are a factor of e.
        await page.waitForFunction((length) => timeline.control.view.end -
            timeline.control.view.start < length * 0.501, before);
    },
};

// curves_test.js: counters on the time line: their scale, their steps and the
// value under the mouse.
'use strict';

/* global timeline, curves */

const assert = require('node:assert');
const { writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { make } = require('./memory_sample.js');

async function opened(open, folder, more = '', options = {}) {
    const file = join(folder, 'curves.html');

    writeFileSync(file, make());
    const page = await open(file, `view=timeline${more}`, options);

    await page.waitForFunction(() => timeline.isPainted());
    return page;
}

// drawn() returns the texts that the time line draws.
function drawn(page) {
    return page.evaluate(() => {
        const { fillText } = CanvasRenderingContext2D.prototype;
        const texts = [];

        CanvasRenderingContext2D.prototype.fillText = (text) =>
            texts.push(text);
        timeline.paintNow();
        CanvasRenderingContext2D.prototype.fillText = fillText;
        return texts;
    });
}

// hover() moves the mouse to a time on a curve and returns what the tip says.
async function hover(page, name, time) {
    const [x, y] = await page.evaluate(([counter, at]) => {
        const { control } = timeline;
        const item = control.parts.tracks.placed.items.find((one) =>
            one.kind === 'curve' && one.curve.name === counter);

        return [control.scaleOf().x(at),
            item.y + item.height / 2 - control.parts.scroller.scrollTop];
    }, [name, time]);
    const box = await page.locator('#timeline canvas').boundingBox();

    await page.mouse.move(box.x + x, box.y + y);
    return page.locator('.tip').textContent();
}

module.exports = {
    async draws_the_scale_of_each_counter(open, folder) {
        const texts = await drawn(await opened(open, folder));

        for (const text of ['▾ GPU 0 memory', '6.00 MiB', '0', '▾ level', '3',
            '-2'])
            assert.ok(texts.includes(text), `${text} of ${texts.join()}`);
    },

    async tells_the_value_under_the_mouse(open, folder) {
        const page = await opened(open, folder);

        assert.strictEqual(await hover(page, 'GPU 0 memory', 4e6),
            'GPU 0 memory  5.00 MiB\n5,242,880 bytes, since 0.002500 s');
        assert.ok(await page.locator('.tip').isVisible());
        assert.strictEqual(await hover(page, 'level', 2.5e6),
            'level  0.5\nsince 0.001000 s');
        await hover(page, 'GPU 0 memory', 1.2e6);
        assert.ok(await page.locator('.tip').isHidden());
    },

    async tells_the_values_that_share_a_pixel(open, folder) {
        const page = await opened(open, folder);
        const text = await page.evaluate(() => {
            const { recording } = timeline.control;
            const memory = curves.of(recording).find(({ device }) => device);

            return curves.describe(recording, memory, 5.1e6, 6e6);
        });

        assert.strictEqual(text,
            'GPU 0 memory  4.00 MiB to 6.00 MiB\n2 values here');
    },

    // The unit is the end of the name of a device's counter.
    async draws_counters_of_devices_in_their_units(open) {
        const page = await open('mixed', 'view=timeline');

        assert.deepStrictEqual(await page.evaluate(() => [
            ['GPU 0 SM active %', 1, 63.14], ['GPU 0 SM active %', 1, 97],
            ['GPU 0 PCIe read bytes/s', 1, 3 << 20],
            ['GPU 0 a__b.sum', 1, 7], ['rate %', 0, 0.5],
        ].map(([name, device, value]) => {
            const [curve] = curves.of({ string: () => name, counters: {
                rows: 1, name: [0], value: [value], device: [device],
                time: [0],
            } });

            return `${curves.amount(curve, value)} of ${
                curves.amount(curve, curve.high)}`;
        })), ['63.1 % of 100 %', '97 % of 100 %', '3.00 MiB/s of 3.00 MiB/s',
            '7 of 7', '0.5 of 0.5']);
    },

    async draws_extremes_that_share_a_pixel(open) {
        const page = await open('mixed', 'view=timeline');

        // Any value may be the largest: compare with all of them.
        assert.deepStrictEqual(await page.evaluate(() => {
            const value = Array.from({ length: 5000 }, (unused, i) =>
                i * 7919 % 5003);
            const [curve] = curves.of({ string: () => 'queue', counters: {
                rows: 5000, name: value.map(() => 0), value,
                device: value.map(() => 0), time: value.map((unused, i) => i),
            } });
            const wrong = [];

            for (let i = 0; i < 300; i++) {
                const from = i * 16 % 4001;
                const to = from + 1 + i * i % 999;
                const part = value.slice(from + 1, to);
                const text = curves.describe({ zero: 0 }, curve, from, to);
                const [least, most] = [Math.min(...part), Math.max(...part)]
                    .map((one) => one.toLocaleString('en-US'));

                if (part.length > 1 &&
                    !text.startsWith(`queue  ${least} to ${most}\n`))
                    wrong.push([from, to, text]);
            }
            return wrong;
        }), []);
    },
};

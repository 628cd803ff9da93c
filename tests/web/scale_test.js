// scale_test.js: the horizontal side of the time line: what its ruler says.
'use strict';

/* global timeline */

const assert = require('node:assert');

const HASH = 'view=timeline&test=http/serves_1000';

async function opened(open, name = 'mixed', hash = HASH) {
    const page = await open(name, hash);

    await page.waitForFunction(() => timeline.isPainted());
    return page;
}

// labels() shows a part of the time line, from and to in ns, and returns what
// its ruler prints there.
function labels(page, from, to) {
    return page.evaluate((times) => {
        const { fillText } = CanvasRenderingContext2D.prototype;
        const { control } = timeline;
        const texts = [];

        control.look(...times.map((time) => control.recording.zero + time));
        CanvasRenderingContext2D.prototype.fillText = (text, x, y) =>
            y < 24 && texts.push(text);
        timeline.paintNow();
        CanvasRenderingContext2D.prototype.fillText = fillText;
        return texts;
    }, [from, to]);
}

module.exports = {
    async prints_times_that_differ_in_one_unit(open) {
        const page = await opened(open);

        for (const [from, to, shown] of [
            [0, 1.3e9, /^\d\.\d s$/], [1e6, 2e6, /^\d\.\d ms$/],
            [382138000, 382150000, /^382\.1\d\d ms$/],
            [0, 900, /^\d00 ns$|^0 ns$/],
        ]) {
            const texts = await labels(page, from, to);

            assert.ok(texts.length > 5, texts.join());
            assert.strictEqual(new Set(texts).size, texts.length);
            for (const text of texts)
                assert.match(text, shown);
        }
    },

    async prints_long_times_once(open) {
        const page = await opened(open);

        assert.deepStrictEqual(await labels(page, 1138138001, 1138138031),
            ['1.1381380 s', '+5 ns', '+10 ns', '+15 ns', '+20 ns', '+25 ns']);
        const [base, ...texts] = await labels(page, 1138131500, 1138149000);

        assert.strictEqual(base, '1.1381 s');
        assert.ok(texts.length > 5);
        for (const text of texts)
            assert.match(text, /^\+\d\d µs$/);
    },
};

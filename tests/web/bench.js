// bench.js: how long a report of 1,000,000 slices takes to load and to draw.
'use strict';

/* global timeline */

const { statSync } = require('node:fs');
const { join } = require('node:path');
const chromium = require('./chromium.js');
const samples = require('./samples.js');

const FOLDER = join(chromium.ROOT, 'build/web/samples');
const REDRAWS = 50;

async function load(browser) {
    const start = performance.now();
    const page = await chromium.open(browser, join(FOLDER, 'million.html'),
        'view=timeline');

    await page.waitForFunction(() => timeline.isPainted());
    return { page, time: performance.now() - start };
}

// A pixel is read back, because canvases draw late.
function redraws(page, zoom) {
    return page.evaluate(([count, factor]) => {
        const context = document.querySelector('#timeline canvas')
            .getContext('2d');
        const times = [];

        timeline.control.zoom(factor);
        for (let i = 0; i < count; i++) {
            const start = performance.now();

            timeline.control.pan(i % 2 ? 0.01 : -0.01);
            timeline.paintNow();
            context.getImageData(0, 0, 1, 1);
            times.push(performance.now() - start);
        }
        return times.sort((a, b) => a - b);
    }, [REDRAWS, zoom]);
}

function row(name, value, unit) {
    console.log(`  ${name.padEnd(44)} ${value.toFixed(1).padStart(8)} ${unit}`);
}

async function main() {
    const missing = chromium.missing();

    if (missing) {
        console.log(`bench-web: skipped: ${missing}; run make deps-web`);
        return;
    }
    samples.write(FOLDER, ['million']);
    const browser = await chromium.launch();
    const { page, time } = await load(browser);
    const size = statSync(join(FOLDER, 'million.html')).size;

    console.log('report.html of 1,000,000 slices');
    row('size', size / 1048576, 'MiB');
    row('load until the time line is drawn', time, 'ms');
    for (const [name, zoom] of [['redraw, everything', 10],
        ['redraw, a tenth', 0.1], ['redraw, a thousandth', 0.01]]) {
        const times = await redraws(page, zoom);

        row(`${name}: fastest`, times[0], 'ms');
        row(`${name}: median`, times[REDRAWS / 2], 'ms');
    }
    await browser.close();
}

main();

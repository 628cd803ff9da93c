// bench.js [REVISION]: how long a large report takes to load and to draw, and
// how that compares with the page of another revision.
'use strict';

/* global timeline */

const { readFileSync, statSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const chromium = require('./chromium.js');
const samples = require('./samples.js');
const template = require('./template.js');

const FOLDER = join(chromium.ROOT, 'build/web/samples');
const REDRAWS = 50;
// Browsers round their clock to 0.1 ms: a time is that of so many drawings.
const DRAWINGS = 10;
const ROUNDS = 7;

async function load(browser, name) {
    const start = performance.now();
    const page = await chromium.open(browser, join(FOLDER, `${name}.html`),
        'view=timeline');

    await page.waitForFunction(() => timeline.isPainted());
    return { page, time: performance.now() - start };
}

// A pixel is read back, because canvases draw late.
function redraws(page, zoom) {
    return page.evaluate(([count, drawings, factor]) => {
        const context = document.querySelector('#timeline canvas')
            .getContext('2d');
        const times = [];

        timeline.control.zoom(factor);
        for (let i = 0; i < count; i++) {
            const start = performance.now();

            for (let j = 0; j < drawings; j++) {
                timeline.control.pan(j % 2 ? 0.01 : -0.01);
                timeline.paintNow();
                context.getImageData(0, 0, 1, 1);
            }
            times.push((performance.now() - start) / drawings);
        }
        return times.sort((a, b) => a - b);
    }, [REDRAWS, DRAWINGS, zoom]);
}

function row(name, value, unit) {
    console.log(`  ${name.padEnd(44)} ${value.toFixed(2).padStart(8)} ${unit}`);
}

const ZOOMS = [['redraw, everything', 10], ['redraw, a tenth', 0.1],
    ['redraw, a thousandth', 0.01]];

async function measure(browser) {
    samples.write(FOLDER, ['million']);
    const { page, time } = await load(browser, 'million');
    const size = statSync(join(FOLDER, 'million.html')).size;

    console.log('report.html of 1,000,000 slices');
    row('size', size / 1048576, 'MiB');
    row('load until the time line is drawn', time, 'ms');
    for (const [name, zoom] of ZOOMS) {
        const times = await redraws(page, zoom);

        row(`${name}: fastest`, times[0], 'ms');
        row(`${name}: median`, times[REDRAWS / 2], 'ms');
    }
    await page.context().close();
}

// figures() loads a report once and returns its times in ms, by name.
async function figures(browser, name) {
    const { page, time } = await load(browser, name);
    const result = { load: time };

    for (const [title, zoom] of ZOOMS)
        result[title] = (await redraws(page, zoom))[REDRAWS / 2];
    await page.context().close();
    return result;
}

// withPage() returns a report with another page in front of its data.
function withPage(page, file) {
    const text = readFileSync(file, 'utf8');
    const data = text.indexOf('<script type="text/plain" id="run"');

    return page + text.slice(data);
}

// compare() measures this page and that of another revision in turns.
async function compare(browser, revision) {
    const rounds = { large: [], before: [] };

    samples.write(FOLDER, ['large']);
    writeFileSync(join(FOLDER, 'before.html'),
        withPage(template.of(revision), join(FOLDER, 'large.html')));
    for (let i = 0; i < ROUNDS; i++) {
        for (const side of i % 2 ? ['large', 'before'] : ['before', 'large'])
            rounds[side].push(await figures(browser, side));
    }
    console.log(`report.html of 1,600,000 slices, against ${revision}, ` +
        `fastest of ${ROUNDS} in turns`);
    for (const name of Object.keys(rounds.large[0])) {
        const [now, before] = [rounds.large, rounds.before].map((list) =>
            Math.min(...list.map((one) => one[name])));

        row(name, now, `ms, ${(now / before).toFixed(2)} x ` +
            `${before.toFixed(2)} ms`);
    }
}

async function main() {
    const missing = chromium.missing();

    if (missing) {
        console.log(`bench-web: skipped: ${missing}; run make deps-web`);
        return;
    }
    const browser = await chromium.launch();

    await measure(browser);
    if (process.argv[2])
        await compare(browser, process.argv[2]);
    await browser.close();
}

main();

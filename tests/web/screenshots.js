// screenshots.js: pictures of each view, in both color schemes and widths.
'use strict';

const { existsSync, mkdirSync } = require('node:fs');
const { join } = require('node:path');
const chromium = require('./chromium.js');
const samples = require('./samples.js');

const FOLDER = join(chromium.ROOT, 'build/web/screenshots');
const REAL = join(chromium.ROOT, 'build/web/runs/latest/report.html');
const VIEWS = {
    overview: '', tests: 'view=tests', log: 'view=log&test=http/serves_1000',
    timeline: 'view=timeline&test=http/serves_1000&t=3100000',
    tables: 'view=tables', facts: 'view=facts',
};

// The runner wrote these reports of the examples; README shows one picture.
const REAL_VIEWS = {
    overview: '',
    timeline: 'view=timeline&test=pool/shares_a_store_between_threads',
    opencl: 'view=timeline&test=opencl/shows_a_race_of_two_queues',
    failure: 'view=log&test=failures/hangs_in_a_thread',
};

// What is done before the picture of such a view: keys, or a button's text.
const STEPS = {
    timeline: ['/', ...'number=1', 'Enter', 'Control+a', 'Backspace',
        'Escape', 'f', 's', 's', 's'],
    opencl: ['g', 's', 'Device gaps'],
};

async function take(page, step) {
    const button = page.getByRole('button', { name: step, exact: true });

    if (step.includes(' '))
        await button.click();
    else
        await page.keyboard.press(step);
    await page.waitForTimeout(100);
}

async function shoot(browser, file, hash, name, options, steps = []) {
    const page = await chromium.open(browser, file, hash, options);

    await page.waitForTimeout(600);
    for (const step of steps)
        await take(page, step);
    await page.waitForTimeout(300);
    await page.screenshot({ path: join(FOLDER, `${name}.png`) });
    await page.context().close();
}

async function main() {
    const missing = chromium.missing();

    if (missing) {
        console.log(`testlog: screenshots left out: ${missing} ` +
            '(make deps-web)');
        return;
    }
    mkdirSync(FOLDER, { recursive: true });
    samples.write(FOLDER, ['mixed']);
    const browser = await chromium.launch();

    for (const colorScheme of ['light', 'dark']) {
        for (const [width, height] of [[1280, 800], [400, 800]]) {
            const options = { colorScheme, viewport: { width, height } };

            for (const [view, hash] of Object.entries(VIEWS)) {
                await shoot(browser, join(FOLDER, 'mixed.html'), hash,
                    `${view}-${colorScheme}-${width}`, options);
            }
            if (existsSync(REAL)) {
                for (const [view, hash] of Object.entries(REAL_VIEWS)) {
                    await shoot(browser, REAL, hash,
                        `real-${view}-${colorScheme}-${width}`, options,
                        STEPS[view]);
                }
            }
        }
    }
    await browser.close();
    console.log(`screenshots: ${FOLDER}`);
}

main();

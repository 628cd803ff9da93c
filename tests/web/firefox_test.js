// firefox_test.js: Debian's Firefox shows every view.
'use strict';

const assert = require('node:assert');
const { existsSync, mkdirSync } = require('node:fs');
const { join } = require('node:path');
const chromium = require('./chromium.js');
const samples = require('./samples.js');

const FIREFOX = '/usr/bin/firefox-esr';
const PICTURES = join(chromium.ROOT, 'build/web/screenshots');
const VIEWS = {
    overview: /3 of 9 tests failed[\s\S]*null pointer[\s\S]*query/,
    tests: /crashed[\s\S]*store\/evicts_oldest/,
    log: /store\/evicts_oldest[\s\S]*request received/,
    timeline: /store\/evicts_oldest[\s\S]*On the screen[\s\S]*query/,
    tables: /saxpy[\s\S]*\(64, 1, 1\)/,
    facts: /LOG_FORMAT[\s\S]*json/,
};

function launch() {
    return chromium.load('playwright-core').firefox.launch({
        channel: 'moz-firefox', executablePath: FIREFOX,
        timeout: chromium.PATIENCE,
    });
}

// look() waits for a view's text.
async function look(page, view) {
    await page.evaluate((hash) => { location.hash = hash; }, `view=${view}`);
    await page.waitForFunction(([name, expected]) =>
        document.body.dataset.shown === name && new RegExp(expected)
            .test(document.getElementById(name).innerText),
    [view, VIEWS[view].source]);
}

// Pictures come last: taking one adds a style that the policy refuses.
async function lookAtAll(page) {
    for (const view of Object.keys(VIEWS))
        await look(page, view);
    assert.strictEqual(await page.evaluate('violations'), 0);
    assert.deepStrictEqual(page.problems, []);
    for (const view of Object.keys(VIEWS)) {
        await look(page, view);
        await page.screenshot({ path: join(PICTURES, `firefox-${view}.png`) });
    }
}

module.exports = {
    async shows_every_view(open, folder) {
        if (!existsSync(FIREFOX))
            return 'no Firefox';
        mkdirSync(PICTURES, { recursive: true });
        samples.write(folder, ['mixed']);
        const browser = await launch();

        try {
            await lookAtAll(await chromium.open(browser,
                join(folder, 'mixed.html')));
        } finally {
            await browser.close();
        }
        return '';
    },
};

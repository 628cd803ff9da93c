// pages.js: lends the pages of one browser to tests. A new page costs several
// times as much as another report in a page that is there.
'use strict';

const chromium = require('./chromium.js');

// Pages that no test uses, by their options.
const idle = new Map();
let browser = null;

async function start() {
    browser = await chromium.launch();
}

async function stop() {
    await browser.close();
}

function idleLike(options) {
    const key = JSON.stringify(options);

    if (!idle.has(key))
        idle.set(key, []);
    return idle.get(key);
}

async function take(options = {}) {
    const page = idleLike(options).pop() ||
        await chromium.newPage(browser, options);

    page.options = options;
    return page;
}

// giveBack() undoes what a test may have done to a page, beside its report.
async function giveBack(page) {
    const { viewport = chromium.VIEWPORT, colorScheme = 'light',
        forcedColors = 'none' } = page.options;

    await page.mouse.move(-1, -1);
    await page.goto('about:blank');
    await page.emulateMedia({ media: null, colorScheme, forcedColors });
    await page.setViewportSize(viewport);
    page.problems = [];
    idleLike(page.options).push(page);
}

// discard() closes a page that a test has left in an unknown state.
async function discard(page) {
    await page.context().close();
}

// newContext() makes a context for pages that are not lent.
function newContext(options) {
    return browser.newContext(options);
}

module.exports = { start, stop, take, giveBack, discard, newContext };

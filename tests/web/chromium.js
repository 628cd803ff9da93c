// chromium.js: opens reports in Debian's Chromium and gathers what goes wrong.
'use strict';

const { existsSync, readFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');

const ROOT = join(__dirname, '../..');
const MODULES = join(ROOT, 'build/web/node_modules/');
const AXE = join(MODULES, 'axe-core/axe.min.js');
// The headless shell draws as Chromium does, and needs a third of the time.
const CHROMIUM = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium']
    .find(existsSync);
// A busy machine may take long; a test that waits in vain ends after this.
const PATIENCE = 180000;
const VIEWPORT = { width: 1280, height: 860 };

// missing() names what `make deps-web` would install, or is empty.
function missing() {
    if (!CHROMIUM)
        return 'no Chromium';
    return existsSync(join(MODULES, 'playwright-core')) ? '' :
        'no playwright-core';
}

function load(name) {
    return createRequire(MODULES)(name);
}

function launch() {
    return load('playwright-core').chromium.launch({
        executablePath: CHROMIUM, args: ['--no-sandbox'],
        timeout: PATIENCE,
    });
}

// newPage() makes a page, which gathers problems: errors, console errors and
// violations of its content security policy.
async function newPage(browser, options = {}) {
    const context = await browser.newContext({
        viewport: VIEWPORT, offline: true, ...options,
    });
    context.setDefaultTimeout(PATIENCE);
    const page = await context.newPage();

    page.problems = [];
    page.on('pageerror', (error) => page.problems.push(error.message));
    page.on('console', (message) => message.type() === 'error' &&
        page.problems.push(message.text()));
    await page.addInitScript(() => {
        window.violations = 0;
        document.addEventListener('securitypolicyviolation',
            () => window.violations++);
    });
    return page;
}

// show() loads a report.
async function show(page, file, hash = '') {
    await page.goto(`${pathToFileURL(file)}${hash && `#${hash}`}`);
    await page.waitForSelector('body[data-ready], .notice',
        { state: 'attached' });
}

// go() leads to another place of a report, as a click on a link does.
async function go(page, hash) {
    await page.evaluate((next) => new Promise((done) => {
        window.addEventListener('hashchange', () => done(), { once: true });
        location.hash = next;
    }), hash);
}

async function open(browser, file, hash, options) {
    const page = await newPage(browser, options);

    await show(page, file, hash);
    return page;
}

// serious() runs axe-core, and returns what it finds serious.
async function serious(page) {
    if (!await page.evaluate('"axe" in window'))
        await page.evaluate(readFileSync(AXE, 'utf8'));
    const { violations } = await page.evaluate(
        'axe.run({ resultTypes: ["violations"] })');

    return violations.filter(({ impact }) =>
        ['serious', 'critical'].includes(impact)).map((one) =>
        `${one.id}: ${one.nodes[0].html} ${one.nodes[0].failureSummary}`);
}

module.exports = {
    missing, load, launch, newPage, show, go, open, serious, ROOT, PATIENCE,
    VIEWPORT,
};

// run.js: runs the tests of report.html, *_test.js, in one Chromium, some side
// by side.
'use strict';

const { readdirSync, existsSync, mkdtempSync, rmSync } = require('node:fs');
const { availableParallelism, tmpdir } = require('node:os');
const { join } = require('node:path');
const chromium = require('./chromium.js');
const pages = require('./pages.js');
const samples = require('./samples.js');

const WANTED = process.argv.slice(2);

function collect() {
    return readdirSync(__dirname).filter((name) => name.endsWith('_test.js'))
        .flatMap((name) => Object.entries(require(join(__dirname, name)))
            .map(([title, run]) =>
                ({ name: `${name.slice(0, -8)}/${title}`, run })))
        .filter(({ name }) => !WANTED.length ||
            WANTED.some((word) => name.includes(word)));
}

function close(counts) {
    console.log(`${counts.passed} passed, ${counts.failed} failed, ` +
        `${counts.skipped} skipped`);
}

function expectNoProblems(violations, problems) {
    if (violations || problems.length) {
        throw new Error(`${violations} CSP violations, ` +
            `problems: ${problems.join('; ')}`);
    }
}

// check() runs a test, which returns why it was skipped. It has a folder of its
// own, because tests run side by side. Every page that it opened must be free
// of errors and of violations of its content security policy. The pages of a
// test that failed are not used again.
async function check(test, shared) {
    const folder = mkdtempSync(join(shared, 'test-'));
    const opened = [];
    let finish = pages.discard;

    async function open(name, hash, options) {
        const file = existsSync(name) ? name : samples.once(shared, name);
        const page = await pages.take(options);

        opened.push(page);
        await chromium.show(page, file, hash);
        return page;
    }
    try {
        const skipped = await test.run(open, folder);

        for (const page of opened)
            expectNoProblems(await page.evaluate('violations'), page.problems);
        finish = pages.giveBack;
        return skipped;
    } finally {
        for (const page of opened)
            await finish(page);
    }
}

async function count(test, shared, counts) {
    try {
        const skipped = await check(test, shared);

        counts[skipped ? 'skipped' : 'passed']++;
        if (skipped)
            console.log(`${test.name}: skipped: ${skipped}`);
    } catch (error) {
        console.log(`${test.name}: failed:\n${error.stack}`);
        counts.failed++;
    }
}

async function main() {
    const counts = { passed: 0, failed: 0, skipped: 0 };
    const tests = collect();
    const missing = chromium.missing();

    if (missing) {
        console.log(`testlog: tests/web left out: ${missing} (make deps-web)`);
        close({ ...counts, skipped: tests.length });
        return;
    }
    const shared = mkdtempSync(join(tmpdir(), 'testlog-web-'));

    await pages.start();
    const queue = tests.values();
    const runner = async () => {
        for (const test of queue)
            await count(test, shared, counts);
    };

    await Promise.all(Array.from({ length: availableParallelism() + 1 },
        runner));
    await pages.stop();
    rmSync(shared, { recursive: true });
    close(counts);
    process.exitCode = counts.failed ? 1 : 0;
}

main();

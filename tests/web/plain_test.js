// plain_test.js: report.html where no script runs, as on sites of CI.
'use strict';

const assert = require('node:assert');
const { spawnSync } = require('node:child_process');
const { readFileSync } = require('node:fs');
const http = require('node:http');
const { join } = require('node:path');
const chromium = require('./chromium.js');
const pages = require('./pages.js');

const PROGRAM = join(chromium.ROOT,
    'build/base/tests/programs/traced/outcomes_test');

// What sites send: Jenkins, Jenkins with scripts, and a strict one.
const POLICIES = [
    "sandbox allow-same-origin; default-src 'none'; img-src 'self'; " +
        "style-src 'self';",
    "sandbox allow-same-origin allow-scripts; default-src 'self'; " +
        "style-src 'self' 'unsafe-inline'; script-src 'self'",
    "default-src 'self'",
];

function report(folder) {
    spawnSync(PROGRAM, ['-q'], { stdio: 'ignore',
        env: { ...process.env, TRACE_DIR: folder } });
    return join(folder, 'latest/report.html');
}

// expectPlain() looks at a page whose script did not run.
async function expectPlain(page, address) {
    await page.goto(address);
    const text = await page.locator('body').innerText();

    assert.match(text, /This report needs JavaScript/);
    assert.match(text, /\d+ passed, \d+ failed, \d+ skipped/);
    assert.match(text, /outcomes\/\w+ \(outcomes_test\): (failed|crashed)/);
    assert.doesNotMatch(text, /\0/);
}

module.exports = {
    async show_results_where_scripts_are_forbidden(open, folder) {
        const html = readFileSync(report(folder));
        const server = http.createServer((request, answer) => {
            answer.setHeader('Content-Type', 'text/html; charset=utf-8');
            answer.setHeader('Content-Security-Policy',
                POLICIES[Number(request.url.slice(1))]);
            answer.end(html);
        });

        await new Promise((done) => { server.listen(0, '127.0.0.1', done); });
        const context = await pages.newContext();
        const page = await context.newPage();

        for (const number of POLICIES.keys()) {
            await expectPlain(page,
                `http://127.0.0.1:${server.address().port}/${number}`);
        }
        await context.close();
        server.close();
    },

    async show_results_without_scripts(open, folder) {
        const file = report(folder);
        const context = await pages.newContext({ javaScriptEnabled: false });
        const page = await context.newPage();

        await expectPlain(page, `file://${file}`);
        await context.close();
    },

    async show_the_report_only_if_its_script_runs(open, folder) {
        const page = await open(report(folder));

        assert.strictEqual(await page.locator('.plain').count(), 0);
    },
};

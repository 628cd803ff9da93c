// speedscope_test.js: speedscope imports what testlog export writes.
'use strict';

const assert = require('node:assert');
const { execFileSync } = require('node:child_process');
const { existsSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');
const chromium = require('./chromium.js');
const pages = require('./pages.js');

const TESTLOG = join(chromium.ROOT, 'build/base-trace/testlog');
const RUN = join(chromium.ROOT, 'build/web/runs/latest');
const SPEEDSCOPE = join(chromium.ROOT,
    'build/web/node_modules/speedscope/dist/release/index.html');

function missing() {
    if (!existsSync(SPEEDSCOPE))
        return 'no speedscope (make deps-web)';
    return existsSync(RUN) ? '' : 'no run (make test-web)';
}

// imported() returns how speedscope called the format, and its table of
// functions, as text.
async function imported(folder, format) {
    const trace = execFileSync(TESTLOG, ['export', RUN,
        'store/*', `--${format}`]);
    const script = join(folder, `${format}.js`);
    const context = await pages.newContext();

    writeFileSync(script, 'speedscope.loadFileFromBase64(' +
        `"${format}", "${trace.toString('base64')}")`);
    try {
        const page = await context.newPage();
        const printed = [];

        page.on('console', (message) => printed.push(message.text()));
        page.on('pageerror', (error) => printed.push(error.message));
        await page.goto(`${pathToFileURL(SPEEDSCOPE)}` +
            `#localProfilePath=${script}`);
        await page.waitForFunction(() =>
            document.title.endsWith(' - speedscope'));
        await page.keyboard.press('3'); // the table
        await page.waitForFunction(() => /Symbol Name\s+\S/.test(
            document.body.innerText)); // and a row
        return { printed: printed.join('\n'),
            table: await page.evaluate('document.body.innerText') };
    } finally {
        await context.close();
    }
}

module.exports = {
    async imports_folded_stacks(open, folder) {
        if (missing())
            return missing();

        const { printed, table } = await imported(folder, 'folded');

        assert.match(printed, /Importing as collapsed stack format/);
        assert.match(table, /\n\tstore_put\n/);
        assert.match(table, /\n\tstore_test store\/[a-z_]+\n/);
        return '';
    },

    async imports_its_own_format(open, folder) {
        if (missing())
            return missing();

        const { printed, table } = await imported(folder, 'speedscope');

        assert.match(printed, /Importing as speedscope json file/);
        assert.match(table, /\n\tstore_put\n/);
        assert.match(table, /store_test store\/[a-z_]+: .* \(1\/\d+\)\n/);
        return '';
    },

    async imports_chrome_s_traces(open, folder) {
        if (missing())
            return missing();

        const { printed, table } = await imported(folder, 'chrome');

        assert.match(printed, /Importing as Trace Event Format profile/);
        assert.match(table, /store_test store\/.* \(1\/\d+\)\n/);
        return '';
    },
};

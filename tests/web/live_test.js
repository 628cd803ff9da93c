// live_test.js: tests and programs that run, as testlog view shows them.
'use strict';

/* global timeline */

const assert = require('node:assert');
const { spawn } = require('node:child_process');
const { readdirSync } = require('node:fs');
const chromium = require('./chromium.js');
const { OLD, SERVER, TESTLOG, firstLine, openPage, serve } =
    require('./view_server.js');

// recordServer() records the server of examples/server, which is asked for
// pages, until `look` has returned. look() gets the run's name and a function
// that stops the server.
async function recordServer(runs, look) {
    const recorder = spawn(TESTLOG, ['record', '--', SERVER], {
        stdio: ['ignore', 'pipe', 'ignore'], detached: true,
        env: { ...process.env, TRACE_DIR: runs } });
    const [address] = (await firstLine(recorder)).split(' ');
    const asking = setInterval(() => fetch(`${address}users/417/chief`)
        .catch(() => 0), 10);
    const stop = () => {
        clearInterval(asking);
        process.kill(-recorder.pid, 'SIGINT');
    };

    try {
        await look(readdirSync(runs).find((name) =>
            name.startsWith('20') && name !== OLD), stop);
    } finally {
        clearInterval(asking);
        recorder.kill('SIGKILL');
        try {
            process.kill(-recorder.pid, 'SIGKILL');
        } catch {
            // It has ended.
        }
    }
}

// follow() opens a view of the run of a server that runs.
async function follow(folder, name, view, look) {
    await serve(folder, name, (address, runs) =>
        recordServer(runs, async (run, stop) => {
            const page = await openPage(address);

            await page.waitForSelector('body[data-ready]');
            await page.locator('td.state-running').waitFor();
            await page.goto(new URL(`report/${run}#view=${view}`,
                page.url()).href);
            await page.waitForSelector(`body[data-shown=${view}]`);
            await look(page, stop);
            assert.deepStrictEqual(page.problems, []);
            await page.context().close();
        }));
}

function rows(page) {
    return page.evaluate('timeline.control.recording.slices.rows');
}

module.exports = {
    async follows_the_end_of_a_time_line(open, folder) {
        await follow(folder, 'followed', 'timeline', async (page) => {
            const before = await rows(page);

            await page.locator('.badge.is-running').waitFor();
            await page.waitForFunction((least) =>
                timeline.control.recording.slices.rows > least, before + 50);
            assert.ok(await page.evaluate('timeline.control.follows()'));
            assert.ok(await page.evaluate(
                `recordings.sliceName(timeline.control.recording, 0)`));
            assert.deepStrictEqual(await chromium.serious(page), []);
        });
    },

    async stays_where_the_user_looks(open, folder) {
        await follow(folder, 'stayed', 'timeline', async (page) => {
            await page.waitForFunction(
                'timeline.control.recording.slices.rows > 20');
            await page.locator('.chart canvas').focus();
            for (const key of ['w', 'w', 'a', 'a', 'a'])
                await page.keyboard.press(key);
            const { start, end } = await page.evaluate(
                'timeline.control.view');
            const before = await rows(page);

            await page.waitForFunction((least) =>
                timeline.control.recording.slices.rows > least, before + 30);
            assert.deepStrictEqual(await page.evaluate(
                '[timeline.control.view.start, timeline.control.view.end]'),
            [start, end]);
            await page.keyboard.press('l');
            assert.ok(await page.evaluate('timeline.control.follows()'));
        });
    },

    async adds_lines_at_the_end_of_the_log(open, folder) {
        await follow(folder, 'logged', 'log', async (page) => {
            const last = () => page.locator(
                '.grid-log .grid-rows .row .c-message').last();

            await page.waitForFunction(() =>
                Number(document.querySelector('.grid-log')
                    .getAttribute('aria-rowcount')) > 50);
            assert.match(await last().innerText(), /\w/);
            await page.getByLabel('Search in lines').fill('chief');
            const count = () => page.locator('.grid-log').evaluate(
                (grid) => Number(grid.getAttribute('aria-rowcount')));
            const before = await count();

            await page.waitForFunction((least) =>
                Number(document.querySelector('.grid-log')
                    .getAttribute('aria-rowcount')) > least, before + 5);
            assert.match(await last().innerText(), /chief/);
            assert.strictEqual(
                await page.getByLabel('Search in lines').inputValue(),
                'chief');
        });
    },

    async sums_up_what_is_recorded(open, folder) {
        await follow(folder, 'summed', 'tables', async (page) => {
            const cell = page.locator('#tables tbody tr').first()
                .locator('td').first();

            await cell.waitFor();
            const before = await page.locator('#tables').innerText();

            await page.evaluate('document.activeElement.blur()');
            await page.waitForFunction((text) =>
                document.getElementById('tables').innerText !== text, before);
        });
    },

    async shows_the_whole_test_when_it_has_ended(open, folder) {
        await follow(folder, 'ended', 'timeline', async (page, stop) => {
            await page.waitForFunction(
                'timeline.control.recording.slices.rows > 20');
            stop();
            await page.waitForFunction(() =>
                !document.querySelector('#timeline .badge.is-running') &&
                timeline.control.recording?.moved === undefined &&
                timeline.control.recording?.slices.rows > 20);
            assert.strictEqual(await page.locator('.notice').count(), 0);
        });
    },
};

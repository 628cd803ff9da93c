// view_test.js: testlog view in the browser.
'use strict';

const assert = require('node:assert');
const { readFileSync, rmSync, writeFileSync } = require('node:fs');
const http = require('node:http');
const { join } = require('node:path');
const chromium = require('./chromium.js');
const { OLD, serve, beServed, openPage, record } =
    require('./view_server.js');

module.exports = {
    async show_runs_and_new_ones(open, folder) {
        await serve(folder, 'live', async (address, runs) => {
            const page = await openPage(address);

            await page.waitForSelector('body[data-ready]');
            assert.strictEqual(
                await page.locator('#runs tbody tr').count(), 1);
            await page.getByLabel('Find a test').fill('store');
            await record(runs);
            await page.waitForFunction(() =>
                document.querySelectorAll('#runs tbody tr').length === 2 &&
                document.querySelector('#runs .state-passed, .state-failed') &&
                document.querySelector('#tests').innerText.includes('store/'));
            assert.strictEqual(
                await page.getByLabel('Find a test').inputValue(), 'store');
            assert.deepStrictEqual(page.problems, []);
            assert.ok(page.asked.every((url) =>
                url.startsWith(address.split('#')[0])), page.asked.join(' '));
            assert.deepStrictEqual(await chromium.serious(page), []);
            await page.context().close();
        });
    },

    async open_reports_in_a_sandbox(open, folder) {
        await serve(folder, 'boxed', async (address) => {
            const page = await openPage(address);

            await page.waitForSelector('body[data-ready]');
            await page.goto(new URL(`run/${OLD}/report.html`,
                page.url()).href);
            await page.waitForFunction('document.title.includes("TypeError")');
            assert.strictEqual(await page.evaluate('self.origin'), 'null');
            await page.context().close();
        });
    },

    async compare_a_run_with_another(open, folder) {
        await serve(folder, 'compared', async (address, runs) => {
            const before = await record(runs);
            const after = await record(runs);
            const page = await openPage(address);

            await page.waitForSelector('body[data-ready]');
            await page.goto(new URL(`report/${after}`, page.url()).href);
            await page.waitForSelector('body[data-shown=overview]');
            await page.getByText('Compare', { exact: true }).press('Enter');
            const link = page.getByRole('link', { name: before });

            await link.waitFor();
            assert.deepStrictEqual(await chromium.serious(page), []);
            const [opened] = await Promise.all([
                page.context().waitForEvent('page'), link.press('Enter')]);

            await opened.getByText('store/').first().waitFor();
            assert.strictEqual(await opened.evaluate('self.origin'), 'null');
            await page.keyboard.press('Escape');
            await link.waitFor({ state: 'hidden' });
            assert.deepStrictEqual(page.problems, []);
            await page.context().close();
        });
    },

    async capture_a_running_program(open, folder) {
        await beServed(folder, async (pid) => {
            await serve(folder, 'captured', async (address) => {
                const page = await openPage(address);

                await page.waitForSelector('body[data-ready]');
                await page.getByText('Capture a program').press('Enter');
                await page.getByText(`server (${pid})`)
                    .waitFor({ state: 'attached' });
                assert.deepStrictEqual(await chromium.serious(page), []);
                await page.getByLabel('Filter').fill('[');
                await page.getByLabel('Duration').fill('200');
                await page.getByLabel('Duration').press('Enter');
                await page.getByText('unclosed bracket').waitFor();
                await page.getByLabel('Filter').fill('');
                await page.getByLabel('Duration').press('Enter');
                await page.waitForURL('**/report/20*');
                await page.waitForSelector('body[data-shown=overview]');
                await page.getByText('Log', { exact: true }).click();
                await page.getByText('GET /users/417/chief').first().waitFor();
                assert.deepStrictEqual(page.problems, []);
                await page.context().close();
            });
        });
    },

    // Browsers send cookies to every port of a host.
    async give_servers_of_other_users_no_cookie(open, folder) {
        const got = [];
        const other = http.createServer((request, answer) => {
            got.push(request.headers.cookie);
            answer.setHeader('Content-Type', 'text/html');
            answer.end('<img src=/api/runs><img src=/run/x><img src=/s-0/>');
        });

        await new Promise((done) => { other.listen(0, '127.0.0.1', done); });
        await serve(folder, 'ports', async (address) => {
            const page = await openPage(address);
            const { port } = other.address();

            await page.waitForSelector('body[data-ready]');
            await page.reload(); // without a new session
            await page.waitForSelector('body[data-ready]');
            await page.goto(`http://127.0.0.1:${port}/`,
                { waitUntil: 'networkidle' });
            assert.ok(got.length >= 4);
            assert.deepStrictEqual(got.filter((cookie) => cookie), []);
            await page.context().close();
        });
        other.close();
    },

    // The file that --open makes leads there.
    async be_opened_by_a_file(open, folder) {
        await serve(folder, 'led', async (address, runs) => {
            const file = join(runs, 'lead.html');

            writeFileSync(file, '<meta http-equiv="refresh" ' +
                `content="0; url=${address}">`);
            const page = await openPage(`file://${file}`);

            await page.waitForSelector('body[data-ready] #runs');
            assert.deepStrictEqual(page.problems, []);
            await page.context().close();
        });
    },

    async ask_for_the_token(open, folder) {
        await serve(folder, 'locked', async (address) => {
            const page = await openPage(address.split('#')[0]);

            await page.waitForSelector('.notice');
            assert.match(await page.locator('.notice').innerText(),
                /^Open the address that testlog view printed/);
            assert.strictEqual(await page.locator('main').innerText(), '');
            await page.context().close();
        });
    },

    async show_a_run_and_all_its_views(open, folder) {
        await serve(folder, 'run', async (address, runs) => {
            const run = await record(runs);

            rmSync(join(runs, run, 'report.html'));
            const page = await openPage(address);

            await page.locator('#runs').getByText(run).click();
            await page.waitForURL(`**/report/${run}`);
            await page.waitForSelector('body[data-shown=overview]');
            for (const view of ['overview', 'tests', 'log', 'timeline', 'facts',
                'tables']) {
                // The tables read all tests; the others show the same one.
                assert.strictEqual(page.asked.filter((url) =>
                    /t\d+\.bin/.test(url)).length, 1, page.asked.join(' '));
                await page.locator(`nav a[data-view=${view}]`).click();
                await page.waitForSelector(`body[data-shown=${view}]`);
                assert.deepStrictEqual(await chromium.serious(page), [], view);
            }
            assert.ok(page.asked.some((url) => url.endsWith('/t0.bin')));
            assert.strictEqual(await page.locator('.notice').count(), 0);
            await page.getByText('All runs').click();
            await page.waitForSelector('#runs');
            assert.deepStrictEqual(page.problems, []);
            assert.ok(page.asked.every((url) =>
                url.startsWith(address.split('#')[0])), page.asked.join(' '));
            await page.context().close();
        });
    },

    async show_a_run_that_was_killed(open, folder) {
        await serve(folder, 'killed', async (address, runs) => {
            const run = await record(runs);

            rmSync(join(runs, run, 'run.json'));
            const page = await openPage(`${address}&run=${run}`);

            await page.waitForURL(`**/report/${run}`);
            await page.waitForSelector('body[data-ready]');
            await page.locator('nav a[data-view=log]').click();
            await page.waitForSelector('body[data-shown=log]');
            assert.ok(
                await page.locator('#log').getByText('info').count());
            assert.deepStrictEqual(page.problems, []);
            await page.context().close();
        });
    },

    async ask_for_the_token_of_a_run(open, folder) {
        await serve(folder, 'closed', async (address) => {
            const page = await openPage(
                new URL(`/report/${OLD}`, address).href);

            await page.waitForSelector('.notice');
            assert.match(await page.locator('.notice').innerText(),
                /open the address that testlog view printed first/);
            assert.strictEqual(await page.locator('.notice').count(), 1);
            assert.strictEqual(await page.locator('main').innerText(), '');
            await page.context().close();
        });
    },

    async open_a_test_in_perfetto(open, folder) {
        await serve(folder, 'perfetto', async (address, runs) => {
            const run = await record(runs);
            const page = await openPage(address);
            const elsewhere = [];

            await page.waitForSelector('body[data-ready]');

            // A page in the place of Perfetto's, which answers late.
            await page.context().route('https://**', (route) => {
                elsewhere.push(route.request().url());
                route.fulfill({ contentType: 'text/html', body: `<script>
                    let pings = 0;
                    onmessage = ({ data, source, origin }) => {
                        if (data === 'PING' && ++pings > 2)
                            source.postMessage('PONG', origin);
                        if (data.perfetto)
                            self.got = data.perfetto;
                    };</script>` });
            });
            await page.goto(new URL(
                `report/${run}#view=log&test=store/stores_any_string`,
                page.url()).href);
            await page.waitForSelector('body[data-shown=log]');
            await page.getByText('Export', { exact: true }).click();
            assert.deepStrictEqual(await chromium.serious(page), []);

            const [file] = await Promise.all([page.waitForEvent('download'),
                page.getByText("Chrome's trace event format").click()]);

            assert.strictEqual(file.suggestedFilename(),
                'store-stores_any_string.json');
            assert.ok(JSON.parse(readFileSync(await file.path()))
                .traceEvents.length);
            assert.deepStrictEqual(elsewhere, []);

            const [tab] = await Promise.all([page.waitForEvent('popup'),
                page.getByText('Open in Perfetto').press('Enter')]);

            await tab.waitForFunction('self.got');
            assert.deepStrictEqual(await tab.evaluate(() => [self.got.title,
                self.got.buffer.byteLength > 100]),
            ['store/stores_any_string', true]);
            await page.getByText('Sent to Perfetto').waitFor();
            assert.deepStrictEqual(elsewhere, ['https://ui.perfetto.dev/']);
            await page.evaluate(() => { window.open = () => null; });
            await page.getByText('Open in Perfetto').click();
            await page.getByText('The browser opened no tab. Save').waitFor();
            await page.keyboard.press('Escape');
            assert.ok(!await page.locator('.export').evaluate(
                (element) => element.open));
            assert.deepStrictEqual(page.problems, []);
            await page.context().close();
        });
    },
};

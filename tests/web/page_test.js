// page_test.js: what holds for all views: no markup from data, accessibility,
// narrow screens, files that were cut off, and reports that the runner wrote.
'use strict';

const assert = require('node:assert');
const { existsSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const chromium = require('./chromium.js');
const { EVIL, SAMPLES, mistyped } = require('./samples.js');

// Characters that a page must not show as they are.
const HIDDEN = /[^\P{Cc}\n\t]|\p{Bidi_Control}/u;
const VIEWS = ['overview', 'tests', 'log', 'timeline', 'tables', 'facts'];
const REAL = join(chromium.ROOT, 'build/web/runs/latest/report.html');

// settled() waits until a view is there and drawn: tables add rows when they
// know their size.
async function settled(page, view) {
    await page.waitForSelector(`body[data-shown=${view}]`);
    await page.evaluate(() => new Promise((done) => {
        requestAnimationFrame(() => requestAnimationFrame(done));
    }));
}

async function overflow(page) {
    return page.evaluate(() => document.documentElement.scrollWidth -
        document.documentElement.clientWidth);
}

async function everyView(open, name, options, check) {
    const page = await open(name, '', options);

    for (const view of VIEWS) {
        await page.evaluate((hash) => { location.hash = hash; },
            `view=${view}`);
        await settled(page, view);
        await check(page, view);
    }
}

const tests = {
    async keeps_hostile_text_as_text(open) {
        await everyView(open, 'hostile', {}, async (page, view) => {
            assert.match(await page.title(), /^2 failed: testlog/);
            assert.strictEqual(await page.locator('main img').count(), 0);
            assert.strictEqual(await page.locator('main script').count(), 0);
            assert.strictEqual(await overflow(page), 0, view);
            assert.doesNotMatch(await page.locator('body').innerText(),
                HIDDEN, view);
        });
        const page = await open('hostile');
        const shown = await page.locator('article h3').first().innerText();

        assert.ok(shown.includes('</script><script>'));
        assert.ok(shown.includes('\\u{202e}'));
        assert.ok(EVIL.includes('</script>'));
    },

    async shows_a_run_of_any_values(open, folder) {
        // A member of such a name keeps a value from becoming text.
        const strange = { toString: 1, valueOf: 1 };
        const values = [undefined, null, 5, -1e300, true, 'text', [], {},
            strange, [null, 5, 'text', [], strange, [strange, strange]],
            { run: strange, name: strange, index: strange, newly_failing: 5,
                newly_passing: [strange], slower: [strange, [strange]],
                gone: [strange, 5], new: 'text', host: strange }];

        for (const [i, value] of values.entries()) {
            const file = join(folder, `mistyped-${i}.html`);

            writeFileSync(file, mistyped(value));
            await everyView(open, file, {}, async (page, view) => {
                assert.deepStrictEqual(page.problems, [], `${i}: ${view}`);
            });
        }
    },

    async shows_an_address_of_any_values(open) {
        const page = await open('mixed');

        for (const [i, value] of ['x', '-1', '99', '1e999', '__proto__',
            'constructor', '%', '5:x'].entries()) {
            for (const view of [...VIEWS, value]) {
                await page.evaluate((hash) => { location.hash = hash; },
                    ['test', 'try', 't', 'from', 'to', 'level', 'filter',
                        'find', 'sort', 'status', 'q'].filter((name) =>
                        i % 2 || name !== 'test')
                        .map((name) => `${name}=${value}`)
                        .join('&') + `&view=${view}`);
                await settled(page, VIEWS.includes(view) ? view :
                    i % 2 ? 'log' : 'overview');
                assert.deepStrictEqual(page.problems, [],
                    `${value}: ${view}`);
            }
        }
    },

    async keeps_an_address_that_was_typed(open) {
        const page = await open('mixed', 'view=timeline');

        await settled(page, 'timeline');
        // A click writes what was noted, before the address's event comes.
        await page.evaluate(`{
            state.note({ from: 5 });
            location.hash = 'view=facts';
            document.body.click();
        }`);
        await settled(page, 'facts');
    },

    async says_that_the_file_was_cut_off(open, folder) {
        const whole = SAMPLES.mixed();
        const cut = join(folder, 'cut.html');

        writeFileSync(cut, whole.slice(0, whole.lastIndexOf('id="t7"') + 200));
        const page = await open(cut);

        assert.match(await page.locator('#notices').innerText(), /cut off/);
        assert.match(await page.locator('h1').first().innerText(), /3 of 9/);
        writeFileSync(cut, whole.slice(0, whole.indexOf('id="run"') + 200));
        const empty = await open(cut);

        assert.match(await empty.locator('#notices').innerText(), /cut off/);
    },

    async says_that_a_recording_is_damaged(open, folder) {
        const whole = SAMPLES.mixed();
        const damaged = join(folder, 'damaged.html');

        writeFileSync(damaged, whole.replace(
            /(id="t0" data-size="\d+">.{400}).{20}/, '$1AAAAAAAAAAAAAAAAAAAA'));
        const page = await open(damaged, 'test=store/opens');

        await page.locator('#log .empty').waitFor();
        assert.match(await page.locator('#log').innerText(), /damaged/);
    },

    async shows_ranges_and_slices_accessibly(open) {
        const page = await open('mixed',
            'view=timeline&test=store/opens');

        await page.locator('#timeline canvas').waitFor();
        await page.keyboard.press('m');
        await page.locator('.panel-content table').waitFor();
        assert.deepStrictEqual(await chromium.serious(page), []);
        await page.locator('[data-panel=slices]').click();
        await page.locator('.grid-slices .grid-rows .row').first().waitFor();
        assert.deepStrictEqual(await chromium.serious(page), []);
    },

    async goes_back_and_forth(open) {
        const page = await open('mixed');

        await page.locator('nav a', { hasText: 'Tests' }).click();
        await page.locator('nav a', { hasText: 'Facts' }).click();
        await page.goBack();
        await page.locator('#tests').waitFor();
        assert.strictEqual(await page.locator('nav [aria-current]')
            .innerText(), 'Tests');
    },

    async goes_back_to_what_was_on_the_screen(open) {
        const page = await open('mixed', 'view=tests');

        await page.locator('[aria-label="Filter tests"]').fill('sigsegv');
        await page.locator('nav a', { hasText: 'Facts' }).click();
        await page.goBack();
        await page.locator('#tests').waitFor();
        assert.strictEqual(await page.locator('[aria-label="Filter tests"]')
            .inputValue(), 'sigsegv');
    },

    async reaches_the_content_by_keyboard(open) {
        const page = await open('mixed');

        await page.keyboard.press('Tab');
        assert.strictEqual(await page.evaluate('document.activeElement.id'),
            'skip');
        await page.keyboard.press('Enter');
        assert.strictEqual(await page.evaluate('document.activeElement.id'),
            'main');
    },

    async opens_what_the_runner_wrote(open) {
        if (!existsSync(REAL))
            return 'no report';
        await everyView(open, REAL, {}, async (page, view) => {
            assert.ok((await page.locator(`#${view}`).innerText()).length > 10,
                view);
        });
        const page = await open(REAL);

        assert.match(await page.locator('#overview').innerText(),
            /a bear should be red/);
        return '';
    },
};

for (const colorScheme of ['light', 'dark']) {
    for (const width of [1280, 400]) {
        tests[`is_accessible_${colorScheme}_${width}`] = (open) =>
            everyView(open, 'mixed', {
                colorScheme, viewport: { width, height: 800 },
            }, async (page, view) => {
                assert.deepStrictEqual(await chromium.serious(page), [], view);
                assert.strictEqual(await overflow(page), 0, view);
            });
    }
}

module.exports = tests;

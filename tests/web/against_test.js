// against_test.js: the page that compares two runs.
'use strict';

const assert = require('node:assert');
const { existsSync, readFileSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const chromium = require('./chromium.js');
const { EVIL } = require('./samples.js');
const { MIXED, write } = require('./against_sample.js');

// opened() shows the sample, which other tests may be reading, too.
function opened(open, folder, hash = '', options = {}) {
    const file = join(folder, 'against.html');

    return open(existsSync(file) ? file : write(folder, 'against'), hash,
        options);
}

function rows(page, grid) {
    return page.locator(`.grid-${grid} .grid-rows .row`);
}

async function texts(page, grid) {
    return (await rows(page, grid).allInnerTexts())
        .map((text) => text.replace(/\s+/g, ' ').trim());
}

function box(page, name) {
    return page.locator('.flame-box', { hasText: name }).first();
}

async function share(element, whole) {
    const [part, all] = await Promise.all([element.boundingBox(),
        whole.boundingBox()]);

    return { left: (part.x - all.x) / all.width,
        width: part.width / all.width };
}

const tests = {
    async pairs_tests_by_outcome_and_duration(open, folder) {
        const page = await opened(open, folder);

        assert.deepStrictEqual(await texts(page, 'pairs'), [
            'newly failing store/evicts_oldest 80.0 ms crashed 90.0 ms ' +
                'SIGSEGV: null pointer, in store_query',
            'newly passing store/reopens failed 20.0 ms 20.0 ms ' +
                'store_test.c:31: 2 != 3',
            'other outcome pool/stops 1.00 ms skipped',
            '▲ slower http/serves_1000 400 ms 1.30 s ▲ +225.0 % ' +
                'earlier passes: at most 420 ms',
            '▼ faster http/times_out 1.00 s 200 ms ▼ −80.0 % ' +
                'earlier passes: at least 900 ms',
            'only new gpu/adds_vectors did not run 200 ms',
            'only old store/old 5.00 ms did not run',
            'store/opens 5.00 ms 6.00 ms +20.0 %',
            'pool/runs_jobs 40.0 ms 30.0 ms −25.0 %',
        ]);
        assert.match(await page.locator('header').innerText(),
            /000123456|123456 → .*654321[\s\S]*1 newly failing/);
    },

    async colors_only_what_diff_says(open, folder) {
        const page = await opened(open, folder);
        const color = (text) => page.locator('.c-difference span',
            { hasText: text }).evaluate((one) => getComputedStyle(one).color);

        assert.notStrictEqual(await color('+225'), await color('−80'));
        assert.strictEqual(await color('+20'), await color('−25'));
        assert.notStrictEqual(await color('+20'), await color('+225'));
        assert.deepStrictEqual(await page.locator('.flame-box')
            .evaluateAll((all) => all.map((one) =>
                `${one.classList[1]} ${one.textContent}`)), [
            'is-same request', 'is-slower-2 query ▲ +50.0 %',
            'is-faster-3 parse ▼ −50.0 %', 'is-same query',
            'is-same retry only new']);
    },

    async filters_and_sorts_tests(open, folder) {
        const page = await opened(open, folder);

        await page.locator('#pairs [data-kind=slower]').click();
        assert.strictEqual((await texts(page, 'pairs')).length, 1);
        await page.locator('#pairs [data-kind=slower]').click();
        await page.locator('[aria-label="Filter tests"]').fill('POOL/');
        assert.strictEqual((await texts(page, 'pairs')).length, 2);
        assert.match(await page.locator('#pairs > .tools').innerText(),
            /2 of 9 tests/);
        await page.locator('[aria-label="Filter tests"]').fill('');
        await page.locator('.grid-pairs .c-difference button').click();
        assert.match((await texts(page, 'pairs'))[0], /serves_1000/);
        await page.locator('.grid-pairs .c-name button').click();
        assert.match((await texts(page, 'pairs'))[0], /adds_vectors/);
    },

    async lists_spans_and_kernels(open, folder) {
        const page = await opened(open, folder);
        const list = await texts(page, 'names');

        assert.strictEqual(list[0], 'query ▲ 1.50 × the time ' +
            '1,000 → 1,000 100 µs 150 µs 100 ms → 150 ms +50.0 ms');
        assert.match(list[1], /^parse ▼ 0.50 × the time /);
        assert.match(list[2],
            /^saxpy grid=\(64, 1, 1\) .*▲ 3.00 × the calls 100 → 300 /);
        assert.match(list[4], /^retry only new – → 20 – 3.00 ms /);
        assert.match(list[5], /^legacy only old 30 → – 2.00 ms – /);
        await page.locator('#names [data-kind=once]').click();
        assert.strictEqual((await texts(page, 'names')).length, 2);
    },

    async shows_both_histograms_with_medians(open, folder) {
        const page = await opened(open, folder);
        const bars = page.locator('.overlay-bars');
        const median = async (side) => (await share(
            page.locator(`.overlay-median.is-${side}-run`), bars)).left;

        assert.match(await page.locator('.overlay-graph')
            .getAttribute('aria-label'), /old: median 100 µs.*1,000 calls; new/);
        // 20 bars are two and a half octaves; the medians are log2(1.5) apart.
        assert.ok(Math.abs(await median('new') - await median('old') -
            Math.log2(1.5) / 2.5) < 0.005);
        await rows(page, 'names').nth(4).click();
        assert.match(await page.locator('#names .names-panel').innerText(),
            /span retry[\s\S]*old: no calls[\s\S]*new: median 3.00 ms/);
        assert.strictEqual(await page.locator('.overlay-median').count(), 1);
        const bar = page.locator('.overlay-column').nth(12);

        assert.match(await bar.getAttribute('title'),
            /^3.00 ms to 3.27 ms: old 0 \(0 %\), new 100 \(/);
    },

    async draws_the_flame_graph_as_wide_as_a_run(open, folder) {
        const page = await opened(open, folder);
        const graph = page.locator('.flame');

        assert.ok(Math.abs((await share(box(page, 'query ▲'), graph)).width -
            150 / 1010) < 0.005);
        assert.strictEqual(await box(page, 'legacy').count(), 0);
        await page.locator('#difference button', { hasText: 'old run' })
            .click();
        assert.ok(Math.abs((await share(box(page, 'query ▲'), graph)).width -
            100 / 1060) < 0.005);
        assert.strictEqual(await box(page, 'legacy only old').count(), 1);
        assert.strictEqual(await box(page, 'retry').count(), 0);
        await box(page, 'request').click();
        assert.ok((await share(box(page, 'request'), graph)).width > 0.99);
        assert.strictEqual(await box(page, 'query ▲')
            .getAttribute('aria-label'), 'query: ▲ +50.0 %; old 100 ms in ' +
            '1,000 calls, new 150 ms in 1,000 calls');
    },

    async keeps_what_is_chosen_in_the_address(open, folder) {
        const page = await opened(open, folder);

        await page.locator('#pairs [data-kind=gone]').click();
        await rows(page, 'names').nth(1).click();
        await page.locator('#difference button', { hasText: 'old run' })
            .click();
        await page.waitForURL(/width=old/);
        const hash = await page.evaluate('location.hash.slice(1)');
        const again = await opened(open, folder, hash);

        assert.deepStrictEqual(await texts(again, 'pairs'),
            ['only old store/old 5.00 ms did not run']);
        assert.match(await again.locator('#names .names-panel h3').innerText(),
            /span parse/);
        assert.strictEqual(await box(again, 'legacy').count(), 1);
    },

    async moves_both_time_lines_together(open, folder) {
        const page = await opened(open, folder);
        const group = page.locator('.twins');
        const canvases = page.locator('.twin');
        const pictures = async () => {
            await page.evaluate(() => new Promise((done) => {
                requestAnimationFrame(() => requestAnimationFrame(done));
            }));
            return canvases.evaluateAll((all) =>
                all.map((one) => one.toDataURL()));
        };
        const window = async () => (await group.getAttribute('data-window'))
            .split(' ').map(Number);

        await group.waitFor();
        assert.match(await group.innerText(), /Time lines of store\/evicts_old/);
        const whole = await window();
        let before = await pictures();

        for (const act of [
            () => group.locator('[aria-label="Zoom in"]').click(),
            () => group.press('ArrowRight'),
            () => canvases.first().hover({ position: { x: 300, y: 60 } })
                .then(() => page.mouse.wheel(-40, 0)),
            () => canvases.last().dragTo(canvases.last(), {
                sourcePosition: { x: 500, y: 40 },
                targetPosition: { x: 400, y: 40 } }),
            () => group.press('+'),
        ]) {
            const last = await window();

            await act();
            assert.notDeepStrictEqual(await window(), last);
            const after = await pictures();

            for (const i of [0, 1])
                assert.notStrictEqual(after[i], before[i], `${act} ${i}`);
            before = after;
        }
        const [start, end] = await window();

        assert.ok(Math.abs((whole[1] - whole[0]) / 2.56 - (end - start)) < 9);
        await group.press('0');
        assert.deepStrictEqual(await window(), whole);
    },

    // The first request begins a millisecond after the body in both runs.
    async counts_both_time_lines_from_the_body(open, folder) {
        const page = await opened(open, folder);
        const canvases = page.locator('.twin');

        await canvases.first().waitFor();
        const [start, end] = (await page.locator('.twins')
            .getAttribute('data-window')).split(' ').map(Number);
        const { width } = await canvases.first().boundingBox();
        const x = width * (1.2e6 - start) / (end - start);

        assert.ok(start < 0 && start > -5e5);
        for (const canvas of [canvases.first(), canvases.last()]) {
            await canvas.hover({ position: { x, y: 51 } });
            assert.strictEqual(await canvas.getAttribute('title'),
                'request  360 µs');
            const before = x - width * 3e5 / (end - start);

            await canvas.hover({ position: { x: before, y: 51 } });
            assert.strictEqual(await canvas.getAttribute('title'), '');
            assert.deepStrictEqual(await canvas.evaluate((one, places) =>
                places.map((left) => one.getContext('2d')
                    .getImageData(left, 51, 1, 1).data[3]), [before, x]),
            [0, 255]);
        }
    },

    // A chosen row and a pressed button have an outline, and bars a border.
    async shows_choices_in_forced_colors(open, folder) {
        const page = await opened(open, folder, 'change=slower',
            { forcedColors: 'active' });
        const outline = (selector) => page.locator(selector).first().evaluate(
            (one) => getComputedStyle(one).outlineStyle);

        assert.strictEqual(await outline('[data-kind=slower]'), 'solid');
        assert.strictEqual(await outline('[data-kind=faster]'), 'none');
        assert.strictEqual(await outline('.grid-names .is-active'), 'solid');
        assert.strictEqual(await page.locator('.flame-box').first().evaluate(
            (one) => getComputedStyle(one).borderTopStyle), 'solid');
    },

    async names_the_command_for_time_lines_that_are_missing(open, folder) {
        const page = await opened(open, folder);

        await page.locator('.twins').waitFor();
        await rows(page, 'pairs').nth(7).click();
        assert.match(await page.locator('#pairs .names-panel').innerText(),
            /testlog report TEST --against RUN/);
        assert.strictEqual(await page.locator('.twins').count(), 0);
    },

    async chooses_a_name_by_keys(open, folder) {
        const page = await opened(open, folder);

        await page.locator('.grid-names .grid-view').focus();
        await page.keyboard.press('ArrowDown');
        assert.match(await page.locator('#names .names-panel h3').innerText(),
            /span parse/);
    },

    async compares_repeated_tests_by_recording(open, folder) {
        const run = { run: 'old', path: 'old', tests: 1 };
        const page = await open(write(folder, 'repeated', {
            ...MIXED, old: { ...run, recordings: 16 },
            new: { ...run, recordings: 8 },
        }));

        assert.match((await texts(page, 'names'))[2], /6.00 × the calls/);
        assert.match(await box(page, 'query').innerText(), /\+200.0 %/);
    },

    async keeps_hostile_text_as_text(open, folder) {
        const evil = (list, keys) => list.map((row) => ({ ...row,
            ...Object.fromEntries(keys.map((key) => [key, EVIL])) }));
        const page = await open(write(folder, 'evil', {
            pairs: evil(MIXED.pairs, ['name', 'program', 'change',
                'new_reason']),
            names: evil(MIXED.names.slice(0, 1), ['kind', 'name', 'shape']),
            buckets: MIXED.buckets.filter(({ name }) => !name),
            paths: evil(MIXED.paths, ['name']),
            old: { run: EVIL, path: EVIL, duration_ns: EVIL, tests: 1,
                recordings: 1 },
        }));

        assert.notStrictEqual(await page.title(), 'owned');
        assert.strictEqual(await page.locator('main img').count(), 0);
        assert.doesNotMatch(await page.locator('body').innerText(),
            /[^\P{Cc}\n\t]|\p{Bidi_Control}/u);
    },

    async shows_runs_without_recordings(open, folder) {
        const page = await open(write(folder, 'bare', {
            pairs: MIXED.pairs, names: [], buckets: [], paths: [],
            left_out: { pairs: 3, names: 1, paths: 2 },
        }));
        const text = await page.locator('body').innerText();

        assert.match(text, /recorded no spans and no kernels/);
        assert.match(text, /leaves out 3 tests and 1 name because/);
        assert.match(text, /leaves out 2 paths/);
    },

    async says_that_the_file_was_cut_off(open, folder) {
        const cut = join(folder, 'against-cut.html');

        const whole = readFileSync(write(folder, 'against-whole'), 'utf8');

        for (const [end, count] of [[whole.length - 200, 9],
            [whole.indexOf('id="against"') + 200, 0]]) {
            writeFileSync(cut, whole.slice(0, end));
            const page = await open(cut);

            assert.match(await page.locator('#notices').innerText(),
                /cut off/);
            assert.strictEqual(await rows(page, 'pairs').count(), count);
        }
    },

    async opens_runs_of_many_tests(open, folder) {
        const page = await open(write(folder, 'against-many', { ...MIXED,
            pairs: Array.from({ length: 20000 }, (unused, i) => ({
                ...MIXED.pairs[i % 9], name: `suite/test_${i}` })) }));

        assert.match(await page.locator('#pairs > .tools').innerText(),
            /20,000 tests/);
        assert.ok(await rows(page, 'pairs').count() < 60);
    },
};

for (const colorScheme of ['light', 'dark']) {
    for (const width of [1280, 400]) {
        tests[`is_accessible_${colorScheme}_${width}`] =
            async (open, folder) => {
                const page = await opened(open, folder, '', { colorScheme,
                    viewport: { width, height: 800 } });

                assert.deepStrictEqual(await chromium.serious(page), []);
                assert.strictEqual(await page.evaluate(
                    'document.documentElement.scrollWidth - ' +
                    'document.documentElement.clientWidth'), 0);
            };
    }
}

module.exports = tests;

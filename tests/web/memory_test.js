// memory_test.js: memory of devices, in Tables and below the time line.
'use strict';

/* global timeline, memory */

const assert = require('node:assert');
const { existsSync, readFileSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { ROOT } = require('./chromium.js');
const { make, moment, inUse, SLICES, TILE } = require('./memory_sample.js');

const DEVICE = 'GPU 0: NVIDIA H200';
let reports = 0;

function sample(folder, ...changes) {
    const file = join(folder, `memory_${reports++}.html`);

    writeFileSync(file, make(...changes));
    return file;
}

async function tablesOf(open, file) {
    const page = await open(file, 'view=tables');

    await page.locator('#tables table').first().waitFor();
    return page;
}

// cells() are the texts of a table's rows.
function cells(page, label) {
    return page.locator(`table[aria-label="${label}"] tbody tr`)
        .evaluateAll((rows) => rows.map((row) =>
            [...row.children].map((cell) => cell.textContent)));
}

async function timelineOf(open, file, more = '') {
    const page = await open(file, `view=timeline${more}`);

    await page.waitForFunction(() => timeline.isPainted());
    return page;
}

function selected(page) {
    return page.evaluate(() => timeline.control.view.selected);
}

module.exports = {
    async sums_up_allocations_by_device_and_kind(open, folder) {
        const page = await tablesOf(open, sample(folder));

        assert.deepStrictEqual(await cells(page, 'Memory of devices'), [
            [DEVICE, 'device', '3', '7.00 MiB', '4.00 MiB', '3', '7.00 MiB',
                '0', '0 bytes'],
            [DEVICE, 'pinned', '1', '1.00 KiB', '1.00 KiB', '0', '0 bytes',
                '1', '1.00 KiB'],
        ]);
        assert.strictEqual(await page.locator('#tables h2',
            { hasText: 'Other device activities' }).count(), 0);
    },

    async lists_what_is_live_at_the_peak(open, folder) {
        const page = await tablesOf(open, sample(folder));
        const title = page.locator('h3', { hasText: 'Live at the peak' });

        assert.strictEqual(await title.innerText(),
            `Live at the peak of ${DEVICE}: 6.00 MiB, at 0.004200 s`);
        assert.deepStrictEqual(
            await cells(page, `Live at the peak of ${DEVICE}`), [
                ['load', 'device', '4.00 MiB', '66.7 %', '1', '4.00 MiB'],
                ['step', 'device', '2.00 MiB', '33.3 %', '1', '2.00 MiB'],
            ]);
    },

    async lists_what_was_released_late_or_never(open, folder) {
        const page = await tablesOf(open, sample(folder));
        const rows = await cells(page, 'Released late or never');

        assert.deepStrictEqual(rows.map((row) =>
            [row[0], row[1], row[3], row[5], row[6]]), [
            ['load', 'released late', '4.00 MiB', '7.70 ms', '4.70 ms'],
            ['step', 'unused', '2.00 MiB', '600 µs', '600 µs'],
            ['outside spans', 'never released', '1.00 KiB', '2.50 ms', ''],
        ]);
    },

    async sums_up_memory_of_pools_by_stream(open, folder) {
        const page = await tablesOf(open, sample(folder));

        assert.deepStrictEqual(await cells(page, 'Memory by stream'), [
            ['stream 7', DEVICE, '1', '2.00 MiB', '2.00 MiB', '2.00 MiB', '1',
                '2.00 MiB', '0', '0 bytes']]);
    },

    async downloads_bytes_as_numbers(open, folder) {
        const page = await tablesOf(open, sample(folder));
        const [download] = await Promise.all([page.waitForEvent('download'),
            page.locator('[aria-label="Download Memory of devices as CSV"]')
                .click()]);
        const csv = readFileSync(await download.path(), 'utf8');

        assert.match(csv, /^Device,Memory,Allocations,Bytes \(bytes\),/);
        assert.match(csv, /,device,3,7340032,4194304,3,7340032,0,0\n/);
    },

    async leads_from_a_table_to_the_allocation(open, folder) {
        const page = await tablesOf(open, sample(folder));

        await page.locator('table[aria-label="Released late or never"] a',
            { hasText: 'load' }).click();
        await page.waitForFunction(() => timeline.isPainted());
        assert.strictEqual(await selected(page), 1);
        assert.match(await page.locator('.panel-content h2').innerText(),
            /^Allocate\s+4\.00 MiB$/);
        // A moment has no length to zoom to.
        assert.ok(await page.evaluate(() => timeline.control.view.end -
            timeline.control.view.start) > 1e5);
    },

    async says_nothing_where_records_may_be_missing(open, folder) {
        for (const members of [{ devices_whole: false }, { ended: false }]) {
            const page = await tablesOf(open,
                sample(folder, SLICES, members));
            const rows = await cells(page, 'Memory of devices');

            assert.deepStrictEqual(rows[1].slice(-2), ['', '']);
            assert.deepStrictEqual((await cells(page,
                'Released late or never')).map((row) =>
                [row[0], row[1], row[6]]),
            [['load', 'released in the teardown', '']]);
        }
    },

    async tells_bytes_that_no_allocation_explains(open, folder) {
        const page = await tablesOf(open, sample(folder, [
            moment('release', 1e6, inUse(TILE, 2)),
            moment('allocate', 2e6, inUse(TILE, 3)),
        ]));
        const rows = await cells(page, `Live at the peak of ${DEVICE}`);

        assert.deepStrictEqual(rows, [
            ['outside spans', 'device', '1.00 MiB', '33.3 %', '1', '1.00 MiB'],
            ['allocated before the recording, or lost', '', '2.00 MiB',
                '66.7 %', '', ''],
        ]);
    },

    async ends_allocations_by_address(open, folder) {
        const page = await timelineOf(open, sample(folder, [
            moment('allocate', 1e6, inUse(TILE, 1)),
            moment('allocate', 2e6, inUse(TILE, 2)),
            moment('release', 3e6, {}),
            moment('allocate', 4e6, inUse(TILE, 3)),
        ]));
        const ends = await page.evaluate(() =>
            memory.of(timeline.control.recording).allocations.map((one) => [
                one.from, one.to, one.isReplaced,
                memory.finding(timeline.control.recording, one)]));

        assert.deepStrictEqual(ends, [[1e6, 2e6, true, ''],
            [2e6, 3e6, false, 'unused'],
            [4e6, Infinity, false, 'never released']]);
    },

    async follows_the_range_below_the_time_line(open, folder) {
        const page = await timelineOf(open, sample(folder));
        const panel = page.locator('.panel-content');

        await page.locator('[data-panel=memory]').click();
        assert.match(await panel.innerText(), /6\.00 MiB, at 0\.004200 s/);
        assert.strictEqual((await cells(page, 'Allocations')).length, 4);
        await page.evaluate(() => timeline.control.setRange([4.5e6, 5.1e6]));
        assert.match(await panel.innerText(),
            /Memory in a range of 600 µs\s+.*5\.00 MiB, at 0\.003500 s/);
        assert.deepStrictEqual((await cells(page, 'Allocations'))
            .map(([span]) => span), ['load', 'step']);
    },

    async selects_the_slice_of_an_allocation(open, folder) {
        const page = await timelineOf(open, sample(folder));

        await page.locator('[data-panel=memory]').click();
        await page.locator('table[aria-label=Allocations] button.link',
            { hasText: 'step' }).last().click();
        assert.strictEqual(await selected(page), 3);
        await page.locator('h3 button.link').click();
        assert.strictEqual(await selected(page), 6);
    },

    async has_no_panel_without_memory(open) {
        const page = await timelineOf(open, 'mixed');

        assert.strictEqual(await page.locator('[data-panel=memory]').count(),
            0);
    },

    async shows_bytes_in_place_of_durations(open, folder) {
        const page = await timelineOf(open, sample(folder));
        const rows = await cells(page, 'Slices in sum');

        assert.deepStrictEqual(rows.find(([name]) => name === 'Allocate'),
            ['Allocate', '4', '', '', '', '', '', '', '']);
        await page.locator('[data-panel=slices]').click();
        assert.doesNotMatch(await page.locator('.grid-slices').innerText(),
            /\b0 ns/);
        const [x, y] = await page.evaluate(() => {
            const { control } = timeline;

            return [control.scaleOf().x(1.5e6), control.parts.tracks.yOf(1)];
        });
        const box = await page.locator('#timeline canvas').boundingBox();

        await page.mouse.move(box.x + x, box.y + y + 5);
        assert.match(await page.locator('.tip').textContent(),
            /^Allocate {2}4\.00 MiB\n/);
    },

    async keeps_memory_in_a_saved_range(open, folder) {
        const page = await timelineOf(open, sample(folder));

        await page.evaluate(() => timeline.control.setRange([5e6, 5.5e6]));
        await page.locator('[data-panel=notes]').click();
        const [download] = await Promise.all([page.waitForEvent('download'),
            page.locator('button', { hasText: 'Save this range' }).click()]);
        const file = join(folder, 'memory_range.html');

        await download.saveAs(file);
        const saved = await tablesOf(open, file);

        assert.match(await saved.locator('h3', { hasText: 'Live' })
            .innerText(), /6\.00 MiB/);
        assert.deepStrictEqual((await cells(saved,
            'Released late or never')).map(([, finding]) => finding),
        ['released in the teardown', 'never released']);
    },

    async counts_leaks_as_run_json(open) {
        const run = join(ROOT, 'build/web/played/latest');

        if (!existsSync(join(run, 'run.json')))
            return 'no report';
        const { leaks } = JSON.parse(readFileSync(join(run, 'run.json')))
            .gpu_summary;
        const page = await tablesOf(open, join(run, 'report.html'));
        const [download] = await Promise.all([page.waitForEvent('download'),
            page.locator('[aria-label="Download Memory of devices as CSV"]')
                .click()]);
        const [, ...lines] = readFileSync(await download.path(), 'utf8').trim()
            .split('\n').map((line) => line.split(',').slice(-2).map(Number));
        const sum = (i) => lines.reduce((all, line) => all + line[i], 0);

        assert.ok(leaks.count > 0);
        assert.deepStrictEqual([sum(0), sum(1)], [leaks.count, leaks.bytes]);
        return '';
    },
};

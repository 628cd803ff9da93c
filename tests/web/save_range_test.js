// save_range_test.js: a range of the time line that is saved as a report.
'use strict';

/* global timeline, recordings, report, criticalPath */

const assert = require('node:assert');
const { join } = require('node:path');

// saved() selects a range, saves it, and returns the file.
async function saved(page, folder, name, range) {
    await page.waitForFunction(() => timeline.isPainted());
    await page.evaluate(([from, to]) => {
        const zero = timeline.control.recording.zero;

        timeline.control.setRange([zero + from, zero + to]);
    }, range);
    await page.locator('[data-panel=notes]').click();
    const [download] = await Promise.all([page.waitForEvent('download'),
        page.getByRole('button', { name: 'Save this range' }).click()]);
    const file = join(folder, name);

    await download.saveAs(file);
    return file;
}

// contents() describes all that a recording has in a range.
function contents(page, range) {
    return page.evaluate(([from, to]) => {
        const { recording } = timeline.control;
        const { slices, lines, flows, counters } = recording;
        const isIn = (start, end) => start <= recording.zero + to &&
            end >= recording.zero + from;
        const describe = (row) => [slices.start[row], slices.duration[row],
            recordings.sliceName(recording, row),
            recordings.sliceFields(recording, row),
            recordings.breadcrumb(recording, row),
            recordings.trackName(recording, slices.track[row]),
            recordings.site(recording, slices.site[row])];
        const rows = Array.from({ length: slices.rows }, (_, row) => row)
            .filter((row) => isIn(slices.start[row], slices.ends[row]));

        return {
            slices: rows.map(describe),
            lines: Array.from(lines.time).map((time, row) => [time, row])
                .filter(([time]) => isIn(time, time))
                .map(([time, row]) => [time,
                    recordings.message(recording, row),
                    recordings.breadcrumb(recording, lines.slice[row] - 1)]),
            flows: Array.from(flows.from).map((row, i) => [row, flows.to[i]])
                .filter((pair) => pair.every((row) => rows.includes(row)))
                .map((pair) => pair.map(describe)),
            counters: Array.from(counters.time).map((time, row) =>
                [time, counters.value[row]])
                .filter(([time]) => isIn(time, time)),
        };
    }, range);
}

module.exports = {
    async has_what_the_range_had(open, folder) {
        const range = [2600000, 3700000];
        const page = await open('mixed',
            'view=timeline&test=http/serves_1000');
        const file = await saved(page, folder, 'part.html', range);
        const before = await contents(page, range);
        const part = await open(file);

        assert.match(await part.locator('.notice').innerText(),
            /a part of the run only: http\/serves_1000, 1.10 ms from 0.0026/);
        await part.locator('.notice a').click();
        await part.waitForFunction(() => timeline.isPainted());
        const after = await contents(part, range);

        assert.ok(before.slices.length > 5 && before.lines.length > 2 &&
            before.flows.length > 0 && before.counters.length > 0);
        assert.deepStrictEqual(after, before);
        assert.strictEqual(await part.evaluate(() =>
            report.run.tests.length), 1);
        assert.ok(await part.evaluate(() =>
            timeline.control.recording.slices.rows) < 60);
    },

    async has_a_failed_test_with_its_stacks(open, folder) {
        const page = await open('mixed', 'view=timeline&test=store/queries');
        const file = await saved(page, folder, 'failed.html', [0, 5e6]);
        const part = await open(file, 'view=overview');

        assert.match(await part.locator('#overview').innerText(),
            /1 of 1 test failed[\s\S]*SIGSEGV/);
    },

    async shows_hostile_names_as_text(open, folder) {
        const page = await open('hostile', 'view=timeline');
        const file = await saved(page, folder, 'evil.html', [0, 3e6]);
        const part = await open(file, 'view=timeline');

        await part.waitForFunction(() => timeline.isPainted());
        assert.doesNotMatch(await part.title(), /^owned/);
        assert.strictEqual(await part.locator('main img').count(), 0);
    },

    async can_be_saved_again(open, folder) {
        const page = await open('mixed',
            'view=timeline&test=http/serves_1000');
        const file = await saved(page, folder, 'one.html', [2e6, 4e6]);
        const once = await open(file, 'view=timeline');
        const again = await saved(once, folder, 'two.html', [2.5e6, 3e6]);
        const twice = await open(again, 'view=timeline');

        await twice.waitForFunction(() => timeline.isPainted());
        assert.deepStrictEqual(await contents(twice, [2.5e6, 3e6]),
            await contents(page, [2.5e6, 3e6]));
    },

    async has_the_critical_path_of_the_range(open, folder) {
        const page = await open('waits', 'view=timeline&test=gpu/waits');
        const file = await saved(page, folder, 'path.html', [250000, 2950000]);
        const part = await open(file);
        const pieces = await part.evaluate(async () => {
            const recording = await report.recording(report.run.tests[0]);

            return criticalPath.of(recording).map((piece) =>
                [piece.from - recording.zero, piece.to - recording.zero,
                    criticalPath.name(recording, piece)]);
        });

        assert.deepStrictEqual(pieces, [[250000, 500000, 'load'],
            [500000, 2900000, 'read'], [2900000, 2950000, 'load']]);
    },
};

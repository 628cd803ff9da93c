// sampled_test.js: samples of a real test, in Tables and below the time line.
'use strict';

/* global timeline, sampleSums, sampleTicks, saveRange */

const assert = require('node:assert');
const { spawnSync } = require('node:child_process');
const { join } = require('node:path');
const { ROOT } = require('./chromium.js');

const PROGRAM = join(ROOT, 'build/base/tests/programs/traced/sampled_test');
const TESTLOG = join(ROOT, 'build/base-trace/testlog');
let run = null;

// sampled() runs the tests once; null if the kernel takes no samples.
function sampled(folder) {
    if (run === null) {
        const done = spawnSync(PROGRAM, ['--sample',
            '--filter=sampled/@(calls|starts_a_thread)', '--render=all',
            `--trace-dir=${join(folder, 'sampled')}`], { encoding: 'utf8' });

        run = done.stderr.includes('no samples: ') ? '' :
            join(folder, 'sampled/latest');
    }
    return run;
}

const SKIPPED = 'the kernel takes no samples';

function statOf(folder, by, ...more) {
    const { stdout } = spawnSync(TESTLOG, ['stat', folder, `--by=${by}`,
        '--json', ...more], { encoding: 'utf8' });

    return JSON.parse(stdout).rows;
}

async function timelineOf(open, folder, test) {
    const page = await open(join(folder, 'report.html'),
        `view=timeline&test=sampled/${test}`);

    await page.waitForFunction(() => timeline.isPainted());
    return page;
}

function sumsOf(page, byLine, range) {
    return page.evaluate(([lines, part]) => {
        const sums = new Map();
        const { recording } = timeline.control;
        const within = part && part.map((time) => recording.zero + time);

        sampleSums.addSums(sums, recording, { byLine: lines, range: within });
        return [...sums.values()].map(({ name, line, self, total }) =>
            [name, lines ? line : 0, self, total]).sort();
    }, [byLine, range]);
}

function rowsOf(rows) {
    return rows.map((row) => [row.name, row.line || 0, row.self_ns,
        row.total_ns]).sort();
}

module.exports = {
    async have_the_sums_of_stat(open, folder) {
        const runs = sampled(folder);

        if (!runs)
            return SKIPPED;
        const page = await timelineOf(open, runs, 'calls');

        assert.deepStrictEqual(await sumsOf(page, false),
            rowsOf(statOf(runs, 'function', 'sampled/calls')));
        assert.deepStrictEqual(await sumsOf(page, true),
            rowsOf(statOf(runs, 'line', 'sampled/calls')));
        assert.deepStrictEqual(await sumsOf(page, false, [0, 5e7]),
            rowsOf(statOf(runs, 'function', 'sampled/calls', '--from=0',
                '--to=50ms')));
    },

    async are_a_flame_graph_and_tables(open, folder) {
        const runs = sampled(folder);

        if (!runs)
            return SKIPPED;
        const page = await open(join(runs, 'report.html'),
            'view=tables&test=sampled/calls');
        const table = page.locator('table[aria-label="Functions"]');

        await table.waitFor();
        assert.match(await table.locator('tbody tr').first().innerText(),
            /^burn/);
        assert.match(await page.locator('#tables').innerText(),
            /ms of processor time, by the functions that threads were in/);
        await page.locator('.flame-box[aria-label^="seventy: "]').click();
        assert.strictEqual(await page.locator(
            '.flame-box[aria-label^="thirty: "]').count(), 0);
    },

    async follow_the_range_of_the_time_line(open, folder) {
        const runs = sampled(folder);

        if (!runs)
            return SKIPPED;
        const page = await timelineOf(open, runs, 'calls');
        const panel = page.locator('.panel-content');

        await page.locator('[data-panel=samples]').click();
        assert.match(await panel.innerText(), /seventy[^]*thirty/);
        await page.evaluate(() => {
            const { zero } = timeline.control.recording;

            timeline.control.setRange([zero, zero + 2e7]);
        });
        assert.match(await panel.innerText(), /seventy/);
        assert.doesNotMatch(await panel.innerText(), /thirty/);
    },

    async are_drawn_below_the_name_of_a_thread(open, folder) {
        const runs = sampled(folder);

        if (!runs)
            return SKIPPED;
        const page = await timelineOf(open, runs, 'starts_a_thread');
        const drawn = await page.evaluate(() => {
            const { recording } = timeline.control;
            const rects = [];
            const context = { fillRect: (...rect) => rects.push(rect) };
            const scale = { x: (time) => time / 1e6, time: (x) => x * 1e6 };

            for (let id = 0; id < recording.tracks.rows; id++) {
                sampleTicks.draw({ context, recording, scale, start: 0,
                    end: Infinity, colors: [] }, id, 20);
            }
            return rects;
        });

        assert.ok(drawn.length > 20, `${drawn.length} ticks`);
        assert.ok(drawn.every(([, y, , height]) => y === 16 && height === 4));
    },

    async stay_in_a_range_that_is_saved(open, folder) {
        const runs = sampled(folder);

        if (!runs)
            return SKIPPED;
        const page = await timelineOf(open, runs, 'calls');

        await page.evaluate(() => {
            const { zero } = timeline.control.recording;

            timeline.control.setRange([zero, zero + 5e7]);
        });
        const expected = (await sumsOf(page, false, [0, 5e7]));
        const [download] = await Promise.all([
            page.waitForEvent('download'),
            page.evaluate(() => saveRange.save(timeline.control)),
        ]);
        const file = join(folder, 'sampled_range.html');

        await download.saveAs(file);
        const saved = await open(file, 'view=timeline');

        await saved.waitForFunction(() => timeline.isPainted());
        assert.deepStrictEqual(await sumsOf(saved, false), expected);
    },
};

// critical_test.js: the critical path, the gaps of devices, and findings.
'use strict';

/* global timeline, findings, criticalPath, paint, report */

const assert = require('node:assert');
const { execFileSync } = require('node:child_process');
const { existsSync } = require('node:fs');
const { join } = require('node:path');
const { ROOT } = require('./chromium.js');

const RUN = join(ROOT, 'build/web/runs/latest');
const TESTLOG = join(ROOT, 'build/base-trace/testlog');
const HASH = 'view=timeline&test=gpu/waits';

async function opened(open, more = '', name = 'waits', hash = HASH) {
    const page = await open(name, hash + more);

    await page.waitForFunction(() => timeline.isPainted());
    return page;
}

function tab(page, name) {
    return page.locator('.panels').getByRole('button', { name, exact: true })
        .click();
}

// rows() are the texts of a grid's cells.
function rows(page, kind) {
    return page.evaluate((name) =>
        [...document.querySelectorAll(`.grid-${name} .grid-rows .row`)]
            .map((row) => [...row.children].map((cell) => cell.textContent)),
    kind);
}

function view(page) {
    return page.evaluate(() => {
        const { recording, view: { start, end, selected } } = timeline.control;

        return { start: start - recording.zero, end: end - recording.zero,
            selected };
    });
}

// marks() are the pieces of the path that are drawn, in shares of the width.
function marks(page) {
    return page.evaluate(() => {
        const { fillRect } = CanvasRenderingContext2D.prototype;
        const { clientWidth } = document.querySelector('#timeline canvas');
        const wanted = paint.color('--path').toLowerCase();
        const found = [];

        CanvasRenderingContext2D.prototype.fillRect = function (...box) {
            if (this.fillStyle === wanted)
                found.push([box[0] / clientWidth, box[2] / clientWidth]);
        };
        timeline.paintNow();
        CanvasRenderingContext2D.prototype.fillRect = fillRect;
        return found;
    });
}

// piecesOf() are the pieces of all paths in a report, by test. The clock of a
// recording that was not closed depends on when it is read.
function piecesOf(page) {
    return page.evaluate(async () => {
        const all = {};

        for (const test of report.run.tests) {
            const recording = await report.recording(test);

            if (recording && recording.ended) {
                all[test.name] = criticalPath.of(recording).map((piece) => [
                    piece.from - recording.zero, piece.to - piece.from,
                    piece.row < 0 ? null :
                        criticalPath.name(recording, piece)]);
            }
        }
        return all;
    });
}

function statOf(run, test) {
    const { rows: [row] } = JSON.parse(execFileSync(TESTLOG,
        ['stat', run, test, '--critical', '--json'],
        { encoding: 'utf8', maxBuffer: 1 << 28 }));

    return row.pieces.map((piece) =>
        [piece.start_ns, piece.duration_ns, piece.name]);
}

module.exports = {
    async agrees_with_testlog_stat(open) {
        if (!existsSync(RUN) || !existsSync(TESTLOG))
            return 'no report';
        const page = await open(join(RUN, 'report.html'), 'view=facts');

        const longest = Object.entries(await piecesOf(page))
            .sort(([, a], [, b]) => b.length - a.length).slice(0, 10);

        for (const [test, pieces] of longest)
            assert.deepStrictEqual(pieces, statOf(RUN, test), test);
        return '';
    },

    async lists_the_pieces_of_the_path(open) {
        const page = await opened(open);

        await tab(page, 'Critical path');
        assert.deepStrictEqual(await rows(page, 'critical'), [
            ['-0.000500', '500 µs', '4.5 %', 'main', '(setup)'],
            ['0.000000', '500 µs', '4.5 %', 'main', 'load'],
            ['0.000500', '2.40 ms', '21.8 %', 'loader', 'read'],
            ['0.002900', '100 µs', '0.9 %', 'main', 'load'],
            ['0.003000', '1.20 ms', '10.9 %', 'main',
                'nvrtcCompileProgram'],
            ['0.004200', '200 µs', '1.8 %', 'main', '(test body)'],
            ['0.004400', '5.50 ms', '50.0 %', 'main',
                'cudaStreamSynchronize'],
            ['0.009900', '100 µs', '0.9 %', 'main', '(test body)'],
            ['0.010000', '500 µs', '4.5 %', 'main', '(teardown)'],
        ]);
    },

    async sorts_the_pieces_by_duration(open) {
        const page = await opened(open);

        await tab(page, 'Critical path');
        await page.locator('.grid-critical .c-duration button').click();
        const [first, second] = await rows(page, 'critical');

        assert.strictEqual(first[4], 'cudaStreamSynchronize');
        assert.strictEqual(second[4], 'read');
    },

    async leads_from_a_piece_to_its_place(open) {
        const page = await opened(open, '&from=8000000&to=9000000');

        await tab(page, 'Critical path');
        await page.locator('.grid-critical .row', { hasText: 'loader' })
            .click();
        const { start, end, selected } = await view(page);

        assert.strictEqual(selected, 1);
        assert.ok(start < 500000 && end > 2900000, `${start} ${end}`);
    },

    async marks_the_path_on_the_time_line(open) {
        const page = await opened(open, '&from=0&to=9999000');

        assert.deepStrictEqual(await marks(page), []);
        await page.keyboard.press('k');
        const found = await marks(page);
        const has = (from, length) => found.some(([left, width]) =>
            Math.abs(left - from) < 0.003 && Math.abs(width - length) < 0.003);

        assert.strictEqual(found.length, 7);
        assert.ok(has(0, 0.05) && has(0.05, 0.24) && has(0.44, 0.55),
            JSON.stringify(found));
        await page.keyboard.press('k');
        assert.deepStrictEqual(await marks(page), []);
    },

    async keeps_the_path_in_the_address(open) {
        const page = await opened(open, '&path=1');

        assert.ok((await marks(page)).length > 0);
        assert.strictEqual(await page.getByRole('button',
            { name: 'Critical path', pressed: true }).count(), 1);
    },

    async has_a_command_for_a_path_that_is_missing(open) {
        const page = await opened(open, '', 'phased',
            'view=timeline&test=store/opens');

        await page.keyboard.press('k');
        assert.deepStrictEqual(await marks(page), []);
        await tab(page, 'Critical path');
        assert.match(await page.locator('.panel-content').innerText(),
            /testlog stat testlog-runs\/.* store\/opens --critical/);
    },

    async lists_gaps_with_what_the_host_did(open) {
        const page = await opened(open);

        await tab(page, 'Device gaps');
        const [first, ...others] = await rows(page, 'gaps');

        assert.deepStrictEqual(first, ['0.006900', '2.00 ms',
            'GPU 0: NVIDIA H200', 'reduce',
            'cudaStreamSynchronize 100.0 % (main)']);
        assert.deepStrictEqual(others.map((row) => row[1]),
            ['190 µs', '190 µs']);
        assert.match(await page.locator('.panel-content').innerText(),
            /idle for 2\.38 ms of 5\.30 ms .* in 3 gaps/);
        await page.locator('.grid-gaps .row', { hasText: 'reduce' }).click();
        assert.strictEqual((await view(page)).selected, 3);
    },

    async says_once_that_one_name_compiled(open) {
        const page = await opened(open);
        const texts = await page.evaluate(() => {
            const { recording } = timeline.control;
            const { slices, string } = recording;
            const { row } = findings.of(recording)
                .find(({ text }) => text.endsWith('in read')).place;
            const compiled = slices.kind.findIndex((kind) =>
                string(kind) === 'compile');

            [slices.kind[row], slices.kind[compiled]] =
                [slices.kind[compiled], slices.kind[row]];
            return findings.of(recording).map(({ text }) => text);
        });

        assert.ok(texts.includes('24.0 % of the time in read'), texts);
        assert.ok(!texts.some((text) => text.startsWith('Comp')), texts);
    },

    async has_gaps_only_for_tests_with_devices(open) {
        const page = await opened(open, '', 'phased',
            'view=timeline&test=store/opens');

        assert.strictEqual(await page.getByRole('button',
            { name: 'Device gaps' }).count(), 0);
    },

    async computes_findings(open) {
        const page = await opened(open);

        await tab(page, 'Findings');
        assert.deepStrictEqual(
            await page.locator('.findings li').allInnerTexts(), [
                '55.0 % of the time in cudaStreamSynchronize',
                '24.0 % of the time in read',
                'The test waited 2.40 ms for thread loader',
                'Compilations took 12.0 % of the test body',
                '1 copy of pageable memory, 110µs in all',
                'GPU 0: NVIDIA H200 was idle 190 µs before each copy ' +
                    '(median of 2; 380 µs in all)',
            ]);
        await page.locator('.findings button', { hasText: 'Compilations' })
            .click();
        assert.strictEqual((await view(page)).selected, 2);
        await page.locator('.findings button', { hasText: 'pageable' })
            .click();
        assert.strictEqual((await view(page)).selected, 5);
    },

    async finds_long_phases(open) {
        const page = await opened(open, '', 'phased',
            'view=timeline&test=store/opens');
        const found = await page.evaluate(() => {
            const { recording } = timeline.control;
            const { setup, body } = recording.phases;
            const short = findings.of(recording);

            recording.phases.body = setup + 1e8;
            recording.end = recording.start + 3e8;
            const long = findings.of(recording);

            recording.phases.body = body;
            return { short, long };
        });

        assert.deepStrictEqual(found.short, []);
        assert.deepStrictEqual(found.long.map(({ text }) => text),
            ['The setup took 100 ms, 33.3 % of the whole']);
        await tab(page, 'Findings');
        assert.strictEqual(await page.locator('.panel-content').innerText(),
            'Nothing stands out.');
    },

    async has_pieces_without_gaps_or_overlaps(open) {
        const page = await opened(open);
        const ends = await page.evaluate(() => {
            const { recording } = timeline.control;
            const pieces = criticalPath.of(recording);

            return pieces.map(({ from }, i) =>
                i ? from - pieces[i - 1].to : from);
        });

        assert.deepStrictEqual(ends, [500000, ...Array(8).fill(0)]);
        assert.strictEqual(await page.evaluate(() =>
            findings.of(timeline.control.recording).length), 6);
    },
};

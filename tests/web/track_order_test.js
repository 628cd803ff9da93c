// track_order_test.js: in which order the time line shows tracks.
'use strict';

/* global timeline */

const assert = require('node:assert');
const { writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { single } = require('./samples.js');

// A recording has its tracks in the order of their first records.
const TRACKS = [
    { kind: 'stream', name: 'queue 2', process: 'OpenCL 0: a device',
        device: 1025, context: 1, stream: 2 },
    { kind: 'thread', name: 'child', pid: 200, tid: 200, process: 'child 200' },
    { kind: 'thread', name: 'pool 2', pid: 100, tid: 103 },
    { kind: 'stream', name: 'stream 13', process: 'GPU 0', device: 1,
        context: 1, stream: 13 },
    { kind: 'thread', name: 'one_test', pid: 100, tid: 100 },
    { kind: 'stream', name: 'stream 7', process: 'GPU 1', device: 2,
        context: 2, stream: 7 },
    { kind: 'stream', name: 'stream 7', process: 'GPU 0', device: 1,
        context: 1, stream: 7 },
    { kind: 'thread', name: 'pool 1', pid: 100, tid: 101 },
    { kind: 'device', name: 'no stream', process: 'GPU 0', device: 1 },
    { kind: 'thread', name: 'pool 2 (overlapping)', pid: 100, tid: 103 },
    { kind: 'stream', name: 'stream 14', process: 'GPU 0', device: 1,
        context: 1, stream: 14 },
];

const ORDERED = ['main', 'pool 2', 'pool 2 (overlapping)', 'pool 1',
    'child 200 · child', 'GPU 0 · no stream', 'GPU 0 · stream 7',
    'GPU 0 · stream 13', 'GPU 0 · stream 14', 'GPU 1 · stream 7',
    'OpenCL 0: a device · queue 2'];

async function opened(open, folder) {
    const file = join(folder, 'track_order.html');

    writeFileSync(file, single({
        tracks: TRACKS.map((track) => ({ ...track, depth: 1 })),
        slices: TRACKS.map((unused, i) => ({ start: 1000 * i, duration: 900,
            track: i, name: `slice ${i}` })),
    }));
    const page = await open(file, 'view=timeline');

    await page.waitForFunction(() => timeline.isPainted());
    return page;
}

module.exports = {
    async sorts_threads_by_time_and_streams_by_number(open, folder) {
        const page = await opened(open, folder);
        const heads = await page.evaluate(() =>
            timeline.control.parts.tracks.placed.items
                .filter(({ kind }) => kind === 'head')
                .map(({ name }) => name));

        assert.deepStrictEqual(heads, ORDERED);
    },

    async keeps_the_track_of_each_slice(open, folder) {
        const page = await opened(open, folder);
        const tops = await page.evaluate(() => {
            const { tracks } = timeline.control.parts;

            return [4, 2, 9, 7, 1, 8, 6, 3, 10, 5, 0].map((slice) =>
                tracks.yOf(slice));
        });

        assert.deepStrictEqual(tops, [...tops].sort((a, b) => a - b));
        await page.locator('[data-panel=slices]').click();
        assert.match(await page.locator('.grid-slices .grid-rows .row',
            { hasText: 'slice 3' }).innerText(), /GPU 0 · stream 13/);
    },
};

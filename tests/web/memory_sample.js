// memory_sample.js: a test that allocates, uses and releases memory of a
// device, in known amounts.
'use strict';

const { single } = require('./samples.js');

const MIB = 1 << 20;

const DEVICE = 'GPU 0: NVIDIA H200';

const TRACKS = [
    { kind: 'thread', name: 'one_test', pid: 100, tid: 100, depth: 2 },
    { kind: 'stream', name: 'stream 7', process: DEVICE,
        device: 1, context: 1, stream: 7, depth: 1 },
];

function span(name, start, duration) {
    return { name, start, duration };
}

// An activity without a duration, with the fields that a back end records.
function moment(kind, time, fields, more = {}) {
    return {
        name: kind === 'allocate' ? 'Allocate' : 'Release', kind, start: time,
        depth: 1, site: 6, fields: Object.entries(fields), ...more,
    };
}

function kernel(start, duration) {
    return { name: 'saxpy', kind: 'kernel', start, duration, track: 1,
        site: 6, state: 4 };
}

const WEIGHTS = { bytes: '4194304', address: '0x10', memory: 'device' };
const TILE = { bytes: '1048576', address: '0x20', memory: 'device' };
const POOLED = { bytes: '2097152', address: '0x30', memory: 'device' };
const PINNED = { bytes: '1024', address: '0x40', memory: 'pinned' };

function inUse(fields, mib, more = {}) {
    return { ...fields, in_use: String(mib * MIB), device: '0', ...more };
}

// The body runs from 1 ms to 9 ms. Six MiB are in use from 5.2 ms on.
const SLICES = [
    span('load', 1e6, 2e6),
    moment('allocate', 1.5e6, inUse(WEIGHTS, 4), { parent: 1 }),
    span('step', 3e6, 3e6),
    moment('allocate', 3.5e6, inUse(TILE, 5), { parent: 1 }),
    kernel(4e6, 0.5e6),
    moment('release', 5e6, inUse(TILE, 4), { parent: 3 }),
    moment('allocate', 5.2e6,
        inUse(POOLED, 6, { stream: '7', async: 'true' }), { parent: 4 }),
    moment('release', 5.8e6,
        inUse(POOLED, 4, { stream: '7', async: 'true' }), { parent: 5 }),
    moment('allocate', 7e6, { ...PINNED, device: '0' }),
    moment('release', 9.2e6, inUse(WEIGHTS, 0)),
];

function counters(slices) {
    const memory = slices.filter((row) => row.fields &&
        Object.fromEntries(row.fields).in_use).map((row) => ({
        time: row.start, name: 'GPU 0 memory', device: 1,
        value: Number(Object.fromEntries(row.fields).in_use),
    }));

    return [...memory,
        ...[3, 0.5, -2].map((value, i) => ({ time: 1e6 + 1e6 * i,
            name: 'level', value }))].sort((a, b) => a.time - b.time);
}

function rows(slices) {
    return slices.flatMap((row, i) => {
        const fields = Object.fromEntries(row.fields || []);

        return row.kind === 'allocate' || row.kind === 'release' ? [{
            time: row.start, slice: i + 1,
            span: row.parent ? i - row.parent + 1 : 0,
            release: row.kind === 'allocate' ? 0 : fields.address ? 1 : 2,
            bytes: Number(fields.bytes || 0), address: Number(fields.address),
            device: DEVICE, stream: Number(fields.stream || 0),
            memory: fields.memory, async: fields.async ? 1 : 0,
            in_use: fields.in_use ? Number(fields.in_use) + 1 : 0,
        }] : [];
    });
}

// make() is the report of such a test, or of one with other slices.
function make(slices = SLICES, members = {}) {
    return single({ tracks: TRACKS, slices, memory: rows(slices),
        counters: counters(slices) }, { duration: 8.4e6 },
    { pid: 100, end: 9.6e6, ended: true, devices_whole: true, phases: {
        setup: 0.5e6, body: 1e6, teardown: 9e6, end: 9.5e6 }, ...members });
}

module.exports = { make, moment, inUse, SLICES, TILE };

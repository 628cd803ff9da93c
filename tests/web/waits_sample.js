// waits_sample.js: a report whose critical path, gaps and findings are known.
'use strict';

const { assemble } = require('./assemble.js');
const { runBlock, testBlock, endBlock } = require('./blocks.js');

// waits() is a test of 10 ms that waits for a thread, a compiler and a GPU.
function waits() {
    const slices = [
        [1e6, 4e6, 0, 'load'], [1.5e6, 3.9e6, 1, 'read'],
        [4e6, 5.2e6, 0, 'nvrtcCompileProgram', 'compile'],
        [5.4e6, 10.9e6, 0, 'cudaStreamSynchronize', 'sync'],
        [5.5e6, 6.5e6, 2, 'saxpy', 'kernel'],
        [6.69e6, 6.8e6, 2, 'Memcpy HtoD', 'memcpy'],
        [6.8e6, 7.6e6, 2, 'saxpy', 'kernel'],
        [7.79e6, 7.9e6, 2, 'Memcpy HtoD', 'memcpy'],
        [9.9e6, 10.8e6, 2, 'reduce', 'kernel'],
    ].map(([start, end, track, name, kind]) => ({ start, track, name, kind,
        duration: end - start, state: track === 2 ? 4 : 0 }));
    const data = {
        tracks: [
            { kind: 'thread', name: 'gpu_test', pid: 100, tid: 100, depth: 1 },
            { kind: 'thread', name: 'loader', pid: 100, tid: 101, depth: 1 },
            { kind: 'stream', name: 'stream 7', process: 'GPU 0: NVIDIA H200',
                device: 1, context: 1, stream: 7, depth: 1 }],
        sites: [{ name: 'load', target: 'gpu', file: 'gpu_test.c', line: 7,
            function: 'load', level: 3, kind: 'span' }], slices,
        critical: [{ begin: 0.5e6, track: 1 }, { begin: 1.5e6, track: 2 },
            { begin: 3.9e6, track: 1 }, { begin: 11.5e6 }],
        blocking: [{ text: '1 copy of pageable memory, 110µs in all',
            start: 6.69e6, duration: 0.11e6 }],
    };
    const tests = [{ program: 'gpu_test', name: 'gpu/waits', outcome: 'passed',
        duration: 1e7, start: 1, tries: 1 }];

    return assemble([runBlock({ duration_ns: 2e7 }, tests, [], []),
        testBlock(0, { end: 1.2e7, phases: { setup: 0.5e6, body: 1e6,
            teardown: 11e6, end: 11.5e6 } }, data),
        endBlock([{ test: 0, spans: 2, slices: 9 }], [])]);
}

module.exports = { waits };

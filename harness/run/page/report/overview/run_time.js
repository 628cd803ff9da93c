// run_time.js: where the workers of a run spent their time.
//
// A worker's time is that of its host: the whole run, or in a merged run from
// the host's first test to its last. Each moment of it counts once, so that the
// parts add up to the time of all workers.
const runTime = (() => {
    // Each try of each test on a worker, by worker.
    function lanes() {
        const all = new Map();

        for (const test of report.run.tests) {
            for (const one of [...test.earlier, test]) {
                if (one.worker < 0 || one.start < 0)
                    continue;
                if (!all.has(one.worker))
                    all.set(one.worker, { host: test.host, stays: [] });
                all.get(one.worker).stays.push(one);
            }
        }
        return [...all.values()];
    }

    function ends(lane) {
        return lane.stays.map((one) => one.start + one.duration);
    }

    // window() is the time of a host's workers.
    function window(all, host) {
        const mine = all.filter((lane) => lane.host === host);
        const last = Math.max(...mine.flatMap(ends));
        const { head } = report.run;

        if (head.merged) {
            return { begin: Math.min(...mine.flatMap((lane) =>
                lane.stays.map((one) => one.start))), end: last };
        }
        return { begin: 0, end: Math.max(last, head.duration_ns || 0) };
    }

    function addStay(sums, stay, length) {
        const { compiling = 0, waiting = 0 } = stay.counts || {};
        const compiled = Math.min(compiling, length);
        const waited = Math.min(waiting, length - compiled);

        sums.compiling += compiled;
        sums.waiting += waited;
        sums.tests += length - compiled - waited;
    }

    function addLane(sums, lane, { begin, end }) {
        let now = begin;

        for (const stay of lane.stays.sort((a, b) => a.start - b.start)) {
            const from = Math.max(stay.start, now);
            const to = Math.max(stay.start + stay.duration, from);

            sums[stay === lane.stays[0] ? 'starting' : 'between'] += from - now;
            addStay(sums, stay, to - from);
            now = to;
        }
        sums.idle += end - now;
        sums.all += end - begin;
    }

    // sums() are in ns; null if no test ran on a worker.
    function sums() {
        const all = lanes();
        const result = { tests: 0, compiling: 0, waiting: 0, starting: 0,
            between: 0, idle: 0, all: 0, workers: all.length };
        const windows = new Map();

        for (const lane of all) {
            if (!windows.has(lane.host))
                windows.set(lane.host, window(all, lane.host));
            addLane(result, lane, windows.get(lane.host));
        }
        return result.all ? result : null;
    }

    const PARTS = [
        ['tests', 'running test code', 'is-span'],
        ['compiling', 'compiling in tests', 'is-span'],
        ['waiting', 'waiting for devices in tests', 'is-span'],
        ['starting', 'before a worker\'s first test', ''],
        ['between', 'between tests', ''],
        ['idle', 'after a worker\'s last test', ''],
    ];

    // parts() are rows for bars.
    function parts(spent) {
        return PARTS.filter(([key]) => spent[key])
            .map(([key, name, kind]) => ({ name, kind, time: spent[key] }));
    }

    return { sums, parts };
})();

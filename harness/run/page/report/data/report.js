// report.js: the run and its tests; their recordings are read on demand.
const report = (() => {
    // How many recordings stay in memory.
    const KEPT = 8;
    const opened = new Map();
    const run = { tests: [], cut: false, includeAll: '' };
    // Follows tests that run: {has(test), recording(test)}.
    let live = { has: () => false };

    function isBad(test) {
        return ['failed', 'crashed', 'timeout'].includes(test.outcome);
    }

    // What the test used; null: unknown.
    function usageOf(rows, i) {
        return rows.peak[i] ? {
            cpu: rows.cpu[i], voluntary: rows.voluntary[i],
            involuntary: rows.involuntary[i], peak: rows.peak[i],
            read: rows.read[i], written: rows.written[i],
            minor: rows.minor[i], major: rows.major[i],
        } : null;
    }

    function readTests(head) {
        const rows = head.table('tests');
        const text = head.string;

        for (let i = 0; i < rows.rows; i++) {
            run.tests.push({
                number: i,
                program: text(rows.program[i]),
                name: text(rows.name[i]),
                title: text(rows.title[i]) || text(rows.name[i]),
                outcome: text(rows.outcome[i]),
                reason: text(rows.reason[i]),
                assertions: text(rows.assertions[i]),
                file: text(rows.file[i]),
                line: rows.line[i],
                duration: rows.duration[i],
                start: rows.start[i] - 1,
                worker: rows.worker[i] - 1,
                tries: rows.tries[i],
                flaky: false,
                filter: text(rows.filter[i]),
                dropped: rows.dropped[i],
                rerun: text(rows.rerun[i]),
                debug: text(rows.debug[i]),
                host: text(rows.host[i]),
                usage: usageOf(rows, i),
                earlier: [],
                counts: null,
                leftOut: null,
                slow: false,
            });
        }
    }

    function readTries(head) {
        const rows = head.table('tries');

        for (let i = 0; i < rows.rows; i++) {
            run.tests[rows.test[i]].earlier.push({
                attempt: rows.try[i],
                outcome: head.string(rows.outcome[i]),
                reason: head.string(rows.reason[i]),
                start: rows.start[i] - 1,
                worker: rows.worker[i] - 1,
                duration: rows.duration[i],
            });
        }
        for (const test of run.tests) {
            test.flaky = test.outcome === 'passed' &&
                test.earlier.some((one) => one.outcome !== 'passed');
        }
    }

    function readFailures(head) {
        const rows = head.table('failures');
        const text = head.string;

        for (let i = 0; i < rows.rows; i++) {
            run.tests[rows.test[i]].failure = {
                where: text(rows.where[i]),
                stacks: text(rows.stacks[i]),
                output: text(rows.output[i]),
                outputCut: rows.output_cut[i],
                lines: text(rows.lines[i]),
                recorded: text(rows.recorded[i]),
                open: text(rows.open[i]),
            };
        }
    }

    function tryOf(test, attempt) {
        return attempt ? test.earlier.find((one) => one.attempt === attempt) :
            test;
    }

    function readCounts(end) {
        const rows = end.table('counts');

        for (let i = 0; i < rows.rows; i++) {
            const test = run.tests[rows.test[i]];
            const one = test && tryOf(test, rows.try[i]);

            if (!one)
                continue;
            one.counts = {
                spans: rows.spans[i], lines: rows.lines[i],
                slices: rows.slices[i], kernels: rows.kernels[i],
                copies: rows.copies[i], compiles: rows.compiles[i],
                compiling: rows.compiling[i], waiting: rows.waiting[i],
            };
            if (!rows.try[i] && test.start < 0)
                test.start = rows.start[i] - 1;
        }
    }

    function readLeftOut(end) {
        const rows = end.table('left_out');

        for (let i = 0; i < rows.rows; i++) {
            const test = run.tests[rows.test[i]];

            if (test && !rows.try[i]) {
                test.leftOut = {
                    why: end.string(rows.why[i]),
                    command: end.string(rows.command[i]),
                };
            }
        }
    }

    // A test is slow if it takes five times as long as most, and a second.
    function markSlow() {
        const times = run.tests.map((test) => test.duration)
            .sort((a, b) => a - b);
        const most = times[Math.floor(times.length * 0.75)] || 0;

        for (const test of run.tests)
            test.slow = test.duration >= Math.max(1e9, 5 * most);
    }

    function nameTests() {
        const names = new Map();

        repetitions.join(run.tests, isBad);

        for (const test of run.tests)
            names.set(test.title, (names.get(test.title) || 0) + 1);
        for (const test of run.tests) {
            test.id = names.get(test.title) > 1 ?
                `${test.program}:${test.title}` : test.title;
        }
    }

    // load() reads the run, also again: if it has changed, changed() is called.
    async function load(changed) {
        if (!unpack.isWhole('run'))
            return false;
        const before = run.head && summary();
        const head = await unpack.block('run');
        const end = unpack.isWhole('end') ? await unpack.block('end') : null;

        run.tests = [];
        opened.clear();
        run.head = members.run(head);
        readTests(head);
        readTries(head);
        readFailures(head);
        nameTests();
        markSlow();
        if (end) {
            readCounts(end);
            readLeftOut(end);
            run.includeAll = members.text(end.report);
            blocks.add(members.texts(end.blocks));
        } else {
            run.cut = true;
        }
        if (before && summary() !== before)
            changed();
        return true;
    }

    // When a run ends, its tests get other numbers.
    async function read(id, test) {
        try {
            const block = await unpack.block(id);

            if (block.name !== test.name && goesOn())
                return null;
            return recordings.prepare(block, test);
        } catch {
            test.leftOut = { why: 'damaged', command: '' };
            return null;
        }
    }

    // Earlier tries have their number in their block's name.
    function blockOf(test, attempt) {
        return attempt ? `t${test.number}.${attempt}` : `t${test.number}`;
    }

    // attemptOf() is a test as an earlier try was, or the test.
    function attemptOf(test, attempt) {
        const one = test.earlier.find((earlier) =>
            earlier.attempt === Number(attempt));

        return one ? { ...test, ...one, flaky: false } : test;
    }

    // recording() resolves to what a test recorded, in its last try by default,
    // or to null if the report does not hold it. The last few stay in memory.
    function recording(test, attempt) {
        const id = blockOf(test, attempt);

        if (!attempt && live.has(test))
            return live.recording(test);
        if (!unpack.isWhole(id))
            return Promise.resolve(null);
        if (!opened.has(id)) {
            if (opened.size >= KEPT)
                opened.delete(opened.keys().next().value);
            opened.set(id, read(id, attemptOf(test, attempt)));
        }
        return opened.get(id);
    }

    function has(test, attempt) {
        return unpack.isWhole(blockOf(test, attempt)) ||
            (!attempt && live.has(test));
    }

    // A terminal names a test's program whenever the run has several.
    function find(id) {
        return run.tests.find((test) => test.id === id) ||
            run.tests.find((test) => test.name === id) ||
            run.tests.find((test) => `${test.program}:${test.name}` === id) ||
            repetitions.worst(run.tests, id);
    }

    function running() {
        return run.tests.filter((test) => test.outcome === 'running');
    }

    // goesOn() tells whether tests may begin or end.
    function goesOn() {
        return run.head.unfinished === true;
    }

    // summary() is a text that differs if the run has changed.
    function summary() {
        return JSON.stringify([run.head, run.tests.map(
            ({ id, outcome, tries }) => [id, outcome, tries])]);
    }

    function bad() {
        return run.tests.filter(isBad);
    }

    return {
        run, load, follow: (source) => { live = source; }, recording,
        attemptOf, blockOf, has, find, bad, isBad, running, goesOn,
    };
})();

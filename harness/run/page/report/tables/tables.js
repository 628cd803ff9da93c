// tables.js: spans, kernels, copies and compilations in numbers, of one test or
// of all tests in the report.
const tables = (() => {
    const { make } = dom;
    let root = null;
    const GROW_MS = 2000;
    let turn = 0;
    let drawn = 0;

    function isEntered({ slices }) {
        return (row) => !(slices.state[row] & recordings.NEVER_ENTERED);
    }

    function isSpan(recording) {
        const { kind } = recording.slices;
        const entered = isEntered(recording);

        return (row) => recording.string(kind[row]) === '' && entered(row);
    }

    function empty() {
        return { spans: new Map(), devices: new Map(), tree: flame.node(''),
            memory: memoryTables.empty(),
            samples: sampleTables.empty(), tests: 0, without: [] };
    }

    function add(sums, recording, test) {
        statistics.collect(recording, isSpan(recording), sums.spans);
        deviceTables.collect(recording, sums.devices);
        memoryTables.collect(sums.memory, recording, test);
        sampleTables.collect(sums.samples, recording);
        flame.add(sums.tree, recording, isSpan(recording));
        sums.tests++;
    }

    // collect() reads one test after another and lets the page draw meanwhile.
    async function collect(list, mine, progress) {
        const sums = empty();
        let last = performance.now();

        for (const [i, test] of list.entries()) {
            if (mine !== turn)
                return null;
            const isShown = list.length === 1 || test.outcome !== 'running';
            const recording = isShown && await report.recording(test);

            if (recording)
                add(sums, recording, test);
            else
                sums.without.push(test);
            if (performance.now() - last > 100) {
                progress(i + 1);
                await new Promise((done) => { setTimeout(done); });
                last = performance.now();
            }
        }
        return sums;
    }

    // The stacks of failed tests show what threads waited for.
    function waits(list) {
        const known = new Map();

        for (const test of list) {
            const stacks = test.failure ? test.failure.stacks : '';

            for (const [, name] of stacks.matchAll(/, waits for (.+):$/gm)) {
                const wait = known.get(name) ||
                    { name, threads: 0, tests: new Set() };

                wait.threads++;
                wait.tests.add(test.id);
                known.set(name, wait);
            }
        }
        return [...known.values()].sort((a, b) => b.threads - a.threads);
    }

    const WAITS = [
        ['Waited for', (one) => one.name], ['Threads', (one) => one.threads],
        ['Tests', (one) => [...one.tests].join(' '), 'text'],
    ];

    function waitSection(list) {
        const rows = waits(list);

        return rows.length ? [make('h2', {}, 'Locks and waits'),
            sumTable.make('Locks and waits', rows, WAITS)] : [];
    }

    function sections(sums, list) {
        const spans = statistics.finish(sums.spans);
        const parts = [];

        if (spans.length) {
            parts.push(make('h2', {}, 'Spans'),
                flame.make(flame.sum(sums.tree)),
                nameSection.make('Spans', spans, sumTable.SPAN_COLUMNS, list,
                    isSpan));
        }
        for (const [title, rows, columns] of deviceTables.list(sums.devices)) {
            parts.push(make('h2', {}, title),
                nameSection.make(title, rows, columns, list, isEntered));
        }
        parts.push(sampleTables.sections(sums.samples),
            memoryTables.sections(sums.memory, list.length === 1),
            waitSection(list));
        if (!parts.flat().length && sums.tests) {
            parts.push(make('p', { class: 'empty' }, `${sums.tests === 1 ?
                'The recording has' : 'The recordings have'
            } no spans and no device activities.`));
        }
        return parts;
    }

    function scopes(test) {
        const scope = (text, changes, chosen) => make('a', {
            class: 'button toggle', 'aria-current': chosen ? 'true' : null,
            href: state.link({ view: 'tables', ...changes }),
        }, text);
        const shown = test || picker.chosen();

        return make('div', { class: 'tools' },
            make('div', { class: 'buttons' },
                scope('All tests', {}, !test),
                shown && scope(dom.name(shown.name),
                    { test: shown.id }, !!test)));
    }

    function coverage(sums) {
        const text = sums.tests ?
            `Sums of ${format.plural(sums.tests, 'test')}.` :
            'No test has a recording in this file.';

        return [make('p', { class: 'muted' },
            `${text} ${leftOut.lacking(sums.without)}`),
        leftOut.box(sums.without)];
    }

    // show() keeps the old tables until new ones are ready if it is `later`.
    async function show(later) {
        const mine = ++turn;
        const test = report.find(state.get('test'));
        const list = test ? [test] : report.run.tests;
        const status = make('p', { class: 'muted', role: 'status' });

        drawn = performance.now();
        if (!later) {
            dom.replace(root, make('h1', { class: 'hidden' }, 'Tables'),
                scopes(test), status);
        }
        const sums = await collect(list, mine, (done) => {
            status.textContent = `${format.count(done)} of ` +
                `${format.plural(list.length, 'test')} read`;
        });

        if (!sums)
            return;
        dom.replace(root, make('h1', { class: 'hidden' }, 'Tables'),
            scopes(test), test ? sums.without.map(picker.missing) :
                coverage(sums),
            sections(sums, list));
    }

    // grow() draws the tables of a test that runs again, unless they are used.
    function grow(test) {
        const isWanted = state.get('test') ? test.id === state.get('test') :
            report.run.tests.length === 1;

        if (isWanted && isFree() &&
            performance.now() - drawn > GROW_MS)
            show(true);
    }

    function isFree() {
        return !root.contains(document.activeElement);
    }

    return {
        start: (element) => { root = element; }, show: () => show(), grow,
        renew: () => isFree() && show(true),
    };
})();

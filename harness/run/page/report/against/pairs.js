// pairs.js: the table of tests, with their outcomes and durations in both runs.
const pairs = (() => {
    const { make } = dom;
    const KINDS = ['newly-failing', 'newly-passing', 'other-outcome', 'slower',
        'faster', 'added', 'gone', 'unchanged'];
    const KEYS = {
        change: (one) => KINDS.indexOf(one.change),
        name: (one) => one.name,
        old: (one) => one.old.duration,
        new: (one) => one.new.duration,
        difference: (one) => one.old.duration && one.new.duration ?
            one.new.duration / one.old.duration : -1,
        reason: (one) => one.reason,
    };
    let table = null;
    let tools = null;
    let panel = null;
    let chosen = null;

    // The outcome of most tests needs no words.
    function side(one) {
        if (!one.outcome)
            return make('span', { class: 'muted' }, 'did not run');
        return [one.outcome !== 'passed' &&
            make('span', { class: `is-${one.outcome}` },
                `${format.outcome(one)} `), one.outcome !== 'skipped' &&
            format.duration(one.duration)].filter((part) => part);
    }

    // Durations of tests that did not pass say little.
    function difference(one) {
        const text = one.old.outcome === 'passed' &&
            one.new.outcome === 'passed' ?
            change.difference(one.old.duration, one.new.duration) : '';

        return make('span', { class: `is-${one.change}` },
            (change.SIGNS[one.change] || '') + text);
    }

    function why(one) {
        if (one.bound) {
            return `earlier passes: at ${one.change === 'slower' ? 'most' :
                'least'} ${format.duration(one.bound)}`;
        }
        return format.line(one.reason);
    }

    function columns() {
        return [
            { key: 'change', title: 'Change', sort: 'text',
                cell: (one) => one.change === 'unchanged' ? '' :
                    change.badge(one.change) },
            { key: 'name', title: 'Test', sort: 'text',
                cell: (one) => make('span', { title: format.line(
                    `${one.program} ${one.name}`) }, make('bdi', {}, format.line(one.name))) },
            { key: 'old', title: 'Old', sort: 'number',
                cell: (one) => side(one.old) },
            { key: 'new', title: 'New', sort: 'number',
                cell: (one) => side(one.new) },
            { key: 'difference', title: 'Difference', sort: 'number',
                cell: difference },
            { key: 'reason', title: 'Reason', sort: 'text', cell: why },
        ];
    }

    function idOf(one) {
        return `${one.program} ${one.name}`;
    }

    function say(...content) {
        dom.replace(panel, make('p', { class: 'muted' }, content));
    }

    async function showTimes(one) {
        if (one === chosen)
            return;
        chosen = one;
        if (!twins.has(one)) {
            say('This file has the time lines of tests that changed, or that ' +
                'you name: ', make('code', {}, 'testlog report TEST ' +
                    '--against RUN'));
            return;
        }
        try {
            const element = await twins.make(one);

            if (element)
                dom.replace(panel, element);
        } catch {
            say('The recordings of this test are damaged.');
        }
    }

    function choose(one) {
        state.note({ test: idOf(one) });
        showTimes(one);
    }

    // Without a choice, the first test that has time lines shows them.
    function update() {
        const rows = grid.sorted(tools.rows(), state.get('sort'), KEYS);
        const wanted = state.get('test');
        const one = rows.find((row) => idOf(row) === wanted) ||
            rows.find(twins.has);

        table.setRows(rows);
        table.select(rows.indexOf(one), true);
        if (one)
            showTimes(one);
    }

    function start(element) {
        const all = comparison.data.pairs;

        tools = filters.make({
            label: 'Filter tests', noun: 'test', words: 'q', kinds: 'change',
            all, update, text: (one) =>
                `${one.program} ${one.name} ${one.reason}`,
            is: (one, kind) => one.change === kind,
            titles: KINDS.map((kind) => [kind, change.word(kind)]),
        });
        table = grid.make({
            label: 'Tests', kind: 'pairs', rowHeight: 32, columns: columns(),
            sort: state.get('sort'), choose, rowClass: (one) => `row-${one.change}`,
            resort(sort) {
                state.note({ sort });
                update();
            },
        });
        panel = make('div', { class: 'names-panel' });
        dom.replace(element, make('h2', {}, 'Tests'), tools.element,
            table.element, panel);
        update();
    }

    function show() {
        tools.read();
        update();
    }

    return { start, show };
})();

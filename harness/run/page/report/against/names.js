// names.js: the table of spans and kernels in both runs, and the histograms of
// the one that is chosen.
const names = (() => {
    const { make } = dom;
    const KEYS = {
        verdict: (one) => one.verdict & comparison.TOO_NOISY ?
            -(one.verdict ^ comparison.TOO_NOISY) - 0.5 : -one.verdict,
        name: (one) => one.name,
        count: (one) => one.new.count,
        old: (one) => one.old.median,
        new: (one) => one.new.median,
        total: (one) => one.new.total,
        grown: (one) => one.new.total - one.old.total,
    };
    const TITLES = [['slower', 'slower or more frequent'],
        ['faster', 'faster or less frequent'], ['span', 'spans'],
        ['kernel', 'kernels'], ['once', 'in one run only']];
    let table = null;
    let tools = null;
    let panel = null;

    function is(one, kind) {
        if (kind === 'slower')
            return comparison.grows(one.verdict);
        if (kind === 'faster')
            return comparison.shrinks(one.verdict);
        if (kind === 'once')
            return !one.old.count || !one.new.count;
        return one.kind === kind;
    }

    function idOf(one) {
        return [one.kind, one.name, one.shape].filter((part) => part).join(' ');
    }

    function badges(one) {
        if (!one.old.count)
            return change.badge('added');
        if (!one.new.count)
            return change.badge('gone');
        return change.verdicts(one);
    }

    function both(of, text) {
        return (one) => `${one.old.count ? text(of(one.old)) : '–'} → ${
            one.new.count ? text(of(one.new)) : '–'}`;
    }

    function grown(one) {
        const less = one.new.total < one.old.total;

        return `${less ? '−' : '+'}${format.duration(
            Math.abs(one.new.total - one.old.total))}`;
    }

    function columns() {
        return [
            { key: 'name', title: 'Name', sort: 'text',
                cell: (one) => make('span', { title: format.line(idOf(one)) },
                    make('bdi', {}, format.line(one.name)),
                    one.shape && make('span', { class: 'muted' },
                        ` ${format.line(one.shape)}`)) },
            { key: 'verdict', title: 'Change', sort: 'text', cell: badges },
            { key: 'count', title: 'Calls', sort: 'number',
                cell: both((side) => side.count, format.count) },
            { key: 'old', title: 'Old median', sort: 'number',
                cell: (one) => one.old.count ?
                    format.duration(one.old.median) : '–' },
            { key: 'new', title: 'New median', sort: 'number',
                cell: (one) => one.new.count ?
                    format.duration(one.new.median) : '–' },
            { key: 'total', title: 'Total', sort: 'number',
                cell: both((side) => side.total, format.duration) },
            { key: 'grown', title: 'Growth', sort: 'number', cell: grown },
        ];
    }

    function showOne(one) {
        dom.replace(panel, one && [make('h3', {}, dom.name(idOf(one))),
            overlay.make(one)]);
    }

    function choose(one) {
        state.note({ name: idOf(one) });
        showOne(one);
    }

    function update() {
        const rows = grid.sorted(tools.rows(), state.get('names_sort'), KEYS);
        const wanted = state.get('name');
        const one = rows.find((row) => idOf(row) === wanted) || rows[0];

        table.setRows(rows);
        table.select(rows.indexOf(one), true);
        showOne(one);
    }

    function start(element) {
        const all = comparison.data.names;

        if (!all.length) {
            dom.replace(element, make('h2', {}, 'Spans and kernels'),
                make('p', { class: 'empty' }, 'The tests of both runs ' +
                    'recorded no spans and no kernels.'));
            return;
        }
        tools = filters.make({
            label: 'Filter spans and kernels', noun: 'name', words: 'names_q',
            kinds: 'names_kind', all, is, text: idOf, titles: TITLES, update,
        });
        table = grid.make({
            label: 'Spans and kernels', kind: 'names', rowHeight: 32,
            columns: columns(), choose, sort: state.get('names_sort'),
            resort(sort) {
                state.note({ names_sort: sort });
                update();
            },
        });
        panel = make('div', { class: 'names-panel' });
        dom.replace(element, make('h2', {}, 'Spans and kernels'),
            tools.element, table.element, panel);
        update();
    }

    function show() {
        if (!tools)
            return;
        tools.read();
        update();
    }

    return { start, show };
})();

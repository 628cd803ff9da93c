// runs.js: the table of a test's runs.
const runs = (() => {
    const { make } = dom;
    const TITLES = [['Run', 'name'], ['Outcome', 'text'], ['Time', ''],
        ['Reason', 'text'], ['Host', 'text'], ['Commit', 'text']];

    function row(data, run) {
        return make('tr', {},
            make('th', { scope: 'row', class: 'name' }, make('a',
                { href: addresses.log(run.name, data.program, data.test) },
                run.name)),
            make('td', { class: 'text' }, dom.badge(run)),
            make('td', {}, run.outcome === 'skipped' ? '' :
                format.duration(run.duration_ns)),
            make('td', { class: 'text why mono' },
                format.line(run.reason || '')),
            make('td', { class: 'text' }, format.line(run.host || '')),
            make('td', { class: 'text' }, make('code', {},
                format.line(run.commit || ''))));
    }

    function table(data) {
        return make('div', { class: 'scroll', tabindex: '0', role: 'region',
            'aria-label': 'Runs' },
        make('table', { class: 'sums' },
            make('thead', {}, make('tr', {}, TITLES.map(([title, kind]) =>
                make('th', { scope: 'col', class: kind || null }, title)))),
            make('tbody', {}, data.runs.map((run) => row(data, run)))));
    }

    function others({ without, unread }) {
        return [without && `${format.plural(without, 'run')} without this test`,
            unread && `${format.plural(unread, 'earlier run')} not read`]
            .filter((one) => one).join('; ');
    }

    return { table, others };
})();

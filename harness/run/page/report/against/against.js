// against.js: opens the page that compares two runs.
const against = (() => {
    const { make } = dom;
    // A new part is a row; runners/against/ writes its data, and
    // against_sample.js makes pages for its test.
    const PARTS = { pairs, names, difference };

    function notice(...content) {
        document.getElementById('notices').append(
            make('p', { class: 'notice', role: 'alert' }, content));
    }

    function counts() {
        const known = new Map();

        for (const { change: kind } of comparison.data.pairs)
            known.set(kind, (known.get(kind) || 0) + 1);
        return [...known].map(([kind, count]) =>
            `${format.count(count)} ${change.word(kind)}`).join(', ');
    }

    function runRow(title, run) {
        return make('tr', {}, make('th', { scope: 'row' }, title),
            [run.duration_ns ? format.duration(run.duration_ns) : '–',
                format.count(run.tests), format.count(run.recordings)]
                .map((text) => make('td', { class: 'number' }, text)),
            make('td', { class: 'text' },
                make('bdi', {}, format.line(run.path))));
    }

    function runs() {
        const { data } = comparison;
        const titles = [['Run', ''], ['Duration', 'number'],
            ['Tests', 'number'], ['Recordings', 'number'], ['Path', 'text']];

        return make('div', { class: 'sums-scroll', tabindex: '0',
            role: 'group', 'aria-label': 'The two runs' },
        make('table', { class: 'sums runs' }, make('thead', {}, make('tr', {},
            titles.map(([title, kind]) => make('th', {
                scope: 'col', class: kind,
            }, title)))), make('tbody', {}, runRow('Old', data.old),
            runRow('New', data.new))));
    }

    function leftOut() {
        const { pairs: tests, names: of, paths } = comparison.data.leftOut;

        if (tests || of) {
            notice(`This file leaves out ${format.plural(tests, 'test')} and ${
                format.plural(of, 'name')} because it would be too large. ` +
                'Name tests to compare fewer of them.');
        }
        return paths ? ` The flame graph leaves out ${
            format.plural(paths, 'path')}, too narrow to see.` : '';
    }

    function head() {
        const { data } = comparison;
        const title = `${format.line(data.old.run)} → ${
            format.line(data.new.run)}`;

        document.title = `${title}: testlog`;
        document.getElementById('title').textContent = title;
        document.getElementById('verdict').textContent = counts();
        dom.replace(document.getElementById('runs'), runs(), make('p',
            { class: 'muted' }, 'Colors are what testlog diff says of these ' +
            `runs; ? is too noisy to tell.${leftOut()}`));
    }

    function isCut() {
        return [...document.querySelectorAll('[data-size]')].some(({ id }) =>
            !unpack.isWhole(id));
    }

    async function open() {
        if (isCut())
            notice('This file was cut off: its end is missing.');
        try {
            if (!await comparison.load())
                return;
        } catch (error) {
            notice(`The data of this page cannot be read: ${error.message}`);
            return;
        }
        head();
        for (const [id, part] of Object.entries(PARTS))
            part.start(document.getElementById(id));
        document.getElementById('skip').addEventListener('click',
            () => document.getElementById('main').focus());
        state.listen(() => Object.values(PARTS).forEach((part) => part.show()));
        document.body.dataset.ready = 'yes';
    }

    document.addEventListener('DOMContentLoaded', open);

    return { notice };
})();

// log.js: the lines of a test, filtered by level, target, span and text.
const log = (() => {
    const { make } = dom;
    const ROW = 24;
    // A log of at most this many lines leaves room for all other parts.
    const FEW = 12;
    let root = null;
    let test = null;
    let recording = null;
    let table = null;
    let parts = {};
    let targets = new Map();

    function relative(row) {
        return recording.lines.time[row] - recording.zero;
    }

    function siteOf(row) {
        const number = recording.lines.site[row];

        if (!targets.has(number))
            targets.set(number, recordings.site(recording, number));
        return targets.get(number);
    }

    function spansOf(row) {
        const spans = [];
        let slice = recording.lines.slice[row] - 1;

        for (; slice >= 0; slice = recordings.parent(recording, slice)) {
            const at = slice;

            spans.push({
                name: recordings.sliceName(recording, at),
                target: recordings.site(recording,
                    recording.slices.site[at]).target,
                fields: () => recordings.sliceFields(recording, at),
            });
        }
        return spans;
    }

    function context(row) {
        return recordings.breadcrumb(recording, recording.lines.slice[row] - 1);
    }

    function level(row) {
        return format.levels[siteOf(row).level] || '';
    }

    function threadOf(row) {
        return recordings.trackName(recording, recording.lines.track[row]);
    }

    function searched(row, words) {
        const text = [recordings.message(recording, row), siteOf(row).target,
            ...context(row)].join(' ').toLowerCase();

        return words.every((word) => text.includes(word));
    }

    function wanted() {
        const { matches, unknown, mistakes } =
            filter.compile(state.get('filter'));
        const most = mostLevel();
        const words = state.get('find').toLowerCase().split(/\s+/)
            .filter((word) => word);
        const rows = [];

        for (let row = 0; row < recording.lines.rows; row++) {
            const site = siteOf(row);
            const line = {
                level: site.level, target: site.target,
                spans: () => spansOf(row),
            };

            if (site.level <= most && matches(line) &&
                (!words.length || searched(row, words)))
                rows.push(row);
        }
        return { rows, unknown, mistakes };
    }

    // The address may have any text.
    function mostLevel() {
        const most = Number(state.get('level'));

        return format.levels[most] ? most : 5;
    }

    // command() returns the command that prints these lines.
    function command() {
        const level = format.levels[mostLevel()].toLowerCase();
        const text = state.get('filter') || level;
        const run = format.quote(report.run.head.path || 'latest');

        return `testlog log ${run} ` +
            `${format.quote(test.title)} --filter=${format.quote(text)}`;
    }

    // Directives with one of testlog's signs are valid, but not supported here.
    function problems(unknown, mistakes) {
        const right = unknown.filter((part) => /^[!^~/{]/.test(part));
        const all = [...mistakes,
            ...unknown.filter((part) => !right.includes(part))
                .map((part) => `${part} is not a directive`)];

        if (right.length)
            all.push(`only testlog log supports ${right.join(', ')}`);
        return all.length ? `Ignored: ${all.join('; ')}` : '';
    }

    function update() {
        const { rows, unknown, mistakes } = wanted();
        const all = recording.lines.rows;

        for (const button of parts.levels.children) {
            button.setAttribute('aria-pressed', String(
                button.dataset.level === (state.get('level') || '5')));
        }
        parts.total.textContent = rows.length === all ?
            format.plural(all, 'line') :
            `${format.count(rows.length)} of ${format.plural(all, 'line')}`;
        parts.problem.textContent = problems(unknown, mistakes);
        dom.replace(parts.command, dom.command('In a terminal', command()));
        table.setRows(rows);
        dom.replace(parts.none, rows.length || !all ? null :
            'No line matches. Clear the filter to see all lines.');
    }

    function field([name, value]) {
        return [make('dt', {}, format.line(name)),
            make('dd', {}, format.block(value))];
    }

    function showDetails(row) {
        const site = siteOf(row);
        const time = Math.round(relative(row));
        const fields = recordings.lineFields(recording, row);
        const text = recording.string(recording.lines.text[row]);

        dom.replace(parts.details,
            make('p', { class: 'line-text' }, format.block(text)),
            make('dl', {}, fields.map(field),
                field(['time', `${format.seconds(relative(row))} s`]),
                field(['target', site.target]), field(['place', site.place]),
                field(['thread', threadOf(row)]),
                field(['spans', context(row).join('\n') || 'none'])),
            make('a', {
                href: state.link({ view: 'timeline', test: test.id,
                    try: state.get('try'), t: time }),
            }, 'Show on the time line'));
        parts.details.hidden = false;
    }

    function choose(row) {
        state.note({ t: Math.round(relative(row)) });
        showDetails(row);
        table.reveal(table.active);
    }

    function columns() {
        return [
            {
                key: 'time', title: 'Time (s)',
                cell: (row) => format.seconds(relative(row)),
            },
            {
                key: 'level', title: 'Level', cell: (row) => make('span',
                    { class: `level level-${siteOf(row).level}` }, level(row)),
            },
            { key: 'thread', title: 'Thread',
                cell: (row) => format.line(threadOf(row)) },
            { key: 'message', title: 'Message', cell: (row) =>
                format.line(recordings.message(recording, row)) },
            { key: 'spans', title: 'Spans', cell: (row) =>
                format.line(context(row).join(' › ')) },
        ];
    }

    function build() {
        parts = {
            levels: make('div', {
                class: 'buttons', role: 'group', 'aria-label': 'Level',
            }, logTools.levels(update)),
            total: make('span', { class: 'muted', role: 'status' }),
            problem: make('span', { class: 'problem', role: 'status' }),
            command: make('div', {}),
            none: make('p', { class: 'empty' }),
            details: make('div', {
                class: 'line-details', hidden: true, role: 'region',
                'aria-label': 'Selected line', tabindex: '0',
            }),
        };
        table = grid.make({
            label: 'Log lines', kind: 'log', rowHeight: ROW,
            columns: columns(), choose,
            rowClass: (row) => `line-${siteOf(row).level}`,
            open: (row) => state.go({
                view: 'timeline', test: test.id, try: state.get('try'),
                t: Math.round(relative(row)),
            }),
        });
        return [make('div', { class: 'tools' }, parts.levels,
            logTools.box('filter', 'Filter by level, target and span',
                'info,net=debug,[request]', update),
            logTools.box('find', 'Search in lines', 'Search text', update),
            parts.total,
            parts.problem),
        table.element, parts.none, parts.details, parts.command];
    }

    function goTo(time) {
        const row = recordings.firstLineAt(recording, recording.zero + time);
        const index = table.rows.findIndex((one) => one >= row);

        table.select(index < 0 ? table.rows.length - 1 : index, true);
        if (table.active >= 0)
            choose(table.rows[table.active]);
    }

    function explanation() {
        if (!report.isBad(test))
            return failures.attempts(test);
        const isShort = !recording || recording.lines.rows <= FEW;

        return make('div', { class: `failure is-${test.outcome}` },
            make('details', { open: isShort },
                make('summary', {}, failures.reason(test)),
                make('div', { class: 'parts' }, failures.details(test))));
    }

    function cuts() {
        const cut = recording.lines_cut;

        return cut ? make('p', { class: 'notice' },
            `${format.plural(cut, 'earlier line')} left out`) : null;
    }

    async function open() {
        const wantedTest = test;
        const head = picker.head(test, { view: 'timeline',
            title: 'Time line' });

        if (test.outcome === 'running')
            dom.replace(root, head, picker.wait(test));
        const read = await report.recording(test, state.get('try'));

        if (wantedTest !== test)
            return;
        recording = read;
        targets = new Map();
        if (!recording) {
            dom.replace(root, head, explanation(), picker.missing(test));
            return;
        }
        dom.replace(root, head, explanation(), cuts(), build());
        update();
        if (recording.moved)
            table.view.scrollTop = table.view.scrollHeight;
    }

    async function show() {
        const next = picker.chosen();

        if (!next) {
            dom.replace(root, make('p', { class: 'empty' }, 'No test ran.'));
            return;
        }
        test = next;
        await open();
        if (recording && state.get('t'))
            goTo(Number(state.get('t')));
    }

    // grow() takes a recording that has grown. Who looks at the last line sees
    // the new ones.
    function grow(whose, next) {
        if (whose !== test || !recording)
            return;
        const { view } = table;
        const atEnd = view.scrollTop + view.clientHeight >=
            view.scrollHeight - ROW;
        const skipped = next.skipped - recording.skipped;

        recording = next;
        table.rows = table.rows.map((row) => row - skipped);
        update();
        if (atEnd)
            view.scrollTop = view.scrollHeight;
    }

    return {
        start: (element) => { root = element; }, show, grow,
        renew: () => (!recording || picker.isOver(test)) && show(),
    };
})();

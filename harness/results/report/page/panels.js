// panels.js: what is below the time line: the selected slice, the selected
// range in numbers and as a flame graph, and the slices on the screen.
const panels = (() => {
    const { make } = dom;
    // More rows would take too long to collect at each step.
    const MOST = 200000;

    function pair([name, value]) {
        return value === '' ? null : [make('dt', {}, format.line(name)),
            make('dd', {}, format.block(String(value)))];
    }

    function lineLink(control, row) {
        const { recording, test } = control;
        const time = Math.round(recording.lines.time[row] - recording.start);
        const site = recordings.site(recording, recording.lines.site[row]);

        return make('li', {}, make('a', {
            href: state.link({ view: 'log', test: test.id,
                try: state.get('try'), t: time }),
        }, format.seconds(time)), ' ', make('span', {
            class: `level level-${site.level}`,
        }, format.levels[site.level]), ' ',
        format.line(recordings.message(recording, row)));
    }

    // linesIn() lists the lines that were logged within a slice, on any track
    // below it.
    function linesIn(control, id) {
        const { recording } = control;
        const { start, ends } = recording.slices;
        const first = recordings.firstLineAt(recording, start[id]);
        const last = recordings.firstLineAt(recording, ends[id] + 1);
        const inside = [];

        for (let row = first; row < last && inside.length < 50; row++) {
            let slice = recording.lines.slice[row] - 1;

            while (slice > id)
                slice = recordings.parent(recording, slice);
            if (slice === id)
                inside.push(row);
        }
        return inside.length ? [make('h3', {}, 'Lines'),
            make('ol', { class: 'slice-lines' },
                inside.map((row) => lineLink(control, row)))] : null;
    }

    function stateName(bits) {
        if (bits & recordings.OPEN)
            return 'unfinished: still open at the end';
        return '';
    }

    function detailsOf(control, id) {
        const { recording } = control;
        const { slices } = recording;
        const site = recordings.site(recording, slices.site[id]);
        const path = recordings.breadcrumb(recording,
            recordings.parent(recording, id)).join('\n');

        return [
            make('h2', {}, format.line(recordings.sliceName(recording, id)),
                ' ', make('span', { class: 'muted' },
                    format.duration(slices.duration[id]))),
            make('dl', {}, [
                ...recordings.sliceFields(recording, id),
                ['start', `${format.seconds(
                    slices.start[id] - recording.start)} s`],
                ['self', format.duration(
                    recordings.selfTimes(recording)[id])],
                ['track', recordings.trackName(recording, slices.track[id])],
                ['inside', path], ['target', site.target],
                ['place', site.place], ['function', site.function],
                ['state', stateName(slices.state[id])],
            ].map(pair)),
            linesIn(control, id),
        ];
    }

    function within(slices, [start, end]) {
        return (row) => slices.start[row] < end && slices.ends[row] > start;
    }

    function rangeOf(control, range) {
        const { recording } = control;
        const wanted = within(recording.slices, range);
        const groups = statistics.finish(
            statistics.collect(recording, wanted, new Map()));

        return [
            make('h2', {}, `Range of ${format.duration(range[1] - range[0])}`),
            flame.make(flame.treeOf(recording, wanted)),
            sumTable.make('Slices in the range', groups),
        ];
    }

    function slicesTable(control) {
        const { recording } = control;
        const { slices } = recording;

        return grid.make({
            label: 'Slices on the screen', kind: 'slices', rowHeight: 24,
            choose: (row) => control.select(row, true),
            columns: [
                { key: 'time', title: 'Start (s)', cell: (row) =>
                    format.seconds(slices.start[row] - recording.start) },
                { key: 'duration', title: 'Duration', cell: (row) =>
                    format.duration(slices.duration[row]) },
                { key: 'thread', title: 'Track', cell: (row) => format.line(
                    recordings.trackName(recording, slices.track[row])) },
                { key: 'message', title: 'Name', cell: (row) => format.line(
                    recordings.withFields(
                        recordings.sliceName(recording, row),
                        recordings.sliceFields(recording, row))) },
            ],
        });
    }

    function onScreen(control) {
        const { start, end } = control.view;
        const { slices } = control.recording;
        const rows = [];

        for (let row = 0; row < slices.rows && rows.length < MOST; row++) {
            if (slices.start[row] <= end && slices.ends[row] >= start)
                rows.push(row);
        }
        return rows;
    }

    const NAMES = { details: 'Selection', range: 'Range', slices: 'Slices' };

    function tabs(choose) {
        return make('div', { class: 'buttons', role: 'group',
            'aria-label': 'Below the time line' },
        Object.entries(NAMES).map(([key, title]) => make('button', {
            type: 'button', class: 'toggle', 'data-panel': key,
            click: () => choose(key),
        }, title)));
    }

    function create(control) {
        const content = make('div', { class: 'panel-content', tabindex: '0',
            role: 'region', 'aria-label': 'Selection' });
        const buttons = tabs((key) => open(key));
        let current = 'details';
        let table = null;
        let waiting = 0;

        function details() {
            const id = control.view.selected;

            dom.replace(content, id < 0 ? make('p', { class: 'muted' },
                'Select a slice to see its fields, place and lines.') :
                detailsOf(control, id));
        }

        function range() {
            dom.replace(content, control.view.range ?
                rangeOf(control, control.view.range) :
                make('p', { class: 'muted' }, 'Press M, or hold Shift and ' +
                    'drag, to select a range and sum it up.'));
        }

        function slices() {
            table = table || slicesTable(control);
            dom.replace(content, table.element);
            table.setRows(onScreen(control));
        }

        function open(key) {
            current = key;
            content.setAttribute('aria-label', NAMES[key]);
            content.classList.toggle('has-grid', key === 'slices');
            for (const button of buttons.children) {
                button.setAttribute('aria-pressed',
                    String(button.dataset.panel === key));
            }
            ({ details, range, slices })[key]();
        }

        // The table follows once the time line stands still.
        function moved() {
            if (current !== 'slices')
                return;
            clearTimeout(waiting);
            waiting = setTimeout(slices, 200);
        }

        open('details');
        return {
            element: make('div', { class: 'panels' }, buttons, content), moved,
            selected: () => current !== 'slices' && open('details'),
            ranged: (chosen) => (chosen || current === 'range') &&
                open('range'),
        };
    }

    return { make: create };
})();

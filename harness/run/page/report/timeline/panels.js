// panels.js: what is below the time line: the selected slice, the selected
// range in numbers and as a flame graph, and the slices on the screen.
const panels = (() => {
    const { make } = dom;
    // Collecting more rows would take too long at each step.
    const MOST = 200000;
    // How long a panel stays as it is while the recording grows.
    const GROW_MS = 1000;

    function pair([name, value]) {
        return value === '' ? null : [make('dt', {}, format.line(name)),
            make('dd', {}, format.block(String(value)))];
    }

    function lineLink(control, row) {
        const { recording, test } = control;
        const time = Math.round(recording.lines.time[row] - recording.zero);
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
                    memory.extent(recording, id))), ' ',
            make('button', { type: 'button', click: () => {
                control.view.name = '';
                control.parts.panels.open('name');
            } }, 'All of this name'),
            make('dl', {}, [
                ...recordings.sliceFields(recording, id),
                ['start', `${format.seconds(
                    slices.start[id] - recording.zero)} s`],
                ['self', memory.isMoment(recording, id) ? '' :
                    format.duration(recordings.selfTimes(recording)[id])],
                ['track', recordings.trackName(recording, slices.track[id])],
                ['inside', path], ['target', site.target],
                ['place', site.place], ['function', site.function],
                ['state', stateName(slices.state[id])],
            ].map(pair)),
            linesIn(control, id),
        ];
    }

    // sums() are those of the range, or of what is on the screen. Slices count
    // with their part in it.
    function sums(control) {
        const { recording, view } = control;
        const range = (view.range || [view.start, view.end]).map(Math.round);
        const part = nesting.within(recording, range);
        const groups = statistics.finish(
            statistics.collect(recording, part.has, new Map(), part));

        return [
            make('h2', {}, view.range ?
                `Range of ${format.duration(range[1] - range[0])}` :
                'On the screen', ' ', make('span', { class: 'muted' },
                'slices are clipped to it')),
            flame.make(flame.treeOf(recording, part.has, part)),
            groups.length > 0 && sumTable.make('Slices in sum', groups,
                sumTable.linked(sumTable.SPAN_COLUMNS, ({ name }) => () => {
                    view.name = name;
                    control.parts.panels.open('name');
                })),
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
                    format.seconds(slices.start[row] - recording.zero) },
                { key: 'duration', title: 'Duration', cell: (row) =>
                    memory.isMoment(recording, row) ? '' :
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

    function details(control) {
        const id = control.view.selected;

        return id < 0 ? make('p', { class: 'muted' },
            'Select a slice to see its fields, place and lines.') :
            detailsOf(control, id);
    }

    function summary(control) {
        const { view, recording } = control;

        return view.range || recording.slices.rows <= MOST ? sums(control) :
            make('p', { class: 'muted' }, 'Press M, or hold Shift and drag, ' +
                'to select a range and sum it up.');
    }

    // The grid is made once for each time line.
    function slices(control, kept) {
        kept.grid = kept.grid || slicesTable(control);
        kept.grid.setRows(onScreen(control));
        return kept.grid.element;
    }

    // A panel: {title, fill(control, kept), follows(control), takesRange,
    // hasGrid, applies(control)}. fill() returns its content; `kept` is an
    // object of the panel's own. follows() tells whether it changes when the
    // time line moves. A panel that takes the range stays open when one is
    // selected. Without applies(), it is there for every test.
    const known = new Map([
        ['details', { title: 'Selection', fill: details }],
        ['range', { title: 'Summary', fill: summary,
            follows: ({ view }) => !view.range }],
        ['slices', { title: 'Slices', fill: slices, hasGrid: true,
            follows: () => true }],
    ]);

    // add() adds a panel behind the others; call it before the page opens.
    function add(key, panel) {
        known.set(key, panel);
    }

    function tabs(control, choose) {
        const shown = [...known].filter(([, { applies }]) =>
            !applies || applies(control));

        return make('div', { class: 'buttons', role: 'group',
            'aria-label': 'Below the time line' },
        shown.map(([key, { title }]) => make('button', {
            type: 'button', class: 'toggle', 'data-panel': key,
            click: () => choose(key),
        }, title)));
    }

    function region() {
        return make('div', { class: 'panel-content', tabindex: '0',
            role: 'region', 'aria-label': 'Selection' });
    }

    function isFree(element) {
        return element.isConnected && !element.contains(document.activeElement);
    }

    // seldom() returns a function that takes an action now and then.
    function seldom(action) {
        let growing = 0;

        return () => {
            growing = growing || setTimeout(() => {
                growing = 0;
                action();
            }, GROW_MS);
        };
    }

    function create(control) {
        const content = region();
        const buttons = tabs(control, (key) => open(key));
        const kept = new Map([...known.keys()].map((key) => [key, {}]));
        let current = 'range';
        let waiting = 0;

        function fill() {
            dom.replace(content,
                known.get(current).fill(control, kept.get(current)));
        }

        function open(key) {
            const { title, hasGrid } = known.get(key);

            current = key;
            content.setAttribute('aria-label', title);
            content.classList.toggle('has-grid', !!hasGrid);
            for (const button of buttons.children) {
                button.setAttribute('aria-pressed',
                    String(button.dataset.panel === key));
            }
            fill();
        }

        // Meanwhile, the page may have moved to another test.
        function follow() {
            const { follows } = known.get(current);

            if (content.isConnected && follows && follows(control))
                fill();
        }

        // Tables follow when the time line has not moved for a while.
        function moved() {
            clearTimeout(waiting);
            waiting = setTimeout(follow, 200);
        }

        // grow() fills a panel again that nobody uses.
        const grow = seldom(() => {
            kept.forEach((unused, key) => kept.set(key, {}));
            if (isFree(content))
                fill();
        });

        function selected(id) {
            if (current === 'details' || current === 'range')
                open(id < 0 ? 'range' : 'details');
        }

        function ranged(chosen) {
            if (known.get(current).takesRange)
                fill();
            else if (chosen || current === 'range')
                open('range');
        }

        return {
            element: make('div', { class: 'panels' }, buttons, content),
            moved, selected, ranged, open, grow,
        };
    }

    return { make: create, add };
})();

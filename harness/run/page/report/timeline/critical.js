// critical.js: the critical path: a table below the time line, and marks on the
// slices of the time line.
const critical = (() => {
    const { make } = dom;
    const MARK = 2;
    const NAMES = 5;
    // Names with a smaller share are left out.
    const SMALL = 0.01;
    // Narrower pieces are enlarged when they are chosen.
    const NARROW = 8;

    /* ---- On the time line ---- */

    // linesOf() finds, for each row of the time line, the parts of its slices
    // on the path; for null, those on which nothing was recorded.
    function linesOf(recording) {
        const pieces = criticalPath.of(recording);
        const ids = [...new Set(pieces.map(({ row }) => row))]
            .filter((row) => row >= 0).sort((a, b) => a - b);
        const lineOf = new Map();
        const lines = new Map([[null, { ids: [], starts: [], ends: [] }]]);

        for (const [line, found] of layout.of(recording).rowsOf(ids)) {
            lines.set(line, { ids: [], starts: [], ends: [] });
            found.ids.forEach((id) => lineOf.set(id, line));
        }
        for (const { from, to, row } of pieces) {
            const line = lines.get(row < 0 ? null : lineOf.get(row));

            line.ids.push(row);
            line.starts.push(from);
            line.ends.push(to);
        }
        lines.forEach((line) => { line.length = line.ids.length; });
        return lines;
    }

    // piece() draws a part of a slice, or of a time in none.
    function piece(screen, id, left, width, y) {
        if (id >= 0)
            draw.slice(screen, id, left, width, y);
        screen.context.fillStyle = paint.color('--path');
        screen.context.fillRect(left, y + layout.SIZE.row - MARK, width,
            MARK);
    }

    // show() puts the path on the time line, or takes it away.
    function show(control, on) {
        const { view, recording, parts } = control;

        view.path = on ? linesOf(recording) : null;
        parts.critical.setAttribute('aria-pressed', String(on));
        control.redraw();
    }

    function toggle(control) {
        const on = !control.view.path;

        if (!control.parts.critical)
            return;
        state.note({ path: on ? '1' : '' });
        show(control, on);
    }

    // button() is null if the report has no path of this test.
    function button(control) {
        const { rows } = control.recording.table('critical');

        return rows ? make('button', {
            type: 'button', class: 'toggle', 'aria-pressed': 'false',
            title: 'Mark the critical path: what the end of the test waited ' +
                'for (K)',
            click: () => toggle(control),
        }, 'Critical path') : null;
    }

    function restore(control) {
        control.view.path = null;
        if (control.parts.critical && state.get('path'))
            show(control, true);
    }

    /* ---- Below the time line ---- */

    // goTo() shows a part of a slice, or of a time in no slice (-1).
    function goTo(control, { from, to, row }) {
        const { view } = control;
        const length = to - from;

        control.select(row, row >= 0);
        if (from < view.start || to > view.end ||
            length * control.scaleOf().pixels < NARROW)
            control.look(from - length, to + length);
    }

    function lengthOf(pieces) {
        return pieces[pieces.length - 1].to - pieces[0].from;
    }

    function names(recording, pieces) {
        const whole = lengthOf(pieces);
        const sums = criticalPath.sums(pieces, (piece) =>
            criticalPath.name(recording, piece));
        const shown = sums.filter(({ total }) => total >= SMALL * whole)
            .slice(0, NAMES);

        return make('p', { class: 'muted' }, shown.map(({ key, total }) =>
            `${format.line(key)} ${format.percent(total, whole)}`).join(', '),
        sums.length > shown.length && ', …');
    }

    const SORTS = {
        time: (a, b) => a.from - b.from,
        duration: (a, b) => b.to - b.from - (a.to - a.from) || a.from - b.from,
    };

    function sorted(pieces, sort) {
        const [key, down] = sort.split(':');
        const rows = [...pieces].sort(SORTS[key]);

        return (key === 'duration') === (down === 'down') ? rows :
            rows.reverse();
    }

    function table(control, pieces) {
        const { recording } = control;
        const { zero } = recording;
        const whole = lengthOf(pieces);
        const result = grid.make({
            label: 'Critical path', kind: 'critical', rowHeight: 24,
            sort: 'time', choose: (piece) => goTo(control, piece),
            resort: (sort) => result.setRows(sorted(pieces, sort)),
            columns: [
                { key: 'time', title: 'Start (s)', sort: 'text',
                    cell: ({ from }) => format.seconds(from - zero) },
                { key: 'duration', title: 'Duration', sort: 'number',
                    cell: ({ from, to }) => format.duration(to - from) },
                { key: 'number', title: 'Share', cell: ({ from, to }) =>
                    format.percent(to - from, whole) },
                { key: 'thread', title: 'Track', cell: ({ track }) =>
                    format.line(recordings.trackName(recording, track) ||
                        'main') },
                { key: 'message', title: 'Name', cell: (piece) =>
                    format.line(criticalPath.name(recording, piece)) },
            ],
        });

        result.setRows(pieces);
        return result;
    }

    function missing({ test }) {
        const run = format.quote(report.run.head.path || 'latest');

        return [make('p', { class: 'muted' },
            'The critical path of a large recording is not in this page.'),
        dom.command('Print it',
            `testlog stat ${run} ${format.quote(test.title)} --critical`)];
    }

    function fill(control, kept) {
        const pieces = criticalPath.of(control.recording);

        if (!pieces.length)
            return missing(control);
        kept.grid = kept.grid || table(control, pieces);
        return make('div', { class: 'grid-panel' },
            names(control.recording, pieces), kept.grid.element);
    }

    panels.add('critical', { title: 'Critical path', fill, hasGrid: true });

    return { button, toggle, restore, piece, goTo };
})();

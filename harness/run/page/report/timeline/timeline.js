// timeline.js: the time line of a test: zoom, pan, search, selection, and what
// the panel below it shows.
const timeline = (() => {
    const { make } = dom;
    // A click hits what is at most as many pixels away.
    const NEAR = 3;
    let root = null;
    let wanted = null; // the test that was asked for
    let test = null; // the one on the screen
    let recording = null;
    let parts = {};
    let frame = 0;
    // The part that is on the screen, in ns of the recording.
    const view = { start: 0, end: 1, selected: -1, range: null, found: null,
        notes: [], marked: null, breaks: null, path: null, name: '' };

    function paintNow() {
        frame = 0;
        if (!recording || !parts.canvas.clientWidth)
            return;
        const height = parts.scroller.clientHeight;
        const width = parts.canvas.clientWidth;

        draw.all({
            ...view, recording, test: report.attemptOf(test, state.get('try')),
            layout: layout.of(recording), tracks: parts.tracks,
            context: paint.prepare(parts.canvas, height),
            width, height, top: parts.scroller.scrollTop,
            scale: control.scaleOf(),
        });
        parts.minimap.follow();
    }

    function redraw() {
        frame = frame || requestAnimationFrame(paintNow);
    }

    function scroll(pixels) {
        const { scroller } = parts;

        scroller.scrollTop = Math.max(0, Math.min(scroller.scrollHeight,
            scroller.scrollTop + pixels));
    }

    // page() is how many pixels of tracks the chart shows.
    function page() {
        return parts.scroller.clientHeight - parts.tracks.placed.edge;
    }

    function scrollTo(slice) {
        const { tracks: all, scroller } = parts;

        all.reveal(slice);
        const y = all.yOf(slice);
        const { edge } = all.placed;
        const { clientHeight } = scroller;

        if (!all.isPinned(slice) && (y < edge || y > clientHeight - 30))
            scroller.scrollTop += y - edge - (clientHeight - edge) / 3;
    }

    function select(id, move) {
        view.selected = id;
        view.marked = null;
        if (id >= 0) {
            const { start, ends } = recording.slices;
            const length = view.end - view.start;

            state.note({ t: Math.round(start[id] - recording.zero) });
            dom.announce(`${format.line(recordings.sliceName(recording, id))
            }, ${memory.extent(recording, id)}`);
            if (move) {
                if (ends[id] < view.start || start[id] > view.end)
                    control.look(start[id] - length / 3,
                        start[id] + length * 2 / 3);
                scrollTo(id);
            }
        }
        parts.panels.selected(id);
        redraw();
    }

    // tell() shows a text at a time.
    function tell(time, text) {
        pointer.tell(control, Math.max(0, control.scaleOf().x(time)),
            layout.SIZE.ruler + layout.SIZE.ticks, text);
        dom.announce(text);
    }

    // mark() shows a problem: its slice, its time, and what it is.
    function mark({ time, slice }, text) {
        const { start, end } = view;

        select(slice, true);
        if (time < start || time > end)
            control.look(time - (end - start) / 2, time + (end - start) / 2);
        view.marked = time;
        tell(time, text);
    }

    function setRange(range) {
        view.range = range && range.map(Math.round);
        parts.panels.ranged(range);
        redraw();
    }

    // measure() makes the selected slice, or what is on the screen, the range.
    function measure() {
        const { start, ends } = recording.slices;
        const id = view.selected;

        setRange(id >= 0 ? [start[id], Math.max(ends[id], start[id] + 1)] :
            [view.start, view.end]);
    }

    function sliceAt(x, y) {
        const item = parts.tracks.itemAt(y);
        const before = control.timeAt(x - NEAR);
        const after = control.timeAt(x + NEAR);

        if (item?.kind !== 'row')
            return -1;
        const { row } = item;
        const index = layout.firstEndingAfter(row, before, 0);

        return index < row.length && row.starts[index] <= after ?
            row.ids[index] : -1;
    }

    // collapseAt() collapses or expands the track whose head is at a height.
    function collapseAt(y) {
        const id = parts.tracks.headAt(y);

        if (id >= 0)
            parts.tracks.collapse(id);
        return id >= 0;
    }

    // grow() takes a recording that has grown. A window that ends with the
    // recording follows its end.
    function grow(whose, next) {
        if (whose !== test || !recording?.moved)
            return;
        const follow = control.follower();

        recording = next;
        view.selected = next.moved(view.selected);
        view.breaks = idle.atLeast(recording, Number(state.get('skip')));
        for (const part of [parts.problems, parts.tracks, parts.minimap,
            parts.search, parts.panels])
            part.grow();
        follow();
        redraw();
    }

    const control = {
        view, scroll, page, select, mark, tell, setRange, measure, sliceAt,
        collapseAt, redraw, resize: () => parts.height.resize(),
        get recording() { return recording; },
        get test() { return test; },
        get parts() { return parts; },
    };

    Object.assign(control, viewport.make(control));

    function cuts() {
        const { cut } = recording;

        return cut ? make('p', { class: 'notice' },
            `${format.plural(cut.slices, 'slice')} shorter than ` +
            `${format.duration(cut.width)} left out`) : null;
    }

    function resized() {
        parts.tracks.arrange();
        control.resize();
        redraw();
    }

    function build() {
        parts = {
            canvas: make('canvas', {
                tabindex: '0', role: 'img', 'aria-label':
                    'Time line; the table Slices below lists what it shows',
            }),
            space: make('div', { class: 'chart-space' }),
            tip: make('div', { class: 'tip', hidden: true }),
        };
        parts.scroller = make('div', { class: 'chart', scroll: redraw },
            parts.canvas, parts.space);
        parts.panels = panels.make(control);
        parts.search = search.make(control);
        parts.problems = problems.make(control);
        parts.minimap = minimap.make(control);
        parts.tracks = tracks.make(control);
        parts.height = chartHeight.make(control);
        parts.critical = critical.button(control);
        parts.frame = make('div', { class: 'chart-frame' }, parts.scroller,
            parts.tip);
        pointer.attach(control);
        new ResizeObserver(resized).observe(parts.scroller);
        return [cuts(), toolbar.make(control),
            parts.minimap.element, parts.frame,
            parts.height.edge, parts.panels.element];
    }

    // A time in the address is that of a slice or of a line: the slice that
    // begins then, or else the innermost span, is selected.
    function innermostAt(time) {
        const { slices } = recording;
        let best = -1;

        for (let i = 0; i < slices.rows && slices.start[i] <= time; i++) {
            if (slices.ends[i] >= time && (slices.start[i] === time ||
                best < 0 || slices.track[i] === slices.track[best]))
                best = i;
        }
        return best;
    }

    function restore() {
        view.breaks = idle.atLeast(recording, Number(state.get('skip')));
        const [first, last] = control.first();
        const { zero } = recording;
        const at = state.get('t');
        const from = Number(state.get('from') || NaN);
        const to = Number(state.get('to') || NaN);
        const isGiven = from < to;
        const id = at ? innermostAt(zero + Number(at)) : -1;

        view.range = null;
        view.marked = null;
        view.found = null;
        view.notes = notes.read();
        view.name = '';
        critical.restore(control);
        view.start = isGiven ? zero + from : first;
        view.end = isGiven ? zero + to : last;
        view.selected = -1;
        if (id >= 0) {
            const length = recording.slices.duration[id] ||
                (last - first) / 100;

            if (!isGiven && length * 50 < last - first)
                control.look(recording.slices.start[id] - length * 2,
                    recording.slices.ends[id] + length * 2);
            select(id, true);
        } else {
            parts.panels.selected(-1);
        }
    }

    async function show() {
        const asked = wanted = picker.chosen();

        if (!asked) {
            test = null;
            dom.replace(root, make('p', { class: 'empty' }, 'No test ran.'));
            return;
        }
        const head = picker.head(asked, { view: 'log', title: 'Log' });

        if (asked.outcome === 'running')
            dom.replace(root, head, picker.wait(asked));
        const read = await report.recording(asked, state.get('try'));

        if (asked !== wanted)
            return;
        test = asked;
        recording = read;
        if (!recording) {
            dom.replace(root, head, picker.missing(test));
            return;
        }
        dom.replace(root, head, build());
        control.resize();
        parts.tracks.arrange();
        restore();
        parts.tracks.update();
        parts.search.restore();
        redraw();
    }

    function start(element) {
        root = element;
        keys.attach(element, control);
        // Paper has no further frame.
        paint.recolored(() => paintNow());
    }

    return {
        start, show, grow,
        renew: () => (!recording || picker.isOver(wanted)) && show(),
        paintNow, control,
        isPainted: () => !!recording && !!parts.canvas && !frame,
    };
})();

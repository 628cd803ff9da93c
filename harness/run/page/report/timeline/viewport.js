// viewport.js: which part of the time line is on the screen, and how it moves.
const viewport = (() => {
    // A window is at least as many ns wide.
    const LEAST = 10;
    // As many ns are shown at first of a test that runs.
    const RECENT = 10e9;

    // Everything has a margin, unless idle times are skipped.
    function padded({ view }, [start, end]) {
        const margin = view.breaks ? 0 : (end - start) * 0.01;

        return [start - margin, end + margin];
    }

    // whole() has the recording, with all that Criterion did around the test.
    function whole(control) {
        return padded(control,
            [control.recording.start, control.recording.end]);
    }

    // first() is the window that a time line begins with: the end of a test
    // that runs, otherwise all records.
    function first(control) {
        const { used: [start, end], opens, moved } = control.recording;

        return padded(control, moved ?
            [Math.max(start, end - RECENT), end] : opens);
    }

    // body() has the test's body, and all records.
    function body(control) {
        return padded(control, control.recording.used);
    }

    function follows({ recording, view }) {
        return !!recording.moved && view.end >= recording.end;
    }

    // toEnd() shows the end of a recording, as much of it as was on the screen.
    function toEnd(control, length) {
        const [least, most] = whole(control);

        control.view.end = most;
        control.view.start = Math.max(least, most - length);
    }

    // follower() returns what moves a window that shows the end of a recording
    // to its end again when that has grown. One that shows all grows with it.
    function follower(control) {
        const { view } = control;
        const [least] = whole(control);
        const isAll = view.start <= least;
        const length = view.end - view.start;

        return follows(control) ? () => toEnd(control,
            isAll ? Math.max(length, RECENT) : length) : () => {};
    }

    // catchUp() shows the end of a recording, which is then followed.
    function catchUp(control) {
        const { view } = control;

        toEnd(control, Math.min(RECENT, view.end - view.start));
        look(control, view.start, view.end);
        state.note({ from: '', to: '' });
    }

    function shows({ view }, [start, end]) {
        return Math.abs(view.start - start) < 1 &&
            Math.abs(view.end - end) < 1;
    }

    function note(control) {
        const { recording, view, parts } = control;
        const isFirst = shows(control, first(control));

        state.note({
            from: isFirst ? '' : Math.round(view.start - recording.zero),
            to: isFirst ? '' : Math.round(view.end - recording.zero),
        });
        parts.panels?.moved();
        parts.tracks?.moved();
    }

    // within() moves a window into the recording, and is not wider than it.
    function within(control, [start, end]) {
        const [least, most] = whole(control);
        const length = Math.max(LEAST, Math.min(end - start, most - least));
        const from = Math.max(least, Math.min(start, most - length));

        return [from, from + length];
    }

    function look(control, start, end) {
        const { view } = control;

        [view.start, view.end] = within(control, [start, end]);
        control.parts.tip.hidden = true;
        control.parts.idle.setAttribute('aria-pressed', String(!!view.breaks));
        note(control);
        control.redraw();
    }

    function scaleOf({ view, parts }) {
        return scale.of(view, parts.canvas.clientWidth);
    }

    function timeAt(control, offset) {
        return scaleOf(control).time(offset);
    }

    // place() shows a time at a pixel, with some pixels for a ns. A window that
    // would leave the recording ends with it.
    function place(control, time, x, pixels) {
        const { breaks } = control.view;
        const width = control.parts.canvas.clientWidth;
        const [least, most] = whole(control);
        let start = scale.at(breaks, time, -x, pixels);
        let end = scale.at(breaks, time, width - x, pixels);

        if (start < least)
            [start, end] = [least, scale.at(breaks, least, width, pixels)];
        if (end > most)
            [start, end] = [scale.at(breaks, most, -width, pixels), most];
        look(control, Math.max(least, start), end);
    }

    function zoom(control, factor, time) {
        const now = scaleOf(control);
        const fixed = time ?? now.time(control.parts.canvas.clientWidth / 2);

        place(control, fixed, now.x(fixed), now.pixels / factor);
    }

    function pan(control, share) {
        place(control, control.view.start,
            -share * control.parts.canvas.clientWidth,
            scaleOf(control).pixels);
    }

    // selected() returns the selected range, or the slice with a margin.
    function selected({ recording: { slices }, view }) {
        const { range, selected: id } = view;

        if (range || id < 0)
            return range;
        const margin = Math.max(5, (slices.ends[id] - slices.start[id]) * 0.1);

        return [slices.start[id] - margin, slices.ends[id] + margin];
    }

    // fit() shows the selection, the records, the body, the recording, in turn;
    // a new selection comes first. Those that are alike take one turn.
    function fit(control) {
        const { view } = control;
        const selection = view.range ?? view.selected;
        const windows = [selected(control), first(control), body(control),
            whole(control)]
            .filter(Boolean).map((window) => within(control, window));
        const now = view.fitted === selection ?
            windows.findIndex((window) => shows(control, window)) : -1;
        const next = [...windows.slice(now + 1), ...windows]
            .find((window) => !shows(control, window));

        view.fitted = selection;
        look(control, ...next ?? windows[0]);
    }

    // fitDevice() shows from the first work of a device to its last.
    function fitDevice(control) {
        const span = idle.deviceSpan(control.recording);

        if (!span) {
            dom.announce('No device worked');
            return;
        }
        const margin = Math.max(LEAST, (span.end - span.start) * 0.02);

        look(control, span.start - margin, span.end + margin);
    }

    // toggleIdle() skips the idle times that are long on the screen, or none.
    function toggleIdle(control) {
        const { view, recording } = control;
        const wasFirst = shows(control, first(control));
        const length = view.breaks ? 0 :
            Math.floor(idle.longest(recording, view.start, view.end));

        if (!view.breaks && !length)
            dom.announce('No idle time on the screen is long');
        view.breaks = idle.atLeast(recording, length);
        state.note({ skip: length || '' });
        look(control, ...wasFirst ? first(control) : [view.start, view.end]);
    }

    // make() returns what a time line's control can do with its window.
    function make(control) {
        return Object.fromEntries(Object.entries({
            first, look, follows, follower, catchUp, scaleOf, timeAt, place,
            zoom, pan, fit, fitDevice, toggleIdle,
        }).map(([name, action]) =>
            [name, (...values) => action(control, ...values)]));
    }

    return { make };
})();

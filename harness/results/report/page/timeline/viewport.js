// viewport.js: which part of the time line is on the screen, and how it moves.
const viewport = (() => {
    // A window is at least as many ns wide.
    const LEAST = 10;

    function whole({ recording }) {
        const length = recording.end - recording.start;

        return [recording.start - length * 0.01, recording.end + length * 0.01];
    }

    function note(control) {
        const { recording, view, parts } = control;
        const [start, end] = whole(control);
        const all = view.start <= start && view.end >= end;

        state.note({
            from: all ? '' : Math.round(view.start - recording.zero),
            to: all ? '' : Math.round(view.end - recording.zero),
        });
        parts.panels?.moved();
        parts.tracks?.moved();
    }

    // A window is not wider than the recording.
    function look(control, start, end) {
        const { view } = control;
        const [first, last] = whole(control);
        const length = Math.max(LEAST, Math.min(end - start, last - first));

        view.start = Math.max(first, Math.min(start, last - length));
        view.end = view.start + length;
        control.parts.tip.hidden = true;
        note(control);
        control.redraw();
    }

    function scaleOf({ view, parts }) {
        return scale.of(view, parts.canvas.clientWidth);
    }

    function timeAt(control, offset) {
        return scaleOf(control).time(offset);
    }

    // place() shows a time at a pixel, with some pixels for a ns.
    function place(control, time, x, pixels) {
        const start = time - x / pixels;

        look(control, start,
            start + control.parts.canvas.clientWidth / pixels);
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

    // fit() shows the selected slice, or everything if it is shown already.
    function fit(control) {
        const { start, ends } = control.recording.slices;
        const { range, selected: id, start: from } = control.view;
        const margin = id < 0 ? 0 : Math.max(5, (ends[id] - start[id]) * 0.1);

        if (range)
            look(control, ...range);
        else if (id >= 0 && Math.abs(from - (start[id] - margin)) > 1)
            look(control, start[id] - margin, ends[id] + margin);
        else
            look(control, ...whole(control));
    }

    // make() returns what a time line's control can do with its window.
    function make(control) {
        return Object.fromEntries(Object.entries({
            whole, look, scaleOf, timeAt, place, zoom, pan, fit,
        }).map(([name, action]) =>
            [name, (...values) => action(control, ...values)]));
    }

    return { make };
})();

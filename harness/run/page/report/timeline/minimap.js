// minimap.js: the whole test in a strip above the time line: how many slices
// there are, device work, problems and matches, and the part on the screen,
// which can be dragged.
const minimap = (() => {
    const { make } = dom;
    const HEIGHT = 32;
    // Device work has a strip of its own below all else.
    const STRIP = 8;
    const FOUND = 12;
    // The edges of the part on the screen are as many pixels wide.
    const EDGE = 7;
    const SVG = 'http://www.w3.org/2000/svg';

    function element(tag, attributes) {
        const made = document.createElementNS(SVG, tag);

        for (const [name, value] of Object.entries(attributes))
            made.setAttribute(name, value);
        return made;
    }

    // The picture stretches with the window, so that it is made only once.
    function picture(recording, problems) {
        const { host, device } = density.counts(recording);
        const worked = device.some((count) => count);
        const bottom = HEIGHT - (worked ? STRIP : 0);

        return [
            ['host', density.outline(host, bottom, bottom - 2)],
            ['device', density.outline(device, HEIGHT, STRIP - 1)],
            ['problem', density.ticks(recording, problems.times(), 0, bottom)],
        ].map(([name, d]) => element('path', { class: `minimap-${name}`, d }));
    }

    // partAt() is what a pointer drags: an edge of the part on the screen, or
    // the part. Beside it, or if everything is on the screen, a new part
    // begins.
    function partAt(control, brush, x) {
        const { view, recording: { start, end } } = control;
        const isAll = view.start <= start && view.end >= end;
        const left = brush.offsetLeft;
        const right = left + brush.offsetWidth;

        if (!isAll && Math.abs(x - left) < EDGE)
            return { fixed: view.end };
        if (!isAll && Math.abs(x - right) < EDGE)
            return { fixed: view.start };
        return !isAll && x > left && x < right ? { moves: true } : {};
    }

    function drag(control, from, time) {
        if (from.moves) {
            control.look(from.start + time - from.time,
                from.end + time - from.time);
        } else {
            const fixed = from.fixed ?? from.time;

            control.look(Math.min(fixed, time), Math.max(fixed, time));
        }
    }

    // A click brings its place to the middle of the screen.
    function center({ view, look }, time) {
        const half = (view.end - view.start) / 2;

        look(time - half, time + half);
    }

    function listen(control, strip, brush) {
        let from = null;
        const timeAt = (event) => {
            const { start, end } = control.recording;
            const { left, width } = strip.getBoundingClientRect();

            return start + (event.clientX - left) / width * (end - start);
        };

        strip.addEventListener('pointerdown', (event) => {
            const { left } = strip.getBoundingClientRect();

            if (event.button !== 0)
                return;
            strip.setPointerCapture(event.pointerId);
            from = { ...partAt(control, brush, event.clientX - left),
                time: timeAt(event), x: event.clientX, dragged: false,
                start: control.view.start, end: control.view.end };
        });
        strip.addEventListener('pointermove', (event) => {
            if (!from || !from.dragged && Math.abs(event.clientX - from.x) < 3)
                return;
            from.dragged = true;
            drag(control, from, timeAt(event));
        });
        strip.addEventListener('pointerup', (event) => {
            if (from && !from.dragged)
                center(control, timeAt(event));
            from = null;
        });
        strip.addEventListener('pointercancel', () => { from = null; });
    }

    // Arrows move the part as they do elsewhere.
    function keydown(control, event) {
        const action = {
            PageUp: () => control.pan(-0.9), PageDown: () => control.pan(0.9),
            Home: () => center(control, control.recording.start),
            End: () => center(control, control.recording.end),
        }[event.key];

        if (action) {
            event.preventDefault();
            event.stopPropagation();
            action();
        }
    }

    // place() moves the part that is on the screen.
    function place({ view, recording: { start, end, zero } }, brush) {
        const share = (time) => Math.round(1e4 *
            Math.max(0, Math.min(1, (time - start) / (end - start)))) / 100;
        const [left, right] = [share(view.start), share(view.end)];
        const [before, wide] = [`${left}%`, `${Math.round((right - left) * 100) / 100}%`];

        // Most frames of a small part need no layout.
        if (brush.style.left === before && brush.style.width === wide)
            return;
        brush.style.left = before;
        brush.style.width = wide;
        brush.setAttribute('aria-valuenow', Math.round((left + right) / 2));
        brush.setAttribute('aria-valuetext', `${format.seconds(
            view.start - zero)} s to ${format.seconds(view.end - zero)} s`);
    }

    // create() makes the strip; follow() adapts it to what is on the screen,
    // grow() to a recording that has grown.
    function create(control) {
        const hits = element('path', { class: 'minimap-found' });
        const image = element('svg', {
            viewBox: `0 0 ${density.BINS} ${HEIGHT}`, 'aria-hidden': 'true',
            preserveAspectRatio: 'none',
        });
        const brush = make('div', {
            class: 'minimap-part', role: 'slider', tabindex: '0',
            'aria-label': 'Part on the screen', 'aria-valuemin': '0',
            'aria-valuemax': '100',
            title: 'Drag to move, drag an edge to zoom',
            keydown: (event) => keydown(control, event),
        });
        const strip = make('div', { class: 'minimap' }, image, brush);
        let shown = null;

        function follow() {
            const { found } = control.view;

            place(control, brush);
            if (found === shown)
                return;
            shown = found;
            hits.setAttribute('d', found ?
                density.ticks(control.recording, found.starts, 0, FOUND) : '');
        }

        function grow() {
            image.replaceChildren(
                ...picture(control.recording, control.parts.problems), hits);
        }

        // The chart is on the screen before the picture is made.
        requestAnimationFrame(() => setTimeout(grow));
        listen(control, strip, brush);
        return { element: strip, follow, grow };
    }

    return { make: create };
})();

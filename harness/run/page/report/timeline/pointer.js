// pointer.js: the mouse and fingers on the time line: they move it, zoom it,
// and select slices and ranges.
const pointer = (() => {
    const { SIZE } = layout;
    // A finger that moves less than this clicks.
    const STILL = 4;
    // Touchpads send pinches as small steps of a wheel with Ctrl; those of mice
    // are larger.
    const NOTCH = 40;
    const FEWEST = 20;

    function tipText(recording, id) {
        const name = format.line(recordings.sliceName(recording, id));
        const fields = recordings.sliceFields(recording, id).slice(0, 6)
            .map((field) => format.line(field.join('=')));

        return [`${name}  ${memory.extent(recording, id)}`,
            ...fields].join('\n');
    }

    // tell() shows a text beside a place on the canvas.
    function tell({ parts: { tip, canvas } }, x, y, text) {
        tip.hidden = !text;
        tip.textContent = text;
        const left = Math.min(x + 14,
            canvas.clientWidth - tip.offsetWidth - 6);

        tip.style.left = `${Math.max(0, left)}px`;
        tip.style.top = `${y + 16}px`;
    }

    function hover(control, { offsetX: x, offsetY: y }) {
        const { recording, parts } = control;
        const { canvas } = parts;
        const id = control.sliceAt(x, y);
        const line = ruler.lineAt(control, x, y);

        canvas.classList.toggle('is-link',
            line >= 0 || parts.tracks.headAt(y) >= 0);
        tell(control, x, y, line >= 0 ? ruler.lineText(recording, line) :
            id >= 0 ? tipText(recording, id) : curves.tipAt(control, x, y));
    }

    function openLine({ recording, test }, row) {
        state.go({
            view: 'log', test: test.id, try: state.get('try'),
            t: Math.round(recording.lines.time[row] - recording.zero),
        });
    }

    function factorOf({ ctrlKey, deltaMode, deltaY }) {
        const isPinch = ctrlKey && deltaMode === WheelEvent.DOM_DELTA_PIXEL &&
            Math.abs(deltaY) < NOTCH;

        return (isPinch ? 1.01 : 1.0015) ** deltaY;
    }

    function wheel(control, event) {
        const { scroller } = control.parts;
        const scrolls = scroller.scrollHeight > scroller.clientHeight + 1;

        if (Math.abs(event.deltaX) > Math.abs(event.deltaY))
            control.pan(event.deltaX / scroller.clientWidth);
        else if (event.ctrlKey || event.metaKey || !scrolls)
            control.zoom(factorOf(event), control.timeAt(event.offsetX));
        else
            return;
        event.preventDefault();
    }

    function begin(control, event) {
        control.parts.canvas.setPointerCapture(event.pointerId);
        return {
            x: event.offsetX, moved: false,
            time: control.timeAt(event.offsetX),
            pixels: control.scaleOf().pixels,
            ranges: event.shiftKey || event.offsetY < SIZE.ruler,
        };
    }

    function drag(control, from, event) {
        const distance = event.offsetX - from.x;

        if (Math.abs(distance) >= STILL)
            from.moved = true;
        if (!from.moved)
            return;
        if (from.ranges) {
            const time = control.timeAt(event.offsetX);

            control.view.range = [Math.min(time, from.time),
                Math.max(time, from.time)];
            control.redraw();
            return;
        }
        control.place(from.time, event.offsetX, from.pixels);
    }

    // spread() is where two fingers are, and how far apart.
    function spread([a, b]) {
        return {
            x: (a.x + b.x) / 2,
            apart: Math.max(FEWEST, Math.hypot(a.x - b.x, a.y - b.y)),
        };
    }

    // Two fingers zoom the time line, and move it.
    function pinch(control, fingers, event) {
        const before = spread([...fingers.values()]);

        fingers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
        const { x, apart } = spread([...fingers.values()]);

        control.place(control.timeAt(before.x), x,
            control.scaleOf().pixels * apart / before.apart);
    }

    function finish(control, from, event) {
        const line = ruler.lineAt(control, event.offsetX, event.offsetY);

        if (!from.moved && line >= 0) {
            openLine(control, line);
        } else if (!from.moved && !control.collapseAt(event.offsetY)) {
            control.setRange(null);
            control.select(control.sliceAt(event.offsetX, event.offsetY));
        } else if (from.ranges) {
            control.setRange(control.view.range);
        }
    }

    function attach(control) {
        const { canvas, tip } = control.parts;
        const fingers = new Map();
        let from = null;

        function lift(event) {
            fingers.delete(event.pointerId);
            from = null;
        }

        canvas.addEventListener('pointerdown', (event) => {
            if (event.button !== 0)
                return;
            fingers.set(event.pointerId,
                { x: event.offsetX, y: event.offsetY });
            from = fingers.size === 1 ? begin(control, event) : null;
        });
        canvas.addEventListener('pointermove', (event) => {
            if (fingers.size === 2 && fingers.has(event.pointerId))
                pinch(control, fingers, event);
            else if (from)
                drag(control, from, event);
            else if (!fingers.size)
                hover(control, event);
        });
        canvas.addEventListener('pointerup', (event) => {
            if (from)
                finish(control, from, event);
            lift(event);
        });
        canvas.addEventListener('pointercancel', lift);
        canvas.addEventListener('pointerleave', () => { tip.hidden = true; });
        canvas.addEventListener('wheel', (event) => wheel(control, event),
            { passive: false });
        canvas.addEventListener('dblclick', ({ offsetY }) =>
            control.parts.tracks.headAt(offsetY) < 0 && control.fit());
    }

    return { attach, tell };
})();

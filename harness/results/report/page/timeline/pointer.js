// pointer.js: the mouse and fingers on the time line: they move it, zoom it,
// and select slices and ranges.
const pointer = (() => {
    const { SIZE } = layout;
    // A finger that moves less than this clicks.
    const STILL = 4;

    function tipText(recording, id) {
        const name = format.line(recordings.sliceName(recording, id));
        const fields = recordings.sliceFields(recording, id).slice(0, 6)
            .map((field) => format.line(field.join('=')));

        return [`${name}  ${format.duration(recording.slices.duration[id])}`,
            ...fields].join('\n');
    }

    function hover(control, event) {
        const { tip, canvas } = control.parts;
        const id = control.sliceAt(event.offsetX, event.offsetY);

        tip.hidden = id < 0;
        if (id < 0)
            return;
        tip.textContent = tipText(control.recording, id);
        const left = Math.min(event.offsetX + 14,
            canvas.clientWidth - tip.offsetWidth - 6);

        tip.style.left = `${Math.max(0, left)}px`;
        tip.style.top = `${event.offsetY + 16}px`;
    }

    function wheel(control, event) {
        const { scroller } = control.parts;
        const scrolls = scroller.scrollHeight > scroller.clientHeight + 1;

        if (Math.abs(event.deltaX) > Math.abs(event.deltaY))
            control.pan(event.deltaX / scroller.clientWidth);
        else if (event.ctrlKey || event.metaKey || !scrolls)
            control.zoom(1.0015 ** event.deltaY,
                control.timeAt(event.offsetX));
        else
            return;
        event.preventDefault();
    }

    function begin(control, event) {
        const { start, end } = control.view;

        control.parts.canvas.setPointerCapture(event.pointerId);
        return {
            x: event.offsetX, moved: false, start, end,
            time: control.timeAt(event.offsetX),
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
        const shift = distance / control.parts.canvas.clientWidth *
            (from.end - from.start);

        control.look(from.start - shift, from.end - shift);
    }

    function finish(control, from, event) {
        if (!from.moved) {
            control.setRange(null);
            control.select(control.sliceAt(event.offsetX, event.offsetY));
        } else if (from.ranges) {
            control.setRange(control.view.range);
        }
    }

    function attach(control) {
        const { canvas, tip } = control.parts;
        let from = null;

        canvas.addEventListener('pointerdown', (event) => {
            if (event.button === 0)
                from = begin(control, event);
        });
        canvas.addEventListener('pointermove', (event) => {
            if (from)
                drag(control, from, event);
            else
                hover(control, event);
        });
        canvas.addEventListener('pointerup', (event) => {
            if (from)
                finish(control, from, event);
            from = null;
        });
        canvas.addEventListener('pointercancel', () => { from = null; });
        canvas.addEventListener('pointerleave', () => { tip.hidden = true; });
        canvas.addEventListener('wheel', (event) => wheel(control, event),
            { passive: false });
        canvas.addEventListener('dblclick', () => control.fit());
    }

    return { attach };
})();

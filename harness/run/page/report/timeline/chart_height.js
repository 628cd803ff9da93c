// chart_height.js: how high the time line is: what the window has room for, or
// what somebody has chosen by dragging its lower edge.
const chartHeight = (() => {
    const { make } = dom;
    const LEAST = 120;
    const STEP = 40;
    // A horizontal scroll bar and the border.
    const AROUND = 12;
    let chosen = 0;

    // create() makes the edge. resize() adapts the chart to its tracks.
    function create(control) {
        const edge = make('div', {
            class: 'chart-edge', role: 'separator', tabindex: '0',
            'aria-orientation': 'horizontal',
            'aria-label': 'Height of the time line', 'aria-valuemin': LEAST,
            title: 'Drag to resize; double-click for the default height',
            pointerdown: begin, pointermove: drag, keydown: step,
            dblclick: () => choose(0),
        });

        function most() {
            const { placed } = control.parts.tracks;

            return Math.max(LEAST, placed.height + AROUND);
        }

        function resize() {
            const { frame, space, tracks: { placed } } = control.parts;
            const pixels = Math.min(chosen, most());

            space.style.height = `${placed.height}px`;
            frame.style.maxHeight = `${most()}px`;
            frame.style.flex = chosen ? `0 0 ${pixels}px` : '';
            frame.style.setProperty('--height', `${frame.offsetHeight}px`);
            edge.setAttribute('aria-valuemax', Math.round(most()));
            edge.setAttribute('aria-valuenow',
                Math.round(pixels || frame.clientHeight || LEAST));
        }

        function choose(pixels) {
            chosen = pixels && Math.max(LEAST, Math.min(most(), pixels));
            resize();
        }

        function begin(event) {
            edge.setPointerCapture(event.pointerId);
            event.preventDefault();
            edge.focus();
        }

        function drag(event) {
            const { top } = control.parts.frame.getBoundingClientRect();

            if (edge.hasPointerCapture(event.pointerId))
                choose(event.clientY - top);
        }

        function step(event) {
            const change = { ArrowUp: -STEP, ArrowDown: STEP }[event.key];

            if (!change)
                return;
            choose(control.parts.frame.clientHeight + change);
            event.preventDefault();
        }

        return { edge, resize };
    }

    return { make: create };
})();

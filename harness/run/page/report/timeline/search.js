// search.js: finds slices by name and field on the time line.
const search = (() => {
    const { make } = dom;

    // Without a search, the next match is the neighbor in the same row.
    function neighbor({ slices }, from, distance) {
        const { rows, track, depth } = slices;
        let row = from + distance;

        while (from >= 0 && row >= 0 && row < rows &&
            (track[row] !== track[from] || depth[row] !== depth[from]))
            row += distance;
        return row < rows ? row : -1;
    }

    // Behind the last match comes the first.
    function next({ ids }, from, distance) {
        const at = layout.firstAt(ids, ids.length, from, 0);
        const step = distance > 0 && ids[at] !== from ? 0 : distance;

        return ids.length ? ids[(at + step + ids.length) % ids.length] : -1;
    }

    function create(control) {
        const total = make('span', { class: 'muted', role: 'status' });
        const box = make('input', {
            type: 'search', 'aria-label': 'Search slices',
            placeholder: 'Search slices',
            input: () => update(), keydown,
        });

        function update() {
            const text = box.value.trim().toLowerCase();

            control.view.found = text ?
                matches.find(control.recording, text) : null;
            total.textContent = text ?
                `${format.count(control.view.found.ids.length)} found` : '';
            state.note({ find: box.value });
            control.redraw();
        }

        function step(distance) {
            const { found, selected } = control.view;
            const row = found ? next(found, selected, distance) :
                neighbor(control.recording, selected, distance);

            if (row >= 0)
                control.select(row, true);
        }

        function keydown(event) {
            if (event.key === 'Enter')
                step(event.shiftKey ? -1 : 1);
            else if (event.key === 'Escape')
                box.blur();
        }

        const button = (text, label, distance) => make('button', {
            type: 'button', 'aria-label': label, title: label,
            click: () => step(distance),
        }, text);

        return {
            element: [box, make('div', { class: 'buttons' },
                button('‹', 'Previous (P)', -1),
                button('›', 'Next (N)', 1)), total],
            step, focus: () => box.focus(),
            grow: () => control.view.found && update(),
            restore() {
                box.value = state.get('find');
                update();
            },
        };
    }

    return { make: create };
})();

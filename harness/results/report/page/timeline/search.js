// search.js: finds slices by name and field on the time line.
const search = (() => {
    const { make } = dom;

    // matching() marks the slices whose name or field contains a text.
    function matching(recording, text) {
        const { slices } = recording;
        const hits = recording.strings.map((string) =>
            string.toLowerCase().includes(text));
        const found = new Uint8Array(slices.rows);
        const { value } = recording.table('slice_fields');

        for (let row = 0; row < slices.rows; row++) {
            let hit = hits[slices.name[row]];

            for (let i = recording.sliceFirst[row];
                i < recording.sliceFirst[row + 1] && !hit; i++)
                hit = hits[value[i]];
            found[row] = hit ? 1 : 0;
        }
        return found;
    }

    function count(found) {
        let number = 0;

        for (const hit of found)
            number += hit;
        return number;
    }

    // Without a search, the next match is the neighbor in the same row.
    function neighbor({ slices }, from, distance) {
        const { rows, track, depth } = slices;
        let row = from + distance;

        while (from >= 0 && row >= 0 && row < rows &&
            (track[row] !== track[from] || depth[row] !== depth[from]))
            row += distance;
        return row < rows ? row : -1;
    }

    function next(found, from, distance) {
        for (let i = 1; i <= found.length; i++) {
            const row = (from + distance * i + 2 * found.length) %
                found.length;

            if (found[row])
                return row;
        }
        return -1;
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
                matching(control.recording, text) : null;
            total.textContent = text ?
                `${format.count(count(control.view.found))} found` : '';
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
            restore() {
                box.value = state.get('find');
                update();
            },
        };
    }

    return { make: create };
})();

// toolbar.js: the search, the buttons and the list of keys above the time line.
const toolbar = (() => {
    const { make } = dom;

    const KEYS = [
        ['W S', 'zoom'], ['A D ← →', 'move'],
        ['↑ ↓ PageUp PageDown', 'scroll'],
        ['Home End', 'scroll to the first, last track'],
        ['L', 'follow a test that runs'],
        ['F', 'fit the selection, the records, the body, all'],
        ['G', 'fit the work of devices'], ['I', 'skip idle times'],
        ['M', 'measure'], ['C', 'note'], ['T', 'tracks'],
        ['K', 'critical path'], ['E Shift+E', 'next, previous problem'],
        ['J Shift+J', 'next, previous finding'], ['/', 'search'],
        ['N P', 'next, previous result'], ['Esc', 'clear'],
        ['Ctrl+wheel, pinch', 'zoom'], ['Drag', 'move'],
        ['Shift+drag', 'select a range'], ['?', 'these keys'],
    ];

    function keyList() {
        return make('dl', {}, ...KEYS.flatMap(([pressed, does]) =>
            [make('dt', {}, pressed), make('dd', {}, does)]));
    }

    function button(text, label, click) {
        return make('button', { type: 'button', 'aria-label': label,
            title: label, click }, text);
    }

    // What is idle depends on what works in the test.
    function idleButton(control) {
        const made = button('Skip idle', 'Skip idle times, in which nothing ' +
            `begins or ends and ${idle.deviceSpan(control.recording) ?
                'no device works' : 'no innermost slice is open'} (I)`,
        control.toggleIdle);

        made.classList.add('toggle');
        return made;
    }

    function buttons(control) {
        return make('div', { class: 'buttons' },
            button('−', 'Zoom out (S)', () => control.zoom(1.6)),
            button('+', 'Zoom in (W)', () => control.zoom(0.625)),
            button('Fit', 'Fit (F)', () => control.fit()),
            idle.deviceSpan(control.recording) &&
                button('Device', 'Fit device work (G)', control.fitDevice),
            control.parts.idle,
            control.recording.moved && button('Latest',
                'Latest: follow what is recorded (L)',
                control.catchUp),
            button('Measure', 'Measure the selection (M)', control.measure),
            button('Note', 'Write a note on the range (C)',
                () => notes.write(control)),
            control.parts.critical, control.parts.problems.element);
    }

    function create(control) {
        control.parts.idle = idleButton(control);
        control.parts.keys = make('details', { class: 'keys' },
            make('summary', {}, 'Keys'), keyList());
        return make('div', { class: 'tools' },
            control.parts.search.element, buttons(control),
            control.parts.tracks.menu.element,
            control.parts.keys);
    }

    return { make: create };
})();

// toolbar.js: the search, the buttons and the list of keys above the time line.
const toolbar = (() => {
    const { make } = dom;

    const KEYS = ['W S zoom', 'A D or arrows move',
        'PageUp PageDown Home End scroll', 'F fit', 'G fit device work',
        'I skip idle times', 'M measure', 'C note', 'T tracks',
        'K critical path', 'E next problem, Shift+E previous',
        'J next finding, Shift+J previous', '/ search',
        'N next, P previous', 'Esc clear', 'Ctrl and wheel, or pinch, zoom',
        'drag moves', 'Shift and drag selects a range'];

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
            button('Measure', 'Measure the selection (M)', control.measure),
            button('Note', 'Write a note on the range (C)',
                () => notes.write(control)),
            control.parts.critical, control.parts.problems.element);
    }

    function create(control) {
        control.parts.idle = idleButton(control);
        return make('div', { class: 'tools' },
            control.parts.search.element, buttons(control),
            control.parts.tracks.menu.element,
            make('details', { class: 'keys' }, make('summary', {}, 'Keys'),
                make('p', {}, KEYS.join(' · '))));
    }

    return { make: create };
})();

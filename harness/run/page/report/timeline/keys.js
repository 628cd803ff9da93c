// keys.js: the keys of the time line.
const keys = (() => {
    function actions(control) {
        const { search, problems } = control.parts;

        return {
            w: () => control.zoom(0.625), s: () => control.zoom(1.6),
            a: () => control.pan(-0.2), d: () => control.pan(0.2),
            ArrowLeft: () => control.pan(-0.1),
            ArrowRight: () => control.pan(0.1),
            ArrowUp: () => control.scroll(-60),
            ArrowDown: () => control.scroll(60),
            f: () => control.fit(), m: () => control.measure(),
            g: () => control.fitDevice(), i: () => control.toggleIdle(),
            l: () => control.recording.moved && control.catchUp(),
            c: () => notes.write(control),
            k: () => critical.toggle(control),
            n: () => search.step(1), p: () => search.step(-1),
            e: ({ shiftKey }) => problems.step(shiftKey ? -1 : 1),
            j: ({ shiftKey }) => problems.stepFinding(shiftKey ? -1 : 1),
            t: () => control.parts.tracks.menu.open(),
            PageUp: () => control.scroll(-control.page()),
            PageDown: () => control.scroll(control.page()),
            Home: () => control.scroll(-Infinity),
            End: () => control.scroll(Infinity),
            '/': () => search.focus(),
            '?'() { control.parts.keys.open = !control.parts.keys.open; },
            Escape() {
                control.setRange(null);
                control.select(-1);
            },
        };
    }

    // Where text is typed or a table has the focus, keys belong to it.
    function isTaken(event) {
        return event.ctrlKey || event.altKey || event.metaKey ||
            event.target.closest('input, .grid-view, pre') ||
            (event.key.startsWith('Arrow') &&
                event.target.closest('button, summary, [role=separator]'));
    }

    function attach(element, control) {
        document.addEventListener('keydown', (event) => {
            if (element.hidden || !control.recording || isTaken(event))
                return;
            const key = event.key.length === 1 ? event.key.toLowerCase() :
                event.key;
            const action = actions(control)[key];

            if (action) {
                event.preventDefault();
                action(event);
            }
        });
    }

    return { attach };
})();

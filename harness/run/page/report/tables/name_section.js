// name_section.js: a table of sums whose names open the durations of all their
// slices in the report.
const nameSection = (() => {
    const { make } = dom;

    // link() leads to a slice on the time line of its test.
    function link({ test, recording, row, length }) {
        const time = Math.round(recording.slices.start[row] - recording.zero);

        return [make('a', { href: state.link({
            view: 'timeline', test: test.id, t: time,
        }) }, `${format.line(test.id)}, ${format.seconds(time)} s`),
        make('span', { class: 'muted' }, ` ${format.duration(length)}`)];
    }

    // create() makes the table. wantedOf(recording) tells which slices belong
    // to it; list are its tests.
    function create(title, rows, columns, list, wantedOf) {
        const details = make('div', { class: 'name-details', tabindex: '-1' });
        let chosen = '';

        async function open(name) {
            const all = oneName.begin(name);

            chosen = name;
            dom.replace(details, make('p', { class: 'muted', role: 'status' },
                'Reading recordings'));
            for (const test of list) {
                const recording = await report.recording(test);

                if (chosen !== name || !details.isConnected)
                    return;
                if (recording) {
                    oneName.add(all, { test, recording,
                        wanted: wantedOf(recording),
                        part: nesting.of(recording) });
                }
            }
            dom.replace(details, make('h2', {}, format.line(name)),
                oneName.make(all, link, open));
            details.scrollIntoView({ block: 'nearest' });
            details.focus({ preventScroll: true });
        }

        return [sumTable.make(title, rows,
            sumTable.linked(columns, ({ name }) => () => open(name))),
            details];
    }

    return { make: create };
})();

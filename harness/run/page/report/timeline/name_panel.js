// name_panel.js: the slices of one name in the range or in the whole test,
// below the time line.
(() => {
    const { make } = dom;

    // link() is a button that selects a slice.
    function link(control) {
        return ({ recording, row, length }) => make('button', {
            type: 'button', class: 'link',
            click: () => control.select(row, true),
        }, `${format.seconds(recording.slices.start[row] - recording.zero)} s`,
        make('span', { class: 'muted' }, ` ${format.duration(length)}`));
    }

    function names(control) {
        const { recording, view } = control;
        const { slices } = recording;

        return view.name || (view.selected < 0 ? '' :
            recording.string(slices.name[view.selected]));
    }

    function fill(control) {
        const { recording, test, view } = control;
        const name = names(control);
        const part = view.range ? nesting.within(recording, view.range) :
            nesting.of(recording);
        const all = oneName.begin(name);

        if (!name) {
            return make('p', { class: 'muted' }, 'Select a slice, or a name ' +
                'in the summary, to see how its durations are spread.');
        }
        oneName.add(all, { test, recording, wanted: part.has, part });
        return [
            make('h2', {}, format.line(name), ' ', make('span', {
                class: 'muted',
            }, `${format.plural(all.rows.length, 'slice')} in the ${
                view.range ? 'range' : 'test'}`)),
            oneName.make(all, link(control), (next) => {
                view.name = next;
                control.parts.panels.open('name');
            }),
        ];
    }

    panels.add('name', { title: 'Durations', fill, takesRange: true });
})();

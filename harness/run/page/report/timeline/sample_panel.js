// sample_panel.js: below the time line, where threads spent processor time, in
// a range or in the whole test.
const samplePanel = (() => {
    const { make } = dom;

    function fill({ recording, view: { range } }) {
        const sums = sampleTables.empty();

        sampleTables.collect(sums, recording, range);
        const sections = sampleTables.sections(sums);

        return sections.length ? sections :
            make('p', { class: 'muted' }, 'No sample was taken here.');
    }

    panels.add('samples', { title: 'Samples', fill, takesRange: true,
        applies: ({ recording }) => sampleSums.isThere(recording) });

    return { fill };
})();

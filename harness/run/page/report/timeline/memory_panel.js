// memory_panel.js: below the time line, what a test allocated on devices: what
// was in use at the peak, and each allocation, linked to its slice.
const memoryPanel = (() => {
    const { make } = dom;

    // open() makes a button that selects the slice of an allocation; those of
    // large recordings may be left out.
    function opener(control) {
        return ({ one }, text) => one.slice < 0 ? text : make('button', {
            type: 'button', class: 'link',
            click: () => control.select(one.slice, true),
        }, text);
    }

    function peakSection(control, device, range) {
        const { recording } = control;
        const peak = memory.peak(recording, device, range);

        if (!peak)
            return null;
        const time = Math.max(peak.time, range ? range[0] : peak.time);
        const slice = recording.table('memory').slice[peak.row] - 1;

        return [make('h3', {}, `Live at the peak of ${format.line(device)}: ${
            format.bytes(peak.bytes)}, `, opener(control)({ one: { slice } },
            `at ${format.seconds(time - recording.zero)} s`)),
        memoryTables.liveTable(memoryTables.live(recording, device, peak),
            device, opener(control))];
    }

    function columns(control) {
        const { recording } = control;

        return [
            ['Span', ({ one }) => memory.place(recording, one), undefined,
                opener(control)],
            ['Memory', ({ one }) => one.kind],
            ['Bytes', ({ one }) => one.bytes, 'bytes'],
            ['Allocated (s)', ({ one }) => one.from - recording.zero,
                'moment'],
            ['Held', ({ one }) =>
                Math.min(one.to, recording.end) - one.from, 'time'],
            ['Unused', ({ one }) => memory.unusedTime(recording, one), 'time'],
            ['Finding', ({ one }) => memory.finding(recording, one), 'text'],
            ['Device', ({ one }) => one.device, 'text'],
        ];
    }

    function fill(control) {
        const { recording, view: { range } } = control;
        const { allocations, uses } = memory.of(recording);
        const [start, end] = range || [-Infinity, Infinity];
        const rows = allocations.filter(({ from, to }) =>
            from < end && to > start).map((one) => ({ one }))
            .sort((a, b) => b.one.bytes - a.one.bytes);

        return [
            make('h2', {}, range ? `Memory in a range of ${
                format.duration(end - start)}` : 'Memory of devices'),
            [...uses.keys()].map((device) =>
                peakSection(control, device, range)),
            rows.length ? [make('h3', {}, 'Allocations'),
                make('p', { class: 'muted' }, memoryTables.EXPLAINED),
                sumTable.make('Allocations', rows, columns(control))] :
                make('p', { class: 'muted' },
                    'No memory of devices is recorded here.'),
        ];
    }

    panels.add('memory', { title: 'Memory', fill, takesRange: true,
        applies: ({ recording }) =>
            memory.of(recording).allocations.length > 0 });

    return { fill };
})();

// gaps.js: lists when devices were idle, and what the host did meanwhile.
const gaps = (() => {
    const { make } = dom;
    const HOST = 3;
    const MOST = 10000;

    function devicesOf(recording) {
        recording.devices = recording.devices || deviceGaps.of(recording);
        return recording.devices;
    }

    function hostText(recording, gap) {
        const length = gap.to - gap.from;

        return deviceGaps.host(recording, gap).slice(0, HOST)
            .map(({ name, track, time }) => `${format.line(name)} ${
                format.percent(time, length)} (${format.line(
                recordings.trackName(recording, track))})`)
            .join(', ') || 'nothing recorded';
    }

    // goTo() shows a gap and selects what the host did most of it.
    function goTo(control, gap) {
        const [longest] = deviceGaps.host(control.recording, gap);

        critical.goTo(control, { from: gap.from, to: gap.to,
            row: longest ? longest.row : -1 });
    }

    function table(control, rows) {
        const { recording } = control;
        const { zero } = recording;
        const result = grid.make({
            label: 'Device gaps', kind: 'gaps', rowHeight: 24,
            choose: (gap) => goTo(control, gap),
            columns: [
                { key: 'time', title: 'Start (s)', cell: ({ from }) =>
                    format.seconds(from - zero) },
                { key: 'duration', title: 'Idle', cell: ({ from, to }) =>
                    format.duration(to - from) },
                { key: 'thread', title: 'Device', cell: ({ device }) =>
                    format.line(device.name) },
                { key: 'before', title: 'Before', cell: ({ before }) =>
                    format.line(recordings.sliceName(recording, before)) },
                { key: 'message', title: 'Meanwhile, on the host',
                    cell: (gap) => hostText(recording, gap) },
            ],
        });

        result.setRows(rows);
        return result;
    }

    function summary(device) {
        const length = device.end - device.start;

        return make('p', { class: 'muted' }, `${format.line(device.name)}: ` +
            `idle for ${format.duration(device.idle)} of ` +
            `${format.duration(length)} between its first and last work, in ` +
            `${format.plural(device.gaps.length, 'gap')}`);
    }

    function fill(control, kept) {
        const devices = devicesOf(control.recording);
        const rows = devices.flatMap((device) => device.gaps)
            .sort((a, b) => b.to - b.from - (a.to - a.from)).slice(0, MOST);

        if (!devices.length) {
            return make('p', { class: 'muted' },
                'No work of a device was recorded.');
        }
        kept.grid = kept.grid || table(control, rows);
        return make('div', { class: 'grid-panel' }, devices.map(summary),
            kept.grid.element);
    }

    panels.add('gaps', { title: 'Device gaps', fill, hasGrid: true,
        applies: ({ recording }) => recording.tracks.device.some(Boolean) });

    return { devicesOf };
})();

// device_tables.js: kernels, copies and compilations, summed up by name and by
// what sets them apart.
const deviceTables = (() => {
    // Properties that set launches of a kernel apart, and their fields.
    const SHAPE = {
        grid: 'count', block: 'block', registers: 'registers',
        shared: 'shared', occupancy: 'occupancy',
    };
    const OTHERS = ['memset', 'sync', 'allocate', 'release', 'graph', 'zone',
        'overhead'];

    function shapeOf(fields) {
        return Object.fromEntries(Object.entries(SHAPE).map(([name, field]) => {
            const value = fields.get(field) || '';

            return [name, /^[\d.]+$/.test(value) ? Number(value) : value];
        }));
    }

    function bytesOf(fields) {
        return Number(String(fields.get('bytes') || '0').replace(/\D/g, ''));
    }

    class Sum {
        constructor(name, kind, shape) {
            Object.assign(this, { name, kind, ...shape });
            this.durations = [];
            this.bytes = 0;
        }
    }

    // collect() adds a recording's device activities to sums by kind, name and,
    // for kernels, shape. Memory has tables of its own.
    function collect(recording, sums) {
        const { slices } = recording;

        for (let row = 0; row < slices.rows; row++) {
            const kind = recording.string(slices.kind[row]);

            if (!kind || memory.isMoment(recording, row))
                continue;
            const name = recordings.sliceName(recording, row);
            const fields = new Map(recordings.sliceFields(recording, row));
            const shape = kind === 'kernel' ? shapeOf(fields) : {};
            const key = JSON.stringify([kind, name, shape]);

            if (!sums.has(key))
                sums.set(key, new Sum(name, kind, shape));
            sums.get(key).durations.push(slices.duration[row]);
            sums.get(key).bytes += bytesOf(fields);
        }
    }

    function ofKind(sums, kinds) {
        const found = [...sums.values()].filter((sum) =>
            kinds.includes(sum.kind));
        const finished = found.map((sum) =>
            Object.assign(sum, statistics.spread(sum.durations)));
        const all = finished.reduce((total, sum) => total + sum.total, 0);

        for (const sum of finished)
            sum.share = all ? 100 * sum.total / all : 0;
        return finished.sort((a, b) => b.total - a.total);
    }

    const NAME = ['Name', (one) => one.name];
    const TIMES = [
        ['Time', (one) => one.share, 'percent'],
        ['Total', (one) => one.total, 'time'],
        ['Instances', (one) => one.count],
        ['Avg', (one) => one.average, 'time'],
        ['Med', (one) => one.median, 'time'],
        ['Min', (one) => one.minimum, 'time'],
        ['Max', (one) => one.maximum, 'time'],
        ['StdDev', (one) => one.deviation, 'time'],
    ];
    const KERNEL = [NAME, ...TIMES,
        ['Grid', (one) => one.grid], ['Block', (one) => one.block],
        ['Registers', (one) => one.registers],
        ['Shared memory', (one) => one.shared],
        ['Occupancy (%)', (one) => one.occupancy]];
    const COPY = [NAME, ...TIMES, ['Bytes', (one) => one.bytes],
        ['GB/s', (one) => one.total ?
            Math.round(one.bytes / one.total * 100) / 100 : 0]];

    // list() is what there is: [title, rows, columns].
    function list(sums) {
        return [
            ['Kernels', ofKind(sums, ['kernel']), KERNEL],
            ['Copies', ofKind(sums, ['memcpy']), COPY],
            ['Compilations', ofKind(sums, ['compile']), [NAME, ...TIMES]],
            ['Other device activities', ofKind(sums, OTHERS),
                [NAME, ['Kind', (one) => one.kind], ...TIMES]],
        ].filter(([, rows]) => rows.length);
    }

    return { collect, list };
})();

// statistics.js: sums up slices by name: count, total, self, and the spread.
const statistics = (() => {
    function quantile(sorted, share) {
        return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
    }

    function deviation(values, mean) {
        const sum = values.reduce((total, value) =>
            total + (value - mean) ** 2, 0);

        return Math.sqrt(sum / values.length);
    }

    // spread() returns the numbers that tables show about durations; there is
    // at least one.
    function spread(durations) {
        const sorted = Float64Array.from(durations).sort();
        const total = sorted.reduce((sum, value) => sum + value, 0);
        const average = total / sorted.length;

        return {
            count: sorted.length, total, average,
            minimum: sorted[0],
            median: quantile(sorted, 0.5),
            p99: quantile(sorted, 0.99),
            maximum: sorted[sorted.length - 1],
            deviation: deviation(sorted, average),
        };
    }

    // collect() adds the wanted slices to groups by name, or only the part of
    // them that nesting.within() returns. Tests number their strings
    // differently; names are what they share.
    function collect(recording, wanted, groups, part = nesting.of(recording)) {
        const { slices } = recording;
        const byNumber = new Map();

        for (let row = 0; row < slices.rows; row++) {
            const number = slices.name[row];

            if (!wanted(row))
                continue;
            if (!byNumber.has(number))
                byNumber.set(number, groupOf(recording, row, groups));
            const group = byNumber.get(number);

            group.isMoment &&= memory.isMoment(recording, row);
            group.durations.push(part.length(row));
            group.self += part.own[row];
            group.total += part.once[row];
        }
        return groups;
    }

    function groupOf(recording, row, groups) {
        const name = recordings.sliceName(recording, row);

        if (!groups.has(name))
            groups.set(name, { name, durations: [], self: 0, total: 0,
                isMoment: true });
        return groups.get(name);
    }

    // What has no duration has no sums.
    const NONE = Object.fromEntries(['self', 'total', 'average', 'minimum',
        'median', 'p99', 'maximum', 'deviation'].map((key) => [key, null]));

    // finish() turns groups into rows, those of the largest sum first.
    function finish(groups) {
        return [...groups.values()].map((group) => ({
            name: group.name, self: group.self, ...spread(group.durations),
            total: group.total,
            ...group.isMoment && NONE,
        })).sort((a, b) => b.total - a.total);
    }

    return { collect, finish, spread };
})();

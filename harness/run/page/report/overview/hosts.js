// hosts.js: the runs of which a merged run is made, and the clocks of their
// hosts.
const hosts = (() => {
    function parts() {
        const { merged } = report.run.head;

        return (merged || []).filter((part) => part);
    }

    function all() {
        const found = new Map();

        for (const part of parts()) {
            const name = part.host || 'unknown';

            found.set(name, [...found.get(name) || [], part]);
        }
        return found;
    }

    // summary() is what the first line of the page says.
    function summary() {
        const names = [...all().keys()];

        return [format.plural(parts().length, 'run') +
            ' merged', names.length === 1 ? format.line(names[0]) :
            format.plural(names.length, 'host')];
    }

    function clock({ offset_ns: offset, uncertainty_ns: error }) {
        const sign = offset < 0 ? '−' : '+';

        return `offset of its clock ${sign}${
            format.duration(Math.abs(offset))}, uncertainty ${
            error === null ? 'unknown' : format.duration(error)}`;
    }

    function ends(runs) {
        return ['interrupted', 'killed'].map((end) => [end,
            runs.filter((part) => part.end === end).length])
            .filter(([, count]) => count)
            .map(([end, count]) => `, ${format.count(count)} ${end}`).join('');
    }

    // facts() has a row for each host.
    function facts() {
        return [...all()].map(([name, runs]) => [name,
            `${format.plural(runs.length, 'run')}${ends(runs)}; ` +
            clock(runs[0])]);
    }

    return { summary, facts };
})();

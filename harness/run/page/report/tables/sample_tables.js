// sample_tables.js: samples in numbers: a flame graph of functions, and their
// processor time by function and by line.
const sampleTables = (() => {
    const { make } = dom;

    function empty() {
        return { tree: flame.node(''), functions: new Map(),
            lines: new Map() };
    }

    function collect(sums, recording, range) {
        sampleSums.addTree(sums.tree, recording, range);
        sampleSums.addSums(sums.functions, recording, { range });
        sampleSums.addSums(sums.lines, recording, { range, byLine: true });
    }

    function look(one, whole) {
        const name = format.line(one.name);

        return {
            kind: `slice-${paint.hue(one.name)}`, label: name,
            text: `${name}: ${format.duration(one.total)}, ` +
                `${format.percent(one.total, whole)}, ` +
                `self ${format.duration(one.self)}`,
        };
    }

    function columns(first, whole) {
        const share = (value) => whole ? 100 * value / whole : 0;

        return [
            ...first,
            ['Self', (one) => one.self, 'time'],
            ['Self %', (one) => share(one.self), 'percent'],
            ['Total', (one) => one.total, 'time'],
            ['Total %', (one) => share(one.total), 'percent'],
        ];
    }

    function bySelf(sums) {
        return [...sums.values()].sort((a, b) =>
            b.self - a.self || b.total - a.total);
    }

    // sections() shows what collect() has summed up; nothing without samples.
    function sections({ tree, functions, lines }) {
        const whole = flame.sum(tree).total;

        if (!whole)
            return [];
        return [
            make('h2', {}, 'Samples'),
            make('p', { class: 'muted' }, `${format.duration(whole)} of ` +
                'processor time, by the functions that threads were in'),
            flame.make(tree, look),
            sumTable.make('Functions', bySelf(functions), columns([
                ['Function', (one) => one.name],
                ['File', (one) => one.file, 'text'],
            ], whole)),
            make('h3', {}, 'Lines'),
            sumTable.make('Lines of the source', bySelf(lines), columns([
                ['Line', (one) => one.file ? `${one.file}:${one.line}` : '?'],
                ['Function', (one) => one.name, 'text'],
            ], whole)),
        ];
    }

    return { empty, collect, sections };
})();

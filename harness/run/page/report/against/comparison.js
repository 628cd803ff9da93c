// comparison.js: the data of the page: tests, names and paths in an old and a
// new run, and what testlog diff says of them.
const comparison = (() => {
    const SLOWER = 1;
    const MORE_FREQUENT = 2;
    const FASTER = 4;
    const LESS_FREQUENT = 8;
    const TOO_NOISY = 16;
    const data = { old: {}, new: {}, leftOut: {}, pairs: [], names: [],
        root: null };

    function readPairs(block) {
        const rows = block.table('pairs');
        const text = (column) => (i) => block.string(rows[column][i]);
        const outcome = { old: text('old_outcome'), new: text('new_outcome') };
        const reason = { old: text('old_reason'), new: text('new_reason') };

        for (let i = 0; i < rows.rows; i++) {
            data.pairs.push({
                number: i,
                program: block.string(rows.program[i]),
                name: block.string(rows.name[i]),
                change: block.string(rows.change[i]),
                old: { outcome: outcome.old(i),
                    duration: rows.old_duration[i] },
                new: { outcome: outcome.new(i),
                    duration: rows.new_duration[i] },
                reason: reason.new(i) || reason.old(i),
                bound: rows.bound[i],
            });
        }
    }

    function sideOf(rows, i, side) {
        const of = (name) => rows[`${side}_${name}`][i];

        return { count: of('count'), total: of('total'), self: of('self'),
            median: of('median'), p99: of('p99'), most: of('most') };
    }

    function readNames(block) {
        const rows = block.table('names');
        const buckets = block.table('buckets');

        for (let i = 0; i < rows.rows; i++) {
            data.names.push({
                kind: block.string(rows.kind[i]),
                name: block.string(rows.name[i]),
                shape: block.string(rows.shape[i]),
                verdict: rows.verdict[i], noise: rows.noise[i],
                old: sideOf(rows, i, 'old'), new: sideOf(rows, i, 'new'),
                buckets: [],
            });
        }
        for (let i = 0; i < buckets.rows; i++) {
            data.names[buckets.name[i]].buckets.push({
                from: buckets.from[i], to: buckets.to[i],
                old: buckets.old[i], new: buckets.new[i],
            });
        }
    }

    function node(name, verdict) {
        return { ...flame.node(name), verdict, children: new Map(),
            old: { total: 0, self: 0, count: 0 },
            new: { total: 0, self: 0, count: 0 } };
    }

    // A path is judged by its last name.
    function verdicts() {
        return new Map(data.names.filter((one) => one.kind === 'span')
            .map((one) => [one.name, one.verdict]));
    }

    function readPaths(block) {
        const rows = block.table('paths');
        const known = verdicts();
        const nodes = [node('all', 0)];

        for (let i = 0; i < rows.rows; i++) {
            const name = block.string(rows.name[i]);
            const one = node(name, known.get(name) || 0);
            const parent = nodes[rows.parent[i]];

            for (const side of ['old', 'new']) {
                for (const key of ['count', 'total', 'self'])
                    one[side][key] = rows[`${side}_${key}`][i];
                if (parent === nodes[0])
                    parent[side].total += one[side].total;
            }
            parent.children.set(name, one);
            nodes.push(one);
        }
        data.root = nodes[0];
    }

    async function load() {
        if (!unpack.isWhole('against'))
            return false;
        const block = await unpack.block('against');

        data.old = block.old;
        data.new = block.new;
        data.leftOut = block.left_out;
        readPairs(block);
        readNames(block);
        readPaths(block);
        return true;
    }

    // grows() tells whether testlog diff says that a name takes longer or is
    // called more often; shrinks() is what it says from the new run to the old.
    function grows(verdict) {
        return !!(verdict & (SLOWER | MORE_FREQUENT));
    }

    function shrinks(verdict) {
        return !!(verdict & (FASTER | LESS_FREQUENT));
    }

    return { data, load, grows, shrinks,
        SLOWER, MORE_FREQUENT, FASTER, LESS_FREQUENT, TOO_NOISY };
})();

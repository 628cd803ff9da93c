// sample_sums.js: where threads were when they were sampled: sums of processor
// time by stack, by function and by line.
const sampleSums = (() => {
    function isThere(recording) {
        return recording.table('stacks').rows > 0;
    }

    // selfOf() returns the ns in each stack itself, in a range of time or in
    // all of it.
    function selfOf(recording, range) {
        const stacks = recording.table('stacks');

        if (!range)
            return stacks.self;
        const { rows, time, stack, weight } = recording.table('samples');
        const self = new Float64Array(stacks.rows);

        for (let row = 0; row < rows; row++) {
            if (time[row] >= range[0] && time[row] <= range[1])
                self[stack[row]] += weight[row];
        }
        return self;
    }

    // totalsOf() adds what each stack has called. Callers come first.
    function totalsOf({ rows, caller }, self) {
        const total = Float64Array.from(self);

        for (let row = rows - 1; row >= 0; row--) {
            if (caller[row])
                total[caller[row] - 1] += total[row];
        }
        return total;
    }

    // addTree() adds the stacks to a tree of flame.js.
    function addTree(root, recording, range) {
        const stacks = recording.table('stacks');
        const self = selfOf(recording, range);
        const total = totalsOf(stacks, self);
        const places = [];

        for (let row = 0; row < stacks.rows; row++) {
            const above = stacks.caller[row] ?
                places[stacks.caller[row] - 1] : root;
            const place = flame.child(above,
                recording.string(stacks.name[row]));

            place.self += self[row];
            place.total += total[row];
            places.push(place);
        }
    }

    // Whether one of a stack's callers has the same key: its time counts there.
    function isWithin({ caller }, keys, row) {
        for (let at = caller[row]; at; at = caller[at - 1]) {
            if (keys[at - 1] === keys[row])
                return true;
        }
        return false;
    }

    // addSums() adds the time of each function, or of each line, to a map.
    function addSums(sums, recording, { range, byLine }) {
        const stacks = recording.table('stacks');
        const { string } = recording;
        const self = selfOf(recording, range);
        const total = totalsOf(stacks, self);
        const keys = [];

        for (let row = 0; row < stacks.rows; row++) {
            const name = string(stacks.name[row]);
            const file = string(stacks.file[row]);
            const line = byLine ? stacks.line[row] : 0;

            keys.push(`${name}\n${file}\n${line}`);
            if (!total[row])
                continue;
            const sum = sums.get(keys[row]) ||
                { name, file, line, self: 0, total: 0 };

            sum.self += self[row];
            if (!isWithin(stacks, keys, row))
                sum.total += total[row];
            sums.set(keys[row], sum);
        }
    }

    return { isThere, selfOf, addTree, addSums };
})();

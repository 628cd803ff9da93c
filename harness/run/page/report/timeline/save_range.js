// save_range.js: saves a range of a test's time line as a report of its own.
const saveRange = (() => {
    // The page before it is filled: this script is still at its end.
    // eslint-disable-next-line no-restricted-properties
    const page = document.documentElement.outerHTML
        .replace(/(<\/body>)?(<\/html>)?\s*$/, '\n');

    function indexes(rows) {
        return Array.from({ length: rows }, (unused, row) => row);
    }

    // A copy of parts of a block, whose strings get new numbers.
    class Copy {
        constructor(block) {
            this.block = block;
            this.numbers = new Map([['', 0]]);
            this.tables = {};
        }

        number(text) {
            if (!this.numbers.has(text))
                this.numbers.set(text, this.numbers.size);
            return this.numbers.get(text);
        }

        // add() copies rows of a table; `changes` are new values of columns.
        add(name, rows, changes = {}) {
            const table = this.block.table(name);
            const { columns = [] } = this.block.tables[name] || {};
            const strings = texts.COLUMNS[name] || [];

            this.tables[name] = { rows: rows.length,
                columns: columns.map(([key, encoding]) => [key, encoding,
                    changes[key] || rows.map((row) => strings.includes(key) ?
                        this.number(this.block.string(table[key][row])) :
                        table[key][row])]) };
        }

        finish(id, changes) {
            return pack.block(id, { ...this.block, ...changes,
                strings: [...this.numbers.keys()] }, this.tables);
        }
    }

    /* ---- A recording ---- */

    // Slices in the range need those around them, and those with their fields.
    function slicesIn(slices, [from, to]) {
        const wanted = new Uint8Array(slices.rows);

        for (let row = slices.rows - 1; row >= 0; row--) {
            const start = slices.start[row];

            if (start <= to && start + slices.duration[row] >= from)
                wanted[row] = 1;
            if (!wanted[row])
                continue;
            wanted[row - slices.parent[row]] = 1;
            wanted[row - slices.again[row]] = 1;
        }
        return indexes(slices.rows).filter((row) => wanted[row]);
    }

    // Fields are in the order of the rows that have them.
    function fieldsOf({ fields, rows }, wanted) {
        const first = new Uint32Array(rows + 1);

        for (let row = 0; row < rows; row++)
            first[row + 1] = first[row] + fields[row];
        return wanted.flatMap((row) => indexes(fields[row])
            .map((i) => first[row] + i));
    }

    // A counter has its value before the range, too. Only the rows of one
    // counter are in order of time.
    function countersIn({ rows, time, name }, [from, to]) {
        const before = new Map();
        const inside = [];

        for (let row = 0; row < rows; row++) {
            if (time[row] < from)
                before.set(name[row], row);
            else if (time[row] <= to)
                inside.push(row);
        }
        return [...before.values()].sort((a, b) => a - b).concat(inside);
    }

    function addSlices(copy, range) {
        const slices = copy.block.table('slices');
        const wanted = slicesIn(slices, range);
        const place = new Map(wanted.map((row, i) => [row, i]));
        const distance = (back) => (row, i) => back[row] ?
            i - place.get(row - back[row]) : 0;

        copy.add('slices', wanted, {
            parent: wanted.map(distance(slices.parent)),
            again: wanted.map(distance(slices.again)),
        });
        copy.add('slice_fields', fieldsOf(slices, wanted));
        return place;
    }

    function addFlows(copy, place) {
        const { rows, from, to } = copy.block.table('flows');
        const wanted = indexes(rows).filter((row) =>
            place.has(from[row]) && place.has(to[row]));

        copy.add('flows', wanted, {
            from: wanted.map((row) => place.get(from[row])),
            to: wanted.map((row) => place.get(to[row])),
        });
    }

    function addLines(copy, place, [from, to]) {
        const lines = copy.block.table('lines');
        const wanted = indexes(lines.rows).filter((row) =>
            lines.time[row] >= from && lines.time[row] <= to);

        copy.add('lines', wanted, { slice: wanted.map((row) =>
            (place.get(lines.slice[row] - 1) ?? -1) + 1) });
        copy.add('line_fields', fieldsOf(lines, wanted));
    }

    // A stay on the critical path ends where the next begins.
    function addPath(copy, [from, to]) {
        const { rows, begin } = copy.block.table('critical');
        const wanted = indexes(rows).filter((row) => begin[row] < to &&
            (row + 1 === rows || begin[row + 1] > from));
        const last = wanted[wanted.length - 1] + 1;

        if (last < rows)
            wanted.push(last);
        copy.add('critical', wanted, { begin: wanted.map((row) =>
            Math.round(Math.max(from, Math.min(to, begin[row])))) });
    }

    // What is in use in the range may be allocated before it, and released
    // after it.
    function addMemory(copy, place) {
        const { rows, slice, span } = copy.block.table('memory');
        const kept = (numbers) => Array.from(numbers, (number) =>
            (place.get(number - 1) ?? -1) + 1);

        copy.add('memory', indexes(rows),
            { slice: kept(slice), span: kept(span) });
    }

    function addBlocking(copy, [begin, end]) {
        const { rows, start } = copy.block.table('blocking');

        copy.add('blocking', indexes(rows).filter((row) =>
            start[row] >= begin && start[row] <= end));
    }

    // All stacks are kept, because rows name those of callers.
    function addSamples(copy, [from, to]) {
        const { rows, time, stack, weight } = copy.block.table('samples');
        const wanted = indexes(rows).filter((row) =>
            time[row] >= from && time[row] <= to);
        const self = new Array(copy.block.table('stacks').rows).fill(0);

        for (const row of wanted)
            self[stack[row]] += weight[row];
        copy.add('samples', wanted);
        copy.add('stacks', indexes(self.length), { self });
    }

    function recordingOf(block, id, range) {
        const copy = new Copy(block);
        const place = addSlices(copy, range);

        addFlows(copy, place);
        addLines(copy, place, range);
        addPath(copy, range);
        addMemory(copy, place);
        addBlocking(copy, range);
        addSamples(copy, range);
        copy.add('counters', countersIn(block.table('counters'), range));
        copy.add('tracks', indexes(block.table('tracks').rows));
        copy.add('sites', indexes(block.table('sites').rows));
        return copy.finish(id, {});
    }

    /* ---- The run ---- */

    // The test gets number 0.
    function addOf(copy, name, number) {
        const { rows, test } = copy.block.table(name);
        const wanted = indexes(rows).filter((row) => test[row] === number);

        copy.add(name, wanted, { test: wanted.map(() => 0) });
    }

    function runOf(block, number, part) {
        const copy = new Copy(block);

        copy.add('tests', [number]);
        addOf(copy, 'tries', number);
        addOf(copy, 'failures', number);
        return copy.finish('run', { previous: null, part });
    }

    function endOf(block, number) {
        const copy = new Copy(block);

        addOf(copy, 'counts', number);
        return copy.finish('end', {});
    }

    async function save(control) {
        const { test, recording, view: { range } } = control;
        const id = report.blockOf(test, state.get('try'));
        const part = {
            test: test.id, from: Math.round(range[0] - recording.zero),
            to: Math.round(range[1] - recording.zero),
        };
        const blocks = [
            await runOf(await unpack.block('run'), test.number, part),
            await recordingOf(await unpack.block(id),
                id.replace(/\d+/, '0'), range),
            await endOf(await unpack.block('end'), test.number)];

        dom.download(`${test.title.replace(/[^\w.-]+/g, '-')}.html`,
            'text/html', `<!doctype html>\n${page}${blocks.join('')}` +
            '</body></html>\n');
    }

    return { save };
})();

// growing.js: a recording to which blocks are added while its test runs. Of
// many rows, the last ones are kept, and the slices that last until then.
const growing = (() => {
    const OPEN = 1;
    // When there are `most` rows, all but `kept` are forgotten.
    const LIMITS = {
        slices: { most: 300000, kept: 200000 },
        lines: { most: 60000, kept: 40000 },
        counters: { most: 300000, kept: 200000 },
        memory: { most: 60000, kept: 40000 },
        flows: { most: 60000, kept: 40000 },
        texts: { most: 400000 },
    };
    // Tables beside that of slices, and their columns that name slices.
    const TABLES = {
        tracks: [], sites: [], slice_fields: [], flows: ['from', 'to'],
        lines: ['slice'], line_fields: [], counters: [],
        memory: ['slice', 'span'], stacks: [], samples: [],
    };

    class Growing {
        constructor(limits) {
            this.limits = { ...LIMITS, ...limits };
            this.texts = texts.make();
            this.slices = columns.table();
            this.others = Object.fromEntries(Object.keys(TABLES).map((name) =>
                [name, columns.table()]));
            this.open = new Set();
            this.late = new Map();
            // Blocks number all slices. From `first` on, they are the rows
            // behind those whose numbers are in `older`.
            this.first = 0;
            this.older = [];
            this.skipped = 0;
            this.begin = Infinity;
        }

        /* ---- Blocks ---- */

        // rowOf() is the row of a slice by its number; -1 if it is forgotten.
        rowOf(number) {
            return number >= this.first ?
                number - this.first + this.older.length :
                this.older.indexOf(number);
        }

        numberOf(row) {
            return row < this.older.length ? this.older[row] :
                this.first + row - this.older.length;
        }

        // back() makes distances between numbers distances between rows.
        back(distances) {
            const { rows } = this.slices;
            const next = this.numberOf(rows);

            return distances.map((distance, i) => {
                const to = distance ? this.rowOf(next + i - distance) : -1;

                return to < 0 ? 0 : rows + i - to;
            });
        }

        addSlices(table) {
            const { rows } = this.slices;

            table.parent = this.back(table.parent);
            table.again = this.back(table.again);
            table.state.forEach((state, i) =>
                state & OPEN && this.open.add(rows + i));
            this.slices.append(table);
        }

        // end() ends slices that were open. Fields that were recorded late
        // replace those of before.
        end(block) {
            const { row: numbers, duration, fields, rows } =
                block.table('ended');
            const { name, value } = block.table('ended_fields');
            const known = this.slices.columns;

            for (let i = 0, at = 0; i < rows; at += fields[i++]) {
                const row = this.rowOf(numbers[i]);

                this.open.delete(row);
                known.duration[row] = duration[i];
                known.state[row] &= ~OPEN;
                if (fields[i]) {
                    this.late.set(row, Array.from({ length: fields[i] },
                        (unused, k) => [block.string(name[at + k]),
                            block.string(value[at + k])]));
                }
            }
        }

        // addOther() adds a table. What names a slice that is forgotten names
        // none; arrows need both.
        addOther(name, table) {
            if (name === 'flows') {
                for (const key of TABLES.flows)
                    table[key] = table[key].map((one) => this.rowOf(one) + 1);
            } else {
                for (const key of TABLES[name]) {
                    table[key] = table[key].map((one) =>
                        one && this.rowOf(one - 1) + 1);
                }
            }
            this.others[name].append(table);
        }

        add(block) {
            const tables = Object.fromEntries(
                ['slices', ...Object.keys(TABLES)].map((name) =>
                    [name, block.table(name)]));

            for (const [name, table] of Object.entries(tables))
                this.texts.translate(name, table, block.strings);
            this.head = block;
            this.begin = Math.min(this.begin, ...['slices', 'lines', 'counters']
                .map((name) => (tables[name].start || tables[name].time)[0])
                .filter((time) => time !== undefined));
            this.addSlices(tables.slices);
            for (const name of Object.keys(TABLES))
                this.addOther(name, tables[name]);
            this.end(block);
        }

        /* ---- What is forgotten ---- */

        // surplus() is how many of the rows are too many.
        surplus(name, { rows }) {
            const { most, kept } = this.limits[name];

            return rows > most ? rows - kept : 0;
        }

        // keptSlices() are the rows that stay if the first ones go. Of these,
        // the slices stay that have not ended before the others begin.
        keptSlices(count) {
            const { start, duration } = this.slices.columns;
            const older = [];

            for (let row = 0; row < count; row++) {
                if (this.open.has(row) ||
                    start[row] + duration[row] > start[count])
                    older.push(row);
            }
            const kept = new Uint32Array(
                older.length + this.slices.rows - count);

            kept.set(older);
            for (let i = older.length; i < kept.length; i++)
                kept[i] = count + i - older.length;
            return { kept, older };
        }

        keepFields(kept) {
            const { fields } = this.slices.columns;
            const rows = [];
            let row = 0;
            let at = 0;

            for (const one of kept) {
                for (; row < one; row++)
                    at += fields[row];
                for (let i = 0; i < fields[one]; i++)
                    rows.push(at + i);
            }
            this.others.slice_fields.keep(rows);
        }

        // relink() makes the distances of the slices that stay lead to others
        // that stay: a slice gets the parent of its forgotten parent.
        relink(kept, to) {
            const { parent, again } = this.slices.columns;
            const outerOf = (row) => parent[row] ? row - parent[row] : -1;

            for (const row of kept) {
                const first = row - again[row];
                let outer = outerOf(row);

                while (outer >= 0 && to[outer] < 0)
                    outer = outerOf(outer);
                again[row] = to[first] < 0 ? 0 : to[row] - to[first];
                parent[row] = outer < 0 ? 0 : to[row] - to[outer];
            }
        }

        // renumber() makes columns name the rows that slices have now.
        renumber(to) {
            for (const [name, keys] of Object.entries(TABLES)) {
                const table = this.others[name].view();

                for (const key of keys) {
                    for (let i = 0; i < table.rows; i++) {
                        const row = table[key][i];

                        table[key][i] = row && to[row - 1] + 1;
                    }
                }
            }
            this.open = new Set([...this.open].map((row) => to[row]));
            this.late = new Map([...this.late].filter(([row]) => to[row] >= 0)
                .map(([row, fields]) => [to[row], fields]));
        }

        // forgetSlices() forgets the first slices. It returns the rows that the
        // others have now, -1 for those that are forgotten.
        forgetSlices(count) {
            const { kept, older } = this.keptSlices(count);
            const to = new Int32Array(this.slices.rows).fill(-1);
            const numbers = older.map((row) => this.numberOf(row));
            const first = this.numberOf(count);

            kept.forEach((row, i) => { to[row] = i; });
            this.keepFields(kept);
            this.relink(kept, to);
            this.slices.keep(kept);
            this.renumber(to);
            this.older = numbers;
            this.first = first;
            return to;
        }

        forgetLines(count) {
            const { lines, line_fields: fields } = this.others;

            fields.skip(lines.columns.fields.subarray(0, count)
                .reduce((a, b) => a + b, 0));
            lines.skip(count);
            this.skipped += count;
        }

        // forget() returns what tells where a slice's row is now.
        forget() {
            const slices = this.surplus('slices', this.slices);
            const lines = this.surplus('lines', this.others.lines);
            const to = slices && this.forgetSlices(slices);

            if (lines)
                this.forgetLines(lines);
            for (const name of ['counters', 'memory', 'flows']) {
                this.others[name].skip(
                    this.surplus(name, this.others[name]));
            }
            if (this.texts.all.length > this.limits.texts.most)
                this.texts.renew({ slices: this.slices, ...this.others });
            return to ? (row) => row < 0 ? -1 : to[row] : (row) => row;
        }

        /* ---- Recordings ---- */

        some() {
            return this.begin < Infinity;
        }

        flows() {
            const { from, to, rows } = this.others.flows.view();
            const both = Array.from({ length: rows }, (unused, i) => i)
                .filter((i) => from[i] && to[i]);

            return { rows: both.length,
                from: Uint32Array.from(both, (i) => from[i] - 1),
                to: Uint32Array.from(both, (i) => to[i] - 1) };
        }

        tablesOfNow() {
            const { duration, start } = this.slices.columns;

            for (const row of this.open)
                duration[row] = Math.max(0, this.head.now - start[row]);
            return { ...Object.fromEntries(Object.entries(this.others)
                .map(([name, table]) => [name, table.view()])),
            slices: this.slices.view(), flows: this.flows() };
        }

        // recording() is what there is now, for a test. Its moved() returns the
        // row that a slice of the recording before has, -1 if it is forgotten;
        // `skipped` is how many lines are.
        recording(test) {
            const moved = this.forget();
            const { head, late, skipped, begin } = this;
            const { all } = this.texts;
            const tables = this.tablesOfNow();
            const { phases } = head;
            const table = (name) => unpack.fill(name,
                tables[name] || { rows: 0 });
            const made = recordings.prepare({
                ...head, late, moved, skipped, table, strings: all,
                string: (number) => all[number] || '',
                phases: { ...phases, setup: phases.setup || begin },
            }, test);

            return recordings.extend(made, this.first ?
                made.slices.start[this.older.length] : 0, head.now);
        }
    }

    return { make: (limits) => new Growing(limits) };
})();

// columns.js: a table to which rows are added at its end.
const columns = (() => {
    class Table {
        constructor() {
            this.rows = 0;
            this.room = 0;
            this.columns = {};
        }

        // reserve() makes room for more rows, as many of these columns.
        reserve(table) {
            const needed = this.rows + table.rows;
            const before = this.columns;

            if (needed <= this.room)
                return;
            this.room = 2 * needed;
            this.columns = {};
            for (const [name, values] of Object.entries(table)) {
                if (name === 'rows')
                    continue;
                this.columns[name] = new values.constructor(this.room);
                if (before[name])
                    this.columns[name].set(before[name].subarray(0, this.rows));
            }
        }

        // append() adds the rows of a table with the same columns.
        append(table) {
            this.reserve(table);
            for (const [name, values] of Object.entries(this.columns))
                values.set(table[name], this.rows);
            this.rows += table.rows;
        }

        // keep() keeps some rows, which are in order, as the first ones.
        keep(rows) {
            for (const values of Object.values(this.columns))
                rows.forEach((row, i) => { values[i] = values[row]; });
            this.rows = rows.length;
        }

        // skip() forgets the first rows.
        skip(count) {
            if (!count)
                return;
            for (const values of Object.values(this.columns))
                values.copyWithin(0, count, this.rows);
            this.rows -= count;
        }

        // view() is a table with the rows of now.
        view() {
            return { rows: this.rows, ...Object.fromEntries(
                Object.entries(this.columns).map(([name, values]) =>
                    [name, values.subarray(0, this.rows)])) };
        }
    }

    return { table: () => new Table() };
})();

// texts.js: the strings of a recording that grows. Each block of it numbers its
// strings anew; here, each text has one number.
const texts = (() => {
    // The columns that are numbers of strings, by table.
    const COLUMNS = {
        tests: ['program', 'name', 'title', 'outcome', 'reason', 'assertions',
            'file', 'filter', 'gpu', 'rerun', 'debug', 'host'],
        tries: ['outcome', 'reason'],
        failures: ['where', 'stacks', 'output', 'lines', 'recorded', 'open'],
        tracks: ['kind', 'name', 'process'],
        sites: ['name', 'target', 'file', 'function', 'kind'],
        slices: ['name', 'kind'],
        slice_fields: ['name', 'value'],
        lines: ['text'],
        line_fields: ['name', 'value'],
        counters: ['name'],
        memory: ['device', 'memory'],
        blocking: ['text'],
        stacks: ['name', 'file'],
    };

    class Texts {
        constructor() {
            this.clear();
        }

        clear() {
            this.all = [''];
            this.numbers = new Map([['', 0]]);
        }

        add(text) {
            if (!this.numbers.has(text)) {
                this.numbers.set(text, this.all.length);
                this.all.push(text);
            }
            return this.numbers.get(text);
        }

        // translate() replaces the numbers of other strings in a table.
        translate(name, table, strings) {
            for (const key of COLUMNS[name] || []) {
                for (let row = 0; row < table.rows; row++)
                    table[key][row] = this.add(strings[table[key][row]] || '');
            }
        }

        // renew() forgets the texts that no table has.
        renew(tables) {
            const { all } = this;

            this.clear();
            for (const [name, table] of Object.entries(tables))
                this.translate(name, table.view(), all);
        }
    }

    return { make: () => new Texts(), COLUMNS };
})();

// sum_table.js: tables of sums, which can be sorted and downloaded.
const sumTable = (() => {
    const { make } = dom;
    const SHOWN = 200;

    const SPAN_COLUMNS = [
        ['Name', (one) => one.name],
        ['Count', (one) => one.count],
        ['Total', (one) => one.total, 'time'],
        ['Self', (one) => one.self, 'time'],
        ['Average', (one) => one.average, 'time'],
        ['Min', (one) => one.minimum, 'time'],
        ['Median', (one) => one.median, 'time'],
        ['p99', (one) => one.p99, 'time'],
        ['Max', (one) => one.maximum, 'time'],
    ];

    function quote(value) {
        const text = String(value);

        return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` :
            text;
    }

    // The units of numbers that tables round.
    const UNITS = { time: ' (ns)', moment: ' (ns)', bytes: ' (bytes)' };

    // csv() has all digits. A formula of a spreadsheet would begin with one of
    // these characters.
    function csv(columns, rows) {
        const head = columns.map(([title, , kind]) =>
            quote(`${title}${UNITS[kind] || ''}`));
        const lines = rows.map((row) => columns.map(([, value, kind]) => {
            const cell = value(row);

            if (cell === null)
                return '';
            if (UNITS[kind])
                return Math.round(cell);
            return quote(String(cell).replace(/^[=+\-@\t]/, '\'$&'));
        }));

        return [head, ...lines].map((line) => line.join(',')).join('\n') +
            '\n';
    }

    function text(value, kind) {
        if (value === null)
            return '';
        if (kind === 'time')
            return format.duration(value);
        if (kind === 'moment')
            return format.seconds(value);
        if (kind === 'bytes')
            return format.bytes(value);
        if (kind === 'percent')
            return `${value.toFixed(1)} %`;
        return typeof value === 'number' ? format.count(value) :
            format.line(value);
    }

    function compare(a, b) {
        if (a === null || b === null)
            return (a === null) - (b === null);
        if (typeof a === 'number' && typeof b === 'number')
            return b - a;
        return String(a).localeCompare(String(b), 'en');
    }

    function cell(column, row, i) {
        const shown = text(column[1](row), column[2]);

        const content = column[3] ? column[3](row, shown) : shown;

        return i ? make('td', { class: column[2] || 'number' }, content) :
            make('th', { class: 'name', scope: 'row', title: shown }, content);
    }

    // linked() makes each cell of the first column do what choose(row) returns,
    // which may be null.
    function linked([[title, value, kind], ...rest], choose) {
        const content = (row, shown) => {
            const click = choose(row);

            return click ? make('button', {
                type: 'button', class: 'link', click,
            }, shown) : shown;
        };

        return [[title, value, kind, content], ...rest];
    }

    function download(label, columns, rows) {
        return make('button', {
            type: 'button', class: 'csv',
            'aria-label': `Download ${label} as CSV`,
            click: () => dom.download(
                `${label.toLowerCase().replace(/\W+/g, '-')}.csv`,
                'text/csv', csv(columns, rows)),
        }, 'CSV');
    }

    function titles(columns, sorted, resort) {
        return make('tr', {}, columns.map((column, i) => make('th', {
            scope: 'col', class: i ? column[2] || 'number' : 'name',
            'aria-sort': sorted.by === i ?
                sorted.back ? 'ascending' : 'descending' : 'none',
        }, make('button', {
            type: 'button', click: () => resort(i),
            class: sorted.by !== i ? '' :
                sorted.back ? 'sorted-ascending' : 'sorted-descending',
        }, column[0]))));
    }

    // create() makes a table of rows. columns: [title, value(row), kind,
    // content(row, text)], where kind is "time" (ns), "moment" (ns of the
    // test's time), "bytes", "percent", "text" or nothing. An unknown value is
    // null. content() makes a link, or a button, of a text.
    function create(label, rows, columns = SPAN_COLUMNS) {
        const table = make('table', { class: 'sums', 'aria-label': label });
        const sorted = { by: -1, back: false };
        let most = SHOWN;

        function resort(i) {
            sorted.back = sorted.by === i && !sorted.back;
            sorted.by = i;
            rows = [...rows].sort((a, b) => (sorted.back ? -1 : 1) *
                compare(columns[i][1](a), columns[i][1](b)));
            fill();
            table.querySelectorAll('thead button')[i].focus();
        }

        function fill() {
            const rest = rows.length - most;

            dom.replace(table, make('thead', {},
                titles(columns, sorted, resort)),
            make('tbody', {}, rows.slice(0, most).map((row) =>
                make('tr', {}, columns.map((column, i) =>
                    cell(column, row, i))))),
            rest > 0 && make('caption', {}, make('button', {
                type: 'button',
                click() {
                    most = Infinity;
                    fill();
                },
            }, `Show ${format.count(rest)} more`)));
        }

        fill();
        return make('div', { class: 'sums-frame' },
            make('div', { class: 'sums-scroll', tabindex: '0', role: 'group',
                'aria-label': `${label}, table` }, table),
            download(label, columns, rows));
    }

    return { make: create, linked, csv, SPAN_COLUMNS };
})();

// grid.js: a table of any number of rows, of which only those on the screen are
// elements. Screen readers learn the row's number and how many there are.
const grid = (() => {
    const { make: el } = dom;
    // Browsers limit an element's height.
    const TALLEST = 12e6;
    const SPARE = 8;

    class Grid {
        constructor(options) {
            const { label, kind } = options;

            this.options = options;
            this.rows = [];
            this.active = -1;
            this.sort = options.sort || '';
            this.scale = 1;
            this.drawn = '';
            this.head = el('div', { class: 'grid-head', role: 'rowgroup' });
            this.body = el('div', { class: 'grid-rows', role: 'presentation' });
            this.space = el('div',
                { class: 'grid-body', role: 'presentation' }, this.body);
            this.view = el('div', {
                class: 'grid-view', tabindex: '0', role: 'rowgroup',
                'aria-label': `${label}: rows`,
                scroll: () => this.draw(),
                keydown: (event) => this.keydown(event),
            }, this.space);
            this.element = el('div', {
                class: `grid grid-${kind}`, role: 'table', 'aria-label': label,
            }, this.head, this.view);
            this.drawHead();
            // A table that left the page must not draw: its recording may be
            // gone, too.
            new ResizeObserver(() => this.view.isConnected && this.redraw())
                .observe(this.view);
        }

        headCell(column) {
            const [key, down] = this.sort.split(':');
            const sorted = key !== column.key ? 'none' :
                down ? 'descending' : 'ascending';

            return el('span', {
                class: `c-${column.key}`, role: 'columnheader',
                'aria-sort': column.sort ? sorted : null,
            }, column.sort ? el('button', {
                type: 'button', class: `sorted-${sorted}`,
                click: () => this.resort(column),
            }, column.title) : column.title);
        }

        drawHead() {
            dom.replace(this.head, el('div', { class: 'row', role: 'row' },
                this.options.columns.map((column) => this.headCell(column))));
        }

        // Numbers are sorted from the largest at first.
        resort(column) {
            const down = `${column.key}:down`;
            const first = column.sort === 'number' ? down : column.key;
            const second = column.sort === 'number' ? column.key : down;

            this.sort = this.sort === first ? second : first;
            this.drawHead();
            this.options.resort(this.sort);
            this.head.querySelector(`.c-${column.key} button`).focus();
        }

        rowElement(index) {
            const { columns, rowClass, open } = this.options;
            const row = this.rows[index];
            const element = el('div', {
                class: `row ${rowClass ? rowClass(row) : ''}`,
                role: 'row', 'aria-rowindex': index + 2,
                'aria-current': index === this.active ? 'true' : null,
                click: () => this.select(index),
                dblclick: () => open && open(row),
            }, columns.map((column) => el('span', {
                class: `c-${column.key}`, role: 'cell',
            }, column.cell(row))));

            element.classList.toggle('is-active', index === this.active);
            return element;
        }

        draw() {
            const { rowHeight } = this.options;
            const top = this.view.scrollTop * this.scale;
            const first = Math.max(0, Math.floor(top / rowHeight) - SPARE);
            const shown = Math.ceil(this.view.clientHeight / rowHeight);
            const last = Math.min(this.rows.length, first + shown + 2 * SPARE);
            const key = `${first} ${last} ${this.active}`;
            // Scaled, rows lie relative to what is scrolled to.
            const offset = this.scale === 1 ? first * rowHeight :
                this.view.scrollTop - (top - first * rowHeight);

            this.body.style.transform = `translateY(${offset}px)`;
            if (key === this.drawn)
                return;
            this.drawn = key;
            dom.replace(this.body,
                Array.from({ length: Math.max(0, last - first) },
                    (unused, i) => this.rowElement(first + i)));
        }

        redraw() {
            this.drawn = '';
            this.draw();
        }

        setRows(rows) {
            const kept = this.rows[this.active];
            const height = rows.length * this.options.rowHeight;

            this.rows = rows;
            this.active = kept === undefined ? -1 : rows.indexOf(kept);
            this.scale = Math.max(1, height / TALLEST);
            this.space.style.height = `${height / this.scale}px`;
            this.element.setAttribute('aria-rowcount', rows.length + 1);
            this.redraw();
        }

        reveal(index) {
            const top = index * this.options.rowHeight / this.scale;
            const bottom = top + this.options.rowHeight;
            const height = this.view.clientHeight;

            if (top < this.view.scrollTop ||
                bottom > this.view.scrollTop + height)
                this.view.scrollTop = Math.max(0, top - height / 3);
            this.draw();
        }

        // select() marks a row, and calls the owner unless quiet.
        select(index, quiet) {
            if (index < 0 || index >= this.rows.length)
                return;
            this.active = index;
            this.reveal(index);
            if (this.options.choose && !quiet)
                this.options.choose(this.rows[index]);
        }

        step(key) {
            const page = Math.max(1, Math.floor(
                this.view.clientHeight / this.options.rowHeight) - 1);

            return {
                ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page,
                Home: -Infinity, End: Infinity,
            }[key];
        }

        keydown(event) {
            const step = this.step(event.key);
            const { open } = this.options;

            if (event.ctrlKey || event.altKey || event.metaKey ||
                event.target !== this.view)
                return;
            if (event.key === 'Enter' && this.active >= 0 && open)
                open(this.rows[this.active]);
            else if (step)
                this.select(Math.max(0, Math.min(this.rows.length - 1,
                    this.active + step)));
            else
                return;
            event.preventDefault();
        }
    }

    // make() makes a grid. options: label, kind (for grid.css), rowHeight in
    // pixels, columns {key, title, sort, cell(row)} whose cell returns text or
    // an element, rowClass(row), choose(row) for a selected row, open(row) for
    // Enter or a double click, and resort(sort) for a click on a title.
    function make(options) {
        return new Grid(options);
    }

    function compare(a, b) {
        if (typeof a === 'string')
            return a < b ? -1 : a > b ? 1 : 0;
        return a - b;
    }

    // sorted() sorts rows as a click on a title wants; keys has the value of a
    // row for each column that can be sorted.
    function sorted(rows, sort, keys) {
        const [key, down] = sort.split(':');
        const value = Object.hasOwn(keys, key) ? keys[key] : null;

        return value ? rows.sort((a, b) => (down ? -1 : 1) *
            compare(value(a), value(b))) : rows;
    }

    return { make, sorted };
})();

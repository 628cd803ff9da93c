// filters.js: a box and buttons above a table, which choose its rows. What is
// chosen is kept in the address.
const filters = (() => {
    const { make } = dom;

    function chosen(key) {
        return state.get(key).split(',').filter((one) => one);
    }

    function toggle(key, value) {
        const values = new Set(chosen(key));

        if (!values.delete(value))
            values.add(value);
        state.note({ [key]: [...values].join(',') });
    }

    // create() makes the tools. options: label, noun, words and kinds (names in
    // the address), all (the rows), text(row), is(row, kind), titles: [kind,
    // title] of the buttons, and update(), which is called after each change.
    function create(options) {
        const { all, words, kinds, is, text } = options;
        const box = make('input', {
            type: 'search', placeholder: 'Filter', 'aria-label': options.label,
            value: state.get(words),
            input() {
                state.note({ [words]: box.value });
                options.update();
            },
        });
        const buttons = options.titles.map(([kind, title]) => {
            const count = all.filter((row) => is(row, kind)).length;

            return count ? make('button', {
                type: 'button', class: 'toggle', 'data-kind': kind,
                click() {
                    toggle(kinds, kind);
                    options.update();
                },
            }, `${title} ${format.count(count)}`) : null;
        });
        const total = make('span', { class: 'muted', role: 'status' });

        // rows() are those that are chosen now.
        function rows() {
            const wanted = chosen(kinds);
            const parts = box.value.toLowerCase().split(/\s+/);
            const list = all.filter((row) => (!wanted.length ||
                wanted.some((kind) => is(row, kind))) &&
                parts.every((part) => text(row).toLowerCase().includes(part)));

            for (const button of buttons.filter((one) => one)) {
                button.setAttribute('aria-pressed',
                    wanted.includes(button.dataset.kind));
            }
            total.textContent = list.length === all.length ?
                format.plural(all.length, options.noun) :
                `${format.count(list.length)} of ` +
                format.plural(all.length, options.noun);
            return list;
        }

        function read() {
            box.value = state.get(words);
        }

        return { rows, read, element: make('div', { class: 'tools' }, box,
            make('div', { class: 'buttons', role: 'group',
                'aria-label': `${options.label}: kinds` }, buttons), total) };
    }

    return { make: create };
})();

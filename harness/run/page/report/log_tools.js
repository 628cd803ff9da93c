// log_tools.js: what filters the lines of a log. It is in the address.
const logTools = (() => {
    const { make } = dom;

    // levels() are buttons that call update() with another level.
    function levels(update) {
        return format.levels.slice(1).map((name, i) => make('button', {
            type: 'button', class: `toggle level-${i + 1}`,
            'data-level': i + 1, title: `${name} and more severe`,
            click() {
                state.note({ level: i === 4 ? '' : i + 1 });
                update();
            },
        }, name));
    }

    // box() is a box for a text, which calls update() when that changes.
    function box(key, label, placeholder, update) {
        const made = make('input', {
            type: 'search', 'aria-label': label, placeholder,
            input() {
                state.note({ [key]: made.value });
                update();
            },
        });

        made.value = state.get(key);
        return made;
    }

    return { levels, box };
})();

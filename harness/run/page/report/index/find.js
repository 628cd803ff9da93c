// find.js: shows the tests whose name or program contains a text.
const find = (() => {
    const input = document.createElement('input');
    const count = document.createElement('span');
    const line = document.createElement('p');

    function show() {
        const wanted = input.value.trim().toLowerCase();
        const rows = [...document.querySelectorAll('#tests tbody tr')];
        let shown = 0;

        for (const row of rows) {
            row.hidden =
                !row.cells[0].textContent.toLowerCase().includes(wanted);
            shown += !row.hidden;
        }
        count.textContent = wanted ? ` ${shown} of ${rows.length}` : '';
    }

    // start() adds the field to the tables, which may be new ones.
    function start() {
        const focused = document.activeElement === input;

        document.querySelector('#tests .scroll')?.before(line);
        if (focused)
            input.focus();
        show();
    }

    input.type = 'search';
    input.placeholder = 'Find a test';
    input.setAttribute('aria-label', 'Find a test');
    input.addEventListener('input', show);
    count.setAttribute('role', 'status');
    count.className = 'muted';
    line.append(input, count);
    return { start };
})();

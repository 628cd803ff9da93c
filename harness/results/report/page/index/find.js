// find.js: shows the tests whose name or program contains a text.
document.addEventListener('DOMContentLoaded', () => {
    const section = document.getElementById('tests');
    const rows = section ? [...section.querySelectorAll('tbody tr')] : [];
    const input = document.createElement('input');
    const count = document.createElement('span');
    const line = document.createElement('p');

    function find() {
        const wanted = input.value.trim().toLowerCase();
        let shown = 0;

        for (const row of rows) {
            row.hidden =
                !row.cells[0].textContent.toLowerCase().includes(wanted);
            shown += !row.hidden;
        }
        count.textContent = wanted ? ` ${shown} of ${rows.length}` : '';
    }

    document.body.dataset.ready = '';
    if (!section)
        return;
    input.type = 'search';
    input.placeholder = 'Find a test';
    input.setAttribute('aria-label', 'Find a test');
    input.addEventListener('input', find);
    count.setAttribute('role', 'status');
    count.className = 'muted';
    line.append(input, count);
    section.querySelector('.scroll').before(line);
    find();
});

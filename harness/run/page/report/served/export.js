// export.js: saves a test in the formats of other viewers, or opens it there.
(() => {
    const { make } = dom;
    // The flag of testlog export, the end of the file's name, and what it is.
    const FORMATS = [
        ['chrome', 'json', "Chrome's trace event format"],
        ['perfetto', 'perfetto-trace', "Perfetto's own format"],
        ['folded', 'folded.txt', 'Folded stacks'],
        ['speedscope', 'speedscope.json', "speedscope's own format"],
        ['ops-csv', 'csv', 'Table of operations'],
    ];
    const content = make('div');
    const said = make('p', { role: 'status' });
    const details = make('details', { class: 'export', toggle: show },
        make('summary', {}, 'Export'), content);

    function save(test, id, [flag, end, text]) {
        const name = test.id.replace(/[^\w.-]+/g, '-');

        return make('li', {}, make('a', {
            href: served.url(`${id}.${flag}`), download: `${name}.${end}`,
        }, text));
    }

    async function open(test, id) {
        said.textContent = 'Opening Perfetto';
        try {
            await perfetto.open(format.line(test.id),
                () => served.get(`${id}.perfetto`));
            said.textContent = 'Sent to Perfetto';
        } catch (error) {
            said.textContent = error.message;
        }
    }

    function show() {
        const test = details.open && picker.chosen();
        const attempt = state.get('try');

        said.textContent = '';
        if (!test || !report.has(test, attempt)) {
            dom.replace(content, 'Open a test that recorded something first.');
            return;
        }
        const id = report.blockOf(test, attempt);

        dom.replace(content, make('div', {}, dom.name(test.id)),
            make('ul', {}, FORMATS.map((one) => save(test, id, one))),
            make('button', { type: 'button', click: () => open(test, id) },
                'Open in Perfetto'), said);
    }

    function close() {
        details.open = false;
    }

    if (served.there) {
        document.addEventListener('DOMContentLoaded', () =>
            document.querySelector('header nav').after(details));
        window.addEventListener('hashchange', close);
        details.addEventListener('keydown', ({ key }) => {
            if (key !== 'Escape')
                return;
            close();
            details.querySelector('summary').focus();
        });
    }
})();

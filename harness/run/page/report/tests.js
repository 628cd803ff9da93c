// tests.js: the table of all tests, sorted and filtered.
const tests = (() => {
    const { make } = dom;
    const STATUS = ['failed', 'crashed', 'timeout', 'flaky', 'slow', 'passed',
        'skipped', 'running', 'none'];
    const ORDER = { failed: 0, crashed: 1, timeout: 2, passed: 4, skipped: 5 };
    let table = null;
    let box = null;
    let buttons = null;
    let total = null;

    function isOf(test, status) {
        if (status === 'slow')
            return test.slow;
        if (status === 'flaky')
            return test.flaky;
        return test.outcome === status;
    }

    function number(test, name) {
        return test.counts ? test.counts[name] : -1;
    }

    const KEYS = {
        status: (test) => (ORDER[test.outcome] ?? 6) - (test.flaky ? 0.5 : 0),
        name: (test) => test.id,
        duration: (test) => test.duration,
        cpu: (test) => test.usage ? test.usage.cpu : -1,
        spans: (test) => number(test, 'spans'),
        lines: (test) => number(test, 'lines'),
        kernels: (test) => number(test, 'kernels'),
        reason: (test) => test.reason,
    };

    function wanted() {
        const words = state.get('q').toLowerCase().split(/\s+/)
            .filter((word) => word);
        const status = state.get('status').split(',').filter((one) => one);

        return report.run.tests.filter((test) => {
            const text = `${test.program} ${test.name} ${test.title} ` +
                `${test.reason} ` +
                `${test.file} ${test.host}`;

            return (!status.length ||
                status.some((one) => isOf(test, one))) &&
                words.every((word) => text.toLowerCase().includes(word));
        });
    }

    function update() {
        const all = repetitions.first(report.run.tests).length;
        const list = grid.sorted(repetitions.first(wanted()), state.get('sort'),
            KEYS);
        const chosenTest = report.find(state.get('test'));
        const chosen = state.get('status').split(',');

        for (const button of buttons.children) {
            button.setAttribute('aria-pressed',
                chosen.includes(button.dataset.status));
        }
        total.textContent = list.length === all ?
            format.plural(list.length, 'test') :
            `${format.count(list.length)} of ${format.plural(all, 'test')}`;
        table.setRows(list);
        table.select(list.indexOf(chosenTest &&
            list.find((test) => test === chosenTest || (test.repetitions &&
                test.repetitions.includes(chosenTest)))), true);
    }

    function toggle(status) {
        const chosen = new Set(state.get('status').split(',')
            .filter((one) => one));

        if (!chosen.delete(status))
            chosen.add(status);
        state.note({ status: [...chosen].join(',') });
        update();
    }

    function statusButton(status) {
        const count = report.run.tests.filter((test) =>
            isOf(test, status)).length;

        return count ? make('button', {
            type: 'button', class: `toggle is-${status}`,
            'data-status': status, click: () => toggle(status),
        }, `${format.labels[status] || status} ${format.count(count)}`) : null;
    }

    function fillButtons() {
        dom.replace(buttons, STATUS.map(statusButton));
    }

    function status(test) {
        return [dom.badge(test), test.slow && !report.isBad(test) &&
            make('span', { class: 'badge is-slow' }, 'slow')];
    }

    function counted(name) {
        return (test) => {
            const value = number(test, name);

            return value > 0 ? format.count(value) : value < 0 ? '–' : '0';
        };
    }

    function tries(test) {
        return test.tries > 1 ? `${test.tries} tries; ` : '';
    }

    // Most runs use no GPU.
    function hasKernels() {
        return report.run.tests.some((test) => number(test, 'kernels') > 0);
    }

    function columns() {
        const counts = ['spans', 'lines', ...hasKernels() ? ['kernels'] : []];

        return [
            { key: 'status', title: 'Status', sort: 'text', cell: status },
            {
                key: 'name', title: 'Test', sort: 'text',
                cell: (test) => make('a', {
                    href: state.link({ view: 'log', test: test.id }),
                    title: test.host ? `${test.program} on ${test.host}` :
                        test.program, tabindex: '-1',
                }, make('bdi', {}, format.line(repetitions.title(test))),
                repetitions.text(test)),
            },
            {
                key: 'reason', title: 'Reason', sort: 'text',
                cell: (test) => tries(test) + format.line(test.reason),
            },
            {
                key: 'duration', title: 'Duration', sort: 'number',
                cell: (test) => format.duration(test.duration),
            },
            usage.column(),
            ...counts.map((name) => ({
                key: name, title: name[0].toUpperCase() + name.slice(1),
                sort: 'number', cell: counted(name),
            })),
            {
                key: 'timeline', title: 'Time line',
                cell: (test) => make('a', {
                    href: state.link({ view: 'timeline', test: test.id }),
                    tabindex: '-1',
                    'aria-label': `Show the time line of ${
                        format.line(test.title)}`,
                }, 'Show'),
            },
        ];
    }

    function start(element) {
        box = make('input', {
            type: 'search', placeholder: 'Filter by name, file or reason',
            'aria-label': 'Filter tests',
            input() {
                state.note({ q: box.value });
                update();
            },
        });
        buttons = make('div', {
            class: 'buttons', role: 'group', 'aria-label': 'Status',
        });
        fillButtons();
        total = make('span', { class: 'muted', role: 'status' });
        table = grid.make({
            label: 'Tests', kind: 'tests', rowHeight: 32, columns: columns(),
            sort: state.get('sort'),
            rowClass: (test) => `row-${test.outcome}`,
            choose: (test) => state.note({ test: test.id }),
            open: (test) => state.go({ view: 'log', test: test.id }),
            resort(sort) {
                state.note({ sort });
                update();
            },
        });
        table.element.classList.toggle('has-kernels', hasKernels());
        dom.replace(element, make('h1', { class: 'hidden' }, 'Tests'),
            make('div', { class: 'tools' }, box, buttons, total),
            table.element);
    }

    function show() {
        box.value = state.get('q');
        update();
    }

    function renew() {
        fillButtons();
        update();
    }

    return { start, show, renew };
})();

// failures.js: a failed test and everything that explains it.
const failures = (() => {
    const { make } = dom;
    // How many threads of a test that hung are shown.
    const THREADS = 3;

    function part(title, text, label) {
        if (!text)
            return null;
        return make('div', { class: 'part' }, make('h4', {}, title),
            dom.pre(label || title, text.replace(/\n+$/, '')));
    }

    function outputTitle(failure) {
        return failure.outputCut ?
            `Output (after ${format.bytes(failure.outputCut)})` : 'Output';
    }

    // Assertions repeat the reason if there is only one.
    function assertions(test) {
        const lines = test.assertions.trim().split('\n');

        return lines.length > 1 ?
            part('Failed assertions', test.assertions) : null;
    }

    function attempts(test) {
        if (!test.earlier.length)
            return null;
        return make('div', { class: 'part' }, make('h4', {}, 'Earlier tries'),
            make('ol', { class: 'tries' }, test.earlier.map((one) =>
                make('li', {}, dom.badge(one), ' ',
                    format.duration(one.duration), ' ',
                    report.has(test, one.attempt) && make('a', {
                        href: state.link({ view: 'log', test: test.id,
                            try: one.attempt }),
                    }, `Log of try ${one.attempt}`), ' ',
                    make('span', { class: 'mono' },
                        format.line(one.reason))))));
    }

    // details() is what the terminal shows of a failure, in parts.
    function details(test) {
        const failure = test.failure || {};

        return [
            test.rerun && dom.command('Run again', test.rerun),
            test.debug && dom.command('Debug', test.debug),
            assertions(test),
            part('Stacks', failure.stacks),
            part('Open spans', failure.open),
            part('Last lines', failure.lines),
            part('Last lines that LOG did not show', failure.recorded),
            part(outputTitle(failure), failure.output),
            part('Used', usage.line(test)),
            attempts(test),
        ];
    }

    function reason(test) {
        const place = format.place(test.file, test.line);
        const text = test.reason ||
            format.outcome(test) + (place ? ` in ${place}` : '');

        return make('span', { class: 'reason' }, format.block(text));
    }

    function linesOf(text) {
        return (text || '').split('\n').filter((line) => line.trim());
    }

    // spansOf() turns "THREAD ID: SPANS", a line of open spans, into words. The
    // main thread has the first characters of its program's name.
    function spansOf(test, line) {
        const match = /^\s*(.*?) \d+: (.*)$/.exec(line);

        if (!match)
            return `in ${line}`;
        return test.program.startsWith(match[1]) ? `in span ${match[2]}` :
            `in span ${match[2]} of thread ${match[1]}`;
    }

    // Where a test was when it died says why it did.
    function whereabouts(test) {
        const { where, open } = test.failure || {};
        const threads = linesOf(where);
        const spans = linesOf(open).slice(-1);
        const rest = threads.length - THREADS;

        if (test.outcome === 'failed')
            return null;
        return [
            ...threads.slice(0, THREADS),
            ...rest > 0 ? [`and ${format.plural(rest, 'more thread')}`] : [],
            ...spans.map((line) => spansOf(test, line)),
        ].map((line) => make('span', { class: 'mono muted' },
            format.line(line)));
    }

    // Parts are made when they are opened: a run can have many failures.
    function more(test, isOpen) {
        const content = make('div', { class: 'parts' });
        const element = make('details', {
            open: isOpen,
            toggle() {
                if (element.open && !content.firstChild)
                    dom.replace(content, details(test));
            },
        }, make('summary', {}, reason(test), whereabouts(test)), content);

        if (isOpen)
            dom.replace(content, details(test));
        return element;
    }

    function card(test, isOpen) {
        return make('article', { class: `failure is-${test.outcome}` },
            make('h3', {}, dom.badge(test), ' ',
                make('a', { href: state.link({ view: 'log', test: test.id }) },
                    dom.name(repetitions.title(test))),
                repetitions.text(test), ' ',
                make('span', { class: 'muted' },
                    format.duration(test.duration) +
                    (test.usage ? `, CPU ${
                        format.duration(test.usage.cpu)}` : ''))),
            more(test, isOpen));
    }

    return { card, details, attempts, reason };
})();

// main.js: opens the report and shows the view that the address names.
const main = (() => {
    const views = { overview, tests, log, timeline, tables, facts };
    const shown = new Set();
    const opened = [];

    function notice(...content) {
        document.getElementById('notices').append(
            dom.make('p', { class: 'notice', role: 'alert' }, content));
    }

    function verdict() {
        const { run } = report;
        const bad = report.bad().length;
        const good = report.running().length ? 'running' : 'passed';
        const text = bad ? `${format.count(bad)} failed` : good;
        const element = document.getElementById('verdict');
        const name = format.line(run.head.run);

        element.textContent = run.head.interrupted ? `${text}, interrupted` :
            text;
        element.className = bad ? 'is-failed' : `is-${good}`;
        document.getElementById('run-name').textContent = name;
        document.title = `${text}: testlog ${name}`;
    }

    function current() {
        const view = state.get('view');

        if (Object.hasOwn(views, view))
            return view;
        return state.get('test') ? 'log' : 'overview';
    }

    // The selected test follows to the other views.
    function updateLinks(view) {
        const test = state.get('test');

        for (const link of document.querySelectorAll('nav a')) {
            const name = link.dataset.view;

            link.href = state.link({ view: name, test });
            if (name === view)
                link.setAttribute('aria-current', 'page');
            else
                link.removeAttribute('aria-current');
        }
    }

    // The body's data-shown is the view whose content is there.
    async function show() {
        const view = current();

        delete document.body.dataset.shown;
        for (const name of Object.keys(views))
            document.getElementById(name).hidden = name !== view;
        document.body.dataset.view = view;
        updateLinks(view);
        if (!shown.has(view))
            views[view].start(document.getElementById(view));
        shown.add(view);
        await views[view].show();
        if (view === current())
            document.body.dataset.shown = view;
    }

    function cutOff() {
        notice('This file was cut off: its end is missing. Render it again: ',
            dom.make('code', {}, `testlog report ${report.run.head ?
                format.line(report.run.head.path) : 'RUN'}`));
    }

    function partOf({ test, from, to }) {
        notice('This file has a part of the run only: ', dom.make('a', {
            href: state.link({ view: 'timeline', test, from, to }),
        }, `${format.line(test)}, ${format.duration(to - from)} from ` +
            `${format.seconds(from)} s on`));
    }

    // The element that had the focus may be hidden now.
    function change() {
        show();
        const { activeElement: focused } = document;

        if (focused === document.body || !focused.getClientRects().length)
            document.getElementById('main').focus({ preventScroll: true });
    }

    // The address of a test may name its program without need.
    function nameTest() {
        const test = report.find(state.get('test'));

        if (test && test.id !== state.get('test'))
            state.note({ test: test.id });
    }

    async function open() {
        let whole;

        try {
            whole = await report.load();
        } catch (error) {
            notice(`The data of this report cannot be read: ${error.message}`);
            return;
        }
        if (!whole || report.run.cut)
            cutOff();
        if (!whole)
            return;
        verdict();
        if (report.run.head.part)
            partOf(report.run.head.part);
        nameTest();
        document.getElementById('skip').addEventListener('click',
            () => document.getElementById('main').focus());
        state.listen(change);
        show();
        document.body.dataset.ready = 'yes';
    }

    // renew() shows a run again that has changed. Its view decides whether it
    // must; the focus stays where it was.
    async function renew() {
        const view = current();
        const element = document.getElementById(view);
        const all = () => [...element.querySelectorAll(
            'a, button, input, summary, [tabindex]')];
        const focused = all().indexOf(document.activeElement);

        verdict();
        if (document.body.dataset.shown !== view)
            return;
        await views[view].renew();
        if (focused >= 0 && document.activeElement === document.body)
            all()[focused]?.focus({ preventScroll: true });
    }

    // grow() shows what a test has recorded since; the view may ignore it.
    function grow(test, recording) {
        const view = views[current()];

        if (document.body.dataset.shown === current() && view.grow)
            view.grow(test, recording);
    }

    document.addEventListener('DOMContentLoaded', async () => {
        await open();
        opened.forEach((listener) => listener());
    });

    // opened() calls a listener once the report is there.
    return { notice, grow, renew,
        opened: (listener) => opened.push(listener) };
})();

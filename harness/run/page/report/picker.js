// picker.js: which test the views of one test show, with its neighbors.
const picker = (() => {
    const { make } = dom;
    const links = [];

    // Without a test in the address, the first that failed is of interest.
    function chosen() {
        const { tests: all } = report.run;
        const longest = () => all.reduce((best, test) =>
            !best || (report.has(test) && test.duration > best.duration) ?
                test : best, null);

        return report.find(state.get('test')) || report.bad()[0] || longest();
    }

    function step(test, distance) {
        const next = report.run.tests[test.number + distance];
        const name = distance < 0 ? 'Previous test' : 'Next test';

        if (!next) {
            return make('button', {
                type: 'button', disabled: true, 'aria-label': name,
            }, distance < 0 ? '‹' : '›');
        }
        return make('a', {
            class: 'button', 'aria-label': `${name}: ${format.line(next.id)}`,
            title: `${name}: ${format.line(next.id)}`,
            href: state.link({ view: document.body.dataset.view,
                test: next.id }),
        }, distance < 0 ? '‹' : '›');
    }

    function facts(test, attempt) {
        const parts = [test.outcome !== 'running' &&
            format.duration(attempt.duration), test.program,
            format.place(test.file, test.line)];

        if (state.get('try'))
            parts.push(`try ${state.get('try')} of ${test.tries}`);
        else if (test.tries > 1)
            parts.push(`${test.tries} tries`);
        if (test.dropped)
            parts.push(`${format.plural(test.dropped, 'record')} dropped`);
        return parts.filter((part) => part).map(format.line).join(' · ');
    }

    function head(test, other) {
        const wanted = state.get('test');
        const attempt = report.attemptOf(test, state.get('try'));

        return [wanted && !report.find(wanted) && make('p',
            { class: 'notice' }, `This run has no test ${format.line(wanted)}`),
        make('div', { class: 'test-head' },
            make('div', { class: 'test-steps' }, step(test, -1),
                step(test, 1)),
            make('h1', {}, dom.badge(attempt), ' ',
                dom.name(test.title)),
            make('span', { class: 'muted' }, facts(test, attempt)),
            make('a', {
                class: 'test-other', 'data-view': other.view,
                href: state.link({ view: other.view, test: test.id,
                    try: state.get('try') }),
            }, other.title), links.map((of) => of(test)))];
    }

    // link() adds what of(test) makes to the head of each test.
    function link(of) {
        links.push(of);
    }

    // missing() explains why a test's recording is not there.
    function missing(test) {
        return make('div', { class: 'empty' },
            make('p', {}, leftOut.sentence(test)), leftOut.box([test]));
    }

    // wait() says that a test which runs has recorded nothing yet.
    function wait(test) {
        return make('p', { class: 'empty' },
            `${format.line(test.title)} has recorded nothing yet.`);
    }

    // isOver() tells whether a test has another outcome now than when it was
    // shown.
    function isOver(test) {
        return test ? report.find(test.id)?.outcome !== test.outcome :
            report.run.tests.length > 0;
    }

    return { chosen, head, link, missing, wait, isOver };
})();

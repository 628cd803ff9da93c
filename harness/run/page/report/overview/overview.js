// overview.js: what failed and why, what changed, and where the time went.
const overview = (() => {
    const { make } = dom;
    let root = null;
    const FIRST = 25;

    function headline() {
        const { run } = report;
        const all = run.tests.length;
        const bad = report.bad().length;
        const ran = run.tests.filter((test) =>
            !['skipped', 'running', 'none'].includes(test.outcome)).length;
        const running = report.running().length;

        if (running) {
            return `${format.plural(ran, 'test')} ended, ` +
                `${format.count(running)} running`;
        }
        if (!ran)
            return all ? 'No test ran to its end' : 'No test ran';
        if (bad)
            return `${format.count(bad)} of ${format.plural(ran, 'test')} failed`;
        if (run.head.interrupted)
            return `${format.plural(ran, 'test')} passed until interrupted`;
        return ran === 1 ? 'The test passed' :
            `All ${format.count(ran)} tests passed`;
    }

    function counts() {
        const numbers = new Map();

        for (const test of report.run.tests) {
            const kind = test.flaky ? 'flaky' : test.outcome;

            numbers.set(kind, (numbers.get(kind) || 0) + 1);
        }
        return ['failed', 'crashed', 'timeout', 'flaky', 'passed', 'skipped',
            'running', 'none'].filter((kind) => numbers.has(kind))
            .map((kind) => make('a', {
                class: `count is-${kind}`,
                href: state.link({ view: 'tests', status: kind }),
            }, make('b', {}, format.count(numbers.get(kind))), ' ',
            format.labels[kind] || kind));
    }

    function when() {
        const { head } = report.run;
        const date = new Date(head.start);
        const parts = [];

        if (head.duration_ns)
            parts.push(format.duration(head.duration_ns));
        if (!Number.isNaN(date.getTime())) {
            parts.push(date.toLocaleString('en-GB',
                { dateStyle: 'medium', timeStyle: 'short' }));
        }
        if (head.merged)
            parts.push(...hosts.summary());
        else if (head.host)
            parts.push(format.line(head.host.name));
        if (head.shard)
            parts.push(`shard ${head.shard.index}/${head.shard.total}`);
        return parts.join(' · ');
    }

    function summary() {
        const { head } = report.run;

        return make('div', { class: 'summary' },
            make('h1', { class: report.bad().length ? 'is-failed' :
                report.running().length ? 'is-running' : 'is-passed' },
            headline()),
            make('p', { class: 'counts' }, counts()),
            make('p', { class: 'muted' }, when()),
            lacking(),
            head.interrupted && make('p', { class: 'notice' },
                `The run was interrupted: ${format.line(head.interrupted)}`));
    }

    // A page of many tests lacks what most of them recorded.
    function lacking() {
        const count = leftOut.reasons().reduce((sum, [why, number]) =>
            sum + (['size', 'passing', 'large'].includes(why) ? number : 0), 0);

        return count ? make('p', { class: 'muted' },
            `This page has only results and counts of ${
                format.plural(count, 'test')}: ${count === 1 ?
                'its recording' : 'their recordings'} would make it too ` +
            'large. A test\'s log shows the command that includes it.') : null;
    }

    function failed() {
        const bad = repetitions.first(report.bad());
        const list = make('div', { class: 'cards' },
            bad.slice(0, FIRST).map((test, i) =>
                failures.card(test, i === 0 && bad.length <= 3)));

        if (!bad.length)
            return null;
        if (bad.length > FIRST) {
            const rest = make('button', {
                type: 'button',
                click() {
                    rest.replaceWith(...bad.slice(FIRST, 500).map((test) =>
                        failures.card(test, false)));
                },
            }, `Show ${format.count(Math.min(500, bad.length) - FIRST)} more`);

            list.append(rest);
        }
        return make('section', { 'aria-labelledby': 'failures-title' },
            make('h2', { id: 'failures-title' }, 'Failures'), list,
            report.run.head.rerun &&
                dom.command('Run all failed tests again',
                    report.run.head.rerun));
    }

    function testLink(test) {
        return make('a', { href: state.link({ view: 'log', test: test.id }) },
            dom.name(test.id));
    }

    function changeList(title, kind, numbers, text) {
        if (!numbers || !numbers.length)
            return null;
        const shown = numbers.slice(0, 10);

        return make('div', {}, make('h3', { class: kind },
            `${title} (${format.count(numbers.length)})`),
        make('ul', {}, shown.map((item) => make('li', {}, text(item)))),
        numbers.length > shown.length && make('p', { class: 'muted' },
            `and ${format.count(numbers.length - shown.length)} more`));
    }

    function byNumber(number) {
        const test = report.run.tests[number];

        return test ? testLink(test) : null;
    }

    function slower([number, before, now]) {
        return [byNumber(number), make('span', { class: 'muted' },
            ` ${format.duration(before)} → ${format.duration(now)}`)];
    }

    function changes() {
        const { previous } = report.run.head;

        if (!previous)
            return null;
        const lists = [
            changeList('Newly failing', 'is-failed', previous.newly_failing,
                byNumber),
            changeList('Newly passing', 'is-passed', previous.newly_passing,
                byNumber),
            changeList('Slower', 'is-timeout', previous.slower, slower),
            changeList('New', '', previous.new, byNumber),
            changeList('Gone', '', previous.gone, format.line),
        ].filter((list) => list);

        return make('section', { class: 'panel' }, make('h2', {}, 'Changes'),
            make('p', { class: 'muted' },
                `${lists.length ? 'Since' : 'None since'} ` +
                    format.line(previous.run)),
            lists);
    }

    // A test that passed at last failed before, for this reason.
    function flaky() {
        const tests = report.run.tests.filter((test) => test.flaky);

        if (!tests.length)
            return null;
        return make('section', { class: 'panel' },
            make('h2', {}, 'Flaky tests'),
            make('ul', {}, tests.slice(0, FIRST).map((test) => {
                const bad = test.earlier.find((one) =>
                    one.outcome !== 'passed');

                return make('li', {}, testLink(test), ' ',
                    make('span', { class: 'muted' }, format.line(
                        bad.reason || format.outcome(bad))));
            })),
            tests.length > FIRST && make('p', { class: 'muted' },
                `and ${format.count(tests.length - FIRST)} more`));
    }

    function slowest() {
        const seen = new Set();
        const bySize = report.run.tests.filter((test) => test.duration)
            .sort((a, b) => b.duration - a.duration)
            .filter((test) => !test.repetitions || (!seen.has(
                test.repetitions) && seen.add(test.repetitions)))
            .slice(0, 10);

        if (!bySize.length)
            return null;
        return make('section', { class: 'panel' },
            make('h2', {}, 'Slowest tests'),
            make('ol', { class: 'bars' }, bySize.map((test) =>
                make('li', {}, make('span', { class: 'bar-name' },
                    make('a', {
                        href: state.link({ view: 'timeline', test: test.id }),
                    }, dom.name(test.id))),
                make('span', { class: 'bar-value' },
                    format.duration(test.duration)),
                dom.bar(test.duration, bySize[0].duration,
                    `is-${test.outcome}`)))));
    }

    function start(element) {
        root = element;
        const bad = failed();
        const others = [changes(), flaky(), timeSpent.panel(), slowest(),
            workers.panel()];

        dom.replace(element, summary(), make('div', { class: 'columns' },
            make('div', { class: 'stack' }, bad || others.splice(3)),
            make('div', { class: 'stack' }, others)));
        workers.start();
    }

    function show() {
        workers.draw();
        return timeSpent.filled();
    }

    // The run has other tests, or other outcomes.
    function renew() {
        start(root);
        return show();
    }

    return { start, show, renew };
})();

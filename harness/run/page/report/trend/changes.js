// changes.js: says when a test's outcome or duration changed.
const changes = (() => {
    const { make } = dom;
    // A flaky test has many changes of its outcome.
    const SHOWN = 5;
    const WORDS = {
        passed: 'Passes again since',
        failed: 'First failed in',
        crashed: 'First crashed in',
        timeout: 'First timed out in',
    };

    function words({ outcome, before_ns: before, after_ns: after }) {
        return outcome ? WORDS[outcome] :
            `${after > before ? 'Slower' : 'Faster'} since`;
    }

    function times({ outcome, before_ns: before, after_ns: after }) {
        return outcome ? null : `: ${format.duration(before)} → ` +
            `${format.duration(after)}`;
    }

    function kind({ outcome, before_ns: before, after_ns: after }) {
        return outcome || (after > before ? 'slow' : 'passed');
    }

    function item(data, change) {
        const run = data.runs.find(({ name }) => name === change.run);

        return make('li', {},
            make('b', { class: `is-${kind(change)}` }, words(change)), ' ',
            make('a', {
                href: addresses.log(run.name, data.program, data.test),
            }, run.name),
            run.commit && [', commit ', make('code', {},
                format.line(run.commit))],
            times(change));
    }

    function nothing({ runs }) {
        return make('p', {}, runs.length === 1 ? 'Only one run has this test.' :
            `Nothing changed in ${format.plural(runs.length, 'run')}.`);
    }

    function listOf(data, some) {
        return make('ul', { class: 'changes' },
            some.map((change) => item(data, change)));
    }

    function isShown({ outcome }, i) {
        return i < SHOWN || !outcome;
    }

    // shown() are the changes of the duration, and the latest others.
    function shown(data) {
        return data.changes.filter(isShown);
    }

    // list() has the latest change first.
    function list(data) {
        const folded = data.changes.filter((one, i) => !isShown(one, i));

        if (!data.changes.length)
            return nothing(data);
        return [listOf(data, shown(data)),
            folded.length > 0 && make('details', {},
                make('summary', {}, format.plural(folded.length,
                    'earlier change')), listOf(data, folded))];
    }

    return { list, shown };
})();

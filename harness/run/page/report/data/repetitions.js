// repetitions.js: tests that ran several times, "suite/test#1" and so on.
const repetitions = (() => {
    // base() is a name without the number of its repetition; Catch2 allows
    // "mends issue #12".
    function base(name) {
        return name.replace(/(\S)#\d+$/, '$1');
    }

    // join() lets the repetitions of a test know each other, the worst first.
    function join(tests, isBad) {
        const groups = new Map();

        for (const test of tests) {
            const key = `${test.program}:${base(test.title)}`;

            if (!groups.has(key))
                groups.set(key, []);
            groups.get(key).push(test);
        }
        for (const group of groups.values()) {
            const sorted = [...group.filter(isBad),
                ...group.filter((one) => !isBad(one))];

            for (const test of group)
                test.repetitions = group.length > 1 ? sorted : null;
        }
    }

    // first() returns some tests without repetitions, of each the worst.
    function first(tests) {
        const all = new Set(tests);

        return [...new Set(tests.map((test) => test.repetitions ?
            test.repetitions.find((one) => all.has(one)) : test))];
    }

    // worst() finds a test that the page of all runs names without repetitions.
    function worst(tests, id) {
        const found = id && tests.find((test) => test.repetitions &&
            [test.name, `${test.program}:${test.name}`].some((name) =>
                base(name) === id));

        return found ? found.repetitions[0] : undefined;
    }

    // title() is what a test is called with its repetitions, text() how many of
    // them passed.
    function title(test) {
        return test.repetitions ? base(test.id) : test.id;
    }

    function text(test) {
        const all = test.repetitions;

        return all && dom.make('span', { class: 'muted' }, ` ${format.count(
            all.filter((one) => one.outcome === 'passed').length)} of ${
            format.count(all.length)} passed`);
    }

    return { join, first, worst, title, text };
})();

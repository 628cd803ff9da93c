// left_out.js: says which recordings the file lacks, why, and which command
// includes them.
const leftOut = (() => {
    // What a test's own views say, and what the view Facts says of several.
    const WHY = {
        size: ['This report would be too large with its recording.',
            'left out: the report would exceed 64 MiB'],
        passing: ['Tests that did not fail have 8 MiB of this report, the ' +
            'slowest first. Its recording did not fit.',
        'left out: slower tests fill the 8 MiB for tests that did not fail'],
        large: ['It did not fail, and its recording is too large to be read ' +
            'at the end of a run.',
        'left out: too large to be read at the end of a run'],
        many: ['It did not fail, and more than 1,000 tests share a recording.',
            'left out: more than 1,000 tests share a recording'],
        damaged: ['Its recording is damaged.', 'damaged'],
        missing: ['Its recording is missing.', 'without a recording'],
        memory: ['There was too little memory for its recording.',
            'left out for lack of memory'],
    };

    function sentence(test) {
        if (test.leftOut && WHY[test.leftOut.why])
            return WHY[test.leftOut.why][0];
        if (report.run.cut)
            return 'The file was cut off before its recording.';
        return 'It recorded nothing. Build with -DTRACING, and link testlog.';
    }

    // reasons() are rows: why, and how many tests.
    function reasons() {
        return Object.entries(WHY).map(([why, [, text]]) => [why,
            report.run.tests.filter((test) =>
                test.leftOut && test.leftOut.why === why).length, text])
            .filter(([, count]) => count);
    }

    // included() are the tests that a command can include.
    function included(list) {
        return list.filter((test) => test.leftOut && test.leftOut.command);
    }

    // command() includes one test, or all.
    function command(list) {
        if (list.length === 1)
            return list[0].leftOut.command;
        return list.some((test) => test.leftOut.why === 'size') ? '' :
            report.run.includeAll;
    }

    function ofTests(count, one, several) {
        return count === 1 ? `The recording of 1 test ${one}.` :
            `The recordings of ${format.count(count)} tests ${several}.`;
    }

    // lacking() are sentences about tests without a recording here.
    function lacking(list) {
        const there = included(list).length;
        const broken = list.filter((test) => test.leftOut).length - there;
        const silent = list.length - there - broken;
        const sentences = [];

        if (silent && report.run.cut) {
            sentences.push(ofTests(silent, 'may have been cut off',
                'may have been cut off'));
        } else if (silent) {
            sentences.push(`${format.plural(silent, 'test')} recorded ` +
                'nothing.');
        }
        if (broken)
            sentences.push(ofTests(broken, 'cannot be read', 'cannot be read'));
        if (there)
            sentences.push(ofTests(there, 'is not in this file',
                'are not in this file'));
        return sentences.join(' ');
    }

    function box(list) {
        const there = included(list);
        const text = there.length ? command(there) : '';

        return text ? dom.command(there.length === 1 ? 'Include it' :
            'Include them', text) : null;
    }

    return { sentence, reasons, lacking, box };
})();

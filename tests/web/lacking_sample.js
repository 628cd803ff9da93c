// lacking_sample.js: runs whose pages lack recordings.
'use strict';

const { assemble } = require('./assemble.js');
const { runBlock, testBlock, endBlock } = require('./blocks.js');

// lacking() gives each test a reason why it has no recording. Without a reason,
// the test is skipped; "empty" has a recording, but no slices.
function lacking(...whys) {
    const name = (i) => `store/test_${i}`;
    const tests = whys.map((why, i) => ({
        program: 'store_test', name: name(i), duration: 1e6, tries: 1,
        outcome: why ? 'passed' : 'skipped',
    }));
    const blocks = whys.flatMap((why, i) => why === 'empty' ?
        [testBlock(i, { end: 1e6 }, {})] : []);
    const leftOut = whys.map((why, i) => ({
        test: i, why,
        command: why === 'missing' ? '' : `testlog report latest ${name(i)}`,
    })).filter(({ why }) => why && why !== 'empty');

    return assemble([runBlock({}, tests, [], []), ...blocks,
        endBlock([], leftOut)]);
}

module.exports = { lacking };

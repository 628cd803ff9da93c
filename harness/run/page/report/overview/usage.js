// usage.js: what a test used of the processor, memory and files.
const usage = (() => {
    // line() says it in one line; '' if it is unknown.
    function line(test) {
        const used = test.usage;

        return used ? [
            `${format.duration(used.cpu)} of processor time`,
            `waited ${format.plural(used.voluntary, 'time')}`,
            `preempted ${format.plural(used.involuntary, 'time')}`,
            `${format.bytes(used.peak)} of memory at most`,
            `${format.bytes(used.read)} read`,
            `${format.bytes(used.written)} written`,
            `${format.plural(used.minor + used.major, 'page fault')}, ` +
                `${format.count(used.major)} of them from disk`,
        ].join('; ') : '';
    }

    // column() is that of a table of tests.
    function column() {
        return {
            key: 'cpu', title: 'CPU', sort: 'number',
            cell: (test) => dom.make('span', { title: line(test) },
                test.usage ? format.duration(test.usage.cpu) : ''),
        };
    }

    return { line, column };
})();

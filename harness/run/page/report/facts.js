// facts.js: how the run was made, and what it lacks.
const facts = (() => {
    const { make } = dom;
    let root = null;
    // Other views show these.
    const KNOWN = ['format', 'strings', 'tables', 'table', 'string', 'previous',
        'rerun', 'testlog', 'run', 'path', 'command', 'start', 'duration_ns',
        'interrupted', 'shard', 'passed', 'failed', 'skipped', 'host',
        'processors', 'versions', 'filters', 'gpu', 'gpu_summary', 'schema',
        'environment', 'whole', 'merged', 'pid',
        'clock'];

    function text(value) {
        if (Array.isArray(value))
            return value.map(text).filter((one) => one).join('\n');
        if (value && typeof value === 'object') {
            return Object.entries(value).map(([name, one]) =>
                `${name}: ${text(one)}`).join('\n');
        }
        return value === null || value === undefined ? '' : String(value);
    }

    const NAMES = { gpu: 'GPU', nvtx: 'NVTX', opencl: 'OpenCL' };

    function title(name) {
        const words = name.replaceAll('_', ' ')
            .replace(/^(gpu|nvtx|opencl)\b/, (word) => NAMES[word]);

        return words[0] ? words[0].toUpperCase() + words.slice(1) : words;
    }

    function same(name) {
        return name;
    }

    function group(heading, rows, named = title) {
        const filled = rows.map(([name, value]) => [named(name), text(value)])
            .filter(([, value]) => value !== '');

        if (!filled.length)
            return null;
        return make('section', { class: 'panel' }, make('h2', {}, heading),
            make('dl', {}, filled.map(([name, value]) => [
                make('dt', {}, format.line(name)),
                make('dd', {}, format.block(value))])));
    }

    function entries(value) {
        return value && typeof value === 'object' ? Object.entries(value) : [];
    }

    function runFacts(head) {
        return [
            ['Command', head.command], ['Folder', head.path],
            ['Start', head.start],
            ['Duration', head.duration_ns ?
                format.duration(head.duration_ns) : ''],
            ['Interrupted', head.interrupted],
            ['Shard', head.shard &&
                `${head.shard.index}/${head.shard.total}`],
        ];
    }

    function sum(values) {
        return values.reduce((total, value) => total + value, 0);
    }

    function completeness() {
        const { run } = report;

        return [
            ['This page', run.cut ? 'cut off: its end is missing' : 'whole'],
            ['Recordings', format.count(run.tests.filter((test) =>
                report.has(test)).length)],
            ...leftOut.reasons().map(([why, count, text]) =>
                [title(why), `${format.plural(count, 'test')} ${text}`]),
            ['Dropped records', format.count(sum(run.tests.map((test) =>
                test.dropped)))],
        ];
    }

    function show() {
    }

    function start(element) {
        root = element;
        const { head } = report.run;
        const others = entries(head).filter(([name, value]) =>
            !KNOWN.includes(name) && typeof value !== 'function');

        dom.replace(element, make('h1', { class: 'hidden' }, 'Facts'),
            make('div', { class: 'facts' },
                group('Run', runFacts(head)),
                group('Completeness', completeness()),
                group('Hosts', hosts.facts(), same),
                group('Host', [...entries(head.host),
                    ['processors', head.processors]]),
                group('Filters', entries(head.filters)),
                group('GPU', entries(head.gpu).filter(([, value]) => value)),
                group('GPU summary', entries(head.gpu_summary)),
                group('Versions', entries(head.versions), same),
                group('Environment', entries(head.environment), same),
                group('More', others)));
    }

    return { start, show, renew: () => start(root) };
})();

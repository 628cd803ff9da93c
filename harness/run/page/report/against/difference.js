// difference.js: the flame graph of both runs: as wide as one run, colored by
// the change where testlog diff says that a name changed.
const difference = (() => {
    const { make } = dom;
    // Relative changes from which colors are stronger.
    const STRONG = [0.25, 1];
    let root = null;

    // A recording's time, because tests may be repeated.
    function perRecording(one, side) {
        return one[side].total / comparison.data[side].recordings;
    }

    // toneOf() is a direction only if the path goes where its name goes.
    function toneOf(one) {
        const before = perRecording(one, 'old');
        const after = perRecording(one, 'new');

        if (after > before && comparison.grows(one.verdict))
            return 'slower';
        return after < before && comparison.shrinks(one.verdict) ? 'faster' :
            '';
    }

    function strength(one) {
        const [less, more] = [perRecording(one, 'old'),
            perRecording(one, 'new')].sort((a, b) => a - b);
        const change = less ? more / less - 1 : Infinity;

        return 1 + STRONG.filter((least) => change >= least).length;
    }

    function changeOf(one) {
        if (!one.old.total || !one.new.total)
            return one.new.total ? 'only new' : 'only old';
        return change.percent(perRecording(one, 'old'),
            perRecording(one, 'new'));
    }

    function look(one) {
        const tone = toneOf(one);
        const name = format.line(one.name);
        const sides = ['old', 'new'].map((side) => `${side} ${
            format.duration(one[side].total)} in ${
            format.plural(one[side].count, 'call')}`);
        const alone = !one.old.total || !one.new.total;

        return {
            kind: tone ? `is-${tone}-${strength(one)}` : 'is-same',
            label: tone || alone ?
                `${name} ${change.SIGNS[tone] || ''}${changeOf(one)}` : name,
            text: `${name}: ${change.SIGNS[tone] || ''}${changeOf(one)}; ${
                sides.join(', ')}`,
        };
    }

    // A tree as wide as one of the runs.
    function treeOf(one, side) {
        return { ...one, total: one[side].total, self: one[side].self,
            count: one[side].count, children: new Map([...one.children]
                .map(([name, below]) => [name, treeOf(below, side)])
                .filter(([, below]) => below.total)) };
    }

    function side() {
        return state.get('width') === 'old' ? 'old' : 'new';
    }

    function widths() {
        return make('div', { class: 'buttons', role: 'group',
            'aria-label': 'Width' }, ['new', 'old'].map((one) =>
            make('button', {
                type: 'button', class: 'toggle',
                'aria-pressed': String(one === side()),
                click() {
                    state.note({ width: one });
                    show();
                    root.querySelector('[aria-pressed="true"]').focus();
                },
            }, `as wide as the ${one} run`)));
    }

    const LEGEND = [
        ['is-slower-2', '▲ slower or more frequent'],
        ['is-faster-2', '▼ faster or less frequent'],
        ['is-same', 'not changed, says testlog diff'],
    ];

    function legend() {
        return make('ul', { class: 'overlay-legend' }, LEGEND.map(
            ([kind, text]) => make('li', {}, make('span', {
                class: `overlay-key ${kind}`, 'aria-hidden': 'true',
            }), text)));
    }

    function show() {
        const tree = comparison.data.root;

        dom.replace(root, make('h2', {}, 'Flame graph'), tree.children.size ? [
            make('div', { class: 'tools' }, widths()), legend(),
            flame.make(treeOf(tree, side()), look)] :
            make('p', { class: 'empty' },
                'The tests of both runs recorded no spans.'));
    }

    function start(element) {
        root = element;
        show();
    }

    return { start, show };
})();

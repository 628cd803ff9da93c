// flame.js: a flame graph of slices: each path of names as wide as its time.
const flame = (() => {
    const { make } = dom;
    // Narrower paths, as shares of the whole, cannot be seen.
    const NARROW = 0.001;
    const ROW = 22;
    const DEEPEST = 60;

    function node(name) {
        return { name, total: 0, self: 0, count: 0, children: new Map() };
    }

    function child(parent, name) {
        if (!parent.children.has(name))
            parent.children.set(name, node(name));
        return parent.children.get(name);
    }

    // add() adds the wanted slices to a tree, or only a part of them, as
    // statistics.collect(). A slice's place is below that of the wanted slice
    // around it, which comes before it.
    function add(root, recording, wanted, part = nesting.of(recording)) {
        const { slices } = recording;
        const places = new Array(slices.rows);

        for (let row = 0; row < slices.rows; row++) {
            if (!wanted(row))
                continue;
            let above = part.around[row];

            while (above >= 0 && !places[above])
                above = part.around[above];
            const place = child(above < 0 ? root : places[above],
                recordings.sliceName(recording, row));

            place.total += part.length(row);
            place.self += part.own[row];
            place.count++;
            places[row] = place;
        }
    }

    function sum(root) {
        root.total = 0;
        for (const one of root.children.values())
            root.total += one.total;
        return root;
    }

    function treeOf(recording, wanted, part) {
        const root = node('all');

        add(root, recording, wanted, part);
        return sum(root);
    }

    // plain() is the look of a box: the class of its color, its label if it is
    // wide enough, and its whole text.
    function plain(one, whole) {
        const name = format.line(one.name);

        return {
            kind: `slice-${paint.hue(one.name)}`, label: name,
            text: `${name}: ${format.duration(one.total)}, ` +
                `${format.percent(one.total, whole)}, ` +
                `self ${format.duration(one.self)}, ` +
                format.plural(one.count, 'time'),
        };
    }

    function box(one, { left, depth, whole, zoom, look }) {
        const width = one.total / whole;
        const { kind, label, text } = look(one, whole);
        const element = make('button', {
            type: 'button', class: `flame-box ${kind}`,
            title: text, 'aria-label': text, click: () => zoom(one),
        }, width > 0.02 ? label : '');

        element.style.left = `${100 * left}%`;
        element.style.width = `${100 * width}%`;
        element.style.top = `${depth * ROW}px`;
        return element;
    }

    function boxes(root, zoom, look) {
        const result = [];
        let deepest = 0;

        (function walk(parent, left, depth) {
            const sorted = [...parent.children.values()]
                .sort((a, b) => b.total - a.total);

            for (const one of sorted) {
                if (one.total / root.total < NARROW || depth >= DEEPEST)
                    continue;
                deepest = Math.max(deepest, depth + 1);
                result.push(box(one,
                    { left, depth, whole: root.total, zoom, look }));
                walk(one, left, depth + 1);
                left += one.total / root.total;
            }
        })(root, 0, 0);
        return { result, deepest };
    }

    // create() shows a tree; a click on a path makes it as wide as the graph.
    // look(one, whole) returns a path's look, as plain() does.
    function create(root, look = plain) {
        const graph = make('div', { class: 'flame', role: 'group',
            'aria-label': 'Flame graph' });
        const element = make('div', {}, graph);

        function zoom(one) {
            const top = one === root ? root : { ...node(''), total: one.total,
                children: new Map([[one.name, one]]) };
            const { result, deepest } = boxes(top, (next) =>
                zoom(next === one ? root : next), look);

            graph.style.height = `${deepest * ROW}px`;
            dom.replace(graph, result);
        }

        if (!root.total)
            return make('p', { class: 'muted' }, 'No spans');
        zoom(root);
        return element;
    }

    return { make: create, treeOf, add, node, child, sum };
})();

// one_name.js: the slices of one name: how their durations are spread, what
// encloses them and what they enclose.
const oneName = (() => {
    const { make } = dom;
    // How many slices of a bar are listed.
    const LISTED = 100;
    const NOTHING = '(no enclosing span)';

    // Rows of slices are in the order in which they were added; each source
    // begins with one of them.
    function begin(name) {
        return { name, rows: [], lengths: [], sources: [],
            callers: new Map(), callees: new Map() };
    }

    // outerOf() is the wanted slice around another one, on its thread; work on
    // a device is in the span that launched it. -1 is none.
    function outerOf({ recording, wanted, part }, row) {
        let outer = part.around[row];

        if (recording.slices.state[row] & recordings.ON_DEVICE)
            outer = recordings.parent(recording, row);
        while (outer >= 0 && !wanted(outer))
            outer = part.around[outer];
        return outer;
    }

    function count(groups, name, { length, own }, row) {
        const group = groups.get(name) ||
            { name, count: 0, total: 0, self: 0 };

        group.count++;
        group.total += length(row);
        group.self += own[row];
        groups.set(name, group);
    }

    // add() adds the wanted slices of a recording: source is {test, recording,
    // wanted(row), part}, where the part is that of nesting.within().
    function add(all, source) {
        const { recording, wanted, part } = source;
        const { slices } = recording;
        const hits = recording.strings.map((string) => string === all.name);

        all.sources.push({ ...source, first: all.rows.length });
        for (let row = 0; row < slices.rows; row++) {
            if (!wanted(row))
                continue;
            const outer = outerOf(source, row);

            if (hits[slices.name[row]]) {
                all.rows.push(row);
                all.lengths.push(part.length(row));
                count(all.callers, outer < 0 ? NOTHING :
                    recordings.sliceName(recording, outer), part, row);
            }
            if (outer >= 0 && hits[slices.name[outer]]) {
                count(all.callees, recordings.sliceName(recording, row), part,
                    row);
            }
        }
    }

    /* ---- As elements ---- */

    const COLUMNS = [
        ['Name', (one) => one.name], ['Count', (one) => one.count],
        ['Total', (one) => one.total, 'time'],
        ['Self', (one) => one.self, 'time'],
    ];

    function sums(title, groups, walk) {
        const rows = [...groups.values()].sort((a, b) => b.total - a.total);

        return make('section', {}, make('h3', {}, title),
            rows.length ? sumTable.make(title, rows,
                sumTable.linked(COLUMNS, ({ name }) =>
                    name === NOTHING ? null : () => walk(name))) :
                make('p', { class: 'muted' }, 'None'));
    }

    // placeOf() is an instance's slice and where it was recorded.
    function placeOf(all, i) {
        const source = all.sources.findLast(({ first }) => first <= i);

        return { ...source, row: all.rows[i], length: all.lengths[i] };
    }

    // listOf() lists the longest slices of a bar.
    function listOf(all, has, label, link) {
        const inside = [];

        all.lengths.forEach((length, i) => has(length) && inside.push(i));
        const shown = inside.sort((a, b) => all.lengths[b] - all.lengths[a])
            .slice(0, LISTED);

        return [make('h3', {}, label), make('ol', { class: 'name-slices' },
            shown.map((i) => make('li', {}, link(placeOf(all, i))))),
        inside.length > shown.length && make('p', { class: 'muted' },
            `The longest ${shown.length} are listed.`)];
    }

    // create() shows what was added. link(place) makes an element that leads to
    // a slice, walk(name) is called to look at another name.
    function create(all, link, walk) {
        const list = make('div', {});

        if (!all.rows.length)
            return make('p', { class: 'muted' }, 'No slices here');
        return make('div', { class: 'one-name' },
            histogram.make(Float64Array.from(all.lengths), (has, label) =>
                dom.replace(list, listOf(all, has, label, link))), list,
            make('div', { class: 'sandwich' },
                sums(`Inside which spans ${format.line(all.name)} ran`,
                    all.callers, walk),
                sums(`What ran inside ${format.line(all.name)}`, all.callees,
                    walk)));
    }

    return { begin, add, make: create };
})();

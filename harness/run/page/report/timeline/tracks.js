// tracks.js: which tracks the time line shows, and where: a filter by name,
// tracks that are collapsed to one row, pinned ones, which don't scroll, and
// empty ones, which can be hidden.
const tracks = (() => {
    const { SIZE } = layout;
    const TOP = SIZE.ruler + SIZE.ticks;
    // Pinned tracks leave the others a third of the chart.
    const PINNED = 2 / 3;

    /* ---- Settings, which are in the address ---- */

    // idsOf() reads numbers of tracks, such as 0-3,7.
    function idsOf(text, count) {
        const ids = new Set();

        for (const [, from, to] of text.matchAll(/(\d+)(?:-(\d+))?/g)) {
            for (let id = Number(from); id <= Number(to ?? from) &&
                id < count; id++)
                ids.add(id);
        }
        return ids;
    }

    function textOf(ids) {
        const parts = [];

        for (const id of [...ids].sort((a, b) => a - b)) {
            const last = parts[parts.length - 1];

            if (last && last[1] === id - 1)
                last[1] = id;
            else
                parts.push([id, id]);
        }
        return parts.map(([from, to]) => from === to ? from :
            `${from}-${to}`).join(',');
    }

    function read(count) {
        return {
            filter: state.get('tracks'),
            collapsed: idsOf(state.get('collapsed'), count),
            pinned: idsOf(state.get('pinned'), count),
            hidesEmpty: state.get('empty') === 'hide',
        };
    }

    function note({ filter, collapsed, pinned, hidesEmpty }) {
        state.note({
            tracks: filter, collapsed: textOf(collapsed),
            pinned: textOf(pinned), empty: hidesEmpty ? 'hide' : '',
        });
    }

    /* ---- Places ---- */

    function hasSlices({ rows, curve }, { start, end }) {
        return !!curve || rows.some((row) => {
            const next = layout.firstEndingAfter(row, start, 0);

            return next < row.length && row.starts[next] <= end;
        });
    }

    function isNamed({ name }, { filter: text }) {
        return name.toLowerCase().includes(text.trim().toLowerCase());
    }

    function shownOf(groups, settings, view) {
        return groups.filter((group) => isNamed(group, settings) &&
            (!settings.hidesEmpty || hasSlices(group, view)));
    }

    // Items are placed from top to bottom.
    class Column {
        constructor(y) {
            this.y = y;
            this.items = [];
        }

        add(kind, height, more) {
            this.items.push({ kind, y: this.y, height, ...more });
            this.y += height;
        }

        // A collapsed track shows its first row in place of all.
        addTrack({ id, name, rows, first, curve }, settings, tops) {
            const isCollapsed = settings.collapsed.has(id);

            this.add('head', SIZE.head, { name, id, isCollapsed,
                isPinned: settings.pinned.has(id) });
            if (curve && !isCollapsed)
                this.add('curve', SIZE.curve, { curve });
            for (const [depth, row] of rows.entries()) {
                if (depth && isCollapsed) {
                    tops[first + depth] = tops[first];
                } else {
                    tops[first + depth] = this.y;
                    this.add('row', SIZE.row, { row });
                }
            }
            this.y += SIZE.gap;
        }
    }

    function heightOf({ id, rows, curve }, { collapsed }) {
        const all = (curve ? SIZE.curve : 0) + rows.length * SIZE.row;
        const one = rows.length ? SIZE.row : 0;

        return SIZE.head + (collapsed.has(id) ? one : all) + SIZE.gap;
    }

    // fixed() are the pinned tracks for which there is room above the others.
    function fixed(shown, settings, height) {
        let left = (height - TOP) * PINNED;

        return new Set(shown.filter((group) => {
            const needed = heightOf(group, settings);
            const fits = settings.pinned.has(group.id) && needed <= left;

            left -= fits ? needed : 0;
            return fits;
        }));
    }

    // place() returns the items that scroll, and those above them that don't.
    // Pinned tracks for which there is no room are the first that scroll.
    function place(shown, rowCount, settings, height) {
        const tops = new Float64Array(rowCount).fill(NaN);
        const above = fixed(shown, settings, height);
        const pinned = new Column(TOP);
        const isFirst = (group) => settings.pinned.has(group.id);
        const below = shown.filter((group) => !above.has(group));

        for (const group of above)
            pinned.addTrack(group, settings, tops);
        const column = new Column(pinned.y);

        column.add('test', SIZE.row);
        for (const group of [...below.filter(isFirst),
            ...below.filter((one) => !isFirst(one))])
            column.addTrack(group, settings, tops);
        return {
            tops, edge: pinned.y, height: column.y,
            pinned: pinned.items, items: column.items,
            bottoms: Float64Array.from(column.items,
                ({ y, height }) => y + height),
        };
    }

    // within() returns the items between two heights, which scroll.
    function within({ items, bottoms }, top, bottom) {
        const first = layout.firstAt(bottoms, bottoms.length, top, 0);
        let last = first;

        while (last < items.length && items[last].y <= bottom)
            last++;
        return items.slice(first, last);
    }

    /* ---- The time line's tracks ---- */

    // `placed` is where the tracks are.
    class Tracks {
        constructor(control) {
            this.control = control;
            this.layout = layout.of(control.recording);
            this.settings = read(this.layout.groups.length);
            this.menu = this.makeMenu();
            this.find(control.recording);
        }

        // grow() places the tracks of a recording that has grown.
        grow() {
            const before = this.layout.groups.length;

            this.layout = layout.of(this.control.recording);
            this.find(this.control.view);
            if (this.layout.groups.length === before)
                return;
            const { element } = this.menu;

            this.menu = this.makeMenu();
            element.replaceWith(this.menu.element);
            this.update();
        }

        makeMenu() {
            return tracksMenu.make(this.layout.groups, this.settings,
                (action) => this.change(action));
        }

        find(view) {
            this.shown = shownOf(this.layout.groups, this.settings, view);
            this.arrange();
        }

        // arrange() places the tracks anew when the chart's height changes.
        arrange() {
            this.placed = place(this.shown, this.layout.rowCount,
                this.settings, this.control.parts.scroller.clientHeight);
        }

        update() {
            const { control } = this;

            this.find(control.view);
            this.menu.fill(this.shown.length);
            control.resize();
            control.redraw();
        }

        change(action) {
            action();
            note(this.settings);
            this.update();
        }

        // moved() lets tracks come and go when the time line has not moved for
        // a while.
        moved() {
            clearTimeout(this.waiting);
            if (this.settings.hidesEmpty)
                this.waiting = setTimeout(() => this.update(), 200);
        }

        topOf(slice) {
            return this.placed.tops[this.layout.places[slice]];
        }

        isPinned(slice) {
            return this.topOf(slice) < this.placed.edge;
        }

        // yOf() is where a slice is on the canvas; NaN if its track is hidden.
        yOf(slice) {
            return this.topOf(slice) - (this.isPinned(slice) ? 0 :
                this.control.parts.scroller.scrollTop);
        }

        itemAt(y) {
            const { placed, control } = this;
            const top = y + control.parts.scroller.scrollTop;

            return y >= placed.edge ? within(placed, top, top)[0] :
                placed.pinned.find((item) =>
                    y >= item.y && y < item.y + item.height);
        }

        // headAt() is the number of the track whose head is there, or -1.
        headAt(y) {
            const item = this.itemAt(y);

            return item?.kind === 'head' ? item.id : -1;
        }

        collapse(id) {
            this.change(() => flip(this.settings.collapsed, id));
        }

        // reveal() shows the row of a slice.
        reveal(slice) {
            const { settings } = this;
            const { track, depth } = this.control.recording.slices;
            const id = track[slice];

            if (!Number.isNaN(this.topOf(slice)) &&
                !(depth[slice] && settings.collapsed.has(id)))
                return;
            this.change(() => {
                settings.collapsed.delete(id);
                if (!isNamed(this.layout.groups.find((group) =>
                    group.id === id), settings))
                    settings.filter = '';
            });
        }
    }

    function flip(set, id) {
        if (!set.delete(id))
            set.add(id);
    }

    return { make: (control) => new Tracks(control), within, isNamed, flip };
})();

// scale.js: where times lie on the screen, and which time a pixel shows. A
// break is a time that is skipped: however long, it is a few pixels wide.
const scale = (() => {
    // Shorter breaks are as wide as they are.
    const BREAK = 52;

    // longestOf() is a tree over lengths: node i is the longest of the nodes 2i
    // and 2i + 1, and leaves begin at `size`.
    function longestOf(lengths) {
        const size = 2 ** Math.ceil(Math.log2(Math.max(1, lengths.length)));
        const tree = new Float64Array(2 * size);

        tree.set(lengths, size);
        for (let i = size - 1; i > 0; i--)
            tree[i] = Math.max(tree[2 * i], tree[2 * i + 1]);
        return { tree, size };
    }

    function listOf(pairs) {
        return {
            from: Float64Array.from(pairs, ([from]) => from),
            to: Float64Array.from(pairs, ([, to]) => to),
            ...longestOf(pairs.map(([from, to]) => to - from)),
        };
    }

    // breaks() prepares pairs of times, which come in order and don't overlap.
    // Mirrored, time runs backward.
    function breaks(pairs) {
        return { ...listOf(pairs), mirrored: listOf(pairs.map(([from, to]) =>
            [-to, -from]).reverse()) };
    }

    const NONE = breaks([]);

    // nextOver() is the first break from some index on that is longer than a
    // length, or as many as there are. It climbs from its leaf until the tree
    // has one to the right, and descends to it.
    function nextOver({ tree, size, from }, index, length) {
        let node = size + index;

        if (index >= from.length)
            return from.length;
        while (tree[node] <= length) {
            while (node & 1)
                node >>= 1;
            if (!node)
                return from.length;
            node++;
        }
        while (node < size)
            node = tree[2 * node] > length ? 2 * node : 2 * node + 1;
        return node - size;
    }

    // between() are the breaks between two times that are wider than BREAK at
    // some pixels for a ns.
    function* between(list, start, end, pixels) {
        const { from, to } = list;
        const least = BREAK / pixels;
        const first = layout.firstAt(to, to.length, start, 0);

        for (let i = nextOver(list, first, least);
            i < from.length && from[i] < end;
            i = nextOver(list, i + 1, least)) {
            if (to[i] > start)
                yield { from: from[i], to: to[i] };
        }
    }

    // shown() is the part of a break between two times, and its pixels.
    function shown({ from, to }, start, end) {
        const part = { from: Math.max(from, start), to: Math.min(to, end),
            length: to - from };

        part.width = BREAK * (part.to - part.from) / part.length;
        return part;
    }

    // walk() is the time that lies some pixels right of a time.
    function walk(list, time, x, pixels) {
        for (const one of between(list, time, Infinity, pixels)) {
            const part = shown(one, time, Infinity);
            const before = (part.from - time) * pixels;

            if (before >= x)
                break;
            if (before + part.width >= x)
                return part.from + (x - before) / BREAK * part.length;
            x -= before + part.width;
            time = part.to;
        }
        return time + x / pixels;
    }

    // at() is the time some pixels right of a time, or left of it.
    function at(list, time, x, pixels) {
        return x < 0 ? -walk((list || NONE).mirrored, -time, -x, pixels) :
            walk(list || NONE, time, x, pixels);
    }

    // fit() finds the breaks of a window and its pixels for a ns. Breaks leave
    // more pixels to the rest, which makes more idle times wide enough for a
    // break, until no more are. A window without a rest has no breaks.
    function fit(list, start, end, width) {
        const whole = { pixels: width / (end - start), parts: [] };
        let last = whole;

        for (;;) {
            const parts = Array.from(between(list, start, end, last.pixels),
                (one) => shown(one, start, end));
            const rest = parts.reduce((ns, { from, to }) => ns - (to - from),
                end - start);

            if (parts.length === last.parts.length)
                return last;
            if (rest <= 0)
                return whole;
            last = { parts, pixels: parts.reduce((x, part) =>
                x - part.width, width) / rest };
        }
    }

    // knotsOf() are the edges of breaks; times between two of them lie evenly.
    function knotsOf(parts, { start, end }, width, pixels) {
        const times = [start];
        const xs = [0];

        for (const { from, to, width: wide } of parts) {
            const left = xs.at(-1) + (from - times.at(-1)) * pixels;

            times.push(from, to);
            xs.push(left, left + wide);
        }
        return { times: [...times, end], xs: [...xs, width] };
    }

    // along() maps keys to values between knots, and evenly outside of them.
    function along(keys, values, slope) {
        const last = keys.length - 1;

        return (key) => {
            if (key <= keys[0])
                return values[0] + (key - keys[0]) * slope;
            if (key >= keys[last])
                return values[last] + (key - keys[last]) * slope;
            const i = layout.firstAt(keys, keys.length, key, 0);

            return values[i] - (values[i] - values[i - 1]) *
                (keys[i] - key) / (keys[i] - keys[i - 1]);
        };
    }

    function linear({ start, end }, width) {
        const pixels = width / (end - start);

        return {
            pixels, breaks: [],
            stretches: [{ from: start, to: end, left: 0, right: width }],
            x: (time) => (time - start) * pixels,
            time: (x) => start + x / pixels,
        };
    }

    // of() maps the times of a window {start, end, breaks} to pixels from 0 to
    // width, `pixels` for a ns outside of breaks. Stretches are between breaks.
    function of(window, width) {
        const { pixels, parts } = fit(window.breaks || NONE, window.start,
            window.end, width);

        if (!parts.length)
            return linear(window, width);
        const { times, xs } = knotsOf(parts, window, width, pixels);
        const place = (i) => ({ from: times[i], to: times[i + 1],
            left: xs[i], right: xs[i + 1] });
        const stretches = parts.map((unused, i) => place(2 * i));

        return {
            pixels, x: along(times, xs, pixels),
            time: along(xs, times, 1 / pixels),
            breaks: parts.map((part, i) =>
                ({ ...place(2 * i + 1), length: part.length })),
            stretches: [...stretches, place(2 * parts.length)]
                .filter(({ from, to }) => to > from),
        };
    }

    return { breaks, of, at };
})();

// chart.js: the picture of a test's durations: a mark for each run, the latest
// on the right, and a line at each change.
const chart = (() => {
    const { element } = marks;
    const HEIGHT = 260;
    const PLOT = { left: 72, right: 12, top: 14, bottom: 34 };
    const BOTTOM = HEIGHT - PLOT.bottom;
    // Durations that differ by a larger factor get a logarithmic axis.
    const FACTOR = 10;
    const SIZES = { most: 5, least: 2 };

    function linear(most) {
        const scale = (BOTTOM - PLOT.top) / most;
        const { size, label } = axis.of([{ from: 0, to: most }], 2 * scale);
        const ticks = [];

        for (let ns = 0; ns <= most; ns += size)
            ticks.push([ns, label(ns, { from: 0, to: most })]);
        return { ticks, y: (ns) => BOTTOM - ns * scale };
    }

    function logarithmic(least, most) {
        const from = Math.floor(Math.log10(least));
        const to = Math.max(from + 1, Math.ceil(Math.log10(most)));
        const scale = (BOTTOM - PLOT.top) / (to - from);
        const ticks = [];

        for (let power = from; power <= to; power++)
            ticks.push([10 ** power, format.duration(10 ** power)]);
        return {
            ticks,
            y: (ns) => BOTTOM -
                (Math.log10(Math.max(ns, 10 ** from)) - from) * scale,
        };
    }

    function scaleOf(times) {
        const least = Math.max(1, Math.min(...times));
        const most = Math.max(1, ...times);

        return most > FACTOR * least ? logarithmic(least, most) : linear(most);
    }

    function grid({ ticks, y }, width) {
        return ticks.flatMap(([ns, text]) => [
            element('line', { class: 'tick', x1: PLOT.left,
                x2: width - PLOT.right, y1: y(ns), y2: y(ns) }),
            element('text', { class: 'label', x: PLOT.left - 8, y: y(ns) + 4,
                'text-anchor': 'end' }, text)]);
    }

    function day(run) {
        return run.start.slice(0, 16).replace('T', ' ');
    }

    function ends(past, width) {
        const text = (run, x, anchor) => element('text', { class: 'label', x,
            y: HEIGHT - 10, 'text-anchor': anchor }, day(run));

        return [text(past[0], PLOT.left, 'start'), past.length > 1 &&
            text(past.at(-1), width - PLOT.right, 'end')]
            .filter((one) => one);
    }

    function tip(run) {
        return element('title', {}, [run.name, format.outcome(run),
            format.duration(run.duration_ns)].join(' · '));
    }

    // A change is between a run and the one before.
    function lines(past, some, x) {
        return some.map((change) => {
            const at = past.findIndex(({ name }) => name === change.run);
            const middle = x(at - 0.5);

            return element('line', { class: 'change', x1: middle, x2: middle,
                y1: PLOT.top - 8, y2: BOTTOM });
        });
    }

    function points(past, scale, x, step) {
        const size = Math.max(SIZES.least, Math.min(SIZES.most, step / 2.2));

        return past.map((run, i) => marks.at(run, x(i),
            run.outcome === 'skipped' ? BOTTOM : scale.y(run.duration_ns), size,
            tip(run)));
    }

    function summary(past, times) {
        const range = times.length ? `, from ${format.duration(
            Math.min(...times))} to ${format.duration(Math.max(...times))}` : '';

        return `Durations of ${format.plural(past.length, 'run')}${range}; ` +
            'the latest is on the right. The table has all values.';
    }

    // draw() makes the picture for a width in pixels. The runs are the latest
    // first; a click on a mark calls open(run).
    function draw(data, width, open) {
        const past = data.runs.toReversed();
        const times = past.filter(({ outcome }) => outcome !== 'skipped')
            .map((run) => run.duration_ns);
        const scale = scaleOf(times.length ? times : [1]);
        const step = (width - PLOT.left - PLOT.right) / past.length;
        const x = (i) => PLOT.left + (i + 0.5) * step;
        const all = points(past, scale, x, step);
        const picture = element('svg', {
            class: 'durations', role: 'img', width, height: HEIGHT,
            'aria-label': summary(past, times),
        }, ...grid(scale, width), ...ends(past, width),
        ...lines(past, changes.shown(data), x), ...all);

        picture.addEventListener('click', ({ target }) => {
            const at = all.indexOf(target.closest('.mark'));

            if (at >= 0)
                open(past[at]);
        });
        return picture;
    }

    return { draw };
})();

// histogram.js: durations as bars on a logarithmic axis. A press on a bar
// chooses its durations.
const histogram = (() => {
    const { make } = dom;
    const BARS = 48;
    // Bars for each power of two.
    const STEPS = [64, 32, 16, 8, 4, 2, 1, 0.5];
    // The widest bar, in pixels.
    const WIDE = 30;

    function powerOf(duration, steps) {
        return Math.floor(Math.log2(duration) * steps);
    }

    function emptyBar(power, steps) {
        return { count: 0, from: 2 ** (power / steps),
            to: 2 ** ((power + 1) / steps) };
    }

    // barsOf() returns bars without gaps from the shortest to the longest
    // duration. Those of 0 ns have a bar before all others.
    function barsOf(durations) {
        const least = durations.reduce((a, b) =>
            b > 0 ? Math.min(a, b) : a, Infinity);
        const most = durations.reduce((a, b) => Math.max(a, b), 0);
        const steps = STEPS.find((one) => !most ||
            powerOf(most, one) - powerOf(least, one) < BARS);
        const first = most ? powerOf(least, steps) : 0;
        const bars = Array.from({ length: most ?
            powerOf(most, steps) - first + 1 : 0 },
        (unused, i) => emptyBar(first + i, steps));
        const zero = durations.includes(0) ? 1 : 0;
        const barOf = (duration) => duration ?
            powerOf(duration, steps) - first + zero : 0;

        if (zero)
            bars.unshift({ count: 0, from: 0, to: 1 });
        for (const duration of durations)
            bars[barOf(duration)].count++;
        return { bars, barOf };
    }

    function labelOf({ count, from, to }) {
        return !from ? `${format.plural(count, 'slice')} of 0 ns` :
            `${format.plural(count, 'slice')} of ${format.duration(from)} to ${
                format.duration(to)}`;
    }

    // shareOf() is where a time is on the axis, from 0 to 1.
    function shareOf({ bars, barOf }, time) {
        const bar = barOf(time);
        const { from, to } = bars[bar];
        const inside = !from ? 0.5 :
            Math.log2(time / from) / Math.log2(to / from);

        return (bar + inside) / bars.length;
    }

    function mark(scale, name, time) {
        const element = make('span', { class: 'histogram-mark',
            title: `${name} ${format.duration(time)}` });

        element.style.left = `${100 * shareOf(scale, time)}%`;
        return element;
    }

    function barElement(bar, highest, choose) {
        const label = labelOf(bar);
        const element = bar.count ? make('button', {
            type: 'button', class: 'histogram-bar', title: label,
            'aria-label': label, 'aria-pressed': 'false', click: choose,
        }) : make('span', {});

        element.style.height = `${Math.max(bar.count ? 3 : 0,
            100 * bar.count / highest)}%`;
        return element;
    }

    // create() shows durations, of which there is at least one. choose(has,
    // label) gets a function that tells which of them are in the pressed bar.
    function create(durations, choose) {
        const scale = barsOf(durations);
        const { bars, barOf } = scale;
        const highest = Math.max(...bars.map(({ count }) => count));
        const { median, p99 } = statistics.spread(durations);
        const elements = bars.map((bar, i) => barElement(bar, highest, () => {
            elements.forEach((element, at) => bars[at].count &&
                element.setAttribute('aria-pressed', String(at === i)));
            choose((duration) => barOf(duration) === i, labelOf(bar));
        }));

        const element = make('div', { class: 'histogram' },
            make('div', { class: 'histogram-bars', role: 'group',
                'aria-label': 'Durations, on a logarithmic axis' }, elements,
            mark(scale, 'median', median), mark(scale, 'p99', p99)),
            make('p', { class: 'histogram-axis muted' },
                make('span', {}, format.duration(bars[0].from)),
                make('span', {}, `median ${format.duration(median)} · p99 ${
                    format.duration(p99)}`),
                make('span', {}, format.duration(bars[bars.length - 1].to))));

        element.style.maxWidth = `${Math.max(300, WIDE * bars.length)}px`;
        return element;
    }

    return { make: create };
})();

// overlay.js: the durations of one name in both runs as two histograms, one
// over the other. Each bar is a share of its own run's calls; the axis is
// logarithmic.
const overlay = (() => {
    const { make } = dom;
    const TICKS = 7;

    function place(time) {
        return time > 0 ? Math.log2(time) : -1;
    }

    // scale() maps a time to a share of the width.
    function scale(buckets) {
        const first = place(buckets[0].from);
        const last = place(buckets[buckets.length - 1].to);

        return (time) => (place(time) - first) / (last - first);
    }

    function at(element, left, width) {
        element.style.left = `${100 * left}%`;
        if (width !== undefined)
            element.style.width = `${100 * width}%`;
        return element;
    }

    function bar(side, share, highest) {
        const element = make('span', { class: `overlay-bar is-${side}-run` });

        element.style.height = `${100 * share / highest}%`;
        return element;
    }

    function shareOf(one, bucket, side) {
        return one[side].count ? bucket[side] / one[side].count : 0;
    }

    function column(one, bucket, x, highest) {
        const part = (side) => `${side} ${format.count(bucket[side])} (${
            format.percent(bucket[side], one[side].count) || '0 %'})`;
        const left = x(bucket.from);

        return at(make('span', {
            class: 'overlay-column',
            title: `${format.duration(bucket.from)} to ${
                format.duration(bucket.to)}: ${part('old')}, ${part('new')}`,
        }, ['old', 'new'].map((side) => bucket[side] ?
            bar(side, shareOf(one, bucket, side), highest) : null)),
        left, x(bucket.to) - left);
    }

    function median(one, side, x) {
        return one[side].count ? at(make('span', {
            class: `overlay-median is-${side}-run`,
        }), x(one[side].median)) : null;
    }

    // roundTimes() are 1, 2 and 5 of each power of ten, or the powers alone if
    // these are enough.
    function roundTimes(first, last) {
        const powers = Array.from({ length: 20 }, (unused, i) => 10 ** i);
        const inside = (times) => times.filter((time) =>
            time >= first && time < last);
        const fine = inside(powers.flatMap((power) =>
            [power, 2 * power, 5 * power]));

        return fine.length <= TICKS ? fine : inside(powers);
    }

    function ticks(buckets, x) {
        return roundTimes(buckets[0].from, buckets[buckets.length - 1].to)
            .filter((time) => x(time) < 0.95)
            .map((time) => at(make('span', { class: 'overlay-tick' },
                format.duration(time).replace(/\.0+ /, ' ')), x(time)));
    }

    function summary(one, side) {
        const { count, median: middle, p99, most } = one[side];

        return count ? `${side}: median ${format.duration(middle)}, p99 ${
            format.duration(p99)}, longest ${format.duration(most)}, ${
            format.plural(count, 'call')}` : `${side}: no calls`;
    }

    function legend(one) {
        return make('ul', { class: 'overlay-legend' }, ['old', 'new'].map(
            (side) => make('li', {}, make('span', {
                class: `overlay-key is-${side}-run`, 'aria-hidden': 'true',
            }), summary(one, side))));
    }

    function create(one) {
        const x = scale(one.buckets);
        const highest = Math.max(...one.buckets.flatMap((bucket) =>
            ['old', 'new'].map((side) => shareOf(one, bucket, side))));

        return make('div', { class: 'overlay' }, legend(one), make('div', {
            class: 'overlay-graph', role: 'img',
            'aria-label': `Durations. ${['old', 'new'].map((side) =>
                summary(one, side)).join('; ')}`,
        }, make('div', { class: 'overlay-bars' },
            one.buckets.map((bucket) => column(one, bucket, x, highest)),
            median(one, 'old', x), median(one, 'new', x)),
        make('div', { class: 'overlay-axis' }, ticks(one.buckets, x))));
    }

    return { make: create };
})();

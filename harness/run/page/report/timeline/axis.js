// axis.js: the labels of the time line's ruler. All have the same unit and as
// many decimals as tell neighbors apart.
const axis = (() => {
    const UNITS = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']];
    // Labels are at least as many pixels apart.
    const APART = 90;
    // With more decimals, labels count from a time that is printed once.
    const DECIMALS = 3;

    function power(value) {
        return 10 ** Math.ceil(Math.log10(value) - 1e-9);
    }

    function stepOf(pixels) {
        const most = power(Math.max(1, APART / pixels));

        return [0.1, 0.2, 0.5, 1].map((part) => part * most)
            .find((size) => size >= 1 && size * pixels >= APART) || most;
    }

    function unitOf(ns) {
        return UNITS.find(([unit]) => ns >= unit) || UNITS[3];
    }

    function decimalsOf(size, [unit]) {
        return Math.max(0, Math.ceil(-Math.log10(size / unit) - 1e-9));
    }

    function text(ns, unit, size) {
        return `${(ns / unit[0]).toFixed(decimalsOf(size, unit))} ${unit[1]}`;
    }

    // Times count from a round one before the stretch.
    function baseOf({ from, to }) {
        const round = power(to - from);

        return { round, time: Math.floor(from / round) * round };
    }

    // of() returns the step between ticks, a label for each time, and, if
    // labels would be long, for each stretch the time from which they count.
    // Stretches {from, to} and times are in ns from the test's zero.
    function of(stretches, pixels) {
        const size = stepOf(pixels);
        const unit = unitOf(Math.max(...stretches.flatMap(({ from, to }) =>
            [Math.abs(from), Math.abs(to)])));

        if (decimalsOf(size, unit) <= DECIMALS)
            return { size, label: (ns) => text(ns, unit, size) };
        const inner = unitOf(Math.max(...stretches.map((one) =>
            one.to - baseOf(one).time)));

        return {
            size,
            label: (ns, stretch) =>
                `+${text(ns - baseOf(stretch).time, inner, size)}`,
            base(stretch) {
                const { time, round } = baseOf(stretch);

                return text(time, unit, round);
            },
        };
    }

    return { of };
})();

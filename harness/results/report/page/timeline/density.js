// density.js: how many slices there are in each of some equal parts of a
// recording, and outlines of that for pictures.
const density = (() => {
    const BINS = 2048;

    function binOf({ start, end }, time) {
        return Math.max(0, Math.min(BINS - 1,
            Math.floor((time - start) / (end - start) * BINS)));
    }

    // counts() are those of the slices whose state has a bit, or lacks it.
    function counts(recording, bit, has) {
        const { rows, start, ends, state } = recording.slices;
        const changes = new Int32Array(BINS + 1);
        let open = 0;

        for (let row = 0; row < rows; row++) {
            if (state[row] & recordings.NEVER_ENTERED ||
                !(state[row] & bit) === has)
                continue;
            changes[binOf(recording, start[row])]++;
            changes[binOf(recording, ends[row]) + 1]--;
        }
        return Uint32Array.from(changes.subarray(0, BINS), (change) => {
            open += change;
            return open;
        });
    }

    // outline() is the path of an SVG image: counts as bars from a line up, the
    // highest of them as high as given. Small counts can be seen, too.
    function outline(values, bottom, height) {
        const most = values.reduce((a, b) => Math.max(a, b), 1);
        let path = '';

        for (let i = 0; i < BINS;) {
            const value = values[i];
            const first = i;

            while (i < BINS && values[i] === value)
                i++;
            if (value) {
                const tall = height * (0.15 + 0.85 * Math.sqrt(value / most));

                path += `M${first} ${bottom}V${(bottom - tall).toFixed(2)}` +
                    `H${i}V${bottom}Z`;
            }
        }
        return path;
    }

    // ticks() is a path with a line in each part that has one of sorted times.
    function ticks(recording, times, top, bottom) {
        const { start, end } = recording;
        const part = (end - start) / BINS;
        let path = '';
        let next = 0;

        while (next < times.length) {
            const bin = binOf(recording, times[next]);

            path += `M${bin + 0.5} ${top}V${bottom}`;
            next = layout.firstAt(times, times.length,
                Math.max(start + (bin + 1) * part, times[next] + part / 2),
                next + 1);
        }
        return path;
    }

    return { counts, outline, ticks, BINS };
})();

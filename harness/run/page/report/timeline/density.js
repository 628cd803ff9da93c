// density.js: how many slices there are in each of some equal parts of a
// recording, and outlines of that for pictures.
const density = (() => {
    const BINS = 2048;

    // counter() counts in how many slices each part is.
    function counter() {
        const changes = new Int32Array(BINS + 1);

        return {
            add(first, last) {
                changes[first]++;
                changes[last + 1]--;
            },
            counts() {
                let open = 0;

                return Uint32Array.from(changes.subarray(0, BINS),
                    (change) => open += change);
            },
        };
    }

    // binsOf() returns a function from times to parts.
    function binsOf({ start, end }) {
        const share = BINS / (end - start);

        return (time) => Math.max(0, Math.min(BINS - 1,
            Math.floor((time - start) * share)));
    }

    // counts() are those of slices on threads and of those on devices.
    function counts(recording) {
        const { rows, start, ends, state } = recording.slices;
        const bin = binsOf(recording);
        const host = counter();
        const device = counter();

        for (let row = 0; row < rows; row++) {
            if (state[row] & recordings.NEVER_ENTERED)
                continue;
            const one = state[row] & recordings.ON_DEVICE ? device : host;

            one.add(bin(start[row]), bin(ends[row]));
        }
        return { host: host.counts(), device: device.counts() };
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
        const binOf = binsOf(recording);
        let path = '';
        let next = 0;

        while (next < times.length) {
            const bin = binOf(times[next]);

            path += `M${bin + 0.5} ${top}V${bottom}`;
            next = layout.firstAt(times, times.length,
                Math.max(start + (bin + 1) * part, times[next] + part / 2),
                next + 1);
        }
        return path;
    }

    return { counts, outline, ticks, BINS };
})();

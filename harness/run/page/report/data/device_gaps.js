// device_gaps.js: the times in which a device was idle between its first and
// its last work, and what the host did meanwhile.
const deviceGaps = (() => {
    const WORK = new Set(['kernel', 'memcpy', 'memset', 'graph']);

    function isWork({ slices, string }, row) {
        return slices.state[row] & recordings.ON_DEVICE &&
            WORK.has(string(slices.kind[row]));
    }

    // Slices come by start, so that the work of a device is a sweep.
    function addWork(devices, recording, row) {
        const { slices, tracks, string } = recording;
        const track = slices.track[row];
        const number = tracks.device[track];
        const start = slices.start[row];
        const device = devices.get(number) || { gaps: [], start, end: start,
            name: string(tracks.process[track]) };

        devices.set(number, device);
        if (start > device.end) {
            device.gaps.push({ from: device.end, to: start, device,
                before: row });
        }
        device.end = Math.max(device.end, slices.ends[row]);
    }

    // of() returns the devices that worked, each with its gaps: {name, start,
    // end, idle, gaps}; a gap is {from, to, device, before}, where `before` is
    // the slice that ended it.
    function of(recording) {
        const devices = new Map();

        for (let row = 0; row < recording.slices.rows; row++) {
            if (isWork(recording, row))
                addWork(devices, recording, row);
        }
        for (const device of devices.values()) {
            device.idle = device.gaps.reduce((sum, { from, to }) =>
                sum + to - from, 0);
        }
        return [...devices.values()];
    }

    // host() returns what the threads of the host spent a gap in: own times by
    // thread and slice name, the longest first: {name, track, time, row}.
    function host(recording, { from, to }) {
        const { slices, tracks, string } = recording;
        const sums = new Map();

        innermost.lines(recording).forEach((line, track) => {
            if (string(tracks.kind[track]) !== 'thread')
                return;
            innermost.each(line, from, to, (start, end, row) => {
                const key = row < 0 ? '' : `${track} ${slices.name[row]}`;
                const sum = sums.get(key) || { track, row, time: 0,
                    name: row < 0 ? '' : recordings.sliceName(recording, row) };

                sum.time += end - start;
                sums.set(key, sum);
            });
        });
        sums.delete('');
        return [...sums.values()].sort((a, b) => b.time - a.time);
    }

    return { of, host };
})();

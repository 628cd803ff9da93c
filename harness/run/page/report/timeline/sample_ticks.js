// sample_ticks.js: draws the samples of a thread below its name, in the colors
// of the functions that it was in.
const sampleTicks = (() => {
    const HEIGHT = 4;
    const WIDTH = 2;

    // Each track's samples by time. The recording keeps them.
    function tracksOf(recording) {
        if (!recording.sampleTracks) {
            const { rows, track, time, stack } = recording.table('samples');
            const { name } = recording.table('stacks');
            const all = new Map();

            for (let row = 0; row < rows; row++) {
                if (!all.has(track[row]))
                    all.set(track[row], { times: [], hues: [] });
                all.get(track[row]).times.push(time[row]);
                all.get(track[row]).hues.push(
                    paint.hue(recording.string(name[stack[row]])));
            }
            recording.sampleTracks = all;
        }
        return recording.sampleTracks;
    }

    // Samples that share a pixel are drawn once.
    function draw({ context, recording, scale, start, end, colors }, id, y) {
        const { times, hues } = tracksOf(recording).get(id) ||
            { times: [] };
        let next = layout.firstAt(times, times.length, start, 0);

        while (next < times.length && times[next] <= end) {
            const left = scale.x(times[next]);

            context.fillStyle = colors[hues[next]];
            context.fillRect(left, y - HEIGHT, WIDTH, HEIGHT);
            next = layout.firstAt(times, times.length,
                scale.time(left + WIDTH), next + 1);
        }
    }

    return { draw };
})();

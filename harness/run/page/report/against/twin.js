// twin.js: draws the time line of a test in one run: an axis, and its tracks
// from top to bottom.
const twin = (() => {
    const { make } = dom;
    const { SIZE } = layout;
    const AXIS = 20;
    // A label that begins closer to the edge would be cut.
    const LABEL = 48;
    // Tracks further below are left out.
    const TALLEST = 900;

    function heightOf({ rows }) {
        return SIZE.head + rows.length * SIZE.row + SIZE.gap;
    }

    // placed() are the tracks that have slices.
    function placed(recording) {
        const all = layout.of(recording).groups.map(({ name, rows }) =>
            ({ name, rows: rows.filter(({ length }) => length) }))
            .filter(({ rows }) => rows.length);
        const kept = [];
        let top = AXIS;

        for (const track of all) {
            if (kept.length && top + heightOf(track) > TALLEST)
                break;
            kept.push({ ...track, top });
            top += heightOf(track);
        }
        return { kept, hidden: all.length - kept.length,
            height: Math.min(TALLEST, top) };
    }

    function drawAxis({ context, scale, width, height, recording: { zero } }) {
        const stretch = { from: scale.time(0) - zero,
            to: scale.time(width) - zero };
        const { size, label } = axis.of([stretch], scale.pixels);
        const first = Math.ceil(stretch.from / size) * size;

        context.font = '11px system-ui, sans-serif';
        for (let time = first; time < stretch.to; time += size) {
            const x = scale.x(time + zero);

            context.fillStyle = paint.color('--line');
            context.fillRect(x, 0, 1, height);
            context.fillStyle = paint.color('--muted');
            if (x < width - LABEL)
                context.fillText(label(time, stretch), x + 4, 14);
        }
    }

    function drawTrack(screen, { name, rows, top }) {
        const { context } = screen;

        context.fillStyle = paint.color('--muted');
        context.font = '600 11.5px system-ui, sans-serif';
        context.fillText(name, 6, top + 15);
        context.font = '11px system-ui, sans-serif';
        rows.forEach((row, i) =>
            draw.strip(screen, row, top + SIZE.head + i * SIZE.row));
    }

    // show() draws a window of ns from the test's zero.
    function show({ canvas, recording, tracks }, window) {
        const [start, end] = window.map((time) => time + recording.zero);
        const width = canvas.clientWidth;

        if (!width)
            return;
        const screen = {
            context: paint.prepare(canvas, tracks.height), width, start, end,
            height: tracks.height, recording, layout: layout.of(recording),
            colors: paint.hues(), scale: scale.of({ start, end }, width),
            painted: 0,
        };

        drawAxis(screen);
        for (const track of tracks.kept)
            drawTrack(screen, track);
    }

    function sliceAt({ recording, tracks }, time, y) {
        const track = tracks.kept.findLast(({ top }) => y >= top + SIZE.head);
        const row = track && track.rows[
            Math.floor((y - track.top - SIZE.head) / SIZE.row)];
        const next = row ? layout.firstEndingAfter(row,
            time + recording.zero, 0) : 0;

        return row && next < row.length &&
            row.starts[next] <= time + recording.zero ? row.ids[next] : -1;
    }

    // tell() names the slice at a time and a height.
    function tell(side, time, y) {
        const id = sliceAt(side, time, y);

        side.canvas.title = id < 0 ? '' : `${format.line(
            recordings.sliceName(side.recording, id))}  ${
            format.duration(side.recording.slices.duration[id])}`;
    }

    // create() makes the canvas of a side; `on` are its listeners.
    function create(name, recording, duration, on) {
        const side = { recording, tracks: placed(recording) };
        const { hidden } = side.tracks;

        side.canvas = make('canvas', {
            class: 'twin', role: 'img', 'aria-label': `Time line of the ${
                name} run: ${format.plural(recording.slices.rows, 'slice')}`,
            ...Object.fromEntries(Object.entries(on).map(([kind, act]) =>
                [kind, (event) => act(side, event)])),
        });
        side.element = [make('h4', {}, `${name} run, ${
            format.duration(duration)}${hidden ? `, without ${
            format.plural(hidden, 'track')} further below` : ''}`),
        side.canvas];
        return side;
    }

    return { make: create, show, tell };
})();

// draw.js: draws the time line. Slices that end left of the last painted pixel
// of their row are skipped, so that the work depends on pixels, not on slices.
const draw = (() => {
    const TEXT = 34;
    // Narrower slices are drawn this wide, so that they can be seen.
    const NARROW = 2;
    const MOST_ARROWS = 400;
    const PALE = 0.25;
    const { SIZE } = layout;
    const HEADER = SIZE.ruler + SIZE.ticks;

    // A screen: {context, width, height, top, start, end, scale, test,
    // recording, layout, tracks, selected, found, range, notes, marked, path};
    // scale is that of scale.js, tracks that of tracks.js.
    function x(screen, time) {
        return screen.scale.x(time);
    }

    // named() writes a bar's name into it, cut to its width.
    function named(screen, name, left, width, y) {
        const from = Math.max(left, screen.scale.stretches[0].left) + 4;
        const room = Math.min(left + width, screen.width) - from - 3;
        const most = Math.floor(room / 6);

        if (most < 3)
            return;
        screen.context.fillText(name.length <= most ? name :
            `${name.slice(0, most - 1)}…`, from, y + 13, room);
    }

    function label(screen, id, left, width, y) {
        screen.context.fillStyle = paint.color('--slice-text');
        named(screen, format.line(recordings.sliceName(screen.recording, id)),
            left, width, y);
    }

    function slice(screen, id, left, width, y) {
        const { context, recording } = screen;
        const { name, state } = recording.slices;

        context.fillStyle = screen.colors[screen.layout.hues[name[id]]];
        context.fillRect(left, y, width, SIZE.row - 2);
        if (state[id] & recordings.OPEN && width > 3) {
            context.fillStyle = paint.color('--failed');
            context.fillRect(left + width - 2, y, 2, SIZE.row - 2);
        }
        if (width > TEXT)
            label(screen, id, left, width, y);
    }

    function strip(screen, line, y, paintOne = slice) {
        let painted = 0;
        let next = layout.firstEndingAfter(line, screen.start, 0);

        while (next < line.length && line.starts[next] <= screen.end) {
            const left = Math.max(painted, x(screen, line.starts[next]), -2);
            const right = Math.min(screen.width + 2,
                x(screen, line.ends[next]));
            const width = Math.max(NARROW, right - left);

            paintOne(screen, line.ids[next], left,
                width > 3 ? width - 0.75 : width, y);
            screen.painted++;
            painted = left + width;
            next = layout.firstEndingAfter(line,
                screen.scale.time(painted), next + 1);
        }
    }

    // What a search has found, and the critical path, are drawn over all else,
    // which is pale, so that they are seen where slices share a pixel.
    function row(screen, line, y) {
        const { context, found, path } = screen;
        const hits = found && found.rows.get(line);

        context.globalAlpha = found || path ? PALE : 1;
        strip(screen, line, y);
        context.globalAlpha = 1;
        pieces(screen, line, y);
        if (hits)
            strip(screen, hits, y);
    }

    // pieces() are those of the critical path in a row.
    function pieces(screen, line, y) {
        const found = screen.path && screen.path.get(line);

        if (found)
            strip(screen, found, y, critical.piece);
    }

    function bar(screen, name, [from, to], y, color) {
        const left = Math.max(-2, x(screen, from));
        const width = Math.min(screen.width + 2, x(screen, to)) - left;

        if (width <= 0)
            return;
        screen.context.fillStyle = paint.color(`--${color}-back`);
        screen.context.fillRect(left, y, width, SIZE.row - 2);
        screen.context.fillStyle = paint.color(`--${color}`);
        named(screen, name, left, width, y);
    }

    // The test itself is above its threads, between its setup and its teardown.
    function test(screen, y) {
        const { zero, bodyEnd, phases } = screen.recording;
        const { name, outcome } = screen.test;

        if (phases.setup)
            bar(screen, 'setup', [phases.setup, zero], y, 'skipped');
        if (phases.teardown)
            bar(screen, 'teardown', [bodyEnd, phases.end], y, 'skipped');
        bar(screen, `${format.line(name)}: ${format.outcome(screen.test)}`,
            [zero, bodyEnd], y, outcome);
        pieces(screen, null, y);
    }

    function head(screen, one, y) {
        const { context } = screen;

        context.fillStyle = paint.color('--muted');
        context.strokeStyle = paint.color('--back');
        context.lineWidth = 4;
        context.font = '600 11.5px system-ui, sans-serif';
        const text = `${one.isCollapsed ? '▸' : '▾'} ${one.name}`;

        context.strokeText(text, 6, y + 15);
        context.fillText(text, 6, y + 15);
        context.font = '11px system-ui, sans-serif';
    }

    // An arrow leads from the edge of a slice to that of another one, whichever
    // is above.
    function arrow(screen, from, to) {
        const { context, recording } = screen;
        const { start, ends, track } = recording.slices;
        const x0 = x(screen, Math.min(ends[from], start[to]));
        const x1 = x(screen, start[to]);
        const above = screen.tracks.yOf(from);
        const below = screen.tracks.yOf(to);
        const down = above < below ? 1 : -1;
        const y0 = above + (down > 0 ? SIZE.row - 2 : 0);
        const y1 = below + (down > 0 ? 0 : SIZE.row - 2);

        if (x1 < 0 || x0 > screen.width || track[from] === track[to] ||
            !(Math.max(y0, y1) >= 0 && Math.min(y0, y1) <= screen.height))
            return;
        const middle = (y0 + y1) / 2;

        context.beginPath();
        context.moveTo(x0, y0);
        context.bezierCurveTo(x0, middle, x1, middle, x1, y1);
        context.moveTo(x1 - 3, y1 - 5 * down);
        context.lineTo(x1, y1);
        context.lineTo(x1 + 3, y1 - 5 * down);
        context.stroke();
    }

    // Draws all arrows that end on the screen; if there are many, only those of
    // the selected slice.
    function arrows(screen) {
        const { context, selected } = screen;
        const { length, from, to, times } = screen.layout.arrows;
        const first = layout.firstAt(times, length, screen.start, 0);
        const last = layout.firstAt(times, length, screen.end, first);
        const all = last - first <= MOST_ARROWS;

        context.strokeStyle = paint.color('--arrow');
        context.lineWidth = 1;
        for (let i = all ? first : last; i < last; i++)
            arrow(screen, from[i], to[i]);
        for (let i = 0; selected >= 0 && i < length; i++) {
            if (from[i] === selected || to[i] === selected)
                arrow(screen, from[i], to[i]);
        }
    }

    function outline(screen, id) {
        const { start, ends } = screen.recording.slices;
        const left = Math.max(-4, x(screen, start[id]));
        const right = Math.min(screen.width + 4, x(screen, ends[id]));
        const y = screen.tracks.yOf(id);

        screen.context.strokeStyle = paint.color('--text');
        screen.context.lineWidth = 2;
        screen.context.strokeRect(left, y - 1, Math.max(2, right - left),
            SIZE.row);
    }

    function range(screen) {
        const { context } = screen;
        const left = x(screen, screen.range[0]);
        const width = x(screen, screen.range[1]) - left;

        context.fillStyle = paint.color('--range');
        context.fillRect(left, 0, width, screen.height);
        context.fillStyle = paint.color('--text');
        context.font = '600 11px system-ui, sans-serif';
        context.fillText(format.duration(screen.range[1] - screen.range[0]),
            Math.max(4, left + 4), SIZE.ruler + SIZE.ticks + 12);
    }

    // Slices are pale where the time line skips an idle time.
    function breaks({ context, height, scale }) {
        for (const { left, right } of scale.breaks) {
            context.fillStyle = paint.color('--break');
            context.fillRect(left, 0, right - left, height);
            context.fillStyle = paint.color('--strong-line');
            for (let y = 0; y < height; y += 6) {
                context.fillRect(left, y, 1, 3);
                context.fillRect(right - 1, y, 1, 3);
            }
        }
    }

    function mark(screen) {
        const { context, height } = screen;

        context.fillStyle = paint.color('--failed');
        context.fillRect(x(screen, screen.marked) - 1, SIZE.ruler, 2, height);
    }

    function item(screen, one, y) {
        if (one.kind === 'row')
            row(screen, one.row, y);
        else if (one.kind === 'test')
            test(screen, y);
        else if (one.kind === 'curve')
            curves.draw(screen, one, y);
        else if (one.kind === 'head')
            sampleTicks.draw(screen, one.id, y + one.height);
    }

    function clipped({ context, width }, top, bottom, paintPart) {
        context.save();
        context.beginPath();
        context.rect(0, top, width, bottom - top);
        context.clip();
        paintPart();
        context.restore();
    }

    // body() draws the tracks that scroll and the pinned ones above them.
    function body(screen) {
        const { height, top, selected } = screen;
        const { placed } = screen.tracks;
        const parts = [
            [tracks.within(placed, top + placed.edge, top + height), top,
                placed.edge, height],
            [placed.pinned, 0, HEADER, placed.edge]];

        for (const [items, shift, from, to] of parts) {
            clipped(screen, from, to, () => items.forEach((one) =>
                item(screen, one, one.y - shift)));
        }
        clipped(screen, HEADER, height, () => {
            breaks(screen);
            arrows(screen);
        });
        for (const [items, shift, from, to] of parts) {
            clipped(screen, from, to, () => items.forEach((one) =>
                one.kind === 'head' && head(screen, one, one.y - shift)));
        }
        if (selected >= 0) {
            clipped(screen, ...screen.tracks.isPinned(selected) ?
                [HEADER, placed.edge] : [placed.edge, height],
            () => outline(screen, selected));
        }
    }

    function pinnedEdge({ context, width, tracks: { placed } }) {
        if (placed.pinned.length) {
            context.fillStyle = paint.color('--strong-line');
            context.fillRect(0, placed.edge - 1, width, 1);
        }
    }

    // all() draws a screen. Rows scroll under the ruler.
    function all(screen) {
        screen.painted = 0;
        screen.colors = paint.hues();
        ruler.draw(screen);
        body(screen);
        pinnedEdge(screen);
        if (screen.marked !== null)
            mark(screen);
        notes.draw(screen, (time) => x(screen, time));
        if (screen.range)
            range(screen);
    }

    return { all, slice, strip };
})();

// ruler.js: draws what is above the tracks: times, what a search has found, and
// a mark for each line, whose shape and color tell its level.
const ruler = (() => {
    const { SIZE } = layout;
    // A click hits a mark that is at most as many pixels away.
    const NEAR = 4;
    const BASELINE = 16;

    // label() writes a text from left on if it has room until right.
    function label({ context }, text, left, right) {
        const width = context.measureText(text).width;

        if (left + width > right)
            return left;
        context.fillText(text, left, BASELINE);
        return left + width + 8;
    }

    // A stretch of the time line has no breaks.
    function stretch(screen, one, plan) {
        const { context, scale, height } = screen;
        const { zero } = screen.recording;
        const place = { from: one.from - zero, to: one.to - zero };
        const right = Math.min(one.right, screen.width) - 2;
        let free = Math.max(0, one.left);

        if (plan.base) {
            context.fillStyle = paint.color('--text');
            free = label(screen, plan.base(place), free + 4, right);
        }
        for (let i = Math.ceil(place.from / plan.size);
            i * plan.size <= place.to; i++) {
            const left = Math.round(scale.x(zero + i * plan.size)) + 0.5;

            context.fillStyle = paint.color('--line');
            context.fillRect(left, 0, 1, height);
            context.fillStyle = paint.color('--muted');
            if (left + 4 >= free) {
                free = label(screen, plan.label(i * plan.size, place),
                    left + 4, right);
            }
        }
    }

    function times(screen) {
        const { context, scale, recording } = screen;
        const plan = axis.of(scale.stretches.map(({ from, to }) => ({
            from: from - recording.zero, to: to - recording.zero,
        })), scale.pixels);

        context.fillStyle = paint.color('--panel');
        context.fillRect(0, 0, screen.width, SIZE.ruler);
        context.font = '11px system-ui, sans-serif';
        for (const one of scale.stretches)
            stretch(screen, one, plan);
    }

    // A break says how much time it skips.
    function skipped({ context, scale }) {
        context.fillStyle = paint.color('--text');
        context.textAlign = 'center';
        for (const { left, right, length } of scale.breaks) {
            context.fillText(format.duration(length), (left + right) / 2,
                BASELINE, right - left - 4);
        }
        context.textAlign = 'left';
    }

    // marks() draws a mark at each of sorted times, one for some pixels.
    function marks({ scale, start, end }, sorted, apart, mark) {
        const { length } = sorted;
        let next = layout.firstAt(sorted, length, start, 0);

        while (next < length && sorted[next] <= end) {
            const left = Math.floor(scale.x(sorted[next]));

            mark(left);
            next = layout.firstAt(sorted, length, scale.time(left + apart),
                next + 1);
        }
    }

    function found(screen) {
        const { context } = screen;

        context.fillStyle = paint.color('--found');
        marks(screen, screen.found.starts, 2, (left) =>
            context.fillRect(left, SIZE.ruler - 6, 2, 6));
    }

    function polygon(context, points) {
        context.beginPath();
        points.forEach(([x, y]) => context.lineTo(x, y));
        context.closePath();
        context.fill();
        context.stroke();
    }

    // An error is a diamond, a warning a triangle; bars of other levels are the
    // shorter, the less severe they are.
    function shape({ context }, level, x) {
        const bottom = SIZE.ruler + SIZE.ticks - 1;
        const middle = bottom - 5;

        if (level === 1) {
            polygon(context, [[x, middle - 6], [x + 5, middle],
                [x, bottom + 1], [x - 5, middle]]);
        } else if (level === 2) {
            polygon(context, [[x, middle - 5], [x + 5, bottom + 1],
                [x - 5, bottom + 1]]);
        } else {
            const tall = (6 - level) * 3;

            context.fillRect(x, bottom - tall, 1.5, tall);
        }
    }

    // The most severe lines are drawn last. Their edges set neighbors apart.
    function lines(screen) {
        screen.context.strokeStyle = paint.color('--back');
        screen.context.lineWidth = 1;
        for (let level = 5; level > 0; level--) {
            screen.context.fillStyle = paint.color(`--level-${level}`);
            marks(screen, screen.layout.ticks[level - 1], 2,
                (left) => shape(screen, level, left));
        }
    }

    // Lines of several levels may have the same time.
    function lineOf(recording, time, level) {
        const { lines, sites } = recording;
        let row = recordings.firstLineAt(recording, time);

        while ((sites.level[lines.site[row]] || 5) !== level)
            row++;
        return row;
    }

    // lineAt() is the most severe line near a place on the screen, or -1.
    function lineAt({ recording, scaleOf }, x, y) {
        if (y < SIZE.ruler || y >= SIZE.ruler + SIZE.ticks)
            return -1;
        const scale = scaleOf();
        const [from, to] = [scale.time(x - NEAR), scale.time(x + NEAR)];

        for (const [i, sorted] of layout.of(recording).ticks.entries()) {
            const next = layout.firstAt(sorted, sorted.length, from, 0);

            if (sorted[next] <= to)
                return lineOf(recording, sorted[next], i + 1);
        }
        return -1;
    }

    function lineText(recording, row) {
        const level = recordings.site(recording,
            recording.lines.site[row]).level;

        return `${format.levels[level]} ${
            format.line(recordings.message(recording, row))}`;
    }

    function draw(screen) {
        times(screen);
        skipped(screen);
        lines(screen);
        if (screen.found)
            found(screen);
    }

    return { draw, lineAt, lineText };
})();

// curves.js: the values of counters over time, drawn as steps between 0 and
// their extremes, or 100 %. The name of a device's counter ends with its unit,
// except that memory in use is in bytes.
const curves = (() => {
    // Each level has the extremes of blocks of as many values of the one below.
    const FAN = 16;
    const EDGE = 3;
    const ABOVE = 0.45;

    function levelsOf(values, pick) {
        const levels = [values];
        let last = values;

        while (last.length > FAN) {
            const next = new Float64Array(Math.ceil(last.length / FAN));

            for (let i = 0; i < next.length; i++) {
                next[i] = last.subarray(i * FAN, (i + 1) * FAN)
                    .reduce((a, b) => pick(a, b));
            }
            levels.push(last = next);
        }
        return levels;
    }

    // extreme() is that of the values from one index up to another, in a time
    // that depends on the number of levels.
    function extreme(levels, from, to, pick) {
        let found = levels[0][from];

        for (const [level, values] of levels.entries()) {
            const isLast = level === levels.length - 1;

            while (from < to && (isLast || from % FAN))
                found = pick(found, values[from++]);
            while (from < to && to % FAN)
                found = pick(found, values[--to]);
            from /= FAN;
            to /= FAN;
        }
        return found;
    }

    function unitOf(name) {
        const last = name.slice(name.lastIndexOf(' ') + 1);

        return last === 'memory' ? 'bytes' : last;
    }

    function curveOf(name, device, rows, { time, value }) {
        const values = Float64Array.from(rows, (row) => value[row]);
        const most = levelsOf(values, Math.max);
        const least = levelsOf(values, Math.min);
        const unit = device ? unitOf(name) : '';
        const { length } = values;

        return {
            name, device, unit, values, most, least,
            times: Float64Array.from(rows, (row) => time[row]),
            high: Math.max(unit === '%' ? 100 : 0,
                extreme(most, 0, length, Math.max)),
            low: Math.min(0, extreme(least, 0, length, Math.min)),
        };
    }

    // of() returns the curve of each counter. `device` is 0 for a counter of
    // the program.
    function of({ counters, string }) {
        const known = new Map();

        for (let row = 0; row < counters.rows; row++) {
            const key = `${counters.name[row]} ${counters.device[row]}`;

            if (!known.has(key))
                known.set(key, []);
            known.get(key).push(row);
        }
        return Array.from(known.values(), (rows) => curveOf(
            string(counters.name[rows[0]]), counters.device[rows[0]], rows,
            counters));
    }

    function amount({ unit }, value) {
        if (unit === 'bytes')
            return format.bytes(value);
        if (unit === 'bytes/s')
            return `${format.bytes(value)}/s`;
        if (unit === '%')
            return `${Number(value.toFixed(1))} %`;
        return Number.isSafeInteger(value) ? format.count(value) :
            String(Number(value.toPrecision(6)));
    }

    // lastAt() is the index of the last value up to a time, -1 before the
    // first.
    function lastAt({ times }, time) {
        const next = layout.firstAt(times, times.length, time, 0);

        return times[next] === time ? next : next - 1;
    }

    /* ---- Pictures ---- */

    function line(screen, left, top, width, height) {
        screen.context.fillStyle = paint.color('--curve-line');
        screen.context.fillRect(left, top, width, height);
    }

    function area(screen, left, width, [top, bottom]) {
        const { context } = screen;

        context.globalAlpha = ABOVE;
        context.fillStyle = paint.color('--curve');
        context.fillRect(left, top, width, bottom - top);
        context.globalAlpha = 1;
    }

    // The values that share a pixel are a line from the least to the most.
    function steps(screen, curve, yOf) {
        const { times, values, most, least } = curve;
        const end = Math.min(screen.width,
            screen.scale.x(screen.recording.end));
        let next = Math.max(0, lastAt(curve, screen.start));
        let before = yOf(0);

        while (next < times.length && times[next] <= screen.end) {
            const left = Math.max(0, screen.scale.x(times[next]));
            const after = layout.firstAt(times, times.length,
                screen.scale.time(left + 1), next + 1);
            const right = after < times.length ?
                screen.scale.x(times[after]) : end;
            const y = yOf(values[after - 1]);
            const top = Math.min(before, yOf(extreme(most, next, after,
                Math.max)));
            const bottom = Math.max(before, yOf(extreme(least, next, after,
                Math.min)));

            area(screen, left, right - left, [Math.min(y, yOf(0)),
                Math.max(y, yOf(0))]);
            line(screen, left, top, 1, bottom - top + 1);
            line(screen, left, y, right - left, 1);
            before = y;
            next = after;
        }
    }

    function label({ context }, text, y) {
        context.strokeStyle = paint.color('--back');
        context.fillStyle = paint.color('--muted');
        context.lineWidth = 4;
        context.strokeText(text, 6, y);
        context.fillText(text, 6, y);
    }

    // draw() draws a curve with its scale at the left.
    function draw(screen, { curve, height }, y) {
        const { high, low } = curve;
        const unit = (height - 2 * EDGE) / (high - low || 1);
        const yOf = (value) => Math.round(
            y + height - EDGE - (value - low) * unit);

        screen.context.fillStyle = paint.color('--line');
        for (const value of new Set([high, low, 0]))
            screen.context.fillRect(0, yOf(value), screen.width, 1);
        steps(screen, curve, yOf);
        if (high)
            label(screen, amount(curve, high), yOf(high) + 10);
        label(screen, low ? amount(curve, low) : '0', yOf(low) - 1);
    }

    /* ---- Values ---- */

    // describe() tells the value at a place of the time line, or which values
    // share its pixel; it is empty before the first one.
    function describe(recording, curve, from, to) {
        const { times, values, most, least } = curve;
        const first = lastAt(curve, from);
        const after = layout.firstAt(times, times.length, to, 0);
        const inside = after - first - 1;

        if (after < 1)
            return '';
        const name = format.line(curve.name);

        if (inside > 1) {
            const of = (levels, pick) => amount(curve,
                extreme(levels, first + 1, after, pick));

            return `${name}  ${of(least, Math.min)} to ${
                of(most, Math.max)}\n${format.count(inside)} values here`;
        }
        const value = values[after - 1];
        const time = format.seconds(times[after - 1] - recording.zero);

        return `${name}  ${amount(curve, value)}\n${
            curve.unit === 'bytes' ? `${format.count(value)} bytes, ` : ''
        }since ${time} s`;
    }

    // tipAt() describes the curve at a place on the screen, if there is one.
    function tipAt({ recording, parts, timeAt }, x, y) {
        const item = parts.tracks.itemAt(y);

        return item?.kind === 'curve' ? describe(recording, item.curve,
            timeAt(x), timeAt(x + 1)) : '';
    }

    return { of, draw, describe, tipAt, amount };
})();

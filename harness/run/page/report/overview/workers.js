// workers.js: the run's tests as bars, a lane for each worker, so that idle
// workers can be seen.
const workers = (() => {
    const { make } = dom;
    const LANE = 18;
    let lanes = [];
    // The first lane of each host, if there are several hosts.
    let groups = [];
    let canvas = null;
    let end = 1;

    // A run that was killed has no workers, so each test gets the first free
    // lane.
    function freeLane(ends, one) {
        if (one.worker >= 0)
            return one.worker;
        const lane = ends.findIndex((time) => time <= one.start);

        return lane < 0 ? ends.length : lane;
    }

    // Each try of a test is a bar.
    function bars() {
        return report.run.tests.flatMap((test) => [
            ...test.earlier.map((one) => ({ ...one, test })),
            { ...test, attempt: '', test },
        ]).filter((one) => one.start >= 0).sort((a, b) => a.start - b.start);
    }

    function pack() {
        const ends = [];

        lanes = [];
        for (const one of bars()) {
            const lane = freeLane(ends, one);

            lanes[lane] = lanes[lane] || [];
            lanes[lane].push(one);
            ends[lane] = one.start + one.duration;
            end = Math.max(end, ends[lane]);
        }
        lanes = Array.from(lanes, (lane) => lane || []);
        group();
    }

    function group() {
        let last = '';

        groups = [];
        lanes.forEach((lane, i) => {
            const host = lane.length ? lane[0].test.host : last;

            if (host !== last)
                groups.push({ host, lane: i });
            last = host;
        });
    }

    // A line above each host's lanes, and its name in front of the bars.
    function drawGroups(context) {
        context.font = '11px system-ui, sans-serif';
        context.textBaseline = 'middle';
        for (const one of groups) {
            const y = one.lane * LANE;
            const name = format.line(one.host);

            context.fillStyle = paint.color('--strong-line');
            context.fillRect(0, y, canvas.clientWidth, 1);
            context.fillStyle = paint.color('--back');
            context.globalAlpha = 0.8;
            context.fillRect(0, y + 2, context.measureText(name).width + 8,
                LANE - 4);
            context.globalAlpha = 1;
            context.fillStyle = paint.color('--text');
            context.fillText(name, 4, y + LANE / 2);
        }
    }

    function draw() {
        if (!canvas || !canvas.clientWidth)
            return;
        const context = paint.prepare(canvas, lanes.length * LANE);
        const scale = canvas.clientWidth / end;

        lanes.forEach((lane, i) => {
            let painted = -1;

            for (const one of lane) {
                const x = one.start * scale;
                const right = x + Math.max(1.5, one.duration * scale);

                if (right <= painted + 0.5)
                    continue;
                context.fillStyle = paint.color(`--${one.outcome}-fill`);
                context.fillRect(x, i * LANE + 1,
                    Math.max(0.75, right - x - 0.75), LANE - 2);
                painted = right;
            }
        });
        drawGroups(context);
    }

    function barAt(event) {
        const box = canvas.getBoundingClientRect();
        const time = (event.clientX - box.left) / box.width * end;
        const lane = lanes[Math.floor((event.clientY - box.top) / LANE)] || [];
        const near = 3 / box.width * end;

        return lane.find((one) => time >= one.start - near &&
            time <= one.start + one.duration + near);
    }

    function move(event) {
        const one = barAt(event);

        canvas.title = one ? `${one.test.host &&
            `${format.line(one.test.host)}: `}${format.line(one.test.title)}${
            one.attempt && `, try ${one.attempt}`}: ` +
            `${format.outcome(one)}, ${format.duration(one.duration)}` : '';
    }

    function click(event) {
        const one = barAt(event);

        if (one) {
            state.go({ view: 'timeline', test: one.test.id,
                try: one.attempt });
        }
    }

    function panel() {
        pack();
        if (!lanes.length)
            return null;
        canvas = make('canvas', {
            role: 'img', class: 'workers', mousemove: move, click,
            'aria-label': `${format.plural(report.run.tests.length, 'test')} ` +
                `on ${format.plural(lanes.length, 'worker')}; the view Tests ` +
                'lists them',
        });
        return make('section', { class: 'panel' },
            make('h2', {}, 'Tests by worker'),
            make('p', { class: 'muted' },
                `${format.plural(lanes.length, 'worker')}${groups.length > 1 ?
                    ` of ${format.plural(groups.length, 'host')}` : ''}, ` +
                `${format.duration(end)}; no test ran in gaps`),
            canvas);
    }

    function start() {
        if (canvas) {
            new ResizeObserver(draw).observe(canvas.parentElement);
            paint.recolored(draw);
        }
    }

    return { panel, start, draw };
})();

// workers.js: the run's tests as bars, a lane for each worker, so that idle
// workers can be seen.
const workers = (() => {
    const { make } = dom;
    const LANE = 18;
    let lanes = [];
    let canvas = null;
    let end = 1;

    // Without known workers, a test goes to the first lane that is free.
    function freeLane(ends, test) {
        if (test.worker >= 0)
            return test.worker;
        const lane = ends.findIndex((time) => time <= test.start);

        return lane < 0 ? ends.length : lane;
    }

    function pack() {
        const ends = [];
        const tests = report.run.tests.filter((test) => test.start >= 0)
            .sort((a, b) => a.start - b.start);

        lanes = [];
        for (const test of tests) {
            const lane = freeLane(ends, test);

            lanes[lane] = lanes[lane] || [];
            lanes[lane].push(test);
            ends[lane] = test.start + test.duration;
            end = Math.max(end, ends[lane]);
        }
        lanes = Array.from(lanes, (lane) => lane || []);
    }

    function draw() {
        if (!canvas || !canvas.clientWidth)
            return;
        const context = paint.prepare(canvas, lanes.length * LANE);
        const scale = canvas.clientWidth / end;

        lanes.forEach((lane, i) => {
            let painted = -1;

            for (const test of lane) {
                const x = test.start * scale;
                const right = x + Math.max(1.5, test.duration * scale);

                if (right <= painted + 0.5)
                    continue;
                context.fillStyle = paint.color(`--${test.outcome}-fill`);
                context.fillRect(x, i * LANE + 1,
                    Math.max(0.75, right - x - 0.75), LANE - 2);
                painted = right;
            }
        });
    }

    function testAt(event) {
        const box = canvas.getBoundingClientRect();
        const time = (event.clientX - box.left) / box.width * end;
        const lane = lanes[Math.floor((event.clientY - box.top) / LANE)] || [];
        const near = 3 / box.width * end;

        return lane.find((test) => time >= test.start - near &&
            time <= test.start + test.duration + near);
    }

    function move(event) {
        const test = testAt(event);

        canvas.title = test ? `${format.line(test.name)}: ` +
            `${format.outcome(test)}, ${format.duration(test.duration)}` : '';
    }

    function click(event) {
        const test = testAt(event);

        if (test)
            state.go({ view: 'timeline', test: test.id });
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
                `${format.plural(lanes.length, 'worker')}, ` +
                `${format.duration(end)}; gaps are idle time`),
            canvas);
    }

    function start() {
        if (canvas) {
            new ResizeObserver(draw).observe(canvas.parentElement);
            matchMedia('(prefers-color-scheme: dark)')
                .addEventListener('change', draw);
        }
    }

    return { panel, start, draw };
})();

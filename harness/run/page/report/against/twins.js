// twins.js: the time lines of one test in both runs, which move together. Both
// count from the beginning of the test's body.
const twins = (() => {
    const { make } = dom;
    // A window is at least as many ns wide.
    const LEAST = 10;
    const STEP = 0.2;
    let shown = null;

    function idOf(one, side) {
        return `${side[0]}${one.number}`;
    }

    function has(one) {
        return ['old', 'new'].every((side) => unpack.isWhole(idOf(one, side)));
    }

    async function read(one, side) {
        return recordings.prepare(await unpack.block(idOf(one, side)), {
            program: one.program, duration: one[side].duration, start: -1,
        });
    }

    function redraw() {
        if (shown.waiting)
            return;
        shown.waiting = true;
        const mine = shown;

        requestAnimationFrame(() => {
            mine.waiting = false;
            for (const side of mine.sides)
                twin.show(side, mine.window);
        });
    }

    // whole() has the bodies and records of both, with a margin.
    function whole() {
        const all = shown.sides.map(({ recording }) => recording);
        const start = Math.min(...all.map((one) => one.used[0] - one.zero));
        const end = Math.max(...all.map((one) => one.used[1] - one.zero));
        const margin = (end - start) * 0.01;

        return [start - margin, end + margin];
    }

    function look(start, end) {
        const [first, last] = whole();
        const length = Math.max(LEAST, Math.min(end - start, last - first));
        const from = Math.max(first, Math.min(start, last - length));

        shown.window = [from, from + length];
        shown.element.dataset.window = shown.window.map(Math.round).join(' ');
        redraw();
    }

    // zoom() keeps the time at a share of the width where it is.
    function zoom(factor, share = 0.5) {
        const [start, end] = shown.window;
        const fixed = start + share * (end - start);

        look(fixed - (fixed - start) * factor, fixed + (end - fixed) * factor);
    }

    function pan(share) {
        const [start, end] = shown.window;

        look(start + share * (end - start), end + share * (end - start));
    }

    const ACTIONS = {
        '+': ['+', 'Zoom in', () => zoom(1 / 1.6)],
        '-': ['−', 'Zoom out', () => zoom(1.6)],
        ArrowLeft: ['←', 'Move left', () => pan(-STEP)],
        ArrowRight: ['→', 'Move right', () => pan(STEP)],
        0: ['All', 'Show all', () => look(...whole())],
    };
    const KEYS = { '=': '+', Home: '0' };

    function buttons() {
        return make('div', { class: 'buttons' }, Object.entries(ACTIONS)
            .map(([key, [sign, title, action]]) => make('button', {
                type: 'button', 'aria-label': title, click: action,
                title: `${title} (${key})`,
            }, sign)));
    }

    function keydown(event) {
        const action = ACTIONS[KEYS[event.key] || event.key];

        if (!action || event.ctrlKey || event.altKey || event.metaKey)
            return;
        action[2]();
        event.preventDefault();
    }

    function timeAt({ canvas }, x) {
        const [start, end] = shown.window;

        return start + x / canvas.clientWidth * (end - start);
    }

    function move(side, event) {
        if (event.buttons & 1)
            pan(-event.movementX / side.canvas.clientWidth);
        else
            twin.tell(side, timeAt(side, event.offsetX), event.offsetY);
    }

    function wheel({ canvas }, event) {
        if (Math.abs(event.deltaX) > Math.abs(event.deltaY))
            pan(event.deltaX / canvas.clientWidth);
        else if (event.ctrlKey || event.metaKey)
            zoom(1.0015 ** event.deltaY, event.offsetX / canvas.clientWidth);
        else
            return;
        event.preventDefault();
    }

    const ON = {
        pointerdown: ({ canvas }, event) =>
            canvas.setPointerCapture(event.pointerId),
        pointermove: move, wheel,
    };

    function elementOf(one, sides) {
        return make('div', { class: 'twins', tabindex: '0', role: 'group',
            'aria-label': 'Time lines of both runs', keydown },
        make('div', { class: 'tools' },
            make('h3', {}, 'Time lines of ', dom.name(one.name)), buttons()),
        sides.map(({ element }) => element));
    }

    // create() resolves to both time lines of a test, or to null if a later
    // call has replaced them.
    async function create(one) {
        const mine = shown = { sides: [] };
        const found = await Promise.all([read(one, 'old'), read(one, 'new')]);

        if (shown !== mine)
            return null;
        mine.sides = ['old', 'new'].map((name, i) =>
            twin.make(name, found[i], one[name].duration, ON));
        mine.element = elementOf(one, mine.sides);
        look(...whole());
        new ResizeObserver(() => mine === shown && redraw())
            .observe(mine.element);
        return mine.element;
    }

    return { make: create, has };
})();

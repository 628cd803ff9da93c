// marks.js: a shape and a color for each outcome.
const marks = (() => {
    const SVG = 'http://www.w3.org/2000/svg';
    // Paths around 0,0, between -1 and 1.
    const SHAPES = {
        passed: 'M-1,0A1,1 0 1 1 1,0A1,1 0 1 1 -1,0Z',
        flaky: 'M0,-1.2L1.2,0L0,1.2L-1.2,0Z',
        failed: 'M-1,-.6L-.6,-1L0,-.4L.6,-1L1,-.6L.4,0L1,.6L.6,1L0,.4L-.6,1' +
            'L-1,.6L-.4,0Z',
        crashed: 'M0,-1.1L1.1,.9L-1.1,.9Z',
        timeout: 'M-.9,-.9L.9,-.9L.9,.9L-.9,.9Z',
        skipped: 'M-1,-.3L1,-.3L1,.3L-1,.3Z',
        none: 'M-.3,-1L.3,-1L.3,1L-.3,1Z',
    };

    function element(tag, attributes, ...children) {
        const made = document.createElementNS(SVG, tag);

        for (const [name, value] of Object.entries(attributes))
            made.setAttribute(name, value);
        made.append(...children);
        return made;
    }

    function kindOf(run) {
        return run.flaky ? 'flaky' : run.outcome;
    }

    // at() draws a run's mark.
    function at(run, x, y, size, ...children) {
        const kind = kindOf(run);

        return element('path', {
            class: `mark is-${kind}`, d: SHAPES[kind] || SHAPES.none,
            transform: `translate(${x.toFixed(1)} ${y.toFixed(1)}) ` +
                `scale(${size})`,
        }, ...children);
    }

    function entry(runs) {
        const mark = element('svg', {
            viewBox: '-7 -7 14 14', width: 14, height: 14,
            'aria-hidden': 'true',
        }, at(runs[0], 0, 0, 5));

        return dom.make('li', {}, mark, ` ${format.outcome(runs[0])} `,
            dom.make('b', {}, format.count(runs.length)));
    }

    // legend() lists the shapes of the runs, and how many each has.
    function legend(runs) {
        const kinds = Object.keys(SHAPES).map((kind) =>
            runs.filter((run) => kindOf(run) === kind));

        return dom.make('ul', { class: 'legend' },
            kinds.filter((some) => some.length).map(entry));
    }

    return { element, at, legend };
})();

// problems.js: leads from problem to problem on the time line: lines of level
// ERROR, among them failed assertions, and slices that were open at the end.
// Another key leads from finding to finding.
const problems = (() => {
    const { make } = dom;

    function errorsOf({ lines, sites }) {
        const found = [];

        for (let row = 0; row < lines.rows; row++) {
            if (sites.level[lines.site[row]] === 1) {
                found.push({ time: lines.time[row], line: row,
                    slice: lines.slice[row] - 1 });
            }
        }
        return found;
    }

    function openOf({ slices }) {
        const found = [];

        for (let row = 0; row < slices.rows; row++) {
            if (slices.state[row] & recordings.OPEN)
                found.push({ time: slices.start[row], line: -1, slice: row });
        }
        return found;
    }

    function textOf(recording, { line, slice }) {
        return line >= 0 ? ruler.lineText(recording, line) :
            `Unfinished: ${format.line(
                recordings.sliceName(recording, slice))}`;
    }

    // stepper() goes around a list, which it gets when it is first needed.
    function stepper(get, none, show) {
        let list = null;
        let at = -1;

        return (distance) => {
            list = list || get();
            if (!list.length) {
                dom.announce(none);
                return;
            }
            at = at < 0 && distance < 0 ? list.length - 1 :
                (at + distance + list.length) % list.length;
            show(list[at]);
        };
    }

    function showFinding(control, { text, place }) {
        critical.goTo(control, place);
        control.tell(place.from, text);
    }

    // create() has a button for the next problem, if there is one.
    function create(control) {
        const { recording } = control;
        const list = [...errorsOf(recording), ...openOf(recording)]
            .sort((a, b) => a.time - b.time);
        const step = stepper(() => list, 'No problems', (one) =>
            control.mark(one, textOf(recording, one)));

        return {
            step, times: list.map(({ time }) => time),
            stepFinding: stepper(() => findings.of(recording),
                'Nothing stands out', (one) => showFinding(control, one)),
            element: list.length > 0 && make('button', {
                type: 'button', class: 'problems',
                title: 'Next problem (E), previous (Shift+E)',
                click: () => step(1),
            }, format.plural(list.length, 'problem')),
        };
    }

    return { make: create };
})();

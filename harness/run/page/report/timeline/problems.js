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

    // While a test runs, slices may be open.
    function openOf({ slices, moved }) {
        const found = [];

        if (moved)
            return found;

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

    // stepper() goes around a list.
    function stepper(get, none, show) {
        let at = -1;

        return (distance) => {
            const list = get();

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

    function listOf(recording) {
        return [...errorsOf(recording), ...openOf(recording)]
            .sort((a, b) => a.time - b.time);
    }

    // create() has a button for the next problem, if there is one.
    function create(control) {
        let list = [];
        const step = stepper(() => list, 'No problems', (one) =>
            control.mark(one, textOf(control.recording, one)));
        const element = make('button', {
            type: 'button', class: 'problems',
            title: 'Next problem (E), previous (Shift+E)',
            click: () => step(1),
        });

        function grow() {
            list = listOf(control.recording);
            element.hidden = !list.length;
            element.textContent = format.plural(list.length, 'problem');
        }

        grow();
        return {
            step, grow, element, times: () => list.map(({ time }) => time),
            stepFinding: stepper(() => findings.of(control.recording),
                'Nothing stands out', (one) => showFinding(control, one)),
        };
    }

    return { make: create };
})();

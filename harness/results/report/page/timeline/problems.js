// problems.js: leads from problem to problem on the time line: lines of level
// ERROR, among them failed assertions, and slices that were open at the end.
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

    // create() has a button for the next problem, if there is one.
    function create(control) {
        const { recording } = control;
        const list = [...errorsOf(recording), ...openOf(recording)]
            .sort((a, b) => a.time - b.time);
        let at = -1;

        function step(distance) {
            if (!list.length) {
                dom.announce('No problems');
                return;
            }
            at = at < 0 && distance < 0 ? list.length - 1 :
                (at + distance + list.length) % list.length;
            control.mark(list[at], textOf(recording, list[at]));
        }

        return {
            step, times: list.map(({ time }) => time),
            element: list.length > 0 && make('button', {
                type: 'button', class: 'problems',
                title: 'Next problem (E), previous (Shift+E)',
                click: () => step(1),
            }, format.plural(list.length, 'problem')),
        };
    }

    return { make: create };
})();

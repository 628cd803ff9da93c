// critical_path.js: the critical path of a test as pieces: what its end waited
// for. The report has the path's tracks; its slices are the innermost ones.
const criticalPath = (() => {
    const PHASES = ['setup', 'body', 'teardown'];
    const LABELS = {
        setup: '(setup)', body: '(test body)', teardown: '(teardown)',
    };

    // boundsOf() are the beginnings of the phases that are known.
    function boundsOf({ phases }) {
        return PHASES.filter((phase) => phases[phase])
            .map((phase) => ({ phase, from: phases[phase] }));
    }

    function phaseAt(bounds, time) {
        const last = bounds.findLast(({ from }) => from <= time);

        return last ? last.phase : '';
    }

    // add() cuts a piece where a phase begins.
    function add(pieces, bounds, { from, to, row, track }) {
        for (const bound of bounds) {
            if (bound.from > from && bound.from < to) {
                pieces.push({ from, to: bound.from, row, track,
                    phase: phaseAt(bounds, from) });
                from = bound.from;
            }
        }
        pieces.push({ from, to, row, track, phase: phaseAt(bounds, from) });
    }

    function build(recording) {
        const { rows, begin, track } = recording.table('critical');
        const lines = innermost.lines(recording);
        const bounds = boundsOf(recording);
        const pieces = [];

        for (let i = 0; i + 1 < rows; i++) {
            const visit = (from, to, row) => add(pieces, bounds,
                { from, to, row, track: track[i] - 1 });

            if (track[i])
                innermost.each(lines[track[i] - 1], begin[i], begin[i + 1],
                    visit);
            else
                visit(begin[i], begin[i + 1], -1);
        }
        return pieces;
    }

    // of() returns the pieces in order, none if the report has no path: {from,
    // to, row, track, phase}; row is that of the slice, or -1. The recording
    // keeps them.
    function of(recording) {
        recording.path = recording.path || build(recording);
        return recording.path;
    }

    function name(recording, { row, phase }) {
        return row >= 0 ? recordings.sliceName(recording, row) :
            LABELS[phase] || '(nothing recorded)';
    }

    // sums() adds up pieces by a key, the largest sum first: {key, total,
    // count, longest}.
    function sums(pieces, keyOf) {
        const groups = new Map();

        for (const piece of pieces) {
            const key = keyOf(piece);
            const length = piece.to - piece.from;
            const sum = groups.get(key) ||
                { key, total: 0, count: 0, longest: piece };

            sum.total += length;
            sum.count++;
            if (length > sum.longest.to - sum.longest.from)
                sum.longest = piece;
            groups.set(key, sum);
        }
        return [...groups.values()].sort((a, b) => b.total - a.total);
    }

    return { of, name, sums };
})();

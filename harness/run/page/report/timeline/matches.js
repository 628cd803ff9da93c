// matches.js: finds the slices whose text contains a text, for the list of
// matches and for each row of the time line.
const matches = (() => {
    // They set the parts of a slice's text apart, as in query{id=5 user="a"}.
    const SEPARATORS = /[{}= ]+/;
    // As in the log, enclosing spans come first: request{id=5} › query.
    const INSIDE = '›';

    // lowered() are a recording's strings in lower case, which it keeps.
    function lowered(recording) {
        if (!recording.lowered) {
            recording.lowered = recording.strings.map((string) =>
                string.toLowerCase());
        }
        return recording.lowered;
    }

    // textOf() is what tables print of a slice, in lower case.
    function textOf(strings, name, fields, [first, last]) {
        const pairs = [];

        for (let i = first; i < last; i++)
            pairs.push([strings[fields.name[i]], strings[fields.value[i]]]);
        return recordings.withFields(strings[name], pairs);
    }

    // hasAll() tells whether each word is in some string of a slice.
    function hasAll(words, name, fields, [first, last]) {
        for (const hits of words) {
            let hit = hits[name];

            for (let i = first; i < last && !hit; i++)
                hit = hits[fields.name[i]] || hits[fields.value[i]];
            if (!hit)
                return false;
        }
        return true;
    }

    // marksOf() marks the slices on the time line whose text contains a text.
    // Each distinct string is searched once, so that few slices' texts must be
    // built.
    function marksOf(recording, text) {
        const { slices, sliceFirst } = recording;
        const strings = lowered(recording);
        const fields = recording.table('slice_fields');
        const parts = text.split(SEPARATORS).filter((part) => part);
        const isWord = parts.length === 1 && parts[0] === text;
        const words = parts.map((part) => strings.map((string) =>
            string.includes(part)));
        const marks = new Uint8Array(slices.rows);
        const owned = [0, 0];

        for (let row = 0; row < slices.rows; row++) {
            const owner = row - slices.again[row];
            const name = slices.name[row];

            if (slices.state[row] & recordings.NEVER_ENTERED)
                continue;
            owned[0] = sliceFirst[owner];
            owned[1] = sliceFirst[owner + 1];
            if (hasAll(words, name, fields, owned) && (isWord ||
                textOf(strings, name, fields, owned).includes(text)))
                marks[row] = 1;
        }
        return marks;
    }

    // idsOf() are the slices that match the last part of a text, and whose
    // enclosing spans match the parts before it.
    function idsOf(recording, text) {
        const [inner, ...outer] = text.split(INSIDE).reverse()
            .map((part) => marksOf(recording, part.trim()));
        const ids = [];

        for (let row = 0; row < inner.length; row++) {
            let around = row;

            if (inner[row] && outer.every((marks) => {
                around = recordings.parent(recording, around);
                return marks[around];
            }))
                ids.push(row);
        }
        return Uint32Array.from(ids);
    }

    // find() returns the slices that match, which come by start, and finds
    // those of a row of the time line.
    function find(recording, text) {
        const ids = idsOf(recording, text);

        return {
            ids, starts: Float64Array.from(ids, (id) =>
                recording.slices.start[id]),
            rows: layout.of(recording).rowsOf(ids),
        };
    }

    return { find };
})();

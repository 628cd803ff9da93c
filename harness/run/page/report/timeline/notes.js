// notes.js: notes on ranges of the time line. The address keeps them, so that
// a link shows them to others.
const notes = (() => {
    const { make } = dom;
    // Longer addresses are cut off by programs that pass them on.
    const MOST = 8192;
    const FULL = 'This note does not fit: the address holds 8 KiB of notes. ' +
        'Delete one, or write less.';

    function isNote(one) {
        return Array.isArray(one) && one.length === 3 &&
            Number.isFinite(one[0]) && Number.isFinite(one[1]) &&
            one[0] <= one[1] && typeof one[2] === 'string';
    }

    function parse(text) {
        try {
            return JSON.parse(text);
        } catch {
            return null;
        }
    }

    // read() returns the notes in the address, by time. Times are in ns from
    // the test's beginning. Anybody may have written the address.
    function read() {
        const text = state.get('notes');
        const list = isTooLong(text) ? null : parse(text);

        return Array.isArray(list) ? list.filter(isNote).map(
            ([from, to, note]) => ({ from, to, text: note })) : [];
    }

    function isTooLong(text) {
        return state.link({ notes: text }).length > MOST;
    }

    // keep() writes notes into the address; false if they don't fit.
    function keep(control, list) {
        const sorted = list.sort((a, b) => a.from - b.from);
        const text = list.length ? JSON.stringify(sorted.map(
            ({ from, to, text: note }) => [from, to, note])) : '';

        if (isTooLong(text))
            return false;
        control.view.notes = sorted;
        state.note({ test: control.test.id, notes: text });
        control.redraw();
        return true;
    }

    function show(control, { from, to }) {
        const { recording } = control;
        const margin = Math.max(5, (to - from) * 0.1);

        control.look(recording.zero + from - margin,
            recording.zero + to + margin);
    }

    function item(control, note, refill) {
        const { from, to, text } = note;
        const { notes: list } = control.view;

        return make('li', {}, make('button', {
            type: 'button', click: () => show(control, note),
        }, `${format.seconds(from)} s, ${format.duration(to - from)}`),
        make('span', { class: 'note-text' }, format.visible(text)),
        make('button', {
            type: 'button', 'aria-label': `Delete: ${format.line(text)}`,
            click() {
                keep(control, list.filter((one) => one !== note));
                refill();
            },
        }, 'Delete'));
    }

    function form(control, refill) {
        const { view, recording } = control;
        const [start, end] = view.range;
        const problem = make('p', { class: 'problem', role: 'alert' });
        const box = make('input', {
            class: 'note-box', 'aria-label': 'Note',
            placeholder: `Note on this range of ${format.duration(
                end - start)}`,
        });

        return make('form', {
            submit(event) {
                const text = box.value.trim();
                const note = {
                    from: Math.round(start - recording.zero),
                    to: Math.round(end - recording.zero), text,
                };

                event.preventDefault();
                if (text && !keep(control, [...view.notes, note]))
                    problem.textContent = FULL;
                else if (text)
                    refill();
            },
        }, box, make('button', {}, 'Add'), problem);
    }

    function saveButton(control) {
        return make('p', {}, make('button', {
            type: 'button', click: () => saveRange.save(control),
        }, 'Save this range as a report'));
    }

    const hint = 'Press M, or hold Shift and drag, to select a range. Then ' +
        'write a note on it.';

    function fill(control) {
        const { view } = control;
        const content = make('div', {});
        const refill = () => dom.replace(content,
            make('h2', {}, 'Notes'),
            view.range ? [form(control, refill), saveButton(control)] :
                make('p', { class: 'muted' }, hint),
            view.notes.length > 0 && [
                make('ol', { class: 'notes' }, view.notes.map((note) =>
                    item(control, note, refill))),
                make('p', { class: 'muted' }, 'The address of this page ' +
                    'keeps the notes; copy it to share them.'),
            ],
            isTooLong(state.get('notes')) && make('p', { class: 'problem' },
                'The address has more than 8 KiB of notes; none is shown.'));

        refill();
        return content;
    }

    // write() asks for a note on the range; without one, on the selected slice
    // or on what is on the screen.
    function write(control) {
        if (!control.view.range)
            control.measure();
        control.parts.panels.open('notes');
        document.querySelector('.note-box').focus();
    }

    // draw() draws notes over the time line; x(time) is in pixels.
    function draw(screen, x) {
        const { context, recording, height } = screen;

        context.font = '600 11px system-ui, sans-serif';
        screen.notes.forEach(({ from, to, text }, i) => {
            const left = x(recording.zero + from);
            const width = Math.max(2, x(recording.zero + to) - left);
            const y = height - 10 - 16 * (i % 4);

            context.fillStyle = paint.color('--note');
            context.fillRect(left, 0, width, height);
            context.fillStyle = paint.color('--text');
            context.fillRect(left, 0, 1, height);
            if (left + width > 0)
                context.fillText(format.line(text), Math.max(4, left + 4), y);
        });
    }

    panels.add('notes', { title: 'Notes', fill, takesRange: true });

    return { read, write, draw };
})();

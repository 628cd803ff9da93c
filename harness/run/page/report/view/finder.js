// finder.js: finds tests by name and lines by text in all runs, the latest
// first. The server is asked for one run after the other, so that matches are
// there soon, and a run that cannot be searched stops nothing.
const finder = (() => {
    const { make } = dom;
    const MOST = 500;
    const form = document.getElementById('finding');
    const { text: input, stop } = form.elements;
    const state = document.getElementById('finding-state');
    const found = document.getElementById('found');
    let running = new AbortController();

    function line(run, test, { t, level, text }) {
        const more = test.try ? { try: test.try, t } : { t };
        const name = format.levels[level];

        return make('li', {},
            make('span', { class: `level level-${level}` }, name), ' ',
            make('a', {
                href: addresses.log(run.name, test.program, test.name, more),
            }, format.line(text)));
    }

    function entry(run, test) {
        const more = test.try ? { try: test.try } : {};

        return make('li', {},
            make('a', {
                href: addresses.log(run.name, test.program, test.name, more),
            }, dom.name(test.title)), ' ',
            make('span', { class: 'muted' }, format.line(test.program),
                test.try ? `, try ${test.try}` : ''), ' ',
            dom.badge(test),
            test.lines.length > 0 && make('ul', { class: 'lines' },
                test.lines.map((one) => line(run, test, one))));
    }

    function section(run, tests) {
        return make('section', { 'aria-label': `Run ${run.name}` },
            make('h3', {}, make('a', { href: addresses.report(run.name) },
                run.name), ' ', make('span', { class: `state-${run.state}` },
                run.state)),
            make('ul', { class: 'tests' },
                tests.map((test) => entry(run, test))));
    }

    // problems() says what was left out of a run.
    function problems({ unsearched, cut, unreadable, full }) {
        return [
            unsearched && (full ?
                `${format.plural(unsearched, 'test')} not searched` :
                `${format.plural(unsearched, 'test')} not searched, ` +
                'because that takes too long'),
            cut && `${format.plural(cut, 'large recording')} searched in part`,
            unreadable &&
                `${format.plural(unreadable, 'recording')} not readable`,
        ].filter((one) => one).join('; ');
    }

    function leaveOut(text) {
        const list = found.querySelector('.left-out');

        list.hidden = false;
        list.querySelector('ul').append(make('li', {}, text));
    }

    async function searchRun(run, text, most) {
        const answer = await follow.get(
            addresses.url(`api/search?${
                addresses.words({ run: run.name, text, most })}`),
            { 500: 'it cannot be searched', 404: 'it is no longer there' },
            { signal: running.signal });
        const answered = await answer.json();
        const left = problems(answered);

        if (answered.tests.length) {
            found.querySelector('.left-out')
                .before(section(run, answered.tests));
        }
        if (left)
            leaveOut(`${run.name}: ${left}`);
        return answered.hits;
    }

    // A run that cannot be searched is left out.
    async function tryRun(run, text, most) {
        try {
            return await searchRun(run, text, most);
        } catch (error) {
            if (error.name === 'AbortError')
                throw error;
            leaveOut(`${run.name}: ${error.message}`);
            return 0;
        }
    }

    function matches(hits) {
        return hits ? `${format.count(hits)} match${hits === 1 ? '' : 'es'}` :
            'No match';
    }

    async function searchAll(text) {
        const { signal } = running;
        const answer = await follow.get(addresses.url('api/runs'), {},
            { signal });
        const { runs } = await answer.json();
        let hits = 0;
        let at = 0;

        for (; at < runs.length && hits < MOST; at++) {
            state.textContent = `${matches(hits)}; searching run ` +
                `${format.count(at + 1)} of ${format.count(runs.length)}…`;
            hits += await tryRun(runs[at], text, MOST - hits);
        }
        if (at < runs.length) {
            leaveOut(`${format.plural(runs.length - at, 'earlier run')} ` +
                `not searched, because there are ${MOST} matches already`);
        }
        return `${matches(hits)} in ${format.plural(at, 'run')}`;
    }

    function clear() {
        dom.replace(found, make('div', { class: 'left-out', hidden: true },
            make('h3', {}, 'Left out'), make('ul')));
    }

    function keep(text) {
        const values = addresses.read();

        values.delete('search');
        if (text)
            values.set('search', text);
        history.replaceState(null, '',
            `${addresses.url('')}#${
                addresses.words(Object.fromEntries(values))}`);
    }

    async function search(text) {
        const own = new AbortController();

        running.abort();
        running = own;
        keep(text);
        clear();
        state.textContent = '';
        found.hidden = stop.hidden = !text;
        if (!text)
            return;
        try {
            state.textContent = await searchAll(text);
        } catch (error) {
            if (running === own) {
                state.textContent = own.signal.aborted ? 'Stopped' :
                    error.message;
            }
        }
        if (running === own)
            stop.hidden = true;
    }

    // start() searches for the text in the address, if there is one.
    function start() {
        form.addEventListener('submit', (event) => {
            event.preventDefault();
            search(input.value.trim());
        });
        stop.addEventListener('click', () => running.abort());
        input.value = addresses.read().get('search') || '';
        if (input.value)
            search(input.value);
    }

    return { start };
})();

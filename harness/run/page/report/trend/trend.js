// trend.js: the page of one test over all runs that are kept.
(() => {
    const { make } = dom;
    const main = document.getElementById('main');
    let data = null;

    function section(title, ...content) {
        return make('section', { 'aria-label': title },
            make('h2', {}, title), ...content);
    }

    function open({ name }) {
        location.assign(addresses.log(name, data.program, data.test));
    }

    function picture() {
        const place = document.getElementById('picture');

        if (data && place?.clientWidth) {
            dom.replace(place, chart.draw(data, place.clientWidth, open));
        }
    }

    function lastFailure() {
        const { failure } = data;

        if (!failure)
            return null;
        const run = data.runs.find(({ name }) => name === failure.run);

        return section('Last failure',
            make('p', {}, dom.badge(run), ' ', make('a', {
                href: addresses.log(run.name, data.program, data.test),
            }, run.name), ' ', make('span', { class: 'reason' },
                format.line(run.reason || ''))),
            failure.shown && dom.pre('Last lines', failure.shown),
            failure.hidden && [
                make('h3', {}, 'Last lines that LOG did not show'),
                dom.pre('Last lines that LOG did not show', failure.hidden)],
            !failure.shown && !failure.hidden &&
                make('p', { class: 'muted' }, 'It recorded no line.'));
    }

    function show() {
        document.title = `${format.line(data.test)}: testlog`;
        dom.replace(main,
            make('h1', {}, dom.name(data.test), ' ',
                make('span', { class: 'muted' }, format.line(data.program))),
            section('Changes', changes.list(data)),
            section('Durations', make('div', { id: 'picture' }),
                marks.legend(data.runs)),
            lastFailure(),
            section('Runs', runs.table(data),
                make('p', { class: 'muted' }, runs.others(data))));
        picture();
    }

    async function load() {
        const program = addresses.read().get('program') || '';
        const test = addresses.read().get('test') || '';
        const answer = await follow.get(
            addresses.url(`api/test?${addresses.words({ program, test })}`), {
                400: 'The address names no test: open it from All runs.',
                404: `No run has the test ${format.line(test)} of ` +
                    `${format.line(program)}.`,
            });

        data = await answer.json();
        show();
    }

    follow.start(load).then((again) => {
        window.addEventListener('hashchange', again);
        window.addEventListener('resize', picture);
    });
})();

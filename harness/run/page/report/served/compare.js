// compare.js: opens this run beside another one.
(() => {
    const { make } = dom;
    const content = make('div');
    const details = make('details', { class: 'compare', toggle: show },
        make('summary', {}, 'Compare'), content);

    function link({ name, state: verdict }) {
        return make('li', {}, make('a', {
            href: served.url(`against/${name}.html`), target: '_blank',
            rel: 'noopener',
        }, name), ` ${verdict}`);
    }

    async function show() {
        if (!details.open)
            return;
        try {
            const answer = await fetch(addresses.url('api/runs'));
            const others = (await answer.json()).runs
                .filter(({ name }) => name !== served.run);

            dom.replace(content, others.length ? 'With another run:' :
                'There is no other run.', make('ul', {}, others.map(link)));
        } catch (error) {
            dom.replace(content, error.message);
        }
    }

    if (served.there) {
        document.addEventListener('DOMContentLoaded', () =>
            document.querySelector('header nav').after(details));
        details.addEventListener('keydown', ({ key }) => {
            if (key !== 'Escape')
                return;
            details.open = false;
            details.querySelector('summary').focus();
        });
    }
})();

// view.js: the page of testlog view: the runs, which it loads again whenever
// the server says that they have changed.
(() => {
    const main = document.getElementById('main');
    const state = document.getElementById('state');
    let loading = false;
    let again = false;

    function notice(text) {
        const line = document.createElement('p');

        line.className = 'notice';
        line.setAttribute('role', 'alert');
        line.textContent = text;
        document.getElementById('notices').replaceChildren(line);
    }

    // The token is in the address's hash, which no server sees. It gives a
    // cookie, which opens what the page links to.
    async function begin() {
        const token =
            new URLSearchParams(location.hash.slice(1)).get('token');

        const headers = token ? { Authorization: `Bearer ${token}` } : {};
        const answer = await fetch('/api/session',
            { method: 'POST', headers });

        if (answer.ok)
            capture.start(token);
    }

    // The page of a run is made on demand, even for one without report.html.
    function linkReports(tables) {
        for (const link of tables.querySelectorAll('a')) {
            link.setAttribute('href', link.getAttribute('href').replace(
                /^([^/]+)\/report\.html/, '/report/$1'));
        }
    }

    async function load() {
        const answer = await fetch('/api/index');

        if (answer.status === 403) {
            throw new Error('Open the address that testlog view printed: it ' +
                'ends with the token.');
        }
        if (!answer.ok)
            throw new Error(`The server answered ${answer.status}.`);
        const tables = new DOMParser().parseFromString(
            await answer.text(), 'text/html');

        linkReports(tables);
        main.replaceChildren(...tables.body.children);
        find.start();
        document.getElementById('notices').replaceChildren();
        document.body.dataset.ready = '';
    }

    // What changes while the page loads is loaded afterwards.
    async function show() {
        if (loading) {
            again = true;
            return;
        }
        loading = true;
        do {
            again = false;
            try {
                await load();
            } catch (error) {
                notice(error.message);
            }
        } while (again);
        loading = false;
    }

    function listen() {
        const events = new EventSource('/api/events');

        events.onopen = () => { state.textContent = ''; };
        events.onmessage = show;
        events.onerror = () => {
            state.textContent = 'The server does not answer.';
        };
    }

    async function start() {
        const run = new URLSearchParams(location.hash.slice(1)).get('run');

        await begin();
        await show();
        listen();
        if (run && /^[-.:\dT]+$/.test(run))
            location.assign(`/report/${run}`);
    }

    document.getElementById('skip').addEventListener('click',
        () => main.focus());
    start().catch((error) => notice(error.message));
})();

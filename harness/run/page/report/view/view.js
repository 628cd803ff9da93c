// view.js: the page of testlog view: the runs.
(() => {
    const main = document.getElementById('main');

    // The token is in the address's hash, which no server sees. It gives a
    // cookie, which opens what the page links to, and a folder for it.
    async function begin() {
        const token =
            new URLSearchParams(location.hash.slice(1)).get('token');

        const headers = token ? { Authorization: `Bearer ${token}` } : {};
        const answer = await fetch(addresses.url('api/session'),
            { method: 'POST', headers });

        if (answer.ok) {
            addresses.enter(answer.headers.get('Content-Location'));
            capture.start(token);
        }
        document.querySelector('base').href = addresses.url('run/');
    }

    // The page of a run is made on demand, even for one without report.html.
    function linkReports(tables) {
        for (const link of tables.querySelectorAll('a')) {
            link.setAttribute('href', link.getAttribute('href').replace(
                /^([^/]+)\/report\.html/, addresses.report('$1')));
        }
    }

    // A cell has a test's name and then its program.
    function linkTests(tables) {
        for (const cell of tables.querySelectorAll('#tests tbody .name')) {
            const [name, program] = cell.firstElementChild.childNodes;
            const link = document.createElement('a');

            link.href = addresses.test(program.textContent,
                name.textContent.slice(0, -1));
            name.before(link, ' ');
            link.append(name.textContent.slice(0, -1));
            name.remove();
        }
    }

    async function load() {
        const answer = await follow.get(addresses.url('api/index'));
        const tables = new DOMParser().parseFromString(
            await answer.text(), 'text/html');

        linkReports(tables);
        linkTests(tables);
        main.replaceChildren(...tables.body.children);
        find.start();
    }

    async function start() {
        const run = new URLSearchParams(location.hash.slice(1)).get('run');

        await begin();
        finder.start(); // before the page is ready
        await follow.start(load);
        if (run && /^[-.:\dT]+$/.test(run))
            location.assign(addresses.report(run));
    }

    start().catch((error) => follow.notice(error.message));
})();

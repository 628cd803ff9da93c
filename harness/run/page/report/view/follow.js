// follow.js: loads a page's data, and loads them again whenever the server says
// that the runs have changed.
const follow = (() => {
    const state = document.getElementById('state');
    const notices = document.getElementById('notices');

    // Tests may end more often.
    const PAUSE_MS = 200;

    const WHY = {
        403: 'Open the address that testlog view printed: it ends with the ' +
            'token.',
    };

    function notice(text) {
        const line = document.createElement('p');

        line.className = 'notice';
        line.setAttribute('role', 'alert');
        line.textContent = text;
        notices.replaceChildren(line);
    }

    // get() asks the server. `why` explains some of its refusals.
    async function get(address, why = {}, options = {}) {
        const answer = await fetch(address, options);

        if (!answer.ok) {
            throw new Error(why[answer.status] || WHY[answer.status] ||
                `The server answered ${answer.status}.`);
        }
        return answer;
    }

    function listen(show) {
        const events = new EventSource(addresses.url('api/events'));

        events.onopen = () => { state.textContent = ''; };
        events.onmessage = show;
        events.onerror = () => {
            state.textContent = 'The server does not answer.';
        };
    }

    // start() calls load() now and after each change. What changes meanwhile is
    // loaded afterwards.
    async function start(load) {
        let loading = false;
        let again = false;

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
                    notices.replaceChildren();
                    document.body.dataset.ready = '';
                } catch (error) {
                    notice(error.message);
                }
                await new Promise((done) => { setTimeout(done, PAUSE_MS); });
            } while (again);
            loading = false;
        }

        document.getElementById('skip').addEventListener('click',
            () => document.getElementById('main').focus());
        await show();
        listen(show);
        return show;
    }

    return { start, get, notice };
})();

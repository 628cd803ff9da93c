// capture.js: records a running program at the press of a button, and opens the
// new run.
const capture = (() => {
    const dialog = document.getElementById('capturing');
    const form = dialog.querySelector('form');
    const { pid: program, ms, delay, filter } = form.elements;
    const state = document.getElementById('capture-state');
    let headers = {};

    function option({ pid, name }) {
        const element = document.createElement('option');

        element.value = pid;
        element.textContent = `${name} (${pid})`;
        return element;
    }

    async function findPrograms() {
        const answer = await fetch(addresses.url('api/programs'));
        const { programs } = await answer.json();

        program.replaceChildren(...programs.map(option));
        state.textContent = programs.length ? '' :
            'No program listens: start one with TRACE_SERVER=1.';
    }

    async function open() {
        dialog.showModal();
        try {
            await findPrograms();
        } catch (error) {
            state.textContent = error.message;
        }
    }

    function asked() {
        const options = ['host_tracer_level', 'device_tracer_level']
            .map((name) => `${name}=${form.elements[name].value}`);
        const body = { pid: Number(program.value), ms: Number(ms.value),
            delay: Number(delay.value), options: options.join() };

        return filter.value ? { ...body, filter: filter.value } : body;
    }

    // What the server refuses, it explains.
    async function record() {
        const answer = await fetch(addresses.url('api/capture'), {
            method: 'POST', headers, body: JSON.stringify(asked()) });

        if (answer.status !== 200 && answer.status !== 409)
            throw new Error(await answer.text());
        const { run, error } = await answer.json();

        if (error)
            throw new Error(error);
        location.assign(addresses.report(run));
    }

    async function submit(event) {
        const button = form.querySelector('[type=submit]');

        event.preventDefault();
        button.disabled = true;
        state.textContent = 'Capturing…';
        try {
            await record();
        } catch (error) {
            state.textContent = error.message;
        }
        button.disabled = false;
    }

    // start() shows the button to those who have the token, or need none.
    function start(token) {
        const button = document.getElementById('capture');

        headers = token ? { Authorization: `Bearer ${token}` } : {};
        button.hidden = false;
        button.addEventListener('click', open);
        document.getElementById('capture-close').addEventListener('click',
            () => dialog.close());
        form.addEventListener('submit', submit);
    }

    return { start };
})();

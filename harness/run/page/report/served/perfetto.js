// perfetto.js: hands a trace to Perfetto's page, which runs in the browser.
const perfetto = (() => {
    const ORIGIN = 'https://ui.perfetto.dev';
    const EVERY_MS = 50;
    const MOST_MS = 60000;

    const SAVE = "Save Perfetto's format instead, and open the file at " +
        'ui.perfetto.dev.';

    // ready() resolves when the page answers. It does not say when it has
    // loaded, so it is asked again and again.
    function ready(tab) {
        return new Promise((resolve, reject) => {
            const ask = () => tab.postMessage('PING', ORIGIN);
            const asking = setInterval(ask, EVERY_MS);
            const end = (settle, value) => {
                clearInterval(asking);
                clearTimeout(late);
                window.removeEventListener('message', hear);
                settle(value);
            };
            const hear = (event) => event.source === tab &&
                event.origin === ORIGIN && event.data === 'PONG' &&
                end(resolve);
            const late = setTimeout(() => end(reject,
                new Error(`Perfetto does not answer. ${SAVE}`)), MOST_MS);

            window.addEventListener('message', hear);
        });
    }

    // open() must be called by a click: otherwise, browsers open no tab.
    async function open(title, trace) {
        const tab = window.open(ORIGIN);

        if (!tab)
            throw new Error(`The browser opened no tab. ${SAVE}`);
        const [bytes] = await Promise.all([trace(), ready(tab)]);
        const { buffer } = bytes;

        tab.postMessage({ perfetto: { buffer, title } }, ORIGIN, [buffer]);
    }

    return { open };
})();

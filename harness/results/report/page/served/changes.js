// changes.js: reads a run again while it goes on: its tests begin and end.
const changes = (() => {
    const EVERY_MS = 500;
    let running = true;
    let looking = null;
    let again = false;

    // read() reads the run, and shows it if it has changed.
    async function read() {
        const before = report.summary();

        await report.load();
        running = report.run.head.running;
        if (report.summary() !== before)
            main.change();
    }

    // look() reads the run now; what changes meanwhile is read afterwards.
    async function look() {
        again = !!looking;
        if (looking)
            return;
        do {
            again = false;
            looking = new Promise((done) => { setTimeout(done, EVERY_MS); });
            try {
                await read();
            } catch (error) {
                main.notice(`The run cannot be read: ${error.message}`);
            }
            await looking;
        } while (again);
        looking = null;
    }

    // A run that has ended does not change.
    function start() {
        const events = new EventSource('/api/events');

        running = report.run.head?.running;
        events.addEventListener('message', () => {
            if (running)
                look();
            else
                events.close();
        });
        if (!running)
            events.close();
    }

    if (served.there)
        main.opened(start);

    return { look };
})();

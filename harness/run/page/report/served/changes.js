// changes.js: reads a run again while it goes on: its tests begin and end.
const changes = (() => {
    const EVERY_MS = 500;
    let isLooking = false;
    let again = false;

    async function read() {
        try {
            await report.load(main.renew);
        } catch (error) {
            main.notice(`The run cannot be read: ${error.message}`);
        }
    }

    // look() reads the run now. What changes meanwhile is read afterwards.
    async function look() {
        again = true;
        if (isLooking)
            return;
        isLooking = true;
        while (again) {
            again = false;
            await read();
            await new Promise((done) => { setTimeout(done, EVERY_MS); });
        }
        isLooking = false;
    }

    // A run that has ended does not change.
    function start() {
        if (!report.run.head || !report.goesOn())
            return;
        const events = new EventSource(addresses.url('api/events'));

        events.addEventListener('message', () => {
            if (report.goesOn())
                look();
            else
                events.close();
        });
    }

    if (served.there)
        main.opened(start);

    return { look };
})();

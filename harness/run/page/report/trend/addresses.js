// addresses.js: addresses in testlog view. All of its data are below a folder
// with a secret name, because the cookie that reads them must not be sent to
// servers of other users. The page itself is also outside of it.
const addresses = (() => {
    let [folder] = location.pathname.match(/^\/s-[0-9a-f]+\//) || ['/'];

    // url() is an address of the server, below the folder.
    function url(path) {
        return folder + path;
    }

    // enter() moves the page into a folder.
    function enter(name) {
        const path = location.pathname.slice(folder.length);

        folder = name;
        history.replaceState(null, '', url(path) + location.hash);
    }

    function words(values) {
        return Object.entries(values).map(([name, value]) =>
            `${name}=${encodeURIComponent(value)}`).join('&');
    }

    // test() is the page of a test over all runs.
    function test(program, name) {
        return `${url('test')}#${words({ program, test: name })}`;
    }

    // report() is the page of a run.
    function report(run) {
        return url(`report/${run}`);
    }

    // log() is the log of a test in a run, at one of its lines if `more` has
    // its time.
    function log(run, program, name, more = {}) {
        const place = { view: 'log', test: `${program}:${name}`, ...more };

        return `${report(run)}#${words(place)}`;
    }

    // read() takes the hash of the page's own address apart.
    function read() {
        return new URLSearchParams(
            location.hash.slice(1).replaceAll('+', '%2B'));
    }

    return { url, enter, words, test, report, log, read };
})();

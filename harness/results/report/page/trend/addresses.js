// addresses.js: the addresses of tests in the pages of testlog view.
const addresses = (() => {
    function words(values) {
        return Object.entries(values).map(([name, value]) =>
            `${name}=${encodeURIComponent(value)}`).join('&');
    }

    // test() is the page of a test over all runs.
    function test(program, name) {
        return `/test#${words({ program, test: name })}`;
    }

    // log() is the log of a test in a run, at one of its lines if `more` has
    // its time.
    function log(run, program, name, more = {}) {
        return `/report/${run}#${words({ view: 'log',
            test: `${program}:${name}`, ...more })}`;
    }

    // read() takes the hash of the page's own address apart.
    function read() {
        return new URLSearchParams(
            location.hash.slice(1).replaceAll('+', '%2B'));
    }

    return { words, test, log, read };
})();

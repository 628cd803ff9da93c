// served.js: makes report.html the page of a run of testlog view, which makes
// the blocks of data when they are asked for. A part of it that somebody saved
// has its own.
const served = (() => {
    const PREFIX = addresses.report('');
    const there = location.protocol.startsWith('http') &&
        location.pathname.startsWith(PREFIX);
    const run = there ? location.pathname.slice(PREFIX.length) : '';

    const WHY = {
        403: 'open the address that testlog view printed first; it ends with ' +
            'the token',
        404: 'the run is no longer there',
    };

    // url() is the address of a file of the run.
    function url(file) {
        return addresses.url(`run/${run}/${file}`);
    }

    async function get(file) {
        const answer = await fetch(url(file));

        if (answer.ok)
            return new Uint8Array(await answer.arrayBuffer());
        throw new Error(WHY[answer.status] || (await answer.text()).trim());
    }

    function linkBack() {
        document.querySelector('header .run').prepend(
            dom.make('a', { href: addresses.url('') }, 'All runs'), ' ');
    }

    if (there) {
        blocks.serve((id) => get(`${id}.bin`));
        document.addEventListener('DOMContentLoaded', linkBack);
    }

    return { there, run, url, get };
})();

// state.js: keeps what is on the screen in the address, so that it can be sent.
const state = (() => {
    const listeners = [];
    let values = parse();
    let known = location.hash;
    let writing = 0;

    function parse() {
        return new Map(new URLSearchParams(
            location.hash.slice(1).replace(/\+/g, '%2B')));
    }

    // Only what would end a value is escaped, so that addresses stay readable.
    function escape(text) {
        return encodeURIComponent(text)
            .replace(/%(2F|3A|2C|5B|5D|3D|7B|7D)/g, decodeURIComponent);
    }

    function address(changes) {
        const next = new Map(values);

        for (const [name, value] of Object.entries(changes)) {
            if (value === null || value === undefined || value === '')
                next.delete(name);
            else
                next.set(name, String(value));
        }
        return `#${[...next].map(([name, value]) =>
            `${name}=${escape(value)}`).join('&')}`;
    }

    function get(name) {
        return values.get(name) || '';
    }

    function tell() {
        for (const listener of listeners)
            listener();
    }

    function isSameTest(changes) {
        return ['test', 'try'].every((name) =>
            (changes[name] || '') === get(name));
    }

    // link() is the address of a place; the view's own settings don't follow,
    // but the notes on a test do.
    function link(changes) {
        const kept = values;
        const own = isSameTest(changes) ? { notes: get('notes') } : {};

        values = new Map();
        const text = address({ ...own, ...changes });
        values = kept;
        return text;
    }

    function go(changes) {
        flush();
        location.hash = link(changes);
    }

    // note() changes the address without a step in the history. Browsers limit
    // how often that may happen.
    function note(changes) {
        const next = address(changes);

        values = new Map(new URLSearchParams(
            next.slice(1).replace(/\+/g, '%2B')));
        clearTimeout(writing);
        writing = setTimeout(flush, 150);
    }

    // An address that somebody has typed meanwhile stays: its event comes.
    function flush() {
        if (!writing)
            return;
        clearTimeout(writing);
        writing = 0;
        if (location.hash !== known)
            return;
        history.replaceState(null, '', address({}));
        known = location.hash;
    }

    // Going back from a link leads to what was on the screen.
    document.addEventListener('click', flush, { capture: true });
    window.addEventListener('hashchange', () => {
        clearTimeout(writing);
        writing = 0;
        values = parse();
        known = location.hash;
        tell();
    });

    return { get, link, go, note, listen: (f) => listeners.push(f) };
})();

// blocks.js: where the blocks of data come from: elements behind the page, or a
// server.
const blocks = (() => {
    const served = new Set();
    let ask = null;

    // serve() sets who is asked for the bytes of blocks that are not in the
    // file. add() notes which blocks it has besides these two.
    function serve(source) {
        ask = source;
        add(['run', 'end']);
    }

    function add(ids) {
        ids.forEach((id) => served.add(id));
    }

    function isHere(id) {
        const element = document.getElementById(id);

        return !!element &&
            element.textContent.length === Number(element.dataset.size);
    }

    // has() tells whether a block is there to its last character.
    function has(id) {
        return isHere(id) || (!!ask && served.has(id));
    }

    function decode(base64) {
        if (Uint8Array.fromBase64)
            return Uint8Array.fromBase64(base64);
        const text = atob(base64);
        const bytes = new Uint8Array(text.length);

        for (let i = 0; i < bytes.length; i++)
            bytes[i] = text.charCodeAt(i);
        return bytes;
    }

    function bytes(id) {
        return isHere(id) ?
            decode(document.getElementById(id).textContent) : ask(id);
    }

    return { serve, add, has, bytes };
})();

// scale.js: where times lie on the screen, and which time a pixel shows.
const scale = (() => {
    // of() maps the times from start to end to pixels from 0 to width.
    function of({ start, end }, width) {
        const pixels = width / (end - start);

        return {
            pixels, start, end, width,
            x: (time) => (time - start) * pixels,
            time: (x) => start + x / pixels,
        };
    }

    return { of };
})();

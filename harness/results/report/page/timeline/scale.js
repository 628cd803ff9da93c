// scale.js: where times lie on the screen, and which time a pixel shows.
const scale = (() => {
    // of() maps the times from start to end to pixels from 0 to width.
    function of({ start, end }, width) {
        const pixels = width / (end - start);

        return {
            pixels,
            stretches: [{ from: start, to: end, left: 0, right: width }],
            x: (time) => (time - start) * pixels,
            time: (x) => start + x / pixels,
        };
    }

    return { of };
})();

// paint.js: what all canvases share: sharp pixels and the page's colors.
const paint = (() => {
    const HUES = 8;
    const colors = new Map();
    const known = new Map();

    // recolored() calls back when colors change: in the dark and on paper.
    function recolored(callback) {
        for (const query of ['(prefers-color-scheme: dark)', 'print'])
            matchMedia(query).addEventListener('change', callback);
    }

    recolored(() => colors.clear());

    // prepare() sizes a canvas for the screen's pixels and clears it.
    function prepare(canvas, height) {
        const ratio = window.devicePixelRatio || 1;
        const width = canvas.clientWidth;
        const context = canvas.getContext('2d');

        if (canvas.width !== Math.round(width * ratio) ||
            canvas.height !== Math.round(height * ratio)) {
            canvas.width = Math.round(width * ratio);
            canvas.height = Math.round(height * ratio);
            canvas.style.height = `${height}px`;
        }
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        context.clearRect(0, 0, width, height);
        return context;
    }

    // color() is a color of styles/base.css, by its name.
    function color(name) {
        if (!colors.has(name)) {
            colors.set(name, getComputedStyle(document.documentElement)
                .getPropertyValue(name).trim());
        }
        return colors.get(name);
    }

    // hue() is the number of a name's color: the same in every picture. Names
    // that appear one after another differ.
    function hue(name) {
        if (!known.has(name))
            known.set(name, known.size % HUES);
        return known.get(name);
    }

    function hues() {
        return Array.from({ length: HUES }, (unused, i) =>
            color(`--slice-${i}`));
    }

    return { recolored, prepare, color, hue, hues };
})();

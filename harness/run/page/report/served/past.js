// past.js: links a test to its page over all runs.
(() => {
    if (served.there) {
        picker.link(({ program, name }) => dom.make('a', {
            href: addresses.test(program, name),
        }, 'History'));
    }
})();

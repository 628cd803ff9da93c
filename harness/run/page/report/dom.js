// dom.js: makes elements. Text becomes text nodes and never markup. It also
// removes the text for readers whose browser runs no script.
const dom = (() => {
    // make() makes an element. A property that is a function listens to the
    // event of that name; null and false leave an attribute out.
    function make(tag, properties, ...children) {
        const element = document.createElement(tag);

        for (const [name, value] of Object.entries(properties || {})) {
            if (typeof value === 'function')
                element.addEventListener(name, value);
            else if (value !== null && value !== undefined && value !== false)
                element.setAttribute(name, value === true ? '' : value);
        }
        element.append(...children.flat(Infinity).filter(isThere));
        return element;
    }

    function isThere(child) {
        return child !== null && child !== undefined && child !== false;
    }

    function replace(element, ...children) {
        element.replaceChildren(...children.flat(Infinity).filter(isThere));
    }

    function announce(text) {
        document.getElementById('status').textContent = text;
    }

    function select(element) {
        const selection = window.getSelection();

        selection.removeAllRanges();
        selection.selectAllChildren(element);
        announce('Selected; press Ctrl+C to copy');
    }

    async function copy(element, text) {
        try {
            await navigator.clipboard.writeText(text);
            announce('Copied');
        } catch {
            select(element);
        }
    }

    // command() shows a command line with a button that copies it.
    function command(label, text) {
        const code = make('code', {}, format.visible(text));

        return make('div', { class: 'command' },
            make('span', { class: 'command-label' }, label), code,
            make('button', {
                type: 'button',
                'aria-label': `Copy: ${label}`,
                click: () => copy(code, text),
            }, 'Copy'));
    }

    function badge(test) {
        const kind = test.flaky ? 'flaky' : test.outcome;

        return make('span', { class: `badge is-${kind}` },
            format.outcome(test));
    }

    // name() is a test's name, which may be broken after "/" and "_".
    function name(text) {
        return make('bdi', {}, format.line(text).split(/(?<=[/_])/)
            .map((part, i) => [i > 0 && make('wbr'), part]));
    }

    // bar() is a part of a whole, beside which the number stands as text.
    function bar(part, whole, kind) {
        const fill = make('span', { class: `fill ${kind || ''}` });

        const share = whole > 0 ? Math.min(1, part / whole) : 0;

        fill.style.width = `${100 * share}%`;
        return make('span', { class: 'bar', 'aria-hidden': 'true' }, fill);
    }

    function pre(label, text) {
        return make('pre', {
            tabindex: '0', role: 'group', 'aria-label': label,
        }, format.block(text));
    }

    function download(name, type, text) {
        const address = URL.createObjectURL(new Blob([text], { type }));

        make('a', { href: address, download: name }).click();
        setTimeout(() => URL.revokeObjectURL(address), 10000);
    }

    document.documentElement.classList.add('scripted');
    document.addEventListener('DOMContentLoaded', () => {
        for (const element of document.querySelectorAll('.plain'))
            element.remove();
    });

    return {
        make, replace, announce, command, badge, name, bar, pre, download,
    };
})();

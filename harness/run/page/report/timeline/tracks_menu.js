// tracks_menu.js: the menu of the time line's tracks, by which they are
// filtered, pinned and collapsed.
const tracksMenu = (() => {
    const { make } = dom;
    const LISTED = 1000;

    // toggle() makes a button, and press(), which shows whether it is on.
    function toggle(text, { id, name }, set, change) {
        const button = make('button', { type: 'button', class: 'toggle',
            'aria-label': `${text} ${name}`,
            click: () => change(() => tracks.flip(set, id)) }, text);

        return { button, press: () =>
            button.setAttribute('aria-pressed', String(set.has(id))) };
    }

    // listOf() makes the list of the tracks that the filter finds.
    function listOf(groups, settings, change) {
        const found = groups.filter((group) =>
            tracks.isNamed(group, settings));
        const toggles = [];
        const entry = (group) => {
            const own = [toggle('Pin', group, settings.pinned, change),
                toggle('Collapse', group, settings.collapsed, change)];

            toggles.push(...own);
            return make('li', {},
                make('span', { class: 'track-name' }, group.name),
                own.map(({ button }) => button));
        };

        return {
            content: [make('ul', {}, found.slice(0, LISTED).map(entry)),
                found.length > LISTED && make('p', { class: 'muted' },
                    `${format.count(found.length - LISTED)} more: ` +
                    'filter by name')],
            press: () => toggles.forEach((one) => one.press()),
        };
    }

    function filterBox(settings, change) {
        const box = make('input', {
            type: 'search', 'aria-label': 'Filter tracks',
            placeholder: 'Filter tracks',
            input: () => change(() => { settings.filter = box.value; }),
        });

        return box;
    }

    function switches(groups, settings, change) {
        const empty = make('input', {
            type: 'checkbox', checked: settings.hidesEmpty,
            change: () => change(() => {
                settings.hidesEmpty = empty.checked;
            }),
        });
        const collapse = (text, ids) => make('button', { type: 'button',
            click: () => change(() => {
                settings.collapsed.clear();
                ids.forEach((id) => settings.collapsed.add(id));
            }) }, text);

        return make('div', { class: 'track-switches' },
            make('label', {}, empty, ' Hide those without slices here'),
            collapse('Collapse all', groups.map(({ id }) => id)),
            collapse('Expand all', []));
    }

    // create() makes the menu. change(action) changes the settings and calls
    // fill(), which shows how many tracks there are.
    function create(groups, settings, change) {
        const box = filterBox(settings, change);
        const total = make('span', { class: 'muted', role: 'status' });
        const names = make('div', { class: 'track-list' });
        const summary = make('summary', {}, 'Tracks');
        const element = make('details', { class: 'tracks-menu',
            toggle: show, keydown: close }, summary,
        make('div', { class: 'tracks-box' }, make('div', {}, box, ' ', total),
            switches(groups, settings, change), names));
        let list = null;
        let listed = '';

        function show() {
            if (!element.open)
                return;
            if (!list || listed !== settings.filter) {
                list = listOf(groups, settings, change);
                listed = settings.filter;
                dom.replace(names, list.content);
            }
            list.press();
        }

        function close(event) {
            if (event.key !== 'Escape' || !element.open)
                return;
            element.open = false;
            summary.focus();
            event.stopPropagation();
        }

        function fill(count) {
            const all = format.plural(groups.length, 'track');
            const some = count === groups.length ? '' :
                `${format.count(count)} of `;

            total.textContent = some + all;
            summary.textContent = some ? `Tracks: ${some}${
                format.count(groups.length)}` : 'Tracks';
            if (box.value !== settings.filter)
                box.value = settings.filter;
            show();
        }

        return { element, fill, open() {
            element.open = true;
            box.focus();
        } };
    }

    return { make: create };
})();

// tracks_menu.js: the menu of the time line's tracks, by which they are
// filtered, pinned and collapsed.
const tracksMenu = (() => {
    const { make } = dom;
    const LISTED = 200;

    function toggle(text, label, isOn, click) {
        return make('button', { type: 'button', class: 'toggle',
            'aria-label': label, 'aria-pressed': String(isOn), click }, text);
    }

    function entry({ id, name }, settings, change) {
        const flip = (set) => () => change(() => tracks.flip(set, id));

        return make('li', {}, make('span', { class: 'track-name' }, name),
            toggle('Pin', `Pin ${name}`, settings.pinned.has(id),
                flip(settings.pinned)),
            toggle('Collapse', `Collapse ${name}`, settings.collapsed.has(id),
                flip(settings.collapsed)));
    }

    function list(groups, settings, change) {
        const found = groups.filter((group) =>
            tracks.isNamed(group, settings));

        return [make('ul', {}, found.slice(0, LISTED).map((group) =>
            entry(group, settings, change))),
        found.length > LISTED && make('p', { class: 'muted' },
            `${format.count(found.length - LISTED)} more: filter by name`)];
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

    // The button that was pressed is made anew.
    function replaceKeeping(element, content) {
        const { activeElement: focused } = document;
        const label = element.contains(focused) &&
            focused.getAttribute('aria-label');

        dom.replace(element, content);
        if (label) {
            element.querySelector(`[aria-label="${CSS.escape(label)}"]`)
                ?.focus();
        }
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

        function show() {
            if (element.open)
                replaceKeeping(names, list(groups, settings, change));
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

            total.textContent = count === groups.length ? all :
                `${format.count(count)} of ${all}`;
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

// members.js: checks the types of what run.json says of a run, because it may
// say anything. Views get a value of the right type, or an empty one.
const members = (() => {
    function text(value) {
        return typeof value === 'string' ? value : '';
    }

    function number(value) {
        return typeof value === 'number' ? value : 0;
    }

    function orNull(type) {
        return (value) => typeof value === typeof type(value) ? value : null;
    }

    function list(type) {
        return (value) => Array.isArray(value) ? value.map(type) : [];
    }

    // Other members are kept: the view Facts shows values of any type.
    function object(types) {
        return (value) => {
            if (!value || typeof value !== 'object' || Array.isArray(value))
                return null;
            return { ...value, ...Object.fromEntries(Object.entries(types)
                .map(([name, type]) => [name, type(value[name])])) };
        };
    }

    const part = object({
        host: text, end: text, offset_ns: number,
        uncertainty_ns: orNull(number),
    });
    const run = object({
        run: text, path: text, command: text, start: text, rerun: text,
        interrupted: text,
        unfinished: (value) => value === true, duration_ns: number,
        host: object({ name: text }),
        shard: object({ index: number, total: number }),
        previous: object({
            run: text, newly_failing: list(number), newly_passing: list(number),
            new: list(number), gone: list(text), slower: list(list(number)),
        }),
        part: object({ test: text, from: number, to: number }),
        merged: (value) => Array.isArray(value) ? value.map(part) : null,
    });

    return { run, text, texts: list(text) };
})();

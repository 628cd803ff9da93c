// filter.js: the levels and targets of a filter such as info,net=debug. The
// whole language is that of `testlog log`.
const filter = (() => {
    const LEVELS = {
        off: 0, error: 1, warn: 2, info: 3, debug: 4, trace: 5,
        0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 5,
    };

    // Commas inside brackets and braces belong to them.
    function split(text) {
        const parts = [];
        let depth = 0;
        let part = '';

        for (const character of text) {
            depth += '[{'.includes(character) - ']}'.includes(character);
            if (character === ',' && depth <= 0) {
                parts.push(part.trim());
                part = '';
            } else {
                part += character;
            }
        }
        return [...parts, part.trim()].filter((word) => word);
    }

    function level(word) {
        return LEVELS[word.toLowerCase()];
    }

    // TARGET[SPAN{FIELD=VALUE}]=LEVEL, of which each part may be left out.
    function directive(text) {
        const match = /^([\w:.\-/]*)(?:\[([^\]{]*)(?:\{([^}]*)\})?\])?(?:=(\w+))?$/u
            .exec(text);

        if (!match)
            return null;
        const [, target, span, field, word] = match;

        if (span === undefined && word === undefined &&
            level(target) !== undefined)
            return { target: '', level: level(target) };
        if (word !== undefined && level(word) === undefined)
            return { mistake: `${word} in ${text} is not a level` };
        return {
            target, span, field,
            level: word === undefined ? 5 : level(word),
        };
    }

    function parse(text) {
        const directives = [];
        const unknown = [];
        const mistakes = [];

        for (const part of split(text)) {
            const parsed = directive(part);

            if (!parsed)
                unknown.push(part);
            else if (parsed.mistake)
                mistakes.push(parsed.mistake);
            else
                directives.push(parsed);
        }
        return { directives, unknown, mistakes };
    }

    function isDynamic(one) {
        return one.span !== undefined;
    }

    // Among target directives, only the longest match applies.
    function levelOf(directives, target) {
        let best = null;

        for (const one of directives) {
            if (!isDynamic(one) && target.startsWith(one.target) &&
                (!best || one.target.length >= best.target.length))
                best = one;
        }
        return best ? best.level : 0;
    }

    function hasField(fields, wanted) {
        return wanted.split(',').every((one) => {
            const [name, value] = one.split('=').map((part) => part.trim());

            return fields.some(([key, text]) => key === name &&
                (value === undefined ||
                    text.replaceAll('"', '') === value.replaceAll('"', '')));
        });
    }

    // spans: [{name, fields(), target}], the line's own and those around it.
    function isInside(one, spans) {
        return spans.some((span) =>
            (!one.span || span.name === one.span) &&
            span.target.startsWith(one.target) &&
            (!one.field || hasField(span.fields(), one.field)));
    }

    // compile() returns a function that tells whether a line is shown.
    // line: {level, target, spans()}.
    function compile(text) {
        const { directives, unknown, mistakes } = parse(text);
        const dynamic = directives.filter(isDynamic);
        const levels = new Map();

        function matches(line) {
            if (!directives.length)
                return true;
            if (!levels.has(line.target))
                levels.set(line.target, levelOf(directives, line.target));
            if (line.level <= levels.get(line.target))
                return true;
            const wanted = dynamic.filter((one) => line.level <= one.level);

            if (!wanted.length)
                return false;
            const spans = line.spans();

            return wanted.some((one) => isInside(one, spans));
        }
        return { matches, unknown, mistakes };
    }

    return { compile, parse };
})();

// format.js: turns numbers and text from tests into what a person reads.
const format = (() => {
    const integers = new Intl.NumberFormat('en-US');
    const levels = ['', 'ERROR', 'WARN', 'INFO', 'DEBUG', 'TRACE'];
    const labels = {
        passed: 'passed',
        failed: 'failed',
        crashed: 'crashed',
        timeout: 'timed out',
        skipped: 'skipped',
        running: 'running',
        none: 'no result',
    };
    // Longest text that a row, a cell or a label shows.
    const LONG = 2000;

    function count(number) {
        return integers.format(number);
    }

    function plural(number, noun) {
        return `${count(number)} ${noun}${number === 1 ? '' : 's'}`;
    }

    function digits(value) {
        if (value >= 100)
            return value.toFixed(0);
        return value >= 10 ? value.toFixed(1) : value.toFixed(2);
    }

    function minutes(ns) {
        const seconds = Math.round(ns / 1e9);
        const rest = String(seconds % 60).padStart(2, '0');

        return `${count(Math.floor(seconds / 60))} min ${rest} s`;
    }

    function duration(ns) {
        if (ns < 1e3)
            return `${Math.round(ns)} ns`;
        if (ns < 999.5e3)
            return `${digits(ns / 1e3)} µs`;
        if (ns < 999.5e6)
            return `${digits(ns / 1e6)} ms`;
        return ns < 60e9 ? `${digits(ns / 1e9)} s` : minutes(ns);
    }

    // Seconds with microseconds, which line up in a column.
    function seconds(ns) {
        return (ns / 1e9).toFixed(6);
    }

    function percent(part, whole) {
        return whole > 0 ? `${(100 * part / whole).toFixed(1)} %` : '';
    }

    function bytes(number) {
        const units = ['bytes', 'KiB', 'MiB', 'GiB'];
        let unit = 0;

        while (number >= 1024 && unit < units.length - 1) {
            number /= 1024;
            unit++;
        }
        return `${unit ? digits(number) : count(number)} ${units[unit]}`;
    }

    function escaped(character) {
        const code = character.codePointAt(0);
        const digits16 = code.toString(16).padStart(code < 256 ? 2 : 4, '0');

        if (character === '\n')
            return '\\n';
        return code < 256 ? `\\x${digits16}` : `\\u{${digits16}}`;
    }

    // visible() shows control characters and those that change the direction of
    // text, so that no test can disguise its lines.
    function visible(text) {
        return text.replace(/[\p{Cc}\p{Bidi_Control}]/gu, escaped);
    }

    // block() does so for text of several lines.
    function block(text) {
        return text.replace(/[^\P{Cc}\n\t]|\p{Bidi_Control}/gu, escaped);
    }

    function shorten(text) {
        if (text.length <= LONG)
            return text;
        return `${text.slice(0, LONG)}… (${plural(text.length, 'character')})`;
    }

    // Many marks on one letter would cover the lines above it.
    function line(text) {
        return visible(shorten(text)).replace(/(\p{M}{4})\p{M}+/gu, '$1');
    }

    // quote() is a word of a shell's command line.
    function quote(text) {
        return /^[\w@%+=:,./-]+$/.test(text) ? text :
            `'${text.replaceAll('\'', '\'\\\'\'')}'`;
    }

    function outcome(test) {
        return test.flaky ? 'flaky' : labels[test.outcome] || test.outcome;
    }

    function place(file, number) {
        return number ? `${file}:${number}` : file;
    }

    return {
        count, plural, duration, seconds, percent, bytes, visible, block,
        line, outcome, place, quote, levels, labels,
    };
})();

// change.js: words and signs for what changed from the old run to the new one.
// A sign goes with each color.
const change = (() => {
    const { make } = dom;
    const TONES = {
        'newly-failing': 'failed', 'newly-passing': 'passed',
        slower: 'slower', faster: 'faster',
    };
    const SIGNS = { slower: '▲ ', faster: '▼ ', noisy: '? ' };
    const WORDS = {
        'newly-failing': 'newly failing', 'newly-passing': 'newly passing',
        'other-outcome': 'other outcome', added: 'only new', gone: 'only old',
    };

    function times(ratio) {
        return ratio >= 100 ? format.count(Math.round(ratio)) :
            ratio.toFixed(2);
    }

    // percent() is the signed change of a number that was not 0.
    function percent(before, after) {
        const share = 100 * (after - before) / before;
        const sign = share < 0 ? '−' : '+';
        const size = Math.abs(share);

        return `${sign}${size >= 1000 ? format.count(Math.round(size)) :
            size.toFixed(1)} %`;
    }

    // difference() compares durations, of which 0 is none.
    function difference(before, after) {
        return before && after ? percent(before, after) : '';
    }

    function word(kind) {
        return WORDS[kind] || format.line(kind);
    }

    function badge(kind, text = word(kind)) {
        return make('span', { class: `badge is-${TONES[kind] || 'skipped'}` },
            (SIGNS[kind] || '') + text);
    }

    function average({ total, count }) {
        return count ? total / count : 0;
    }

    // The number of recordings is the same, unless tests were repeated.
    function frequency(one) {
        const { data } = comparison;

        return (one.new.count / data.new.recordings) /
            (one.old.count / data.old.recordings);
    }

    function ratio(one) {
        return one.new.median / one.old.median;
    }

    function ratios(kind, ratio, noun, title) {
        const one = badge(kind, `${times(ratio)} × the ${noun}`);

        if (title)
            one.title = title;
        return one;
    }

    // verdicts() has a badge for each thing that testlog diff says of a name.
    function verdicts(one) {
        const { verdict, noise } = one;
        const time = verdict & comparison.SLOWER ? 'slower' :
            verdict & comparison.FASTER ? 'faster' : '';
        const calls = verdict & comparison.MORE_FREQUENT ? 'slower' :
            verdict & comparison.LESS_FREQUENT ? 'faster' : '';

        const noisy = verdict & comparison.TOO_NOISY && 'noisy';

        return [(time || noisy) && ratios(time || noisy, ratio(one), 'time',
            noise && `The noise is ${times(noise)}${
                time ? '' : ', too much to tell'}`),
        calls && ratios(calls, frequency(one), 'calls')];
    }

    return { badge, verdicts, percent, difference, average, word, SIGNS };
})();

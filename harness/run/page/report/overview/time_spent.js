// time_spent.js: where a run spent its time, and the spans in which its slowest
// test did, as bars.
const timeSpent = (() => {
    const { make } = dom;
    let filling = null;
    const SHOWN = 6;
    // Smaller shares are summed up.
    const SMALL = 0.005;

    function slowest() {
        return report.run.tests.reduce((found, test) =>
            test.duration > (found ? found.duration : 0) ? test : found, null);
    }

    // Time on several threads would count twice, so only the thread counts
    // that spent the most time in spans.
    function busiest(recording) {
        const { slices, tracks, string } = recording;
        const own = recordings.selfTimes(recording);
        const sums = Array.from(tracks.kind, () => new Map());
        const total = (times) =>
            [...times.values()].reduce((sum, time) => sum + time, 0);

        for (let row = 0; row < slices.rows; row++) {
            const track = slices.track[row], name = slices.name[row];

            if (string(tracks.kind[track]) === 'thread' &&
                !(slices.state[row] & recordings.NEVER_ENTERED))
                sums[track].set(name, (sums[track].get(name) || 0) + own[row]);
        }
        return sums.map((times, track) => ({ track, times }))
            .reduce((best, one) =>
                total(one.times) > total(best.times) ? one : best,
            { track: -1, times: new Map() });
    }

    function shares(recording, times, duration) {
        const all = [...times]
            .map(([name, time]) => [recording.string(name), time])
            .sort((a, b) => b[1] - a[1]);
        const inSpans = all.reduce((sum, one) => sum + one[1], 0);
        const large = all.slice(0, SHOWN).filter((one) =>
            one[1] >= SMALL * duration);
        const rest = all.slice(large.length);
        const restTime = rest.reduce((sum, one) => sum + one[1], 0);
        const result = large.map(([name, time]) =>
            ({ name: format.line(name), time, kind: 'is-span' }));

        if (rest.length && (!large.length || restTime >= SMALL * duration)) {
            result.push({
                name: format.plural(rest.length,
                    large.length ? 'other span' : 'span'),
                time: restTime, kind: 'is-span',
            });
        }
        if (duration > inSpans) {
            result.push({
                name: 'outside spans', time: duration - inSpans, kind: '',
            });
        }
        return result.sort((a, b) => b.time - a.time);
    }

    // The time in which a test is stopped for its stacks is in its spans, but
    // not in its duration.
    function scale(list, duration) {
        return Math.max(duration, ...list.map((one) => one.time));
    }

    function bars(list, duration) {
        return make('ul', { class: 'bars' }, list.map((one) =>
            make('li', {}, make('span', { class: 'bar-name' }, one.name),
                make('span', { class: 'bar-value' },
                    format.duration(one.time), ' ',
                    make('span', { class: 'muted' },
                        format.percent(one.time, duration))),
                dom.bar(one.time, duration, one.kind))));
    }

    // quiet() returns the longest time in which nothing began or ended, after
    // the setup.
    function quiet(recording) {
        const times = recordings.moments(recording, recording.zero,
            recording.end);
        const first = times.indexOf(recording.zero);
        const longest = { from: times[first], length: 0 };

        for (let i = first + 1; i < times.length; i++) {
            if (times[i] - times[i - 1] > longest.length) {
                longest.from = times[i - 1];
                longest.length = times[i] - times[i - 1];
            }
        }
        return longest;
    }

    function quietText(recording, test) {
        const { from, length } = quiet(recording);
        const begin = Math.round(from - recording.zero);
        const shown = format.duration(Math.min(length, test.duration));

        return length < test.duration / 4 ? null : make('p', {},
            'Nothing began or ended ', make('a', {
                href: state.link({
                    view: 'timeline', test: test.id, from: begin,
                    to: Math.round(begin + length),
                }),
            }, begin ? `for ${shown} from ${format.duration(begin)} on` :
                `in the first ${shown}`), '.');
    }

    function threadText(recording, track) {
        const name = track < 0 ? 'main' :
            recordings.trackName(recording, track);

        return name === 'main' ? null :
            make('p', {}, `Thread ${format.line(name)}:`);
    }

    async function fill(element, test) {
        const recording = await report.recording(test);

        if (!recording) {
            dom.replace(element, make('p', { class: 'muted' },
                leftOut.sentence(test)), leftOut.box([test]));
            return;
        }
        const { track, times } = busiest(recording);
        const list = shares(recording, times, test.duration);

        dom.replace(element, times.size ? [threadText(recording, track),
            bars(list, scale(list, test.duration))] :
            make('p', { class: 'muted' }, 'It recorded no spans.'),
        quietText(recording, test));
    }

    function ofRun() {
        const spent = runTime.sums();

        return spent && make('div', { class: 'time-of-run' },
            make('p', {}, `The run: ${format.duration(spent.all)} of ` +
                format.plural(spent.workers, 'worker')),
            bars(runTime.parts(spent), spent.all),
            spent.between ? make('p', { class: 'muted' }, 'Between tests, ' +
                'processes end and start, and serial tests wait.') : null);
    }

    function ofTest(test) {
        const content = make('div', {});

        filling = fill(content, test);
        return make('div', { class: 'time-of-test' },
            make('p', {}, 'Slowest test: ', make('a', {
                href: state.link({ view: 'timeline', test: test.id }),
            }, dom.name(test.id)),
            `, ${format.duration(test.duration)}`), content);
    }

    function panel() {
        const test = slowest();

        return test && make('section', { class: 'panel' },
            make('h2', {}, 'Where the time went'), ofRun(), ofTest(test));
    }

    return { panel, filled: () => filling };
})();

// live.js: follows the test that is shown while it runs. The server sends a
// block whenever something was recorded.
const live = (() => {
    // A refresh takes at most this share of the time.
    const SHARE = 0.25;
    const SOONEST_MS = 50;
    let followed = null;

    function has(test) {
        return test.outcome === 'running';
    }

    // blocksOf() yields the blocks of an answer, each after its size in four
    // bytes.
    async function* blocksOf(stream) {
        const reader = stream.getReader();
        let bytes = new Uint8Array();

        for (;;) {
            const { value, done } = await reader.read();

            if (done)
                return;
            const joined = new Uint8Array(bytes.length + value.length);

            joined.set(bytes);
            joined.set(value, bytes.length);
            bytes = joined;
            for (let size; bytes.length >= 4 && bytes.length - 4 >=
                (size = new DataView(bytes.buffer, bytes.byteOffset)
                    .getUint32(0, true));
                bytes = bytes.subarray(4 + size))
                yield bytes.subarray(4, 4 + size);
        }
    }

    function resolveFirst(one) {
        one.resolve(one.recording);
        one.resolve = () => {};
    }

    // refresh() shows what has come. While that takes long, it is seldom.
    function refresh(one) {
        const began = performance.now();

        one.waiting = 0;
        if (one !== followed)
            return;
        one.recording = one.growing.recording(one.test);
        resolveFirst(one);
        main.grow(one.test, one.recording);
        one.pause = Math.max(SOONEST_MS,
            (performance.now() - began) / SHARE);
    }

    function refreshSoon(one) {
        one.waiting = one.waiting ||
            setTimeout(() => refresh(one), one.pause);
    }

    async function read(one) {
        const id = report.blockOf(one.test);
        const answer = await fetch(served.url(`${id}.live`),
            { signal: one.controller.signal });

        if (!answer.ok)
            throw new Error((await answer.text()).trim());
        for await (const bytes of blocksOf(answer.body)) {
            const block = await unpack.read(bytes);

            // The run may have ended, and its tests have other numbers.
            if (block.name !== one.test.name)
                break;
            one.growing.add(block);
            one.over = block.over;
            if (one.growing.some())
                refreshSoon(one);
        }
        changes.look();
    }

    async function follow(one) {
        try {
            await read(one);
        } catch (error) {
            if (error.name !== 'AbortError')
                main.notice(`The test is no longer followed: ${error.message}`);
        }
        if (!one.growing.some())
            resolveFirst(one);
    }

    function stop() {
        followed?.controller.abort();
        clearTimeout(followed?.waiting);
        followed?.resolve(null);
        followed = null;
    }

    // recording() resolves to what a test has recorded so far; main.grow() gets
    // what comes later.
    function recording(test) {
        if (followed?.test.id === test.id && !followed.over) {
            followed.test = test;
            return followed.recording || followed.first;
        }
        stop();
        followed = { test, growing: growing.make(), recording: null, waiting: 0,
            pause: 0, over: false, controller: new AbortController() };
        followed.first = new Promise((resolve) => {
            followed.resolve = resolve;
        });
        follow(followed);
        return followed.first;
    }

    if (served.there)
        report.follow({ has, recording });

    return { stop };
})();

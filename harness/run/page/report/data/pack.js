// pack.js: writes a block of a report's data, as unpack.js reads it.
const pack = (() => {
    function varint(bytes, value) {
        for (; value > 127; value = Math.floor(value / 128))
            bytes.push(value % 128 + 128);
        bytes.push(value);
    }

    function zigzag(value) {
        return value < 0 ? -2 * value - 1 : 2 * value;
    }

    function floats(values) {
        const view = new DataView(new ArrayBuffer(8 * values.length));

        values.forEach((value, i) => view.setFloat64(8 * i, value, true));
        return new Uint8Array(view.buffer);
    }

    function column(values, encoding) {
        const bytes = [];
        let before = 0;

        if (encoding === 'f')
            return floats(values);
        for (const value of values) {
            varint(bytes, encoding === 'n' ? value :
                zigzag(encoding === 'd' ? value - before : value));
            before = value;
        }
        return Uint8Array.from(bytes);
    }

    async function deflate(blob) {
        const stream = blob.stream()
            .pipeThrough(new CompressionStream('deflate'));

        return new Uint8Array(await new Response(stream).arrayBuffer());
    }

    function base64(bytes) {
        const PART = 0x6000;
        const parts = [];

        for (let at = 0; at < bytes.length; at += PART) {
            parts.push(btoa(String.fromCharCode(
                ...bytes.subarray(at, at + PART))));
        }
        return parts.join('');
    }

    // block() resolves to the element of a block. Tables: {name: {rows,
    // columns: [[name, encoding, values]]}}.
    async function block(id, members, tables) {
        const bytes = [];
        const described = {};

        for (const [name, { rows, columns }] of Object.entries(tables)) {
            described[name] = { rows,
                columns: columns.map(([key, encoding, values]) => {
                    bytes.push(column(values, encoding));
                    return [key, encoding, bytes[bytes.length - 1].length];
                }) };
        }
        const head = JSON.stringify({ ...members, tables: described });
        const text = base64(await deflate(new Blob([head, '\0', ...bytes])));

        return `<script type="text/plain" id="${id}" ` +
            `data-size="${text.length}">${text}</${'script'}>\n`;
    }

    return { block };
})();

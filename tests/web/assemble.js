// assemble.js: makes a report from the page's sources and blocks of data, as
// the makefile and the runner do.
'use strict';

const { deflateSync } = require('node:zlib');
const template = require('./template.js');

function varint(bytes, value) {
    while (value > 127) {
        bytes.push(value % 128 + 128);
        value = Math.floor(value / 128);
    }
    bytes.push(value);
}

function zigzag(value) {
    return value < 0 ? -2 * value - 1 : 2 * value;
}

function floats(values) {
    const bytes = Buffer.alloc(8 * values.length);

    values.forEach((value, i) => bytes.writeDoubleLE(value, 8 * i));
    return bytes;
}

function encode(values, encoding) {
    const bytes = [];
    let before = 0;

    if (encoding === 'f')
        return floats(values);
    for (const value of values) {
        if (encoding === 'n')
            varint(bytes, value);
        else if (encoding === 'i')
            varint(bytes, zigzag(value));
        else
            varint(bytes, zigzag(value - before));
        before = value;
    }
    return Buffer.from(bytes);
}

// block() encodes members and tables: {name: {column: [encoding, values]}}. The
// encoding "s" is text, which becomes a number of the block's strings.
function block(id, members, tables) {
    const numbers = new Map([['', 0]]);
    const columns = [];
    const described = {};

    function number(text) {
        if (!numbers.has(text))
            numbers.set(text, numbers.size);
        return numbers.get(text);
    }
    for (const [name, table] of Object.entries(tables)) {
        const keys = Object.keys(table);

        described[name] = {
            rows: keys.length ? table[keys[0]][1].length : 0,
            columns: keys.map((key) => {
                const [kind, values] = table[key];
                const bytes = kind === 's' ?
                    encode(values.map(number), 'n') : encode(values, kind);

                columns.push(bytes);
                return [key, kind === 's' ? 'n' : kind, bytes.length];
            }),
        };
    }
    const head = JSON.stringify({
        format: 1, ...members, strings: [...numbers.keys()],
        tables: described,
    });
    const text = deflateSync(Buffer.concat([
        Buffer.from(head), Buffer.from([0]), ...columns])).toString('base64');

    return `<script type="text/plain" id="${id}" ` +
        `data-size="${text.length}">${text}</script>\n`;
}

function assemble(blocks, name) {
    return `${template.now(name)}\n${blocks.join('')}</body></html>\n`;
}

module.exports = { assemble, block };

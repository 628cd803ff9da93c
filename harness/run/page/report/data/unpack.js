// unpack.js: reads a block of the report's data: deflate, then JSON, a zero
// byte, and the columns of its tables.
const unpack = (() => {
    const COLUMNS = {
        tests: 'program name title outcome reason assertions file line ' +
            'duration start worker tries filter dropped gpu rerun debug host ' +
            'cpu voluntary involuntary peak read written minor major',
        tries: 'test try outcome reason start worker duration',
        failures: 'test where stacks output output_cut lines recorded open',
        counts: 'test try spans lines slices kernels copies compiles start end',
        left_out: 'test try why command',
        tracks: 'kind name pid tid process device context stream depth ' +
            'overlapping',
        sites: 'name target file line function level kind',
        slices: 'start duration track depth name site parent again state ' +
            'kind fields',
        slice_fields: 'name value',
        ended: 'row duration fields',
        ended_fields: 'name value',
        flows: 'from to',
        lines: 'time track site slice text shown fields',
        line_fields: 'name value',
        counters: 'time name value track device',
        critical: 'begin track',
        pairs: 'program name change old_outcome new_outcome old_reason ' +
            'new_reason old_duration new_duration bound',
        names: 'kind name shape verdict noise old_count new_count old_total ' +
            'new_total old_self new_self old_median new_median old_p99 ' +
            'new_p99 old_most new_most',
        buckets: 'name from to old new',
        paths: 'parent name old_count new_count old_total new_total ' +
            'old_self new_self',
        blocking: 'text start duration',
        memory: 'time slice span release bytes address device stream memory ' +
            'in_use async',
        stacks: 'caller name file line self',
        samples: 'time track stack weight',
    };
    // These numbers may not fit 32 bits.
    const WIDE = new Set(['start', 'duration', 'time', 'end', 'context',
        'output_cut', 'bytes', 'address', 'in_use', 'self', 'weight',
        'cpu', 'peak', 'read', 'written']);

    async function inflate(bytes) {
        const stream = new Blob([bytes]).stream()
            .pipeThrough(new DecompressionStream('deflate'));

        return new Uint8Array(await new Response(stream).arrayBuffer());
    }

    // A varint has 7 bits a byte, low bits first. Beyond 28 bits, shifts would
    // lose the upper ones.
    function unsigned(bytes, at, values) {
        for (let row = 0; row < values.length; row++) {
            let byte = bytes[at++];
            let value = byte & 127;

            for (let unit = 128; byte > 127 && at < bytes.length; unit *= 128) {
                byte = bytes[at++];
                value += (byte & 127) * unit;
            }
            values[row] = value;
        }
    }

    function zigzag(values) {
        for (let row = 0; row < values.length; row++) {
            const value = values[row];

            values[row] = value % 2 ? -(value + 1) / 2 : value / 2;
        }
    }

    function add(values) {
        for (let row = 1; row < values.length; row++)
            values[row] += values[row - 1];
    }

    function floats(bytes, at, values) {
        const view = new DataView(bytes.buffer, bytes.byteOffset + at);

        for (let row = 0; row < values.length; row++)
            values[row] = view.getFloat64(8 * row, true);
    }

    function column(name, bytes, at, rows, encoding) {
        const wide = encoding !== 'n' || WIDE.has(name);
        const values = new (wide ? Float64Array : Uint32Array)(rows);

        if (encoding === 'f') {
            floats(bytes, at, values);
            return values;
        }
        unsigned(bytes, at, values);
        if (encoding !== 'n')
            zigzag(values);
        if (encoding === 'd')
            add(values);
        return values;
    }

    // A column that this writer did not know is all zeros.
    function fill(name, columns) {
        for (const key of COLUMNS[name].split(' ')) {
            if (!(key in columns))
                columns[key] = new Uint32Array(columns.rows);
        }
        return columns;
    }

    function readTables(block, bytes, at) {
        const tables = {};

        for (const [name, table] of Object.entries(block.tables)) {
            const columns = { rows: table.rows };

            for (const [key, encoding, size] of table.columns) {
                columns[key] = column(key, bytes, at, table.rows, encoding);
                at += size;
            }
            tables[name] = columns;
        }
        return tables;
    }

    function parse(bytes) {
        const end = bytes.indexOf(0);
        const block = JSON.parse(new TextDecoder().decode(
            bytes.subarray(0, end)));
        const tables = readTables(block, bytes, end + 1);

        block.table = (name) => fill(name, tables[name] || { rows: 0 });
        block.string = (number) => block.strings[number] || '';
        return block;
    }

    async function read(bytes) {
        return parse(await inflate(bytes));
    }

    async function block(id) {
        return read(await blocks.bytes(id));
    }

    return { block, read, fill, isWhole: blocks.has };
})();

// template.js: the pages without their data, as embed.sh makes them.
'use strict';

const { execFileSync } = require('node:child_process');
const { mkdtempSync, readFileSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');

const ROOT = join(__dirname, '../..');
const REPORT = 'harness/run/page';
const current = new Map();

// embed() returns the first array of bytes that a report's embed.sh writes.
function embed(report, name) {
    const folder = mkdtempSync(join(tmpdir(), 'testlog-page-'));
    const file = join(folder, 'page.c');

    try {
        execFileSync('sh', [join(report, 'embed.sh'), file,
            ...name ? [name] : []]);
        const [, bytes] = readFileSync(file, 'utf8').match(/\{([\d,\s]+)\}/);

        return Buffer.from(bytes.split(',').map(Number).slice(0, -1))
            .toString();
    } finally {
        rmSync(folder, { recursive: true });
    }
}

// now() is a page of the sources: report.html, or "against".
function now(name = '') {
    if (!current.has(name))
        current.set(name, embed(join(ROOT, REPORT), name));
    return current.get(name);
}

// of() is the page of a revision.
function of(revision) {
    const folder = mkdtempSync(join(tmpdir(), 'testlog-page-'));

    try {
        execFileSync('sh', ['-c', 'git archive "$1" "$2" | tar -x -C "$3"',
            'sh', revision, REPORT, folder], { cwd: ROOT });
        return embed(join(folder, REPORT));
    } finally {
        rmSync(folder, { recursive: true });
    }
}

module.exports = { now, of };

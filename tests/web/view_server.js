// view_server.js: testlog view and its pages in the browser.
'use strict';

const { spawn, execFile } = require('node:child_process');
const { mkdirSync, readlinkSync, writeFileSync } = require('node:fs');
const { createInterface } = require('node:readline');
const { join } = require('node:path');
const { promisify } = require('node:util');
const chromium = require('./chromium.js');
const pages = require('./pages.js');

const TESTLOG = join(chromium.ROOT, 'build/base-trace/testlog');
const STORE = join(chromium.ROOT, 'build/base-trace/examples/store_test');
const SERVER = join(chromium.ROOT, 'build/base-trace/examples/server/server');
const OLD = '2026-11-20T10-00-00.000001';

// serve() starts a server, gives its address to `look`, and ends it.
async function serve(folder, name, look) {
    const runs = join(folder, name);
    const run = join(runs, OLD);

    mkdirSync(join(run, 'tests'), { recursive: true });
    writeFileSync(join(run, 'run.json'), '{}');
    writeFileSync(join(run, 'report.html'),
        '<script>fetch("/api/runs").catch((e) => document.title = e)</script>');
    writeFileSync(join(run, 'summary.tsv'), 'end\tfinished\npassed\t1\n');
    writeFileSync(join(run, 'results.tsv'), 'passed\t1\tp\told/test\n');

    const server = spawn(TESTLOG, ['view', runs],
        { stdio: ['ignore', 'pipe', 'inherit'] });

    try {
        await look(await firstLine(server), runs);
    } finally {
        server.kill();
    }
}

// firstLine() reads the first line that a program prints.
async function firstLine(program) {
    const { value } = await createInterface(program.stdout)[
        Symbol.asyncIterator]().next();

    return value;
}

// beServed() asks the server of examples/server for pages while `look` gets its
// pid. It can be captured.
async function beServed(folder, look) {
    const runtime = join(folder, 'sockets');

    mkdirSync(runtime, { mode: 0o700 });
    process.env.XDG_RUNTIME_DIR = runtime;
    const server = spawn(SERVER, [], { stdio: ['ignore', 'pipe', 'inherit'],
        env: { ...process.env, TRACE_SERVER: '1' } });
    const [address] = (await firstLine(server)).split(' ');
    const asking = setInterval(() => fetch(`${address}users/417/chief`)
        .catch(() => 0), 10);

    try {
        await look(server.pid);
    } finally {
        clearInterval(asking);
        server.kill();
        delete process.env.XDG_RUNTIME_DIR;
    }
}

// openPage() opens an address and collects what goes wrong.
async function openPage(address) {
    const context = await pages.newContext();

    context.setDefaultTimeout(chromium.PATIENCE);
    const page = await context.newPage();

    page.problems = [];
    page.asked = [];
    page.on('pageerror', (error) => page.problems.push(error.message));
    page.on('request', (request) => page.asked.push(request.url()));
    await page.goto(address);
    return page;
}

// record() makes a run of the store's tests and returns its name.
async function record(runs, ...flags) {
    await promisify(execFile)(STORE, ['-q', ...flags],
        { env: { ...process.env, TRACE_DIR: runs } });
    return readlinkSync(join(runs, 'latest'));
}

module.exports = {
    OLD, SERVER, TESTLOG, serve, firstLine, beServed, openPage, record,
};

// tables_test.js: spans and kernels in numbers, and facts.
'use strict';

const assert = require('node:assert');
const { readFileSync } = require('node:fs');

async function opened(open, hash = 'view=tables') {
    const page = await open('mixed', hash);

    await page.locator('#tables table').first().waitFor();
    return page;
}

module.exports = {
    async sums_up_spans_of_all_tests(open) {
        const page = await opened(open);
        const spans = page.locator('#tables table').first();

        assert.match(await spans.innerText(), /request[\s\S]*1,140/);
        assert.match(await page.locator('#tables').innerText(),
            /Sums of 8 tests\. 1 test recorded nothing\. The recording of /);
    },

    async sums_up_one_test(open) {
        const page = await opened(open, 'view=tables&test=store/opens');

        assert.match(await page.locator('#tables table').first().innerText(),
            /request\s+20\s/);
    },

    async lists_kernels_by_shape(open) {
        const page = await opened(open);
        const kernels = await page.locator('table[aria-label=Kernels]')
            .innerText();

        assert.match(kernels, /Instances[\s\S]*StdDev[\s\S]*Occupancy/);
        assert.match(kernels, /saxpy[\s\S]*\(64, 1, 1\)[\s\S]*32/);
        assert.match(kernels, /4,096\s+75\s/);
    },

    async lists_what_threads_waited_for(open) {
        const page = await opened(open);

        assert.match(await page.locator('table[aria-label="Locks and waits"]')
            .innerText(), /mutex 0x55aa\s+3/);
    },

    async sorts_columns(open) {
        const page = await opened(open);
        const table = page.locator('#tables table').first();

        await table.locator('thead button', { hasText: 'Name' }).click();
        assert.match(await table.locator('tbody tr').first().innerText(),
            /^query/);
        await table.locator('thead button', { hasText: 'Name' }).click();
        assert.match(await table.locator('tbody tr').first().innerText(),
            /^saxpy|^request/);
    },

    async downloads_csv(open) {
        const page = await opened(open);
        const [download] = await Promise.all([page.waitForEvent('download'),
            page.locator('[aria-label="Download Spans as CSV"]').click()]);
        const csv = readFileSync(await download.path(), 'utf8');

        assert.match(csv, /^Name,Count,Total \(ns\),Self \(ns\)/);
        assert.match(csv, /\nrequest,1140,410400000,/);
        assert.strictEqual(download.suggestedFilename(), 'spans.csv');
    },

    async zooms_into_the_flame_graph(open) {
        const page = await opened(open);
        const box = page.locator('#tables .flame-box', { hasText: 'request' })
            .first();

        await box.click();
        const [outer, whole] = await Promise.all([box.boundingBox(),
            page.locator('#tables .flame').boundingBox()]);

        assert.ok(Math.abs(outer.width - whole.width) < 3);
    },

    async lists_facts(open) {
        const page = await open('mixed', 'view=facts');
        const text = await page.locator('#facts').innerText();

        for (const fact of ['testlog run build/examples/store_test',
            'x86_64', 'no-driver', 'GCC 12.2.0', '1 test left out'])
            assert.ok(text.includes(fact), fact);
        assert.match(text, /LOG_FORMAT\s+json/);
    },
};

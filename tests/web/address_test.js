// address_test.js: the addresses of tests, which terminals print, too.
'use strict';

/* global state */

const assert = require('node:assert');

module.exports = {
    // harness_terminal_test.c expects the same of what a terminal gets.
    async escapes_names_as_terminals_do(open) {
        const page = await open('mixed');

        assert.strictEqual(await page.evaluate(() => state.link({
            view: 'log', test: 'suite/a b\'"&#%+?\\{x=1}[07]\u00e9',
        })), '#view=log&test=suite/a%20b\'%22%26%23%25%2B%3F%5C{x=1}' +
            '[07]%C3%A9');
    },

    async finds_a_test_by_its_program(open) {
        const page = await open('mixed',
            'view=log&test=store_test:store/evicts_oldest');

        assert.strictEqual(await page.locator('#log h1').innerText(),
            'crashed store/evicts_oldest');
        await page.waitForFunction(() => location.hash ===
            '#view=log&test=store/evicts_oldest');
    },
};

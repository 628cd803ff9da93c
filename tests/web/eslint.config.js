// eslint.config.js: the rules for the page's scripts and for its tests. The
// page's scripts share one scope; each defines one object.
'use strict';

const { existsSync, readdirSync } = require('node:fs');
const { basename, join } = require('node:path');
const { createRequire } = require('node:module');

const root = join(__dirname, '../..');
const load = createRequire(join(root, 'build/web/node_modules/'));
const js = load('@eslint/js');
const globals = load('globals');
const page = 'harness/run/page/report';

const objects = existsSync(join(root, page)) ?
    readdirSync(join(root, page), { recursive: true })
        .filter((name) => name.endsWith('.js'))
        .map((name) => basename(name, '.js')
            .replace(/_(.)/g, (unused, letter) => letter.toUpperCase())) : [];

const rules = {
    ...js.configs.recommended.rules,
    'eqeqeq': 'error',
    'max-len': ['error', { code: 80, ignoreRegExpLiterals: true,
        ignoreTemplateLiterals: true }],
    'max-lines': ['error', 300],
    'max-lines-per-function': ['error', { max: 60, skipComments: true,
        IIFEs: false }],
    'no-eval': 'error',
    'no-implied-eval': 'error',
    'no-new-func': 'error',
    'no-restricted-properties': ['error',
        { property: 'innerHTML' }, { property: 'outerHTML' },
        { property: 'insertAdjacentHTML' }],
    'no-var': 'error',
    'prefer-const': 'error',
};

module.exports = [{
    files: [`${page}/**/*.js`],
    languageOptions: {
        sourceType: 'script',
        globals: {
            ...globals.browser,
            ...Object.fromEntries(objects.map((name) => [name, 'readonly'])),
        },
    },
    rules: {
        ...rules,
        'no-redeclare': ['error', { builtinGlobals: false }],
        'no-unused-vars': ['error', {
            vars: 'local', argsIgnorePattern: '^unused',
        }],
    },
}, {
    files: ['tests/web/*.js'],
    languageOptions: {
        sourceType: 'commonjs',
        globals: { ...globals.node, ...globals.browser },
    },
    rules: {
        ...rules,
        'max-lines': ['error', 500],
        'no-unused-vars': ['error', { argsIgnorePattern: '^unused' }],
    },
}];

// docs/conformance.md names only tests that are there.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

function testFiles(folder) {
  return readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const name = path.join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : testFiles(name);
    return /(_test\.cpp|\.test\.mjs)$/.test(entry.name) ? [name] : [];
  });
}

// The faults in the page's references. `fileOf` reads the one file whose path ends in a name.
function faults(page, fileOf) {
  const found = [];
  const references = [...page.matchAll(/`([\w/]+(?:_test\.cpp|\.test\.mjs)): ([^`]+)`/g)];
  if (references.length === 0) found.push('no reference at all');
  for (const [, file, name] of references) {
    const text = fileOf(file);
    if (text === undefined) found.push(`${file} is not there, or not the only one of that name`);
    else if (!names(file, text, name)) found.push(`${file} has no test '${name}'`);
  }
  // A rule is proven, or said not to be.
  for (const line of page.split('\n').filter((row) => /^\| (?!rule|--)/.test(row))) {
    if (!/: [^`]+`|not built yet/.test(line)) found.push(`no proof: ${line}`);
  }
  return found;
}

function names(file, text, name) {
  if (!file.endsWith('.cpp'))
    return ["'", '"', '`'].some(
      (quote) => text.includes(`${quote}${name}${quote}`) || text.includes(`${quote}${name} (`),
    );
  const [suite, test] = name.split('.');
  return new RegExp(`\\(\\s*${suite},\\s*${test}\\b`).test(text);
}

test('every test that the page names is there', () => {
  const files = ['src', 'cloudsim', 'paysim', 'simulator_parts', 'tests'].flatMap(testFiles);
  const read = (name) => {
    const matching = files.filter((file) => file === name || file.endsWith(`/${name}`));
    return matching.length === 1 ? readFileSync(path.join(root, matching[0]), 'utf8') : undefined;
  };
  assert.deepEqual(faults(readFileSync(path.join(root, 'docs/conformance.md'), 'utf8'), read), []);
});

test('a reference to nothing is found, and a rule without proof', () => {
  const texts = { 'a_test.cpp': 'TEST(Suite, Name) {', 'b.test.mjs': "test('it works', () => {});" };
  const of = (page) => faults(page, (file) => texts[file]);
  assert.deepEqual(of('| a rule | `a_test.cpp: Suite.Name` `b.test.mjs: it works` |'), []);
  assert.match(of('| a rule | `a_test.cpp: Suite.Nam` |').join(), /no test 'Suite.Nam'/);
  assert.match(of('| a rule | `b.test.mjs: it work` |').join(), /no test 'it work'/);
  assert.match(of('| a rule | `c_test.cpp: Suite.Name` |').join(), /not there/);
  assert.match(of('| a rule | surely |\n| b | `a_test.cpp: Suite.Name` |').join(), /no proof: \| a rule/);
});

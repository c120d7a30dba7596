// Makes api/openapi.json and api/reference.html from api/openapi.yaml: `node api/make_openapi_json.mjs`. With --check it writes nothing,
// and fails if a committed file is not what it would write. The packages are those of tests/e2e.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { reference } from './make_reference.mjs';

const here = new URL('.', import.meta.url);
const require = createRequire(new URL('../tests/e2e/package.json', here));
const { parse } = require('yaml');

const document = parse(readFileSync(new URL('openapi.yaml', here), 'utf8'));
const made = { 'openapi.json': JSON.stringify(document) + '\n', 'reference.html': reference(document) };

for (const [name, text] of Object.entries(made)) {
  const target = new URL(name, here);
  if (!process.argv.includes('--check')) {
    writeFileSync(target, text);
  } else if (readFileSync(target, 'utf8') !== text) {
    console.error(`api/${name} is not current: run node api/make_openapi_json.mjs`);
    process.exitCode = 1;
  }
}

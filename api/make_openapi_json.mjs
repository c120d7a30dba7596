// Makes api/openapi.json from api/openapi.yaml: `node api/make_openapi_json.mjs`. With --check it writes nothing, and fails if
// the committed file is not what it would write. The packages are those of tests/e2e.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const here = new URL('.', import.meta.url);
const require = createRequire(new URL('../tests/e2e/package.json', here));
const { parse } = require('yaml');

const target = new URL('openapi.json', here);
const text = JSON.stringify(parse(readFileSync(new URL('openapi.yaml', here), 'utf8'))) + '\n';

if (process.argv.includes('--check')) {
  if (readFileSync(target, 'utf8') !== text) {
    console.error('api/openapi.json is not current: run node api/make_openapi_json.mjs');
    process.exit(1);
  }
} else {
  writeFileSync(target, text);
}

// The contract by the rules of two linters of OpenAPI; each is seen to find a planted fault.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runTool } from './run_tool.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const contract = path.join(here, '../../api/openapi.yaml');
const environment = {
  PATH: process.env.PATH,
  HOME: tmpdir(),
  REDOCLY_TELEMETRY: 'off',
  REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
  NO_COLOR: '1',
};

const linters = {
  redocly: [
    '@redocly/cli/bin/cli.js',
    (file) => [
      'lint',
      file,
      '--config',
      path.join(here, 'redocly.yaml'),
      '--format',
      'stylish',
      '--max-problems',
      '20',
    ],
  ],
  spectral: [
    '@stoplight/spectral-cli/dist/index.js',
    (file) => ['lint', file, '--ruleset', path.join(here, 'spectral.yaml'), '--fail-severity', 'warn'],
  ],
};
const run = (program, words) =>
  runTool(process.execPath, [path.join(here, 'node_modules', program), ...words], {
    cwd: here,
    env: environment,
    timeout: 60_000,
  });

test('a program that was killed has not passed', async () => {
  const { code } = await runTool(process.execPath, [
    '-e',
    'process.kill(process.pid, "SIGKILL"); setInterval(() => {}, 1000)',
  ]);
  assert.equal(code, 'SIGKILL');
});

for (const [name, [program, words]] of Object.entries(linters)) {
  test(`${name} finds nothing`, async () => {
    const { code, text } = await run(program, words(contract));
    assert.equal(code, 0, text);
    assert.doesNotMatch(text, /You have \d+ warning/);
  });
  test(`${name} finds what is planted`, async (t) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'lint-'));
    t.after(() => rm(folder, { recursive: true }));
    const file = path.join(folder, 'openapi.yaml');
    await writeFile(file, (await readFile(contract, 'utf8')).replace('operationId: signIn\n', 'operationId: signUp\n'));
    const { code, text } = await run(program, words(file));
    assert.equal(code, 1);
    assert.match(text, /operation-operationId-unique/);
  });
}

// ./dev run's script, and that a second one beside it does no harm.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import readline from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Scope, scratch, within } from './harness.mjs';

const DEMO = fileURLToPath(new URL('../../tools/demo.mjs', import.meta.url));

// In a folder of its own, where it makes build/demo.
function demo(cwd, args = []) {
  const child = spawn(process.execPath, [DEMO, ...args], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  const lines = [];
  for (const stream of [child.stdout, child.stderr]) readline.createInterface({ input: stream }).on('line', (line) => lines.push(line));
  return { child, lines, ended: once(child, 'close') };
}
const ends = async (name, { ended, lines }) => [(await within(name, ended, 60_000))[0], lines.join('\n')];

test('a second demonstration beside one is refused, and leaves it alone', async (t) => {
  const scope = new Scope(t);
  const folder = await scratch(scope);
  const first = demo(folder);
  scope.after(async () => {
    first.child.kill('SIGTERM');
    assert.equal((await ends('the first ends', first))[0], 0);
  });
  await within('the first serves', new Promise((resolve, reject) => {
    first.child.stdout.on('data', () => first.lines.some((line) => line.startsWith('Still serving')) && resolve());
    first.ended.then(() => reject(new Error(first.lines.join('\n'))));
  }), 60_000);
  const before = await readdir(path.join(folder, 'build/demo'), { recursive: true });
  const [code, told] = await ends('the second is refused', demo(folder, ['--once']));
  assert.equal(code, 1);
  assert.match(told, /another \.\/dev run is at work in build\/demo; stop it first/);
  assert.deepEqual(await readdir(path.join(folder, 'build/demo'), { recursive: true }), before);
});

test('one that was killed holds nothing', async (t) => {
  const folder = await scratch(new Scope(t));
  const killed = demo(folder);
  await within('it begins', once(killed.child.stdout, 'data'), 20_000);
  killed.child.kill('SIGKILL');
  await within('it is gone', once(killed.child, 'exit'), 10_000);
  const [code, told] = await ends('another one', demo(folder, ['--once']));
  assert.equal(code, 0, told);
});

// `presetbridge demo`: from the two programs alone, in an empty folder.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFile, mkdir, readdir, readlink, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { Client, Program, Scope, scratch, until, within } from './harness.mjs';

const STOP_MS = 15_000;
const scope = new Scope();
let programs; // a folder with nothing but the two

before(async () => {
  programs = await scratch(scope);
  for (const [name, binary] of [
    ['presetbridge', process.env.PRESETBRIDGE_BIN],
    ['cloudsim', process.env.CLOUDSIM_BIN],
  ])
    await copyFile(binary, path.join(programs, name));
});
after(() => scope.close());

// Processes of these programs, by what they were started with.
async function running() {
  const found = [];
  for (const pid of await readdir('/proc')) {
    const exe = /^\d+$/.test(pid) && (await readlink(`/proc/${pid}/exe`).catch(() => ''));
    if (exe && exe.startsWith(programs)) found.push(Number(pid));
  }
  return found;
}

// The demonstration, once it serves. It runs in `folder`.
async function startDemo(own, folder, args = []) {
  const program = new Program('presetbridge', '/bin/sh', [
    '-c',
    'cd "$0" && exec "$@"',
    folder,
    path.join(programs, 'presetbridge'),
    'demo',
    ...args,
  ]);
  own.after(() => program.running && program.kill());
  const ready = until(
    'the demonstration serves',
    () => program.log.some((line) => line.startsWith('Ctrl-C ends')),
    30_000,
  );
  await Promise.race([ready, program.ended.then(() => Promise.reject(new Error(program.tail())))]);
  return program;
}
const lines = (program, pattern) => program.log.filter((line) => pattern.test(line));

// The dashboard comes with the program: its page, and the script and the style sheet that the page names.
async function servesTheDashboard(demo) {
  const [line] = lines(demo, /The dashboard +http:/);
  const dashboard = new Client(line.match(/http:\/\/[^ ]+/)[0]);
  const page = await dashboard.get('/');
  assert.deepEqual([page.status, page.headers['content-type']], [200, 'text/html; charset=utf-8']);
  const [, script] = page.text.match(/<script type="module"[^>]* src="(\/[^"]+\.js)"/) ?? assert.fail(page.text);
  const [, sheet] = page.text.match(/<link rel="stylesheet"[^>]* href="(\/[^"]+\.css)"/) ?? assert.fail(page.text);
  for (const [asset, type] of [
    [script, /^text\/javascript/],
    [sheet, /^text\/css/],
  ]) {
    const answer = await dashboard.get(asset);
    assert.equal(answer.status, 200, asset);
    assert.match(answer.headers['content-type'], type);
    assert.ok(answer.text.trim(), asset);
  }
}

test('one command in an empty folder, one line of it pasted, and a file is delivered; Ctrl-C leaves nothing running', async (t) => {
  const own = new Scope(t);
  const folder = await scratch(own);
  const demo = await startDemo(own, folder);
  assert.deepEqual(await readdir(folder), ['presetbridge-demo']);
  await servesTheDashboard(demo);
  const printed = lines(demo, / send-order /);
  assert.equal(printed.length, 3);
  for (const [count, line] of printed.entries()) {
    const { stdout } = await promisify(execFile)('/bin/sh', ['-c', line], { cwd: folder });
    const [, delivery] = stdout.match(/^202 .*"deliveryId":"(del_[0-9a-z]+)"/) ?? assert.fail(stdout);
    await until(
      'it is delivered, and told',
      () => lines(demo, new RegExp(`^delivery\\.completed +${delivery} +completed +verified$`)).length === 1,
      30_000,
    );
    const platform = demo.log.join('\n').match(/http:\/\/[^ ]+(?=\/sim\/effects)/)[0];
    assert.equal((await new Client(platform).get('/sim/effects')).json.shares.length, count + 1);
  }
  assert.ok((await running()).length >= 4);
  const [line] = lines(demo, / admin list-accounts /);
  const asked = await promisify(execFile)('/bin/sh', ['-c', line.replace(/^.*?verbs +/, '')], {
    cwd: folder,
    env: { PATH: process.env.PATH },
  });
  assert.deepEqual(
    JSON.parse(asked.stdout).accounts.map(({ name }) => name),
    ['Demo Presets'],
  );
  demo.child.kill('SIGINT');
  assert.deepEqual(await within('it ends', demo.ended, STOP_MS), { code: 0, signal: null }, demo.tail());
  assert.deepEqual(await running(), []);
});

test('killed, it takes all that it started along, and another one begins anew in its folder', async (t) => {
  const own = new Scope(t);
  const folder = await scratch(own);
  const killed = await startDemo(own, folder, ['--folder', 'mine']);
  await killed.kill();
  await until('all are gone', async () => (await running()).length === 0, STOP_MS);
  const again = await startDemo(own, folder, ['--folder', 'mine']);
  again.child.kill('SIGTERM');
  assert.equal((await within('it ends', again.ended, STOP_MS)).code, 0, again.tail());
  assert.deepEqual(await readdir(folder), ['mine']);
});

test('ports that are named are taken; what stands in the way is told', async (t) => {
  const own = new Scope(t);
  const folder = await scratch(own);
  const free = await new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
  const demo = await startDemo(own, folder, ['--port', String(free)]);
  assert.equal(lines(demo, new RegExp(`The dashboard +http://127\\.0\\.0\\.1:${free}$`)).length, 1, demo.tail());
  const refused = async (says, ...args) => {
    const other = new Program('presetbridge', '/bin/sh', [
      '-c',
      'cd "$0" && exec "$@"',
      folder,
      path.join(programs, 'presetbridge'),
      'demo',
      ...args,
    ]);
    assert.equal((await within('it is refused', other.ended, STOP_MS)).code, 1, other.tail());
    assert.match(other.log.join('\n'), says);
  };
  await refused(/^demo: Another demonstration is at work in .*presetbridge-demo: stop it first/m);
  await refused(/^demo: presetbridge serve does not serve: .*in use/m, '--folder', 'second', '--port', String(free));
  await mkdir(path.join(folder, 'full'));
  await writeFile(path.join(folder, 'full', 'precious'), 'x');
  await refused(/^demo: The folder .*full has something in it that is not of a demonstration/m, '--folder', 'full');
  assert.deepEqual(await readdir(path.join(folder, 'full')), ['precious']);
  await refused(/^demo: There is no .*nothing, the simulated cloud platform/m, '--cloudsim', 'nothing');
  // A program that it started dies: it says so, and stops the rest.
  const [cloudsim] = await Promise.all(
    (await running()).map(async (pid) => ((await readlink(`/proc/${pid}/exe`)).endsWith('cloudsim') ? pid : 0)),
  ).then((pids) => pids.filter(Boolean));
  process.kill(cloudsim, 'SIGKILL');
  assert.equal((await within('it ends', demo.ended, STOP_MS)).code, 1);
  assert.match(demo.log.join('\n'), /demo: cloudsim ended by itself: killed by signal 9/);
  await rm(folder, { recursive: true });
  assert.deepEqual(await running(), []);
});

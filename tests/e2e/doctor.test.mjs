// `presetbridge doctor` says what a deployment lacks, and changes nothing.
import assert from 'node:assert/strict';
import { chmod, copyFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import { once } from 'node:events';
import path from 'node:path';
import { test } from 'node:test';
import { runBridge, Scope, scratch, startBridge, startCloudsim } from './harness.mjs';

// {code, of: what -> its findings}
async function doctor(...args) {
  const done = await runBridge(['doctor', '--json', ...args], { deadlineMs: 60_000 });
  const findings = done.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  return {
    ...done,
    of: (what) => findings.filter((one) => one.what === what),
    grade: (what) => findings.find((one) => one.what === what)?.grade,
  };
}
const NOWHERE = ['--cloud-url', 'http://127.0.0.1:9'];

test('before the first start nothing is made, and what will be is told', async (t) => {
  const own = new Scope(t);
  const cloud = await startCloudsim(own);
  const folder = path.join(await scratch(own), 'new');
  const before = await doctor('--data-dir', folder, '--listen', '127.0.0.1:1', '--cloud-url', cloud.url);
  assert.deepEqual(
    [
      before.code,
      before.grade('settings'),
      before.grade('data directory'),
      before.grade('keys'),
      before.grade('database'),
      before.grade('cloud platform'),
      before.grade('service'),
      before.grade('public address'),
    ],
    [0, 'ok', 'note', 'note', 'note', 'ok', 'note', 'warning'],
    before.stdout,
  );
  await assert.rejects(readdir(folder));
});

test('of a service at work all is well, and it is said what is not', async (t) => {
  const own = new Scope(t);
  const cloud = await startCloudsim(own);
  const bridge = await startBridge(own, { cloudUrl: cloud.url });
  const at = [
    '--data-dir',
    bridge.dataDir,
    '--listen',
    new URL(bridge.url).host,
    '--sandbox',
    ...(bridge.databaseUrl ? ['--database-url', bridge.databaseUrl, '--identity-issuer', 'http://127.0.0.1'] : []),
  ];
  const well = await doctor(...at, '--cloud-url', cloud.url);
  assert.equal(well.code, 0, well.stdout);
  for (const what of ['settings', 'data directory', 'keys', 'open files', 'service', 'database', 'cloud platform'])
    assert.equal(well.grade(what), 'ok', `${what}: ${well.stdout}`);
  assert.equal(well.grade('sandbox'), 'note');
  const told = await runBridge(['doctor', ...at, '--cloud-url', 'http://127.0.0.1:9']);
  assert.equal(told.code, 1);
  assert.match(
    told.stdout,
    /^problem +cloud platform +http:\/\/127\.0\.0\.1:9 does not answer: .*\n +-> Is --cloud-url right/m,
  );

  await bridge.stop();
  const stopped = await doctor(...at, '--cloud-url', cloud.url);
  assert.deepEqual(
    [stopped.code, stopped.grade('service'), stopped.grade('database')],
    [0, 'note', 'ok'],
    stopped.stdout,
  );
});

test('what is wrong with folder, keys, database and settings is a problem, with what to do', async (t) => {
  const own = new Scope(t);
  const folder = await scratch(own);
  assert.equal((await runBridge(['vault', 'init', '--data-dir', folder])).code, 0);
  assert.equal((await runBridge(['migrate', '--data-dir', folder])).code, 0);
  const look = () => doctor('--data-dir', folder, '--listen', '127.0.0.1:1', ...NOWHERE);
  assert.deepEqual([(await look()).grade('keys'), (await look()).grade('database')], ['ok', 'ok']);

  await chmod(path.join(folder, 'service.key'), 0o644);
  assert.match((await look()).of('keys')[0].advice, /^chmod 600 .*service\.key$/);
  await chmod(path.join(folder, 'service.key'), 0o600);
  await chmod(folder, 0o777);
  assert.match((await look()).of('data directory')[0].advice, /^chmod 700 /);
  await chmod(folder, 0o700);
  await rm(path.join(folder, 'vault.key'));
  const lost = await look();
  assert.deepEqual([lost.code, lost.grade('keys')], [1, 'problem']);
  assert.match(lost.of('keys')[0].found, /vault\.key is missing/);
  assert.match(lost.of('keys')[0].advice, /^Restore/);

  // Keys of another deployment beside a database that was served.
  const cloud = await startCloudsim(own);
  const served = await startBridge(own, { cloudUrl: cloud.url });
  await served.stop();
  const beside = () => doctor('--data-dir', served.dataDir, '--listen', '127.0.0.1:1', ...NOWHERE);
  assert.equal((await beside()).grade('database'), 'ok');
  await copyFile(path.join(folder, 'service.key'), path.join(served.dataDir, 'service.key'));
  assert.match((await beside()).of('database')[0].found, /sealed with other keys/);

  const broken = await scratch(own);
  await writeFile(path.join(broken, 'presetbridge.db'), 'this is no database, whatever its name says'.repeat(100));
  assert.equal(
    (await doctor('--data-dir', broken, '--listen', '127.0.0.1:1', ...NOWHERE)).grade('database'),
    'problem',
  );

  const wrong = await doctor('--data-dir', folder, '--listen', 'here');
  assert.deepEqual(
    [wrong.code, wrong.of('settings').map(({ advice }) => advice)],
    [2, ['Set --listen, or listen in the file.', 'Set --cloud-url, or cloud.url in the file.']],
    wrong.stdout,
  );
});

test('a clock that is wrong, a foreign service, an address that leads elsewhere, keys for payments', async (t) => {
  const own = new Scope(t);
  const folder = await scratch(own);
  await mkdir(path.join(folder, 'data'), { mode: 0o700 });
  const server = http
    .createServer((_, response) =>
      response.writeHead(200, { date: new Date(Date.now() - 3_600_000).toUTCString() }).end('hello'),
    )
    .listen(0, '127.0.0.1');
  await once(server, 'listening');
  own.after(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  const there = `127.0.0.1:${server.address().port}`;
  const at = ['--data-dir', path.join(folder, 'data'), '--cloud-url', `http://${there}`];
  const looked = await doctor(...at, '--listen', there, '--credits-packs', 'small 100 1900 eur 100 credits');
  assert.equal(looked.code, 1);
  assert.match(looked.of('clock')[0].found, /36\d\d s away/);
  assert.match(looked.of('service')[0].found, /something else answers/);
  assert.match(looked.of('payments')[0].advice, /payments\.key/);
  await writeFile(path.join(folder, 'data', 'payments.key'), 'sk_test_0123456789abcdef\n', { mode: 0o644 });
  assert.equal((await doctor(...at, '--listen', '127.0.0.1:1')).grade('payments'), 'problem');
  const plain = await doctor(...at, '--listen', '127.0.0.1:1', '--base-url', 'http://bridge.example');
  assert.match(plain.of('public address')[0].found, /plain HTTP/);
  const issuer = await doctor(...at, '--listen', '127.0.0.1:1', '--identity-trusted', `http://127.0.0.1:9 them`);
  assert.match(issuer.of('sign-in')[0].found, /does not answer/);
});

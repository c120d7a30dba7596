// A full disk (spec 12.3): what others notice, and that the service says it is over no sooner than it is. The disk is full for
// the service alone: the kernel lets it make no file longer than a limit.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { readExposition, valueOf } from './exposition.mjs';
import { Client, Program, Scope, scratch, startCloudsim, until } from './harness.mjs';
import { Merchant } from './merchant.mjs';
import { sampleOrder } from './orders.mjs';

const CALM_MS = 10_000; // src/storage/commit/trouble_log.h

// The service, with the signal ignored that the kernel would end it by for a file that is too long.
async function startUnder(scope, cloudUrl) {
  const dataDir = await scratch(scope);
  const words = [
    'serve',
    '--sandbox',
    '--listen',
    '127.0.0.1:0',
    '--data-dir',
    dataDir,
    '--cloud-url',
    cloudUrl,
    '--delivery-jobs-per-minute',
    '0',
    '--delivery-first-sweep-seconds',
    '1',
  ];
  const bridge = new Program('presetbridge', '/bin/sh', [
    '-c',
    'trap "" XFSZ; exec "$0" "$@"',
    process.env.PRESETBRIDGE_BIN,
    ...words,
  ]);
  scope.after(() => bridge.stop());
  await bridge.listening();
  return Object.assign(bridge, { dataDir });
}

test('a full disk refuses orders, and recovery is told only once an order has room again', async (t) => {
  const scope = new Scope(t);
  const cloud = await startCloudsim(scope, { args: ['--users', '1', '--files', '10', '--create-unknown-users'] });
  const bridge = await startUnder(scope, cloud.url);
  const limitFiles = (bytes) => execFileSync('prlimit', ['--pid', String(bridge.pid), `--fsize=${bytes}:unlimited`]);
  const client = new Client(bridge.url);
  const said = (message) => bridge.log.filter((line) => line.includes(`"${message}"`)).map((line) => JSON.parse(line));
  const isTold = (message) => until(`it says: ${message}`, () => said(message).length > 0);
  const inTrouble = async () =>
    valueOf(readExposition((await client.get('/metrics')).text), 'presetbridge_storage_in_trouble', { what: 'writes' });

  const merchant = await Merchant.signUp(bridge, 1);
  const store = await merchant.store('generic');
  const before = await merchant.order(store, { orderId: 'BEFORE', username: 'ann' });
  await merchant.reaches(before.deliveryId, 'completed');
  assert.deepEqual([(await client.get('/readyz')).status, await inTrouble()], [200, 0]);
  const log = path.join(bridge.dataDir, 'presetbridge.db-wal');
  const idle = (await stat(log)).size;

  // Room for a page or two more, as on a disk that is full.
  limitFiles((await stat(log)).size + 3 * 4_096);
  const during = sampleOrder('generic', { orderId: 'DURING', username: 'bob', sku: 'A-1' });
  const refused = await merchant.send(store, during);
  assert.deepEqual([refused.status, refused.json.error.code], [503, 'STORAGE_UNAVAILABLE']);
  assert.ok(refused.headers['retry-after']);
  assert.equal((await client.get('/healthz')).status, 200);
  assert.deepEqual((await client.get('/readyz')).json, { status: 'not_ready', waitingFor: ['database'] });
  await isTold('the storage is in trouble');

  // Nobody writes much meanwhile, and what is looked at goes well.
  const began = performance.now();
  await until(
    'twice the time of calm',
    async () => {
      assert.equal((await client.get('/readyz')).status, 503);
      assert.equal(await inTrouble(), 1);
      return performance.now() - began > 2 * CALM_MS + 3_000;
    },
    3 * CALM_MS,
  );
  assert.equal(said('the storage works again').length, 0);
  assert.equal((await merchant.send(store, during)).status, 503);

  limitFiles('unlimited');
  await until('it is ready', async () => (await client.get('/readyz')).status === 200, 2 * CALM_MS);
  assert.equal(await inTrouble(), 0);
  await isTold('the storage works again');
  assert.deepEqual([said('the storage is in trouble').length, said('the storage works again').length], [1, 1]);
  const after = await merchant.send(store, during);
  assert.equal(after.status, 202, after.text);
  await merchant.reaches(after.json.deliveryId, 'completed');
  assert.ok(idle > 0 && (await readdir(bridge.dataDir)).includes('presetbridge.db'));
});

// `presetbridge copy`: a deployment on SQLite moves to PostgreSQL, killed again and again on its way, and goes on there.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { Program, Scope, runBridge, startBridge, within } from './harness.mjs';
import { Merchant, PASSWORD, isOk, startStack } from './merchant.mjs';
import { sampleOrder } from './orders.mjs';
import { cluster, newDatabase } from './postgres.mjs';
import { Random } from './random.mjs';
import { startReceiver, verifiedEvent } from './receiver.mjs';

const PROVIDERS = ['provider_a', 'provider_b', 'generic'];
const KILLS = 6;
const RATES = ['--delivery-poll-ms', '50', '--delivery-maintenance-ms', '200'];

// Runs a copy, and kills it once it has reported so many tables. Returns whether it was still at work then.
async function killedAfter(scope, args, tables) {
  const copy = new Program('presetbridge', process.env.PRESETBRIDGE_BIN, args);
  scope.after(() => copy.kill());
  let told = 0;
  copy.child.stderr.on('data', (text) => {
    told += text.toString().split('\n').length - 1;
    if (told >= tables) copy.child.kill('SIGKILL');
  });
  const { signal } = await within('the copy ends', copy.ended, 60_000);
  return signal === 'SIGKILL';
}

test('a deployment on SQLite goes on where it was, on PostgreSQL', async (t) => {
  const scope = new Scope(t);
  const stack = await startStack(scope, { args: [...RATES, '--shutdown-drain-seconds', '1'] });
  const { dataDir } = stack.bridge;
  const merchant = await Merchant.signUp(stack.bridge, 1);
  const key = await merchant.key({ permissions: ['deliveries:read'] });
  const receiver = await startReceiver(scope);
  const { secret } = isOk(await merchant.api.post('/api/webhook-subscriptions', { url: receiver.url }), 201);
  const orders = [];
  for (const provider of PROVIDERS) {
    const store = await merchant.store(provider);
    for (let number = 1; number <= 8; ++number) {
      const order = sampleOrder(provider, {
        orderId: String(1000 + number),
        username: `buyer${number}`,
        sku: `A-${(number % 5) + 1}`,
      });
      const answer = isOk(await merchant.send(store, order), 202);
      orders.push({ store, order, deliveryId: answer.deliveryId });
    }
  }
  for (const { deliveryId } of orders) await merchant.reaches(deliveryId, 'completed', 60_000);
  // And some that the copy finds unfinished: the platform does not answer any more.
  await stack.sim.put('/sim/faults', { latencyMinMs: 60_000, latencyMaxMs: 60_000 });
  const store = orders.at(-1).store;
  const left = [];
  for (let number = 1; number <= 3; ++number)
    left.push(await merchant.order(store, { orderId: `left-${number}`, username: `late${number}` }));

  let url, args, env;
  const takeTarget = async () => {
    url = await newDatabase();
    args = ['copy', '--from', `sqlite:${path.join(dataDir, 'presetbridge.db')}`, '--to', url];
    env = { PRESETBRIDGE_DATABASE_URL: url, PRESETBRIDGE_IDENTITY_ISSUER: 'http://127.0.0.1' };
  };
  await takeTarget();
  const busy = await runBridge(args);
  assert.equal(busy.code, 1);
  assert.match(busy.stderr, /STORAGE_LOCKED/);
  await stack.bridge.stop();
  isOk(await stack.sim.put('/sim/faults', { latencyMinMs: 0, latencyMaxMs: 0 }));

  const random = new Random(process.env.SEED ?? 'copy', 'kills');
  const refusal = async () => {
    const { code, stderr } = await runBridge(['serve', '--sandbox', '--data-dir', dataDir, '--listen', '127.0.0.1:0'], {
      env,
    });
    return [code, JSON.parse(stderr.trim().split('\n').at(-1)).code];
  };
  assert.deepEqual(await refusal(), [1, 'NOT_COPIED']);
  for (let kills = 0, latest = 30; kills < KILLS;) {
    if (await killedAfter(scope, [...args, '--piece', '1'], random.whole(3, latest))) {
      ++kills;
      assert.deepEqual(await refusal(), [1, 'COPY_UNFINISHED']);
    } else {
      // It was done before the kill came: all of them again on another database, and earlier.
      latest = Math.floor(latest / 2);
      assert.ok(latest >= 3, 'kills while it was at work');
      kills = 0;
      await takeTarget();
    }
  }

  const done = await runBridge([...args, '--piece', '5', '--json'], { deadlineMs: 60_000 });
  assert.equal(done.code, 0, done.stderr);
  const lines = done.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const { tables, equal } = lines.pop();
  assert.deepEqual([tables, equal], [lines.length, true]);
  for (const line of lines)
    assert.deepEqual(
      [line.targetRows, line.targetChecksum, line.equal],
      [line.sourceRows, line.sourceChecksum, true],
      line.table,
    );
  const count = async (table) => Number(await (await cluster()).sql(`SELECT count(*) FROM ${table}`, url));
  assert.equal(await count('deliveries'), orders.length + left.length);
  for (const { table, sourceRows } of lines) {
    // The two keys of the folder are noted as in use, whether or not the source had them noted.
    assert.equal(await count(table), table === 'used_keys' ? 2 : sourceRows, table);
  }

  const bridge = await startBridge(scope, {
    cloudUrl: stack.cloud.url,
    dataDir,
    env,
    args: ['--delivery-jobs-per-minute', '0', '--delivery-first-sweep-seconds', '1', ...RATES],
  });
  assert.ok(bridge.log.some((line) => line.includes('the SQLite database in the data directory is not used any more')));
  merchant.moveTo(bridge);
  isOk(await merchant.open.post('/api/auth/sign-in', { email: merchant.email, password: PASSWORD }));
  const byKey = merchant.open.with({ 'x-api-key': key.secret });
  for (const { store, order, deliveryId } of orders) {
    assert.equal(isOk(await byKey.get(`/api/deliveries/${deliveryId}`)).status, 'completed');
    const repeated = isOk(await merchant.send(store, order), 202);
    assert.equal(repeated.deliveryId, deliveryId);
  }
  for (const { deliveryId } of left) await merchant.reaches(deliveryId, 'completed', 60_000);
  for (const store of new Set(orders.map((one) => one.store))) {
    const { deliveryId } = await merchant.order(store, { orderId: '2001', username: 'new-buyer' });
    assert.ok(!orders.some((one) => one.deliveryId === deliveryId));
    await merchant.reaches(deliveryId, 'completed');
    const event = await receiver.waitFor(
      'its event',
      (body) => body.type === 'delivery.completed' && body.deliveryId === deliveryId,
      60_000,
    );
    await verifiedEvent(event, secret);
  }
  assert.equal((await merchant.balance()).spent, (await merchant.effects(stack.sim)).shares.length);
});

// SIGTERM (spec 12.3): what runs is finished, leases are released, the program ends within ten seconds, and nothing that was
// accepted is lost.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { test } from 'node:test';
import { Scope, startBridge, until } from './harness.mjs';
import { Merchant, startStack } from './merchant.mjs';
import { sampleOrder } from './orders.mjs';
import { startReceiver } from './receiver.mjs';

const RATES = ['--delivery-poll-ms', '50', '--delivery-maintenance-ms', '200'];

test('under load it ends within ten seconds, with exit code 0, and nothing accepted is lost or done twice', async (t) => {
  const stack = await startStack(new Scope(t), { args: RATES });
  const merchant = await Merchant.signUp(stack.bridge, 1);
  const store = await merchant.store('generic');
  // A receiver that takes its time, and a platform that does: both have calls under way when the signal comes.
  const receiver = await startReceiver(stack.scope, { answer: () => new Promise((done) => setTimeout(done, 50, {})) });
  assert.equal((await merchant.api.post('/api/webhook-subscriptions', { url: receiver.url })).status, 201);
  await stack.sim.put('/sim/faults', { latencyMinMs: 20, latencyMaxMs: 120 });

  const accepted = new Map(); // order id -> delivery id
  const failures = [];
  let stopping = false;
  let next = 0;
  const sender = async () => {
    while (!stopping || failures.length === 0) {
      const orderId = `o-${++next}`;
      try {
        const answer = await merchant.send(
          store,
          sampleOrder('generic', { orderId, username: `buyer-${next % 40}`, sku: 'A-1' }),
        );
        if (answer.status !== 202) throw new Error(`status ${answer.status}`);
        accepted.set(orderId, answer.json.deliveryId);
      } catch (error) {
        failures.push([orderId, error]);
        if (stopping) return;
      }
    }
  };
  const senders = Promise.all(Array.from({ length: 8 }, sender));
  await until('work is under way', () => accepted.size >= 150);
  assert.deepEqual(
    failures.map(([, error]) => String(error)),
    [],
  );
  // A client that has connected and says nothing holds nothing up.
  const idle = net.connect(new URL(stack.bridge.url).port, '127.0.0.1');
  await once(idle, 'connect');
  idle.on('error', () => {});

  const began = performance.now();
  stopping = true;
  await stack.bridge.stop(); // throws unless the exit code is 0
  const took = performance.now() - began;
  assert.ok(took < 10_000, `${took} ms`);
  await senders;
  idle.destroy();
  // A refused client got nothing but a closed connection or 503.
  for (const [, error] of failures)
    assert.match(String(error), /ECONNREFUSED|ECONNRESET|EPIPE|socket hang up|status 503/);

  const again = await startBridge(stack.scope, {
    cloudUrl: stack.cloud.url,
    dataDir: stack.bridge.dataDir,
    args: ['--delivery-jobs-per-minute', '0', ...RATES],
  });
  merchant.moveTo(again);
  // Released leases are taken up at once: no wait for them to run out (40 s).
  const rows = await until(
    'all is delivered',
    async () => {
      const all = await merchant.all('/api/deliveries');
      return all.every(({ status }) => status === 'completed') && all;
    },
    30_000,
  );
  const byOrder = new Map(rows.map((row) => [row.orderId, row]));
  for (const [orderId, deliveryId] of accepted) assert.equal(byOrder.get(orderId)?.id, deliveryId, orderId);
  const { shares, friendships } = await merchant.effects(stack.sim);
  assert.deepEqual([...new Set(shares.map(({ made }) => made))], [1]);
  assert.deepEqual([...new Set(friendships.map(({ requests }) => requests))], [1]);
  const { spent, held } = await merchant.balance();
  assert.deepEqual([spent, held], [shares.length, 0]);
  await until(
    'each completion was told',
    () => {
      const told = new Set(
        receiver.requests
          .map(({ body }) => JSON.parse(body))
          .filter(({ type }) => type === 'delivery.completed')
          .map(({ deliveryId }) => deliveryId),
      );
      return told.size === rows.length;
    },
    30_000,
  );
});

test('calls that hang do not hold it up', async (t) => {
  const stack = await startStack(new Scope(t), { args: RATES });
  const merchant = await Merchant.signUp(stack.bridge, 1);
  const store = await merchant.store('generic');
  const silent = await startReceiver(stack.scope, { answer: () => new Promise(() => {}) });
  const made = await merchant.api.post('/api/webhook-subscriptions', { url: silent.url });
  assert.equal((await merchant.api.post(`/api/webhook-subscriptions/${made.json.id}/test`)).status, 202);
  await until('the receiver has a call that it never answers', () => silent.requests.length > 0);
  await stack.sim.put('/sim/faults', { latencyMinMs: 14_000, latencyMaxMs: 14_000 });
  const { deliveryId } = await merchant.order(store, { orderId: '1', username: 'slow' });
  await merchant.reaches(deliveryId, 'processing');
  const began = performance.now();
  await stack.bridge.stop();
  assert.ok(performance.now() - began < 10_000);
});

test('SIGTERM twice, and with nothing to do, ends it cleanly too', async (t) => {
  const stack = await startStack(new Scope(t));
  stack.bridge.child.kill('SIGTERM');
  stack.bridge.child.kill('SIGTERM');
  await stack.bridge.stop();
  assert.equal(stack.bridge.running, false);
});

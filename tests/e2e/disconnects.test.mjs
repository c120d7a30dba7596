// PostgreSQL ends connections of the service at random (`./dev torture --disconnects SECONDS` does it for longer).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Scope, until } from './harness.mjs';
import { Merchant, isOk, startStack } from './merchant.mjs';
import { sampleOrder, sendOrder } from './orders.mjs';
import { cluster } from './postgres.mjs';
import { torture } from './torture.mjs';
import { disconnects } from './torture_troubles.mjs';

test('connections that the server ends cost 503 at most, and nothing seconds later', async () => {
  const summary = await torture({ seed: 20261123, trouble: disconnects(15, { atLeast: 40 }), nodes: 2 });
  assert.deepEqual(summary.problems, [], `seed ${summary.seed}: ${JSON.stringify(summary, null, 2)}`);
  assert.ok(
    summary.disconnects >= 40 && summary.deliveries >= 50 && summary.filesShared >= 50,
    JSON.stringify(summary),
  );
});

test('a server that hangs is told in time, of many requests at once too, and nothing is lost', async (t) => {
  const scope = new Scope(t);
  const stack = await startStack(scope, { args: ['--delivery-poll-ms', '50'] });
  const merchant = await Merchant.signUp(stack.bridge, 1);
  const store = await merchant.store('generic');
  const orders = Array.from({ length: 40 }, (_, number) =>
    sampleOrder('generic', { orderId: `hung-${number}`, username: `buyer${number}`, sku: 'A-1' }),
  );
  const server = await cluster();
  await server.freeze();
  try {
    const ready = await merchant.open.get('/readyz');
    assert.deepEqual([ready.status, ready.json.waitingFor], [503, ['database']]);
    isOk(await merchant.open.get('/healthz'));
    const answers = await Promise.all(
      orders.map((order) => sendOrder(merchant.open, store, order, {}, { deadlineMs: 40_000 })),
    );
    for (const answer of answers)
      assert.deepEqual([answer.status, Number(answer.headers['retry-after']) > 0], [503, true], answer.text);
  } finally {
    await server.thaw();
  }
  await until('it is ready again', async () => (await merchant.open.get('/readyz')).status === 200, 30_000);
  for (const order of orders) {
    const { deliveryId } = await until('it is taken', async () => {
      const answer = await merchant.send(store, order);
      return answer.status === 202 && answer.json;
    });
    await merchant.reaches(deliveryId, 'completed', 90_000);
  }
  const { shares } = await merchant.effects(stack.sim);
  assert.deepEqual([shares.length, (await merchant.balance()).spent], [orders.length, orders.length]);
});

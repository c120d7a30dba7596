// The buyer's part (spec 13.3): one delivery's link opens it without a sign-in, and lets the buyer mend it.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Client, Scope } from './harness.mjs';
import { Merchant, contract, isError, isOk, startStack } from './merchant.mjs';

const scope = new Scope({ after });
let stack, sim, merchant, store;
let lastOrder = 0;

before(async () => {
  stack = await startStack(scope, {
    args: ['--cloud-name', 'Tone Cloud', '--cloud-friend-requests-url', 'https://cloud.example/requests'],
  });
  sim = stack.sim;
  merchant = await Merchant.signUp(stack.bridge, 1);
  store = await merchant.store('generic');
});

const order = (username) =>
  merchant.order(store, { orderId: `b-${++lastOrder}`, username, email: 'secret@buyer.example' });
const buyerOf = async (id) => {
  const { buyerUrl } = await merchant.delivery(id);
  const token = new URL(buyerUrl).hash.slice(1);
  assert.match(token, /^[A-Za-z0-9_-]{32}$/);
  return new Client(stack.bridge.url, { check: contract.check, headers: { 'x-buyer-token': token } });
};

describe('the buyer', () => {
  test('sees what was bought and whom to accept, and nothing else', async () => {
    await sim.post('/sim/customers', { username: 'patient', answer: 'never' });
    const { deliveryId } = await order('patient');
    await merchant.reaches(deliveryId, 'waiting_for_friendship');
    const answer = await (await buyerOf(deliveryId)).get('/api/buyer');
    const it = isOk(answer);
    assert.equal(answer.headers['cache-control'], 'no-store');
    assert.deepEqual(
      [it.state, it.merchantName, it.username, it.items.map(({ status }) => status), it.canCorrect, it.canRetry],
      ['accept_request', 'Shop 1', 'patient', ['on_its_way'], true, false],
    );
    assert.ok(it.senderUsername && it.requestedAt);
    assert.deepEqual(it.cloud, {
      name: 'Tone Cloud',
      friendRequestsUrl: 'https://cloud.example/requests',
      appUrl: null,
    });
    assert.ok(
      !answer.text.includes('secret@buyer.example') &&
        !answer.text.includes(merchant.accountId) &&
        !answer.text.includes(deliveryId),
    );
  });

  test('corrects the username, and has it delivered', async () => {
    await sim.put('/sim/unknown-users', { create: false });
    const { deliveryId } = await order('mispelt');
    await merchant.reaches(deliveryId, 'failed');
    await sim.put('/sim/unknown-users', { create: true });
    const buyer = await buyerOf(deliveryId);
    assert.equal(isOk(await buyer.get('/api/buyer')).state, 'username_not_found');
    isError(await buyer.post('/api/buyer/username', { username: ' @ ' }), 422, 'VALIDATION_FAILED');
    isError(await buyer.post('/api/buyer/retry'), 409, 'INVALID_TRANSITION');
    isOk(await buyer.post('/api/buyer/username', { username: '@spelt-right' }));
    const done = await merchant.reaches(deliveryId, 'completed');
    assert.equal(done.targetUsername, 'spelt-right');
    assert.ok(done.timeline.some(({ actor }) => actor === 'buyer'));
    assert.equal(isOk(await buyer.get('/api/buyer')).state, 'delivered');
    isError(await buyer.post('/api/buyer/username', { username: 'other' }), 409, 'INVALID_TRANSITION');
  });

  test('waits a minute between two corrections', async () => {
    await sim.post('/sim/customers', { username: 'slow', answer: 'never' });
    const { deliveryId } = await order('slow');
    await merchant.reaches(deliveryId, 'waiting_for_friendship');
    const buyer = await buyerOf(deliveryId);
    await sim.post('/sim/customers', { username: 'slower', answer: 'never' });
    isOk(await buyer.post('/api/buyer/username', { username: 'slower' }));
    await merchant.reaches(deliveryId, 'waiting_for_friendship');
    const again = await buyer.post('/api/buyer/username', { username: 'slowest' });
    isError(again, 429, 'RATE_LIMIT_EXCEEDED');
    assert.ok(Number(again.headers['retry-after']) >= 1);
  });

  test('is told the same of a wrong link, none, and one that a new one has ended', async () => {
    const { deliveryId } = await order('someone');
    const old = await buyerOf(deliveryId);
    isOk(await merchant.api.post(`/api/deliveries/${deliveryId}/buyer-link`));
    const open = new Client(stack.bridge.url, { check: contract.check });
    const refusals = [
      await old.get('/api/buyer'),
      await open.get('/api/buyer'),
      await new Client(stack.bridge.url, { check: contract.check, headers: { 'x-buyer-token': 'A'.repeat(32) } }).get(
        '/api/buyer',
      ),
    ];
    for (const refusal of refusals) isError(refusal, 404, 'NOT_FOUND');
    assert.equal(new Set(refusals.map(({ json }) => json.error.message)).size, 1);
    isOk(await (await buyerOf(deliveryId)).get('/api/buyer'));
  });
});

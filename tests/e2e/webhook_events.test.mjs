// The events of a subscription, which its owner reads and sends again (spec 9.5), with real receivers.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Scope, until } from './harness.mjs';
import { Merchant, isError, isOk, startStack } from './merchant.mjs';
import { startReceiver, verifiedEvent } from './receiver.mjs';

const scope = new Scope({ after });
let stack, merchant, other, store, receiver, subscription;
let answer = () => ({});
let lastOrder = 100;

const path = (rest = '') => `/api/webhook-subscriptions/${subscription.id}${rest}`;
const events = async (query = '') => isOk(await merchant.api.get(path(`/events?limit=100${query}`))).data;
const event = async (id) => isOk(await merchant.api.get(path(`/events/${id}`)));
const reaches = (id, status) =>
  until(`event ${id} is ${status}`, async () => {
    const it = await event(id);
    if (it.status !== status) throw new Error(`${it.status}: ${JSON.stringify(it.attempts)}`);
    return it;
  });
const received = (id) => receiver.requests.filter(({ headers }) => headers['webhook-id'] === id);
const newOrder = async (username = 'buyer') => {
  const orderId = String(++lastOrder);
  const { deliveryId } = await merchant.order(store, { orderId, username });
  await merchant.reaches(deliveryId, 'completed');
  return { orderId, deliveryId };
};
const completedOf = (deliveryId) =>
  until(`the completion of ${deliveryId} is told`, async () => {
    const [found] = await events(`&deliveryId=${deliveryId}&type=delivery.completed`);
    if (!found || found.status === 'waiting') throw new Error(JSON.stringify(found));
    return found;
  });

before(async () => {
  stack = await startStack(scope);
  merchant = await Merchant.signUp(stack.bridge, 1);
  other = await Merchant.signUp(stack.bridge, 2, { credits: 0, connected: false });
  store = await merchant.store('generic');
  receiver = await startReceiver(scope, { answer: (...args) => answer(...args) });
  subscription = isOk(
    await merchant.api.post('/api/webhook-subscriptions', { url: receiver.url, name: 'My shop' }),
    201,
  );
  assert.deepEqual(
    [subscription.name, subscription.health, subscription.waitingCount, subscription.recent],
    ['My shop', 'unused', 0, []],
  );
});

test('an event is found by what people know of it, and shows what was sent and answered', async () => {
  answer = () => ({ status: 200, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: 'thank you' });
  const { orderId, deliveryId } = await newOrder();
  const completed = await completedOf(deliveryId);
  assert.deepEqual(
    [completed.status, completed.orderId, completed.lastStatusCode, completed.nextAttemptAt],
    ['succeeded', orderId, 200, null],
  );
  assert.ok((await events(`&order=${orderId}`)).some(({ id }) => id === completed.id));
  assert.deepEqual(await events('&order=no%20such'), []);
  assert.deepEqual(await events('&createdTo=2026-01-01T00:00:00Z'), []);
  const shown = await event(completed.id);
  const [request] = received(completed.id);
  assert.equal(shown.body, request.body);
  assert.deepEqual(
    shown.attempts.map(({ statusCode, outcome, contentType, answer: text }) => [
      statusCode,
      outcome,
      contentType,
      text,
    ]),
    [[200, 'succeeded', 'text/plain; charset=utf-8', 'thank you']],
  );
  for (const [name, value] of Object.entries(shown.headers))
    assert.equal(request.headers[name.toLowerCase()], value, name);
  assert.deepEqual(
    Object.keys(shown.headers).filter((name) => /signature/i.test(name)),
    [],
  );
  const { delivery } = await verifiedEvent(request, subscription.secret);
  assert.deepEqual(
    delivery.items.map(({ fileId, status, username }) => [fileId, status, username]),
    [[merchant.file(1), 'shared', 'buyer']],
  );
  isError(await merchant.api.get(path('/events?status=lost')), 422, 'VALIDATION_FAILED');
  isError(await merchant.api.get(path('/events/no-such')), 404, 'NOT_FOUND');
  for (const rest of ['/events', `/events/${completed.id}`]) isError(await other.api.get(path(rest)), 404, 'NOT_FOUND');
});

test('one event is sent again with the same id and bytes', async () => {
  const { deliveryId } = await newOrder();
  const { id } = await completedOf(deliveryId);
  assert.equal(isOk(await merchant.api.post(path(`/events/${id}/resend`)), 202).id, id);
  await until('it arrives twice', () => received(id).length === 2);
  const [first, second] = received(id);
  assert.equal(second.body, first.body);
  await verifiedEvent(second, subscription.secret);
  assert.equal((await reaches(id, 'succeeded')).attempts.length, 2);
  isError(await other.api.post(path(`/events/${id}/resend`)), 404, 'NOT_FOUND');
});

test('an outage is recovered from, and nothing that arrived comes twice', async () => {
  const since = new Date().toISOString();
  answer = () => ({ status: 404, body: 'moved' });
  const lost = [];
  for (let i = 0; i < 3; ++i) lost.push(await completedOf((await newOrder()).deliveryId));
  assert.deepEqual(
    lost.map(({ status }) => status),
    ['permanent', 'permanent', 'permanent'],
  );
  const failing = isOk(await merchant.api.get(path()));
  assert.equal(failing.health, 'failing');
  assert.notEqual(failing.failingSince, null);
  assert.deepEqual(failing.recent[0], { statusCode: 404, outcome: 'http_error' });
  answer = () => ({});
  const arrived = await completedOf((await newOrder()).deliveryId);
  const failed = await events('&status=permanent');
  isError(await merchant.api.post(path('/recover'), {}), 422, 'VALIDATION_FAILED');
  isError(await other.api.post(path('/recover'), { since }), 404, 'NOT_FOUND');
  assert.deepEqual(isOk(await merchant.api.post(path('/recover'), { since }), 202), {
    total: failed.length,
    totalIsExact: true,
  });
  for (const { id } of failed) await reaches(id, 'succeeded');
  for (const { id } of lost) assert.equal(received(id).length, 2);
  assert.equal(received(arrived.id).length, 1);
  const well = isOk(await merchant.api.get(path()));
  assert.deepEqual([well.health, well.failingSince], ['healthy', null]);
  assert.deepEqual(isOk(await merchant.api.post(path('/recover'), { since }), 202), { total: 0, totalIsExact: true });
});

test('a receiver that says it is gone is shown as gone', async () => {
  const gone = await startReceiver(scope, { answer: () => ({ status: 410 }) });
  const made = isOk(
    await merchant.api.post('/api/webhook-subscriptions', { url: gone.url, eventTypes: ['delivery.completed'] }),
    201,
  );
  await newOrder();
  await until(
    'it is deactivated',
    async () => isOk(await merchant.api.get(`/api/webhook-subscriptions/${made.id}`)).health === 'gone',
  );
  isError(
    await merchant.api.post(`/api/webhook-subscriptions/${made.id}/recover`, { since: new Date(0).toISOString() }),
    409,
    'CONFLICT',
  );
});

test('credits that run low are told', async () => {
  const { available } = isOk(await merchant.api.get('/api/credits'));
  assert.equal(
    isOk(await merchant.api.patch('/api/credits', { lowThreshold: available - 1 })).lowThreshold,
    available - 1,
  );
  await newOrder('somebody-new'); // a file that the buyer has already costs nothing
  const request = await receiver.waitFor('credits.low', ({ type }) => type === 'credits.low');
  const told = await verifiedEvent(request, subscription.secret);
  assert.deepEqual(told.credits, { available: available - 1, held: 0, threshold: available - 1 });
  assert.notEqual(isOk(await merchant.api.patch('/api/credits', { lowThreshold: null })).lowThreshold, available - 1);
});

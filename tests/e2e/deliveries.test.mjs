// Deliveries, mappings, subscriptions and credits (spec 2.10, 3, 9, 10, 11) through the API, against the running programs. Every
// answer is checked against api/openapi.yaml by the client itself.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Scope, startBridge, until } from './harness.mjs';
import { Merchant, grantCredits, isError, isOk, startStack } from './merchant.mjs';
import { sampleOrder } from './orders.mjs';
import { startReceiver, verifiedEvent } from './receiver.mjs';

const scope = new Scope({ after });
let stack, sim, merchant, other, store;
let lastOrder = 9000;
const newOrderId = () => String(++lastOrder);
// The balance, without what changes as time passes.
const lasting = async (merchant) => ({ ...(await merchant.balance()), runsOutAt: undefined });

before(async () => {
  stack = await startStack(scope);
  sim = stack.sim;
  merchant = await Merchant.signUp(stack.bridge, 1);
  other = await Merchant.signUp(stack.bridge, 2, { credits: 0, connected: false });
  store = await merchant.store('generic');
  await sim.post('/sim/customers', { username: 'patient', answer: 'never' });
});

describe('deliveries', () => {
  const act = (id, name, body) => merchant.api.post(`/api/deliveries/${id}/${name}`, body);
  test('one that completed shows its items, attempts and what it cost', async () => {
    const { spent } = await merchant.balance();
    const { deliveryId } = await merchant.order(store, {
      orderId: newOrderId(),
      username: 'shown',
      email: 'shown@example.com',
    });
    const it = await merchant.reaches(deliveryId, 'completed');
    assert.deepEqual(
      it.items.map(({ fileId, status, matchedBy, quantity }) => [fileId, status, matchedBy.split(' ')[0], quantity]),
      [[merchant.file(1), 'shared', 'sku', 1]],
    );
    assert.deepEqual(
      [it.accountId, it.integrationId, it.customerEmail, it.targetUsername],
      [merchant.accountId, store.id, 'shown@example.com', 'shown'],
    );
    assert.ok(it.timeline.length > 0 && it.attemptCount > 0 && it.completedAt);
    assert.equal((await merchant.balance()).spent, spent + 1);
    const [entry] = isOk(await merchant.api.get('/api/credits/ledger?kind=spend&limit=1')).data;
    assert.deepEqual([entry.kind, entry.credits, entry.itemId], ['spend', 1, it.items[0].id]);
    assert.deepEqual([entry.deliveryId, entry.orderId, entry.orderNumber], [it.id, it.orderId, it.orderNumber]);
  });
  test('pages join without gap or repeat, and filters hold', async () => {
    const made = [];
    for (let i = 0; i < 5; ++i)
      made.push((await merchant.order(store, { orderId: newOrderId(), username: 'patient' })).deliveryId);
    for (const id of made) await merchant.reaches(id, 'waiting_for_friendship');
    const all = await merchant.all('/api/deliveries');
    const paged = [];
    for (let cursor = null; ;) {
      const page = isOk(await merchant.api.get(`/api/deliveries?limit=2${cursor ? `&cursor=${cursor}` : ''}`));
      assert.ok(page.data.length <= 2);
      paged.push(...page.data.map(({ id }) => id));
      cursor = page.nextCursor;
      if (cursor === null) break;
    }
    assert.deepEqual(
      paged,
      all.map(({ id }) => id),
    );
    assert.equal(new Set(paged).size, paged.length);
    const waiting = isOk(await merchant.api.get('/api/deliveries?status=waiting_for_friendship&limit=100')).data;
    assert.ok(
      made.every((id) => waiting.some((row) => row.id === id)) &&
        waiting.every(({ status }) => status === 'waiting_for_friendship'),
    );
    assert.ok(waiting.every(({ waitingSince, createdAt }) => waitingSince >= createdAt));
    assert.ok(
      all.every(({ status, waitingSince }) => (status === 'waiting_for_friendship') === (waitingSince !== null)),
    );
    isError(await merchant.api.get('/api/deliveries?status=lost'), 422, 'VALIDATION_FAILED');
    isError(await merchant.api.get('/api/deliveries?limit=101'), 422, 'VALIDATION_FAILED');
    isError(await merchant.api.get('/api/deliveries?cursor=x'), 422, 'VALIDATION_FAILED');
  });
  test('a missing username: a retry with one delivers', async () => {
    const shop = await merchant.store('provider_b');
    const { deliveryId } = await merchant.order(shop, { orderId: newOrderId() });
    const failed = await merchant.delivery(deliveryId);
    assert.deepEqual([failed.status, failed.resolutionCode], ['failed', 'username_missing']);
    assert.ok(failed.resolution.title && failed.resolution.whatHappened && failed.resolution.whatToDo);
    isOk(await act(deliveryId, 'retry', { targetUsername: ' @found ' }));
    const it = await merchant.reaches(deliveryId, 'completed');
    assert.deepEqual([it.targetUsername, it.resolutionCode], ['found', null]);
    assert.ok(it.timeline.some(({ kind, actor }) => kind === 'action' && actor.startsWith('usr_')));
  });
  test('a wrong username: the platform says so, and a retry with the right one delivers', async () => {
    await sim.put('/sim/unknown-users', { create: false });
    const { deliveryId } = await merchant.order(store, { orderId: newOrderId(), username: 'misspelt' });
    const failed = await merchant.reaches(deliveryId, 'failed');
    await sim.put('/sim/unknown-users', { create: true });
    assert.equal(failed.resolutionCode, 'username_not_found');
    isOk(await act(deliveryId, 'retry', { targetUsername: 'spelt' }));
    await merchant.reaches(deliveryId, 'completed');
    isError(await act(deliveryId, 'retry', {}), 409, 'INVALID_TRANSITION');
  });
  test('a new username while waiting: the request to the wrong user is taken back', async () => {
    await sim.post('/sim/customers', { username: 'stranger', answer: 'never' });
    const { deliveryId } = await merchant.order(store, { orderId: newOrderId(), username: 'stranger' });
    await merchant.reaches(deliveryId, 'waiting_for_friendship');
    isError(await act(deliveryId, 'retry', {}), 409, 'INVALID_TRANSITION');
    isError(await act(deliveryId, 'retry', { targetUsername: 'x'.repeat(201) }), 422, 'VALIDATION_FAILED');
    isError(await act(deliveryId, 'retry', { keepFriendRequest: true }), 409, 'INVALID_TRANSITION');
    const both = { targetUsername: 'the-buyer', keepFriendRequest: true };
    isError(await act(deliveryId, 'retry', both), 409, 'INVALID_TRANSITION');
    isOk(await act(deliveryId, 'retry', { targetUsername: 'the-buyer' }));
    await merchant.reaches(deliveryId, 'completed');
    await until('the request is withdrawn', async () => {
      const { friendships } = await merchant.effects(sim);
      const { state, withdrawn } = friendships.find(({ username }) => username === 'stranger');
      return state === 'none' && withdrawn === 1;
    });
  });
  test('of many who act on one delivery at once one succeeds', async () => {
    const { deliveryId } = await merchant.order(store, { orderId: newOrderId(), username: 'patient' });
    await merchant.reaches(deliveryId, 'waiting_for_friendship');
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) => act(deliveryId, 'invalidate', { reason: `reason ${i}` })),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(7).fill(409)]);
    const winner = answers.findIndex(({ status }) => status === 200);
    assert.equal((await merchant.delivery(deliveryId)).reason, `reason ${winner}`);
  });
  test('a customer who declines, and one who blocks', async () => {
    await sim.post('/sim/customers', {
      customers: [
        { username: 'declines', answer: 'decline' },
        { username: 'blocks', answer: 'block' },
      ],
    });
    for (const [username, code] of [
      ['declines', 'friend_request_declined'],
      ['blocks', 'blocked_by_customer'],
    ]) {
      const { deliveryId } = await merchant.order(store, { orderId: newOrderId(), username });
      assert.equal((await merchant.reaches(deliveryId, 'failed')).resolutionCode, code);
    }
  });
  test('a preset that is not there, and one that may not be shared', async () => {
    await sim.post('/sim/files', { merchant: 'm-1', files: [{ id: 'sealed', name: 'Sealed', shareable: false }] });
    const shop = await merchant.store('generic');
    const mappings = [
      ['GONE', 'no-such-file'],
      ['SEALED', 'sealed'],
    ].map(([matchValue, fileId]) => ({ matchType: 'sku', matchValue, fileId }));
    isOk(await merchant.api.put(`/api/integrations/${shop.id}/mappings`, { mappings }));
    const { held, spent } = await merchant.balance();
    for (const [sku, code] of [
      ['GONE', 'preset_not_found'],
      ['SEALED', 'preset_not_shareable'],
    ]) {
      const { deliveryId } = await merchant.order(shop, { orderId: newOrderId(), username: 'unlucky', sku });
      assert.equal((await merchant.reaches(deliveryId, 'failed')).resolutionCode, code);
    }
    assert.deepEqual([(await merchant.balance()).held, (await merchant.balance()).spent], [held, spent]);
  });
  test('without credits a delivery waits for some, and goes on when there are', async () => {
    const poor = await Merchant.signUp(stack.bridge, 4, { credits: 0 });
    const shop = await poor.store('generic');
    const { deliveryId, status, resolutionCode } = await poor.order(shop, {
      orderId: newOrderId(),
      username: 'thrifty',
    });
    assert.deepEqual([status, resolutionCode], ['failed', 'insufficient_credits']);
    await grantCredits(stack.bridge, poor.accountId, 1);
    await poor.reaches(deliveryId, 'completed');
    const balance = await poor.balance();
    assert.deepEqual([balance.granted, balance.spent, balance.available], [1, 1, 0]);
  });
  test('invalidate needs a reason, stops for good, and reopen returns it to review without an attempt', async () => {
    const { deliveryId } = await merchant.order(store, { orderId: newOrderId(), username: 'patient' });
    const { attemptCount } = await merchant.reaches(deliveryId, 'waiting_for_friendship');
    isError(await act(deliveryId, 'invalidate', {}), 422, 'VALIDATION_FAILED');
    isError(await act(deliveryId, 'invalidate', { reason: '' }), 422, 'VALIDATION_FAILED');
    const stopped = isOk(await act(deliveryId, 'invalidate', { reason: 'Charged back' }));
    assert.deepEqual([stopped.status, stopped.reason], ['invalidated', 'Charged back']);
    isError(await act(deliveryId, 'invalidate', { reason: 'again' }), 409, 'INVALID_TRANSITION');
    isError(await act(deliveryId, 'retry', {}), 409, 'INVALID_TRANSITION');
    const reopened = isOk(await act(deliveryId, 'reopen'));
    assert.deepEqual([reopened.status, reopened.attemptCount], ['in_review', attemptCount]);
    isError(await act(deliveryId, 'reopen'), 409, 'INVALID_TRANSITION');
    const done = isOk(await act(deliveryId, 'complete'));
    assert.deepEqual([done.status, done.items[0].status], ['completed', 'delivered_by_hand']);
  });
  test('a completed one can be reopened and invalidated', async () => {
    const { deliveryId } = await merchant.order(store, { orderId: newOrderId(), username: 'reopened' });
    await merchant.reaches(deliveryId, 'completed');
    assert.equal(isOk(await act(deliveryId, 'reopen')).status, 'in_review');
    assert.equal(isOk(await act(deliveryId, 'invalidate', { reason: 'wrong preset' })).status, 'invalidated');
  });
  test('revoking takes the shares back, and costs and returns no credit', async () => {
    const { deliveryId } = await merchant.order(store, { orderId: newOrderId(), username: 'revoked' });
    const { customerId } = await merchant.reaches(deliveryId, 'completed');
    assert.ok(customerId);
    const before = await lasting(merchant);
    isOk(await act(deliveryId, 'revoke'), 202);
    const it = await until('the share is revoked', async () => {
      const row = await merchant.delivery(deliveryId);
      return row.items[0].status === 'revoked' && row;
    });
    assert.equal(it.status, 'completed');
    const taken = it.timeline.filter(({ message }) => message.endsWith(' was taken back.'));
    assert.deepEqual(
      taken.map(({ actor, status }) => [actor, status]),
      [['system', 'completed']],
    );
    const { shares, friendships } = await merchant.effects(sim);
    const { customer } = friendships.find(({ username }) => username === 'revoked');
    assert.deepEqual(
      shares.filter((row) => row.customer === customer).map(({ standing, made, revoked }) => [standing, made, revoked]),
      [[false, 1, 1]],
    );
    assert.deepEqual(await lasting(merchant), before);
    isError(await act(deliveryId, 'revoke'), 409, 'INVALID_TRANSITION');
  });
  test('a file that two orders of one buyer stand on is taken back with the second, and shared anew for a third', async () => {
    const username = 'thrice';
    const standing = async () => {
      const { shares, friendships } = await merchant.effects(sim);
      const { customer } = friendships.find((row) => row.username === username);
      return shares.filter((row) => row.customer === customer).map(({ made, standing }) => [made, standing]);
    };
    const deliver = async () => {
      const { deliveryId } = await merchant.order(store, { orderId: newOrderId(), username });
      await merchant.reaches(deliveryId, 'completed');
      return deliveryId;
    };
    const [first, second] = [await deliver(), await deliver()];
    isOk(await act(first, 'revoke'), 202);
    assert.equal((await merchant.delivery(first)).items[0].status, 'revoked');
    assert.equal((await merchant.delivery(second)).items[0].status, 'shared');
    assert.deepEqual(await standing(), [[1, true]]);
    isOk(await act(second, 'revoke'), 202);
    await until(
      'the second is taken back',
      async () => (await merchant.delivery(second)).items[0].status === 'revoked',
    );
    assert.deepEqual(await standing(), [[1, false]]);
    const third = await deliver();
    assert.equal((await merchant.delivery(third)).items[0].status, 'shared');
    assert.deepEqual(await standing(), [[2, true]]);
  });
  test('two orders of one buyer make one request and share a file once', async () => {
    const username = 'twice';
    await sim.post('/sim/customers', { username, answer: 'accept' });
    const answers = await Promise.all([1, 2].map(() => merchant.order(store, { orderId: newOrderId(), username })));
    for (const { deliveryId } of answers) await merchant.reaches(deliveryId, 'completed');
    const { shares, friendships } = await merchant.effects(sim);
    const [{ customer, requests }] = friendships.filter((row) => row.username === username);
    assert.equal(requests, 1);
    assert.deepEqual(
      shares.filter((row) => row.customer === customer).map(({ made, repeats, existed }) => [made, repeats, existed]),
      [[1, 0, 0]],
    );
  });
  test("a store's test order runs dry: no call, no credit, marked as such", async () => {
    const shop = await merchant.store('provider_a');
    const before = await lasting(merchant);
    const order = {
      ...sampleOrder('provider_a', { orderId: newOrderId(), username: 'nobody-at-all', sku: 'A-1' }),
      test: true,
    };
    const answer = await merchant.send(shop, order);
    assert.equal(answer.status, 202, answer.text);
    const it = await merchant.reaches(answer.json.deliveryId, 'completed');
    assert.equal(it.dryRun, true);
    assert.deepEqual(
      it.items.map(({ dryRun, sharedAt }) => [dryRun, sharedAt]),
      it.items.map(() => [true, null]),
      'nothing was shared',
    );
    assert.deepEqual(await lasting(merchant), before);
    const { friendships } = await merchant.effects(sim);
    assert.equal(
      friendships.some(({ username }) => username === 'nobody-at-all'),
      false,
    );
    isOk(await merchant.api.patch(`/api/integrations/${shop.id}`, { settings: { deliverTestOrders: true } }));
    const real = await merchant.send(shop, { ...order, id: Number(newOrderId()) });
    const delivered = await merchant.reaches(real.json.deliveryId, 'completed');
    assert.deepEqual([delivered.dryRun, delivered.test, it.test], [false, true, true]);
  });
});

describe('mappings', () => {
  test('the most specific key wins, all of its mappings apply, and a stale version is refused', async () => {
    const shop = await merchant.store('generic');
    const mappings = [
      { matchType: 'title', matchValue: 'Loud  Amp', fileId: merchant.file(1) },
      { matchType: 'product_id', matchValue: '77', fileId: merchant.file(2) },
      { matchType: 'sku', matchValue: 'LOUD', fileId: merchant.file(3) },
      { matchType: 'sku', matchValue: 'LOUD', fileId: merchant.file(4) },
      { matchType: 'sku', matchValue: 'STICKER', action: 'ignore' },
    ];
    const { version } = isOk(await merchant.api.put(`/api/integrations/${shop.id}/mappings`, { mappings }));
    const files = async (item) => {
      const { json } = await merchant.send(shop, { orderId: newOrderId(), targetUsername: 'mapped', items: [item] });
      if (!json.deliveryId) return json.reason;
      return (await merchant.delivery(json.deliveryId)).items.map(({ fileId }) => fileId).sort();
    };
    assert.deepEqual(await files({ sku: 'LOUD', productId: '77', title: 'Loud Amp' }), [
      merchant.file(3),
      merchant.file(4),
    ]);
    assert.deepEqual(await files({ sku: 'other', productId: '77', title: 'Loud Amp' }), [merchant.file(2)]);
    assert.deepEqual(await files({ title: ' loud amp ' }), [merchant.file(1)]);
    assert.equal(await files({ sku: 'STICKER' }), 'no_mapped_items');
    assert.equal(await files({ sku: 'loud' }), 'no_mapped_items');
    isOk(await merchant.api.put(`/api/integrations/${shop.id}/mappings`, { version, mappings: mappings.slice(1) }));
    isError(
      await merchant.api.put(`/api/integrations/${shop.id}/mappings`, { version, mappings: [] }),
      409,
      'CONFLICT',
    );
  });
});

describe('outbound webhook subscriptions', () => {
  let receiver, subscription;
  before(async () => {
    receiver = await startReceiver(scope);
    const shop = await merchant.store('generic');
    subscription = {
      shop,
      ...isOk(
        await merchant.api.post('/api/webhook-subscriptions', {
          url: receiver.url,
          integrationIds: [shop.id],
          eventTypes: ['delivery.completed', 'delivery.invalidated'],
        }),
        201,
      ),
    };
  });
  const path = () => `/api/webhook-subscriptions/${subscription.id}`;

  test('the secret is shown once', async () => {
    assert.match(subscription.secret, /^whsec_/);
    for (const target of [path(), '/api/webhook-subscriptions', '/api/account/audit']) {
      assert.equal((await merchant.api.get(target)).text.includes(subscription.secret.slice(6)), false);
    }
  });
  test('only what was asked for arrives: these events, of these stores', async () => {
    const elsewhere = await merchant.order(store, { orderId: newOrderId(), username: 'elsewhere' });
    await merchant.reaches(elsewhere.deliveryId, 'completed');
    const here = await merchant.order(subscription.shop, { orderId: newOrderId(), username: 'here' });
    const request = await receiver.waitFor('the completion', (event) => event.deliveryId === here.deliveryId);
    const event = await verifiedEvent(request, subscription.secret);
    assert.deepEqual(
      [event.type, event.integrationId, event.delivery.status, event.delivery.orderId, event.delivery.eventId],
      ['delivery.completed', subscription.shop.id, 'completed', here.orderId, here.eventId],
    );
    assert.deepEqual(
      receiver.requests.map(({ body }) => JSON.parse(body).type),
      ['delivery.completed'],
    );
  });
  test("the merchant's reason is in the event", async () => {
    const { deliveryId } = await merchant.order(subscription.shop, { orderId: newOrderId(), username: 'patient' });
    await merchant.reaches(deliveryId, 'waiting_for_friendship');
    isOk(await merchant.api.post(`/api/deliveries/${deliveryId}/invalidate`, { reason: 'Out of stock' }));
    const { body } = await receiver.waitFor('the invalidation', (event) => event.deliveryId === deliveryId);
    assert.deepEqual(
      [JSON.parse(body).type, JSON.parse(body).delivery.reason],
      ['delivery.invalidated', 'Out of stock'],
    );
  });
  test('a test event, and its attempt with the response code', async () => {
    const { eventId } = isOk(await merchant.api.post(`${path()}/test`), 202);
    const first = await receiver.waitFor('the test event', (event) => event.id === eventId);
    assert.equal(JSON.parse(first.body).type, 'webhook.test');
    const attempt = await until('the attempt is shown', async () =>
      isOk(await merchant.api.get(`${path()}/attempts`)).data.find((row) => row.eventId === eventId),
    );
    assert.deepEqual([attempt.statusCode, attempt.outcome], [204, 'succeeded']);
  });
  test('rotation: both secrets sign in the overlap', async () => {
    const renewed = isOk(await merchant.api.post(`${path()}/rotate-secret`, { overlapSeconds: 600 }));
    assert.notEqual(renewed.secret, subscription.secret);
    const { eventId } = isOk(await merchant.api.post(`${path()}/test`), 202);
    const request = await receiver.waitFor('the test event', (event) => event.id === eventId);
    await verifiedEvent(request, renewed.secret);
    const previous = request.headers['x-vendor-signature-previous'];
    await verifiedEvent(
      { ...request, headers: { ...request.headers, 'x-vendor-signature': previous } },
      subscription.secret,
    );
  });
  test('what a subscription cannot be is 422', async () => {
    for (const url of [
      'http://93.184.216.34/',
      'http://10.0.0.1/',
      'https://192.168.1.1/',
      'https://[::ffff:10.0.0.1]/',
      'https://169.254.169.254/',
      'ftp://127.0.0.1/',
      'https://user:pw@example.com/',
      'not a url',
      '',
    ]) {
      isError(await merchant.api.post('/api/webhook-subscriptions', { url }), 422, 'VALIDATION_FAILED');
    }
    isError(
      await merchant.api.post('/api/webhook-subscriptions', { url: receiver.url, eventTypes: ['delivery.lost'] }),
      422,
      'VALIDATION_FAILED',
    );
    isError(
      await merchant.api.post('/api/webhook-subscriptions', { url: receiver.url, secret: 'plain' }),
      422,
      'VALIDATION_FAILED',
    );
  });
  test('outside sandbox mode its address is https, and public', async (t) => {
    const bridge = await startBridge(new Scope(t), { cloudUrl: stack.cloud.url, sandbox: false });
    const strict = await Merchant.signUp(bridge, 1, { credits: 0, connected: false });
    for (const url of [
      receiver.url,
      'http://example.com/',
      'https://127.0.0.1/',
      'https://[::1]/',
      'https://2130706433/',
    ]) {
      isError(await strict.api.post('/api/webhook-subscriptions', { url }), 422, 'VALIDATION_FAILED');
    }
    isOk(await strict.api.post('/api/webhook-subscriptions', { url: 'https://example.com/hook' }), 201);
  });
  test('an inactive one is sent nothing; an ended one is gone', async () => {
    isOk(await merchant.api.patch(path(), { active: false }));
    const count = receiver.requests.length;
    const { deliveryId } = await merchant.order(subscription.shop, { orderId: newOrderId(), username: 'silent' });
    await merchant.reaches(deliveryId, 'completed');
    // An event of a later delivery of that store, to another receiver, is sent after the one that this receiver would have had.
    const other = await startReceiver(scope);
    const { id } = isOk(
      await merchant.api.post('/api/webhook-subscriptions', {
        url: other.url,
        integrationIds: [subscription.shop.id],
        eventTypes: ['delivery.completed'],
      }),
      201,
    );
    const { deliveryId: later } = await merchant.order(subscription.shop, { orderId: newOrderId(), username: 'heard' });
    await other.waitFor('the later delivery', (body) => body.deliveryId === later);
    isOk(await merchant.api.delete(`/api/webhook-subscriptions/${id}`), 204);
    isOk(await merchant.api.delete(path()), 204);
    isError(await merchant.api.get(path()), 404, 'NOT_FOUND');
    assert.equal(receiver.requests.length, count);
  });
});

describe('credits', () => {
  test('the ledger adds up to the balance', async () => {
    const ledger = await merchant.all('/api/credits/ledger');
    const sum = (kind) =>
      ledger.filter((entry) => entry.kind === kind).reduce((total, { credits }) => total + credits, 0);
    const balance = await merchant.balance();
    assert.deepEqual(
      [sum('grant'), sum('purchase'), sum('spend'), sum('reversal')],
      [balance.granted, balance.purchased, balance.spent, balance.reversed],
    );
    assert.equal(
      balance.available,
      balance.granted + balance.purchased - balance.reversed - balance.spent - balance.held,
    );
    const items = ledger.filter(({ kind }) => kind === 'spend').map(({ itemId }) => itemId);
    assert.equal(new Set(items).size, items.length);
  });
});

test('of one cloud account five jobs start in a minute, also after a crash; the rest knows its place, and another account is not held up', async (t) => {
  const own = new Scope(t);
  const limited = await startStack(own, { jobsPerMinute: 5 });
  const busy = await Merchant.signUp(limited.bridge, 1);
  const idle = await Merchant.signUp(limited.bridge, 2);
  const shop = await busy.store('generic');
  const began = Date.now();
  const ids = [];
  for (let i = 0; i < 9; ++i)
    ids.push((await busy.order(shop, { orderId: newOrderId(), username: `buyer-${i}` })).deliveryId);
  const states = () => Promise.all(ids.map((id) => busy.delivery(id)));
  const done = (rows) => rows.filter(({ status }) => status === 'completed').length;
  await until('five are done', async () => done(await states()) === 5);

  await limited.bridge.kill();
  const again = await startBridge(own, { cloudUrl: limited.cloud.url, dataDir: limited.bridge.dataDir });
  for (const it of [busy, idle]) it.moveTo(again);
  // A merchant who is served now was served after the restart.
  const { deliveryId } = await idle.order(await idle.store('generic'), { orderId: newOrderId(), username: 'buyer-0' });
  await idle.reaches(deliveryId, 'completed');

  const rows = await states();
  assert.equal(done(rows), 5);
  const waiting = rows.filter(({ status }) => status === 'queued');
  assert.equal(waiting.length, 4);
  // Two orders that were accepted in one millisecond share their place.
  const before = (delivery) => waiting.filter(({ createdAt }) => createdAt < delivery.createdAt).length;
  assert.deepEqual(
    waiting.map(({ queuePosition }) => queuePosition),
    waiting.map((delivery) => before(delivery) + 1),
  );
  for (const { estimatedAt } of waiting)
    assert.ok(Date.parse(estimatedAt) - began >= 59_000, `${estimatedAt} after ${new Date(began).toISOString()}`);
  const { calls } = (await limited.sim.get('/sim/counts')).json;
  assert.equal(calls.findUser.count, 6);
});

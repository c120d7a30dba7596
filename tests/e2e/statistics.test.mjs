// Overview, statistics, usage and search (spec 6.4, 13.1) as a merchant sees them, against the running programs. Every answer is checked
// against api/openapi.yaml by the client itself, and every figure against the list of all deliveries.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Scope, until } from './harness.mjs';
import { Merchant, isError, isOk, startStack } from './merchant.mjs';
import { sampleOrder } from './orders.mjs';

const scope = new Scope({ after });
let stack, sim, merchant, other, store, second;
let lastOrder = 100;
const orderOf = (shop, fields) => merchant.order(shop, { orderId: String(++lastOrder), ...fields });
const get = async (path) => isOk(await merchant.api.get(path));
// Where it is about noon, so that the day does not end meanwhile. Zones of this kind count westward.
const hoursAhead = 12 - new Date().getUTCHours();
const NOON = encodeURIComponent(`Etc/GMT${hoursAhead > 0 ? '-' : '+'}${Math.abs(hoursAhead)}`);
const overview = (query = `?tz=${NOON}`) => get(`/api/overview${query}`);
const needsOf = ({ needs }) => needs.map(({ kind, code, count }) => [kind, code, count]);

before(async () => {
  stack = await startStack(scope, { args: ['--api-key-requests-per-hour', '5'] });
  sim = stack.sim;
  merchant = await Merchant.signUp(stack.bridge, 1);
  other = await Merchant.signUp(stack.bridge, 2, { credits: 0, connected: false });
  await sim.post('/sim/customers', { username: 'patient', answer: 'never' });
});

test('a new account is told what to begin with', async () => {
  const seen = isOk(await other.api.get('/api/overview'));
  assert.deepEqual(
    seen.needs.map(({ kind }) => kind),
    ['login_missing', 'credits_out'],
  );
  assert.deepEqual(seen.setup, {
    cloud: false,
    store: false,
    firstOrder: false,
    mapping: false,
    testOrder: false,
    firstDelivery: false,
  });
  assert.deepEqual([seen.recent, seen.stores], [[], []]);
  assert.deepEqual(seen.today, { completed: 0, failed: 0, usualCompleted: null, usualFailed: null });
});

test('the overview counts each delivery once, where it needs somebody', async () => {
  store = await merchant.store('generic');
  second = await merchant.store('provider_b');
  const done = [await orderOf(store, { username: 'first' }), await orderOf(store, { username: 'second' })];
  for (const { deliveryId } of done) await merchant.reaches(deliveryId, 'completed');
  const { deliveryId: waiting } = await orderOf(store, { username: 'patient' });
  await merchant.reaches(waiting, 'waiting_for_friendship');
  await orderOf(second, {});
  await orderOf(second, {});
  const { deliveryId: reopened } = await orderOf(second, { username: 'third' });
  await merchant.reaches(reopened, 'completed');
  isOk(await merchant.api.post(`/api/deliveries/${reopened}/reopen`));
  assert.deepEqual(needsOf(await overview()), [
    ['failed', 'username_missing', 2],
    ['review', null, 1],
  ]);

  const seen = await until('what stores have sent is written', async () => {
    const now = await overview();
    assert.ok(now.setup.firstOrder && now.stores.every(({ lastOrderAt }) => lastOrderAt !== null));
    return now;
  });
  assert.deepEqual(seen.today, { completed: 2, failed: 2, usualCompleted: null, usualFailed: null });
  assert.deepEqual(
    { ...seen.now, oldestWaitingAt: null },
    { queued: 0, processing: 0, waiting: 1, inReview: 1, oldestWaitingAt: null },
  );
  assert.ok(seen.now.oldestWaitingAt <= seen.asOf);
  assert.deepEqual(seen.limit, { perMinute: null, usedLast60s: 0, nextStartAt: null, paused: null });
  assert.deepEqual([seen.credits.available, seen.credits.held, seen.credits.perDay], [997, 0, 3]);
  assert.deepEqual(seen.setup, {
    cloud: true,
    store: true,
    firstOrder: true,
    mapping: true,
    testOrder: false,
    firstDelivery: true,
  });
  assert.deepEqual(
    seen.recent.map(({ id }) => id),
    (await get('/api/deliveries?limit=5')).data.map(({ id }) => id),
  );
  const glance = Object.fromEntries(
    seen.stores.map(({ integrationId, failed, waiting: still }) => [integrationId, [failed, still]]),
  );
  assert.deepEqual(glance, { [store.id]: [0, 1], [second.id]: [2, 0] });

  const of = await overview(`?integrationId=${store.id}&tz=Europe/Berlin`);
  assert.deepEqual([needsOf(of), of.now.waiting, of.now.inReview, of.stores.length], [[], 1, 0, 1]);
  isOk(await merchant.api.post(`/api/deliveries/${reopened}/approve`));
  await merchant.reaches(reopened, 'completed');
  assert.deepEqual(needsOf(await overview()), [['failed', 'username_missing', 2]]);
  assert.equal((await overview()).today.completed, 3);
});

test('orders that are refused come first, until one is taken in', async () => {
  const wrong = await merchant.send(
    { ...second, secret: 'not the secret of it' },
    sampleOrder('provider_b', { orderId: '7', sku: 'A-1' }),
  );
  assert.equal(wrong.status, 401);
  const [first] = await until('the refusal is counted', async () => {
    const { needs } = await overview();
    assert.equal(needs[0].kind, 'intake_refused');
    return needs;
  });
  assert.deepEqual([first.count, first.integrationId], [1, second.id]);
  await orderOf(second, { username: 'fourth' });
  await until('an order came in since', async () =>
    (await overview()).needs.every(({ kind }) => kind !== 'intake_refused'),
  );
});

test('statistics are what the list of deliveries says', async () => {
  await until('all that can is completed', async () => {
    const { now } = await overview();
    return now.queued + now.processing === 0;
  });
  const all = await merchant.all('/api/deliveries');
  const counted = (rows) => ({
    made: rows.length,
    completed: rows.filter(({ status }) => status === 'completed').length,
    failed: rows.filter(({ status }) => status === 'failed').length,
    invalidated: 0,
    open: rows.filter(({ status }) => !['completed', 'failed'].includes(status)).length,
  });
  for (const tz of ['UTC', 'Asia/Kathmandu', 'America/New_York']) {
    for (const bucket of ['hour', 'day']) {
      const found = await get(`/api/stats/deliveries?bucket=${bucket}&tz=${tz}`);
      assert.deepEqual(found.totals, counted(all));
      assert.equal(found.data.length >= 24, true);
      for (const [n, { at, ...figures }] of found.data.entries()) {
        const end = found.data[n + 1]?.at ?? '9';
        assert.deepEqual(
          figures,
          counted(all.filter(({ createdAt }) => createdAt >= at && createdAt < end)),
          `${tz} ${at}`,
        );
      }
    }
  }
  const of = await get(`/api/stats/deliveries?integrationId=${second.id}`);
  assert.deepEqual(of.totals, counted(all.filter(({ integrationId }) => integrationId === second.id)));

  const took = await get('/api/stats/durations');
  const done = all
    .filter(({ status }) => status === 'completed')
    .map(({ createdAt, completedAt }) => Date.parse(completedAt) - Date.parse(createdAt));
  let low = -1;
  for (const { upToSeconds, count } of took.buckets) {
    const high = upToSeconds === null ? Infinity : upToSeconds * 1000;
    assert.equal(count, done.filter((ms) => ms > low && ms <= high).length, `up to ${upToSeconds} s`);
    low = high;
  }
  assert.ok(took.p50Ms >= 0 && took.ownP50Ms <= took.p50Ms);
  assert.equal(took.buckets.length, 25);

  const of_other = isOk(await other.api.get(`/api/stats/deliveries?integrationId=${store.id}`));
  assert.equal(of_other.totals.made, 0, "another merchant's");
  isError(await merchant.api.get('/api/stats/deliveries?tz=Mars/Olympus'), 422, 'VALIDATION_FAILED');
  isError(await merchant.api.get('/api/stats/deliveries?from=2020-01-01T00:00:00Z'), 422, 'VALIDATION_FAILED');
  isError(
    await merchant.api.get('/api/stats/deliveries?bucket=hour&from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z'),
    422,
    'VALIDATION_FAILED',
  );
  isError(await other.api.get(`/api/overview?integrationId=${store.id}`), 404, 'NOT_FOUND');
});

test('usage is of the key whose requests they were', async () => {
  const key = await merchant.key({ name: 'shop backend' });
  const by = merchant.open.with({ 'x-api-key': key.secret });
  const shop = await merchant.store('generic');
  for (let i = 0; i < 4; ++i) isOk(await by.get('/api/deliveries?limit=1'));
  const direct = {
    integrationId: shop.id,
    orderId: String(++lastOrder),
    targetUsername: 'owned',
    items: [{ sku: 'A-1' }],
  };
  isOk(await by.post('/api/deliveries', direct), 201); // one request, though it is an order too
  for (let i = 0; i < 2; ++i) isError(await by.get('/api/deliveries?limit=1'), 429, 'RATE_LIMIT_EXCEEDED');
  isOk(await merchant.api.patch(`/api/integrations/${shop.id}`, { owningKeyId: key.id }));
  const { deliveryId } = await until('the store knows its key', async () => {
    const made = await orderOf(shop, { username: 'owned' });
    assert.equal(isOk(await merchant.api.get(`/api/keys/${key.id}`)).deliveries > 1, true);
    return made;
  });
  await merchant.reaches(deliveryId, 'completed');
  const shown = await get(`/api/keys/${key.id}`);
  assert.deepEqual([shown.usedThisHour, shown.rateLimit], [5, 5]);
  const { totals, data } = await get(`/api/keys/${key.id}/usage?bucket=hour`);
  assert.deepEqual([totals.limited, totals.requests, totals.deliveries.made], [2, shown.requests, shown.deliveries]);
  assert.equal(
    data.reduce((sum, { requests }) => sum + requests, 0),
    totals.requests,
  );
  const byKey = await get('/api/usage?groupBy=key');
  const mine = byKey.groups.find(({ keyId }) => keyId === key.id);
  assert.deepEqual(
    [mine.name, mine.limited, mine.requests, mine.deliveries],
    ['shop backend', 2, totals.requests, totals.deliveries],
  );
  const byStore = await get('/api/usage?groupBy=integration');
  assert.deepEqual(byStore.totals, byKey.totals);
  assert.equal(
    byStore.groups.find(({ integrationId }) => integrationId === shop.id).deliveries.made,
    totals.deliveries.made,
  );
  assert.equal(byKey.totals.deliveries.made, (await merchant.all('/api/deliveries')).length);
  isError(await other.api.get(`/api/keys/${key.id}/usage`), 404, 'NOT_FOUND');
});

test('a few letters find what there is, and nothing of others', async () => {
  const find = async (q, by = merchant) =>
    Object.fromEntries(
      isOk(await by.api.get(`/api/search?q=${encodeURIComponent(q)}`)).groups.map(({ kind, items }) => [kind, items]),
    );
  const [one] = (await get('/api/deliveries?q=patient')).data;
  const byName = await find('PATIENT');
  assert.deepEqual([byName.delivery[0].id, byName.delivery[0].status], [one.id, 'waiting_for_friendship']);
  assert.deepEqual(
    byName.order.filter(({ status }) => status === 'delivery').map(({ deliveryStatus }) => deliveryStatus),
    ['waiting_for_friendship'],
  );
  assert.equal(byName.delivery[0].deliveryStatus, null);
  assert.deepEqual(
    (await find(one.id)).delivery.map(({ id }) => id),
    [one.id],
  );
  assert.deepEqual(
    (await find('shop back')).key.map(({ title }) => title),
    ['shop backend'],
  );
  assert.equal((await find('store of provider_b')).store[0].id, second.id);
  assert.equal((await find('Preset 2')).preset[0].id, merchant.file(2));
  assert.deepEqual(await find('no such thing anywhere'), {});
  assert.deepEqual(await find('patient', other), {});
  assert.deepEqual(await find(one.id, other), {});
  const reader = await merchant.key({ permissions: ['deliveries:read'] });
  const seen = isOk(await merchant.open.with({ 'x-api-key': reader.secret }).get('/api/search?q=shop%20back')).groups;
  assert.deepEqual(seen, [], 'a key sees only what it may read');
});

// Deliveries that the merchant's own program asks for (spec 3.8), and jobs on many of them (spec 9.4), against the running programs.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Scope, startBridge, until } from './harness.mjs';
import { Merchant, isError, isOk, startStack } from './merchant.mjs';
import { startReceiver, verifiedEvent } from './receiver.mjs';

const scope = new Scope({ after });
let stack, merchant, other, store, program, gifts;
let lastOrder = 0;
const newOrder = (more = {}) => ({
  integrationId: store.id,
  orderId: `d-${++lastOrder}`,
  targetUsername: `buyer-${lastOrder}`,
  items: [{ sku: 'A-1' }],
  ...more,
});

before(async () => {
  stack = await startStack(scope, {
    args: ['--base-url', 'https://bridge.example', '--api-key-requests-per-hour', '100000'],
  });
  merchant = await Merchant.signUp(stack.bridge, 1);
  other = await Merchant.signUp(stack.bridge, 2);
  store = await merchant.store('generic');
  const withKey = async (body) => merchant.open.with({ 'x-api-key': (await merchant.key(body)).secret });
  program = await withKey();
  gifts = await withKey({
    permissions: ['deliveries:read', 'deliveries:write', 'deliveries:any_file'],
    integrationIds: [store.id],
  });
});

const balance = async () => isOk(await merchant.api.get('/api/credits')).available;
// The job, once it has ended.
const ended = (by, id) =>
  until(`the job ${id} has ended`, async () => {
    const job = isOk(await by.get(`/api/bulk/${id}`));
    return job.finishedAt && job;
  });

describe('a direct delivery', () => {
  test('of products arrives, is told of and counts as an order does', async () => {
    const receiver = await startReceiver(scope);
    const { secret } = isOk(
      await merchant.api.post('/api/webhook-subscriptions', {
        url: receiver.url,
        eventTypes: ['delivery.completed'],
        integrationIds: [store.id],
      }),
      201,
    );
    const before = await balance();
    const order = newOrder({
      customerEmail: 'direct@example.com',
      items: [{ sku: 'A-1' }, { sku: 'A-2', quantity: 2 }],
      note: 'is ignored',
    });
    const made = isOk(await program.post('/api/deliveries', order), 201);
    assert.deepEqual([made.orderId, made.targetUsername, made.itemCount], [order.orderId, order.targetUsername, 2]);
    const delivery = await merchant.reaches(made.id, 'completed');
    assert.equal(await balance(), before - 2);
    const event = await verifiedEvent(
      await receiver.waitFor('the event', (body) => body.deliveryId === made.id),
      secret,
    );
    assert.equal(event.delivery.buyerUrl, delivery.buyerUrl);
    assert.ok(delivery.buyerUrl.startsWith('https://bridge.example/p#'), delivery.buyerUrl);
    const { data } = isOk(await merchant.api.get('/api/deliveries?q=direct@'));
    assert.deepEqual(
      data.map(({ id }) => id),
      [made.id],
    );
    const asked = delivery.timeline.find(({ message }) => message === 'The delivery was asked for.');
    assert.ok(asked?.actor.startsWith('key_'), JSON.stringify(asked));
    const [listed] = isOk(await merchant.api.get(`/api/orders?q=${order.orderId}`)).data;
    assert.equal(JSON.parse(isOk(await merchant.api.get(`/api/orders/${listed.id}/payload`)).body).note, 'is ignored');
  });

  test('is made once for an order id, whatever else the body says, by webhook or here', async () => {
    const order = newOrder();
    const [first, ...rest] = await Promise.all(Array.from({ length: 8 }, () => program.post('/api/deliveries', order)));
    const answers = [first, ...rest];
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 200, 200, 200, 200, 200, 200, 201]);
    assert.equal(new Set(answers.map(({ json }) => json.id)).size, 1);
    const other = isOk(
      await program.post('/api/deliveries', { ...order, targetUsername: 'someone-else', items: [{ sku: 'A-3' }] }),
      200,
    );
    assert.deepEqual([other.id, other.targetUsername, other.itemCount], [first.json.id, order.targetUsername, 1]);
    const { integrationId, ...payload } = order;
    const byWebhook = isOk(await merchant.send(store, payload), 202);
    assert.deepEqual([byWebhook.deliveryId, byWebhook.duplicate], [first.json.id, true]);
    // The other way round.
    const sent = await merchant.order(store, { orderId: 'by-webhook', username: 'first' });
    assert.equal(
      isOk(await program.post('/api/deliveries', newOrder({ orderId: 'by-webhook' })), 200).id,
      sent.deliveryId,
    );
  });

  test('of a file needs the permission, and no mapping', async () => {
    const order = newOrder({ items: [{ fileId: merchant.file(8), title: 'A gift' }] });
    isError(await program.post('/api/deliveries', order), 403, 'FORBIDDEN');
    assert.deepEqual(isOk(await merchant.api.get(`/api/orders?q=${order.orderId}`)).data, [], 'nothing was stored');
    const made = isOk(await gifts.post('/api/deliveries', order), 201);
    const { items } = await merchant.reaches(made.id, 'completed');
    assert.deepEqual(
      items.map(({ fileId, name, matchedBy, status }) => [fileId, name, matchedBy, status]),
      [[merchant.file(8), 'A gift', 'file_id', 'shared']],
    );
    // A signed webhook chooses none.
    const { integrationId, ...payload } = newOrder({ items: [{ fileId: merchant.file(8) }] });
    assert.equal(isOk(await merchant.send(store, payload), 202).reason, 'no_mapped_items');
  });

  test("of a file that is not the merchant's fails, and costs nothing", async () => {
    const before = await balance();
    for (const fileId of [other.file(1), 'nobody-has-it']) {
      const made = isOk(await gifts.post('/api/deliveries', newOrder({ items: [{ fileId }] })), 201);
      assert.equal((await merchant.reaches(made.id, 'failed')).resolutionCode, 'preset_not_found');
    }
    assert.equal(await balance(), before);
  });

  test('without a mapping is stored, and processed again once there is one', async () => {
    const order = newOrder({ items: [{ sku: 'LATER' }] });
    const ignored = isOk(await program.post('/api/deliveries', order), 202);
    assert.deepEqual([ignored.status, ignored.reason, ignored.orderId], ['ignored', 'no_mapped_items', order.orderId]);
    assert.deepEqual(isOk(await program.post('/api/deliveries', order), 202), ignored);
    const own = await merchant.store('generic');
    const [seen] = isOk(await merchant.api.get(`/api/orders?q=${order.orderId}`)).data;
    assert.equal(seen.deliveryId, null);
    isOk(
      await merchant.api.put(`/api/integrations/${store.id}/mappings`, {
        mappings: [
          ...isOk(await merchant.api.get(`/api/integrations/${own.id}/mappings`)).mappings.map(
            ({ id, stale, ...one }) => one,
          ),
          { matchType: 'sku', matchValue: 'LATER', fileId: merchant.file(3), kind: 'preset', fileName: 'Three' },
        ],
      }),
    );
    isOk(await merchant.api.post(`/api/orders/${seen.id}/reprocess`));
    assert.equal(isOk(await program.post('/api/deliveries', order), 200).orderId, order.orderId);
    isOk(await merchant.map(store));
  });

  test("is refused for another's store, one outside the key's scope, and one of a platform", async () => {
    const second = await merchant.store('generic');
    const shop = await merchant.store('provider_a');
    isError(await other.api.post('/api/deliveries', newOrder()), 404, 'NOT_FOUND');
    isError(await gifts.post('/api/deliveries', newOrder({ integrationId: second.id })), 404, 'NOT_FOUND');
    isError(await program.post('/api/deliveries', newOrder({ integrationId: shop.id })), 422, 'VALIDATION_FAILED');
    const { secret } = await merchant.key({ permissions: ['deliveries:read'] });
    isError(await merchant.open.with({ 'x-api-key': secret }).post('/api/deliveries', newOrder()), 403, 'FORBIDDEN');
  });

  test('tells all that is wrong with it at once', async () => {
    const answer = await gifts.post('/api/deliveries', {
      integrationId: 'x',
      targetUsername: '',
      items: [{ quantity: 0 }, { fileId: '' }, 7],
    });
    isError(answer, 422, 'VALIDATION_FAILED');
    assert.deepEqual(answer.json.error.details.map(({ field }) => field).sort(), [
      'integrationId',
      'items[0].quantity',
      'items[1].fileId',
      'items[2]',
      'orderId',
      'targetUsername',
    ]);
    isError(
      await gifts.post('/api/deliveries', newOrder({ items: Array.from({ length: 251 }, () => ({ sku: 'A-1' })) })),
      422,
      'VALIDATION_FAILED',
    );
    const wide = isOk(
      await gifts.post('/api/deliveries', newOrder({ items: Array.from({ length: 250 }, () => ({ sku: 'A-1' })) })),
      201,
    );
    assert.equal(wide.itemCount, 1);
  });

  test('is counted for the key that asked', async () => {
    const key = await merchant.key();
    isOk(await merchant.open.with({ 'x-api-key': key.secret }).post('/api/deliveries', newOrder()), 201);
    const { requests, deliveries } = isOk(await merchant.api.get(`/api/keys/${key.id}`));
    assert.deepEqual([requests, deliveries], [1, 1]);
  });
});

describe('many deliveries', () => {
  const MANY = 300;

  // So many deliveries that the platform has refused, as it does the file of SEALED.
  async function refused(shop) {
    const sealed = (shareable) =>
      stack.sim.post('/sim/files', {
        merchant: `m-${shop.number}`,
        files: [{ id: 'sealed', name: 'Sealed', shareable }],
      });
    await sealed(false);
    const counter = await shop.store('generic');
    isOk(
      await shop.api.put(`/api/integrations/${counter.id}/mappings`, {
        mappings: [{ matchType: 'sku', matchValue: 'SEALED', fileId: 'sealed', kind: 'preset', fileName: 'Sealed' }],
      }),
    );
    for (let at = 0; at < MANY; at += 20) {
      await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          shop.order(counter, { orderId: `s-${at + i}`, username: `sealed-${at + i}`, sku: 'SEALED' }),
        ),
      );
    }
    const failed = await until(
      'all were refused',
      async () => {
        const all = await shop.all('/api/deliveries');
        return all.every(({ resolutionCode }) => resolutionCode === 'preset_not_shareable') && all;
      },
      60_000,
    );
    assert.equal(failed.length, MANY);
    await sealed(true);
    return { counter, ids: failed.map(({ id }) => id) };
  }

  test('are retried once each, also when the service is killed meanwhile', async () => {
    const args = ['--delivery-jobs-per-minute', '0', '--cloud-timeout-seconds', '10', '--delivery-lease-seconds', '20'];
    const own = await startBridge(scope, { cloudUrl: stack.cloud.url, args });
    const shop = await Merchant.signUp(own, 3, { credits: MANY });
    const { ids } = await refused(shop);
    const by = { filter: { status: ['failed'] }, asOf: new Date().toISOString() };
    const plan = isOk(await shop.api.post('/api/deliveries/bulk', { action: 'retry', ...by, dryRun: true }));
    assert.deepEqual(plan, {
      total: MANY,
      totalIsExact: true,
      eligible: MANY,
      excluded: [],
      credits: MANY,
      creditsIsExact: true,
    });
    const { id } = isOk(await shop.api.post('/api/deliveries/bulk', { action: 'retry', ...by }), 202);
    await until('it has begun', async () => isOk(await shop.api.get(`/api/bulk/${id}`)).done > 0);
    await own.kill();
    shop.moveTo(await startBridge(scope, { cloudUrl: stack.cloud.url, dataDir: own.dataDir, args }));
    const job = await ended(shop.api, id);
    assert.deepEqual([job.done, job.failedCount, job.fault], [MANY, 0, null]);
    await until(
      'all have arrived',
      async () => (await shop.all('/api/deliveries')).every(({ status }) => status === 'completed'),
      60_000,
    );
    assert.equal(isOk(await shop.api.get('/api/credits')).available, 0);
    const { actor } = isOk(await shop.api.get('/api/account/audit')).data.find(
      ({ action, target }) => action === 'deliveries.retry.asked' && target === id,
    );
    for (const one of ids.slice(0, 20)) {
      const { timeline } = await shop.delivery(one);
      assert.equal(timeline.filter((entry) => entry.actor === actor).length, 1);
    }
  });

  test('are approved and stopped, and what has to be mended first is left out', async () => {
    const counter = await merchant.store('generic', { settings: { hold: 'all' } });
    const held = [];
    for (let i = 0; i < 12; ++i)
      held.push((await merchant.order(counter, { orderId: `h-${i}`, username: `held-${i}`, sku: 'A-1' })).deliveryId);
    const ours = { integrationId: [counter.id] };
    const of = async (reviewReason) =>
      isOk(await merchant.api.get(`/api/deliveries?limit=100&integrationId=${counter.id}&reviewReason=${reviewReason}`))
        .data.length;
    assert.deepEqual([await of('held'), await of('high_risk,held'), await of('high_risk')], [12, 12, 0]);
    isError(await merchant.api.get('/api/deliveries?reviewReason=shy'), 422, 'VALIDATION_FAILED');
    const planned = async (reviewReason) =>
      isOk(
        await merchant.api.post('/api/deliveries/bulk', {
          action: 'approve',
          filter: { ...ours, reviewReason },
          dryRun: true,
        }),
      );
    assert.deepEqual([(await planned(['high_risk'])).total, (await planned(['held'])).eligible], [0, 12]);
    const act = async (body) =>
      ended(merchant.api, isOk(await merchant.api.post('/api/deliveries/bulk', body), 202).id);
    const approved = await act({ action: 'approve', ids: held.slice(0, 10) });
    assert.deepEqual([approved.action, approved.done, approved.eligible], ['deliveries.approve', 10, 10]);
    for (const id of held.slice(0, 10)) await merchant.reaches(id, 'completed');
    const stopped = await act({
      action: 'invalidate',
      reason: 'Ordered by mistake.',
      filter: { ...ours, status: ['in_review'] },
    });
    assert.deepEqual([stopped.total, stopped.done], [2, 2]);
    assert.equal((await merchant.delivery(held[11])).reason, 'Ordered by mistake.');
    await merchant.api.patch(`/api/integrations/${counter.id}`, { settings: { hold: 'none' } });
    await merchant.order(counter, { orderId: 'h-nameless', username: 'x', sku: 'A-1' });
    const plan = isOk(await merchant.api.post('/api/deliveries/bulk', { action: 'retry', filter: ours, dryRun: true }));
    assert.deepEqual([plan.total, plan.eligible], [13, 0]);
    assert.deepEqual(plan.excluded, [{ code: 'INVALID_TRANSITION', count: 13 }]);
  });

  test('are all of the account only where it is said', async () => {
    const ask = (filter, dryRun = true) =>
      merchant.api.post('/api/deliveries/bulk', { action: 'invalidate', reason: 'x', filter, dryRun });
    const before = isOk(await merchant.api.get('/api/deliveries?count=true')).count;
    for (const filter of [
      {},
      { status: null },
      { orderId: null },
      { dryRun: null },
      { q: '\u00a0' },
      { q: ' ' },
      { q: '@' },
      { all: false },
      { all: null },
      { all: true, status: ['failed'] },
    ]) {
      isError(await ask(filter), 422, 'VALIDATION_FAILED');
      isError(await ask(filter, false), 422, 'VALIDATION_FAILED');
    }
    for (const q of ['&nbsp;', '&#160;', '#&nbsp;']) assert.equal(isOk(await ask({ q })).total, 0);
    assert.equal(isOk(await ask({ all: true })).total, before);
  });

  test("another merchant's are not found", async () => {
    const [mine] = isOk(await merchant.api.get('/api/deliveries?limit=1')).data;
    const plan = isOk(
      await other.api.post('/api/deliveries/bulk', { action: 'invalidate', reason: 'x', ids: [mine.id], dryRun: true }),
    );
    assert.deepEqual([plan.eligible, plan.excluded], [0, [{ code: 'NOT_FOUND', count: 1 }]]);
  });
});

test("buyers see the merchant's name and help", async () => {
  const shown = isOk(await merchant.api.get('/api/account'));
  assert.deepEqual([shown.displayName, shown.supportEmail, shown.supportUrl], [null, null, null]);
  const made = isOk(await program.post('/api/deliveries', newOrder()), 201);
  const asBuyer = async () =>
    isOk(await merchant.open.with({ 'x-buyer-token': made.buyerUrl.split('#')[1] }).get('/api/buyer'));
  assert.equal((await asBuyer()).merchantName, 'Shop 1');
  const help = {
    displayName: 'Marlow Tones',
    supportEmail: 'help@marlow.example',
    supportUrl: 'https://marlow.example/help',
  };
  const changed = isOk(await merchant.api.patch('/api/account', help));
  assert.deepEqual([changed.displayName, changed.name], ['Marlow Tones', 'Shop 1']);
  const { merchantName, supportEmail, supportUrl } = await asBuyer();
  assert.deepEqual({ displayName: merchantName, supportEmail, supportUrl }, help);
  for (const wrong of [
    { supportUrl: 'javascript:alert(1)' },
    { supportUrl: 'http://x.example' },
    { supportEmail: 'x' },
    { name: null },
    { displayName: '' },
    { shown: 'x' },
  ]) {
    isError(await merchant.api.patch('/api/account', wrong), 422, 'VALIDATION_FAILED');
  }
  isError(await program.patch('/api/account', help), 403, 'FORBIDDEN');
  const all = isOk(await merchant.api.patch('/api/account', { supportUrl: null, name: 'Shop one' }));
  assert.deepEqual([all.supportUrl, all.name, all.displayName], [null, 'Shop one', 'Marlow Tones']);
  isOk(await merchant.api.patch('/api/account', all));
});

test('a delivery says where its order is at the store', async () => {
  const shop = await merchant.store('provider_a');
  const { deliveryId } = isOk(
    await merchant.send(
      shop,
      {
        id: 450789469,
        line_items: [{ id: 1, sku: 'A-1', quantity: 1 }],
        note_attributes: [{ name: 'vendor_username', value: 'linked' }],
      },
      { 'x-shopify-shop-domain': 'marlow.myshopify.com' },
    ),
    202,
  );
  await until(
    'the address is known',
    async () =>
      (await merchant.delivery(deliveryId)).storeOrderUrl === 'https://marlow.myshopify.com/admin/orders/450789469',
  );
  const made = isOk(await program.post('/api/deliveries', newOrder()), 201);
  assert.equal(made.storeOrderUrl, null);
});

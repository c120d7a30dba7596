// Orders that deliver nothing yet (spec 9.3): seen, mapped and processed again, one and many, and the events about them
// (spec 10.1); privacy requests (spec 9.6). Against the running programs.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Scope, startBridge, until } from './harness.mjs';
import { Merchant, isError, isOk, startStack } from './merchant.mjs';
import { sampleOrder, sendOrder, signatureHeaders } from './orders.mjs';
import { startReceiver, verifiedEvent } from './receiver.mjs';

const scope = new Scope({ after });
let stack, merchant, other;
let lastOrder = 7000;
const newOrderId = () => String(++lastOrder);

before(async () => {
  stack = await startStack(scope);
  merchant = await Merchant.signUp(stack.bridge, 1);
  other = await Merchant.signUp(stack.bridge, 2, { credits: 0, connected: false });
});

const mapped = (store, skus) =>
  merchant.api.put(`/api/integrations/${store.id}/mappings`, {
    mappings: skus.map((sku, at) => ({
      matchType: 'sku',
      matchValue: sku,
      fileId: merchant.file(at + 1),
      kind: 'preset',
      fileName: `Preset ${at + 1}`,
    })),
  });
async function inThreeCalls(provider) {
  const store = await merchant.store(provider);
  const orderId = newOrderId();
  const accepted = await merchant.order(store, { orderId, username: `late-${provider}`, sku: 'NEW' });
  assert.deepEqual([accepted.status, accepted.reason], ['ignored', 'no_mapped_items']);

  const page = isOk(await merchant.api.get(`/api/orders?unmapped=true&integrationId=${store.id}`));
  assert.equal(page.data.length, 1);
  const [seen] = page.data;
  assert.deepEqual(
    [seen.orderId, seen.outcome, seen.unmappedCount, seen.deliveryId],
    [orderId, 'no_mapped_items', 1, null],
  );
  for (const shown of [seen, isOk(await merchant.api.get(`/api/orders/${seen.id}`))])
    assert.equal(shown.integrationName, `A store of ${provider}`);
  isOk(await mapped(store, ['NEW']));
  const processed = isOk(await merchant.api.post(`/api/orders/${seen.id}/reprocess`));
  assert.deepEqual(
    [processed.outcome, processed.unmappedCount, processed.integrationName],
    ['delivery', 0, `A store of ${provider}`],
  );

  const delivery = await merchant.reaches(processed.deliveryId, 'completed');
  assert.equal(delivery.orderId, orderId);
  const it = isOk(await merchant.api.get(`/api/orders/${seen.id}`));
  assert.equal(it.deliveryStatus, 'completed');
  assert.deepEqual(
    it.lines.map(({ sku, result, matchedBy, files }) => [
      sku,
      result,
      matchedBy,
      files.map(({ fileId, status }) => [fileId, status]),
    ]),
    [['NEW', 'delivers', 'sku', [[merchant.file(1), 'shared']]]],
  );
  const { mappings } = isOk(await merchant.api.get(`/api/integrations/${store.id}/mappings`));
  assert.deepEqual(it.lines[0].mappingIds, [mappings[0].id]);
}
test('provider_a: an order without a mapping is seen, mapped and delivered in three calls', () =>
  inThreeCalls('provider_a'));
test('provider_b: an order without a mapping is seen, mapped and delivered in three calls', () =>
  inThreeCalls('provider_b'));
test('generic: an order without a mapping is seen, mapped and delivered in three calls', () => inThreeCalls('generic'));

describe('one order', () => {
  test('shows what the store sent, byte for byte, until it is deleted', async () => {
    const store = await merchant.store('provider_a');
    const order = {
      ...sampleOrder('provider_a', { orderId: newOrderId(), username: 'sent', sku: 'NEW' }),
      name: '#S-1',
      note: 'späß 🎸',
    };
    const body = JSON.stringify(order, null, 1);
    isOk(await sendOrder(merchant.open, store, body), 202);
    const [seen] = isOk(await merchant.api.get('/api/orders?q=%23s-1')).data;
    assert.equal(seen.orderNumber, '#S-1');
    const payload = isOk(await merchant.api.get(`/api/orders/${seen.id}/payload`));
    assert.equal(payload.body, body);
    const it = isOk(await merchant.api.get(`/api/orders/${seen.id}`));
    assert.equal(it.payloadKeptUntil, payload.keptUntil);
    assert.equal(Date.parse(payload.keptUntil) - Date.parse(payload.receivedAt), 30 * 86_400_000);
    // A refund takes nothing's place.
    const refund = JSON.stringify({ id: 5, order_id: order.id, refund_line_items: [{ line_item_id: 1, quantity: 1 }] });
    isOk(await sendOrder(merchant.open, store, refund, { 'x-hosted-topic': 'refunds/create' }), 202);
    assert.equal(isOk(await merchant.api.get(`/api/orders/${seen.id}/payload`)).body, body);
    assert.equal(isOk(await merchant.api.get(`/api/orders/${seen.id}`)).lines[0].refundedQuantity, 1);
  });
  test("is found by what people know, and is nobody else's", async () => {
    const store = await merchant.store('generic');
    const orderId = `found-${newOrderId()}`;
    await merchant.order(store, { orderId, username: 'Findable', email: 'find@example.com', sku: 'NEW' });
    for (const q of [orderId, '@findab', 'FIND@']) {
      const { data } = isOk(await merchant.api.get(`/api/orders?q=${encodeURIComponent(q)}&integrationId=${store.id}`));
      assert.deepEqual(
        data.map((row) => row.orderId),
        [orderId],
        q,
      );
      const [{ id }] = data;
      isError(await other.api.get(`/api/orders/${id}`), 404, 'NOT_FOUND');
      isError(await other.api.get(`/api/orders/${id}/payload`), 404, 'NOT_FOUND');
      isError(await other.api.post(`/api/orders/${id}/reprocess`), 404, 'NOT_FOUND');
    }
    assert.deepEqual(isOk(await other.api.get('/api/orders')).data, []);
  });
  test('that is not paid is not processed again', async () => {
    const store = await merchant.store('provider_a');
    const order = {
      ...sampleOrder('provider_a', { orderId: newOrderId(), username: 'unpaid', sku: 'A-1' }),
      financial_status: 'pending',
    };
    assert.equal(isOk(await merchant.send(store, order), 202).reason, 'awaiting_payment');
    const [seen] = isOk(await merchant.api.get(`/api/orders?outcome=awaiting_payment&integrationId=${store.id}`)).data;
    isError(await merchant.api.post(`/api/orders/${seen.id}/reprocess`), 409, 'INVALID_TRANSITION');
  });
  test('what a list does not take is refused', async () => {
    for (const query of [
      'outcome=lost',
      'unmapped=yes',
      'integrationId=x',
      `q=${'x'.repeat(256)}`,
      'receivedFrom=yesterday',
      'cursor=x',
      'limit=0',
    ]) {
      isError(await merchant.api.get(`/api/orders?${query}`), 422, 'VALIDATION_FAILED');
    }
    isError(await merchant.api.get('/api/bulk/blk_0a1b2c3d4e5f6'), 404, 'NOT_FOUND');
    isError(
      await merchant.api.post('/api/orders/reprocess', { outcome: 'lost', unmapped: 'no' }),
      422,
      'VALIDATION_FAILED',
    );
  });
});

describe('many orders', () => {
  test('are processed again once each, also when the service is killed meanwhile', async () => {
    // An order that a killed job was at is looked up after the job's lease and the call's timeout.
    const args = ['--delivery-jobs-per-minute', '0', '--cloud-timeout-seconds', '1', '--delivery-lease-seconds', '11'];
    const own = await startBridge(scope, { cloudUrl: stack.cloud.url, args });
    const shop = await Merchant.signUp(own, 3);
    const store = await shop.store('generic');
    const many = 60;
    for (let at = 0; at < many; ++at)
      await shop.order(store, { orderId: `m-${at}`, username: `many-${at % 7}`, sku: 'NEW' });
    await shop.order(store, { orderId: 'whole', username: 'many-0', sku: 'A-1' });
    isOk(await shop.map(store, 0));
    const mappings = [{ matchType: 'sku', matchValue: 'NEW', fileId: shop.file(1), kind: 'preset', fileName: 'One' }];
    isOk(await shop.api.put(`/api/integrations/${store.id}/mappings`, { mappings }));

    assert.deepEqual(isOk(await shop.api.post('/api/orders/reprocess', { integrationId: store.id, dryRun: true })), {
      total: many,
      totalIsExact: true,
    });
    const asked = isOk(await shop.api.post('/api/orders/reprocess', { integrationId: store.id }), 202);
    assert.deepEqual([asked.action, asked.total, asked.finishedAt], ['orders.reprocess', many, null]);
    await own.kill();
    const again = await startBridge(scope, { cloudUrl: stack.cloud.url, dataDir: own.dataDir, args });
    shop.moveTo(again);
    const job = await until('the job has ended', async () => {
      const it = isOk(await shop.api.get(`/api/bulk/${asked.id}`));
      return it.finishedAt && it;
    });
    assert.deepEqual([job.done, job.failedCount, job.failed], [many, 0, []]);
    const deliveries = await shop.all('/api/deliveries');
    assert.equal(deliveries.length, many + 1);
    await until(
      'all have arrived',
      async () => (await shop.all('/api/deliveries')).every(({ status }) => status === 'completed'),
      60_000,
    );
    assert.deepEqual(isOk(await shop.api.get('/api/orders?unmapped=true')).data, []);
    const audit = isOk(await shop.api.get('/api/account/audit')).data;
    assert.equal(
      audit.filter(({ action, target }) => action === 'orders.reprocess.asked' && target === asked.id).length,
      1,
    );
  });
});

test('a shop hears of an order that delivers less than it sold', async () => {
  const receiver = await startReceiver(scope);
  const store = await merchant.store('generic');
  const { secret } = isOk(
    await merchant.api.post('/api/webhook-subscriptions', {
      url: receiver.url,
      eventTypes: ['order.unmapped'],
      integrationIds: [store.id],
    }),
    201,
  );
  const orderId = newOrderId();
  const order = { ...sampleOrder('generic', { orderId, username: 'half', sku: 'A-1' }) };
  order.items.push({ sku: 'NEW', title: 'A new pack' });
  const { deliveryId } = isOk(await merchant.send(store, order), 202);
  const event = await verifiedEvent(
    await receiver.waitFor('the event', (body) => body.order.orderId === orderId),
    secret,
  );
  assert.deepEqual(
    [event.type, event.deliveryId, event.order.unmappedCount, event.order.lineCount],
    ['order.unmapped', deliveryId, 1, 2],
  );
  assert.deepEqual(
    event.order.unmappedLines.map(({ sku, title }) => [sku, title]),
    [['NEW', 'A new pack']],
  );
  isOk(await merchant.send(store, order), 202);
  await merchant.reaches(deliveryId, 'completed');
  assert.equal(receiver.requests.length, 1);
});

test('a buyer asks for their data: the merchant sees it, and closes it', async () => {
  const store = await merchant.store('provider_a');
  const { deliveryId, orderId } = await merchant.order(store, {
    orderId: 4711,
    username: 'asks',
    email: 'asks@example.com',
  });
  const body = JSON.stringify({
    shop_id: 1,
    shop_domain: 'x',
    orders_requested: [1, 4711],
    customer: { id: 1, email: 'asks@example.com' },
    data_request: { id: 9 },
  });
  const headers = { ...signatureHeaders('provider_a', store.secret, body), 'x-hosted-topic': 'customers/data_request' };
  isOk(await sendOrder(merchant.open, store, body, headers), 202);
  const open = isOk(await merchant.api.get('/api/privacy-requests?open=true')).data;
  assert.deepEqual(
    open.map(({ kind, integrationId, closedAt }) => [kind, integrationId, closedAt]),
    [['data_request', store.id, null]],
  );
  assert.equal(open[0].orderCount, 2);
  const named = await merchant.all(`/api/privacy-requests/${open[0].id}/orders`);
  assert.deepEqual(
    named.map((one) => [one.orderId, one.deliveryId]),
    [
      ['1', null],
      [String(orderId), deliveryId],
    ],
  );
  assert.deepEqual([named[0].id, named[0].orderNumber], [null, null]);
  const order = isOk(await merchant.api.get(`/api/orders/${named[1].id}`));
  assert.deepEqual([order.deliveryId, order.orderNumber], [deliveryId, named[1].orderNumber]);
  isError(await other.api.get(`/api/privacy-requests/${open[0].id}/orders`), 404, 'NOT_FOUND');
  isError(await other.api.post(`/api/privacy-requests/${open[0].id}/close`), 404, 'NOT_FOUND');
  const closed = isOk(await merchant.api.post(`/api/privacy-requests/${open[0].id}/close`));
  assert.ok(closed.closedAt && closed.closedBy.startsWith('usr_'));
  isError(await merchant.api.post(`/api/privacy-requests/${open[0].id}/close`), 409, 'CONFLICT');
  assert.deepEqual(isOk(await merchant.api.get('/api/privacy-requests?open=true')).data, []);
  assert.equal(isOk(await merchant.api.get('/api/privacy-requests')).data.length, 1);
});

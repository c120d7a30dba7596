// A store as a merchant sees and tests it (spec 9.1 to 9.3): the orders that it has sent, its products, their mappings by hand
// and as a table, and a test order.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startBridge, until } from './harness.mjs';
import { Merchant, isError, isOk, startStack } from './merchant.mjs';
import { sampleOrder } from './orders.mjs';

const csv = (merchant, store, body, query = '') =>
  merchant.api.request('POST', `/api/integrations/${store.id}/mappings.csv${query}`, {
    body,
    headers: { 'content-type': 'text/csv' },
  });

test('a merchant learns from a store what it sells, and maps it', async (t) => {
  const { bridge } = await startStack(t);
  const merchant = await Merchant.signUp(bridge, 1);
  const store = await merchant.store('provider_a');
  const at = `/api/integrations/${store.id}`;

  await t.test('what has come is counted, and what was refused by its cause', async () => {
    const topic = { 'x-shopify-topic': 'orders/paid' };
    isOk(
      await merchant.send(store, sampleOrder('provider_a', { orderId: '1001', username: 'ann', sku: 'NEW-1' }), topic),
      202,
    );
    isOk(
      await merchant.send(store, sampleOrder('provider_a', { orderId: '1001', username: 'ann', sku: 'NEW-1' }), topic),
      202,
    );
    isError(
      await merchant.send({ ...store, secret: 'not the secret of it' }, sampleOrder('provider_a', { sku: 'NEW-1' })),
      401,
      'INVALID_SIGNATURE',
    );
    isError(await merchant.send(store, '[]'), 400, 'INVALID_PAYLOAD');
    const seen = await until('it is counted', async () => {
      const one = isOk(await merchant.api.get(at));
      return one.intake.refused.length === 2 && one.counts.unmappedProducts === 1 && one;
    });
    assert.equal(seen.intake.accepted24h, 2);
    assert.deepEqual(
      seen.intake.refused.map(({ code, count }) => [code, count]),
      [
        ['INVALID_PAYLOAD', 1],
        ['INVALID_SIGNATURE', 1],
      ],
    );
    assert.deepEqual(seen.topicsSeen, ['orders/paid']);
    assert.deepEqual(seen.counts, { orders24h: 1, deliveries: 0, failed: 0, unmappedProducts: 1 });
    assert.ok(Date.now() - Date.parse(seen.lastOrderAt) < 60_000);
    assert.deepEqual(
      isOk(await merchant.api.get('/api/integrations')).data.map((one) => one.counts),
      [seen.counts],
    );
  });

  await t.test('its product is found, tried and mapped', async () => {
    const [product] = isOk(await merchant.api.get(`${at}/products?mapped=false&q=new-`)).data;
    assert.deepEqual(
      [product.sku, product.variantId, product.soldCount, product.skippedOrders, product.mappedBy],
      ['NEW-1', '12', 1, 1, null],
    );
    const { mappings } = isOk(await merchant.api.get(`${at}/mappings`));
    const wanted = [
      ...mappings.map(({ matchType, matchValue, fileId, kind, fileName }) => ({
        matchType,
        matchValue,
        fileId,
        kind,
        fileName,
      })),
      { matchType: 'variant_id', matchValue: '12', fileId: merchant.file(9) },
    ];
    const tried = isOk(await merchant.api.post(`${at}/mappings/preview`, { orderId: '1001', mappings: wanted }));
    assert.deepEqual([tried.credits, tried.reprocessableOrders, tried.lines[0].matchedBy], [1, 1, 'variant_id']);
    isOk(await merchant.api.put(`${at}/mappings`, { mappings: wanted }));
    assert.equal(isOk(await merchant.api.get(at)).counts.unmappedProducts, 0);
    assert.deepEqual(isOk(await merchant.api.get(`${at}/products`)).data[0].mappedBy.fileIds, [merchant.file(9)]);
  });

  await t.test('a test order is a dry run to its end', async () => {
    const before = isOk(await merchant.api.get('/api/credits'));
    const sent = isOk(await merchant.api.post(`${at}/test-order`, { targetUsername: 'me' }), 202);
    const done = await until(
      'it is completed',
      async () => {
        const delivery = await merchant.delivery(sent.deliveryId);
        return delivery.status === 'completed' && delivery;
      },
      60_000,
    );
    assert.deepEqual([done.dryRun, done.targetUsername, done.orderId], [true, 'me', sent.orderId]);
    assert.deepEqual(isOk(await merchant.api.get('/api/credits')), before);
  });
});

test('five thousand mappings go out and in as a table', async (t) => {
  const { bridge } = await startStack(t);
  const merchant = await Merchant.signUp(bridge, 1);
  const store = await merchant.store('generic');
  const rows = Array.from({ length: 5000 }, (_, i) => `sku,${i % 7 ? '' : "'="}SKU-${i},m-1-f1,"Preset, ${i}"`);
  const table = `﻿matchType,matchValue,fileId,fileName\r\n${rows.join('\r\n')}\r\n`;

  const dry = isOk(await csv(merchant, store, table, '?dryRun=true'));
  assert.deepEqual([dry.added, dry.changed, dry.removed, dry.errors], [5000, 0, 5, []]);
  const began = performance.now();
  isOk(await csv(merchant, store, table));
  const took = performance.now() - began;
  t.diagnostic(`5,000 mappings: ${Math.round(took)} ms`);
  assert.equal(isOk(await merchant.api.get(`/api/integrations/${store.id}`)).mappingCount, 5000);

  const out = await merchant.api.get(`/api/integrations/${store.id}/mappings.csv`);
  assert.match(out.headers['content-type'], /^text\/csv/);
  assert.ok(out.text.includes('\r\nsku,\'=SKU-0,deliver,m-1-f1,,"Preset, 0"\r\n'), out.text.slice(0, 300));
  const again = isOk(await csv(merchant, store, out.text, '?dryRun=true'));
  assert.deepEqual([again.added, again.changed, again.removed], [0, 0, 0]);

  const lines = out.text.split('\r\n');
  lines[3999] = 'sku,X,deliver,,,';
  const refused = await csv(merchant, store, lines.join('\r\n'));
  isError(refused, 422, 'VALIDATION_FAILED');
  assert.deepEqual(refused.json.error.details, [
    { field: 'line 4000, column fileId', problem: 'is required to deliver' },
  ]);
  assert.equal(
    (await merchant.api.get(`/api/integrations/${store.id}/mappings.csv`)).text,
    out.text,
    'nothing was saved',
  );
});

test('what a node has counted is there after it has stopped', async (t) => {
  const stack = await startStack(t);
  const merchant = await Merchant.signUp(stack.bridge, 1);
  const store = await merchant.store('generic');
  await merchant.order(store, { orderId: '1', username: 'ann' });
  await stack.bridge.stop();
  merchant.moveTo(await startBridge(t, { cloudUrl: stack.cloud.url, dataDir: stack.bridge.dataDir }));
  const seen = isOk(await merchant.api.get(`/api/integrations/${store.id}`));
  assert.deepEqual([seen.counts.orders24h, seen.counts.deliveries], [1, 1]);
  assert.equal(isOk(await merchant.api.get(`/api/integrations/${store.id}/products`)).data[0].soldCount, 1);
});

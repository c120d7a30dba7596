// The programs' signatures, judged by libraries that nobody here wrote: standardwebhooks, @octokit/webhooks-methods and
// @shopify/shopify-api.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { verify as verifyHex } from '@octokit/webhooks-methods';
import '@shopify/shopify-api/adapters/node';
import { ApiVersion, shopifyApi } from '@shopify/shopify-api';
import { Webhook } from 'standardwebhooks';
import { contract, Merchant, startStack } from './merchant.mjs';
import { Program, Scope, runBridge, until } from './harness.mjs';
import { sampleOrder } from './orders.mjs';
import { startReceiver, verifiedEvent } from './receiver.mjs';

const scope = new Scope({ after });
let stack, merchant;
before(async () => {
  stack = await startStack(scope);
  merchant = await Merchant.signUp(stack.bridge, 1);
});

// The seed's table of fields, in its order (section 2), then what spec 10.2 adds.
const FIELDS = ['id', 'type', 'createdAt', 'integrationId', 'deliveryId', 'delivery'];
const DELIVERY_FIELDS = [
  'orderId',
  'eventId',
  'status',
  'message',
  'resolutionCode',
  'reason',
  'sequence',
  'dryRun',
  'resolution',
  'itemCount',
  'items',
];

test('every event of a delivery is one that both witnesses verify, in the form that the contract tells', async () => {
  const receiver = await startReceiver(scope);
  const store = await merchant.store('provider_a');
  const made = await merchant.api.post('/api/webhook-subscriptions', { url: receiver.url, integrationIds: [store.id] });
  assert.equal(made.status, 201, made.text);

  const delivered = await merchant.order(store, { orderId: '1', username: 'zoé' });
  await merchant.reaches(delivered.deliveryId, 'completed');
  const failed = await merchant.order(store, { orderId: '2' });
  assert.equal(
    (await merchant.api.post(`/api/deliveries/${failed.deliveryId}/invalidate`, { reason: 'Größe “L” ✓' })).status,
    200,
  );
  assert.equal((await merchant.api.post(`/api/deliveries/${failed.deliveryId}/reopen`)).status, 200);
  const expected = {
    [delivered.deliveryId]: ['delivery.queued', 'delivery.completed'],
    [failed.deliveryId]: ['delivery.failed', 'delivery.invalidated', 'delivery.reopened'],
  };
  const count = Object.values(expected).flat().length;
  await until('all events', () => receiver.requests.length >= count);

  const schemaOf = (type) => contract.document.webhooks[type].post.requestBody.content['application/json'].schema.$ref;
  const seen = {};
  for (const request of receiver.requests) {
    const event = await verifiedEvent(request, made.json.secret);
    const validate = contract.ajv.getSchema(`openapi${schemaOf(event.type)}`);
    assert.ok(validate(event), JSON.stringify(validate.errors));
    assert.equal(request.headers['content-type'], 'application/json');
    assert.equal(request.headers['webhook-id'], event.id);
    assert.match(event.createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.match(event.id, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.deepEqual(Object.keys(event), FIELDS);
    assert.deepEqual(
      Object.keys(event.delivery),
      DELIVERY_FIELDS.filter((field) => field in event.delivery),
    );
    assert.equal(JSON.stringify(event), request.body);
    (seen[event.deliveryId] ??= [])[event.delivery.sequence - 1] = event;
  }
  for (const [id, types] of Object.entries(expected))
    assert.deepEqual(
      seen[id].map(({ type }) => type),
      types,
    );
  assert.deepEqual(
    seen[failed.deliveryId].map(({ delivery }) => [delivery.status, delivery.resolutionCode, delivery.reason]),
    [
      ['failed', 'username_missing', undefined],
      ['invalidated', undefined, 'Größe “L” ✓'],
      ['in_review', undefined, undefined],
    ],
  );
  const ids = receiver.requests.map(({ body }) => JSON.parse(body).id);
  assert.equal(new Set(ids).size, ids.length);
});

test('the witnesses refuse what is altered, and what another secret signed', async () => {
  const receiver = await startReceiver(scope);
  const made = await merchant.api.post('/api/webhook-subscriptions', { url: receiver.url });
  const { json } = await merchant.api.post(`/api/webhook-subscriptions/${made.json.id}/test`);
  const request = await receiver.waitFor('the test event', ({ id }) => id === json.eventId);
  await verifiedEvent(request, made.json.secret);
  const altered = request.body.replace('webhook.test', 'webhook.tesu');
  assert.equal(await verifyHex(made.json.secret, altered, request.headers['x-vendor-signature']), false);
  assert.throws(() => new Webhook(made.json.secret).verify(altered, request.headers));
  await assert.rejects(verifiedEvent(request, `whsec_${Buffer.alloc(24, 1).toString('base64')}`));
  // A replay is refused for its age.
  const old = String(Number(request.headers['webhook-timestamp']) - 600);
  assert.throws(() =>
    new Webhook(made.json.secret).verify(request.body, { ...request.headers, 'webhook-timestamp': old }),
  );
});

function storesLibrary(secret) {
  return shopifyApi({
    apiSecretKey: secret,
    apiKey: 'key',
    apiVersion: Object.values(ApiVersion).at(-1),
    hostName: 'bridge.example',
    isEmbeddedApp: false,
    logger: { log: () => {} },
  });
}

test("provider_a's orders of send-order are valid to the platform's own library, and to the bridge", async () => {
  const catcher = await startReceiver(scope, { answer: () => ({ status: 202, body: '{}' }) });
  const secret = 'a secret of more than sixteen';
  const sent = await runBridge([
    'send-order',
    '--provider',
    'provider_a',
    '--url',
    catcher.url,
    '--secret',
    secret,
    '--order-id',
    '4711',
    '--username',
    'zoé',
    '--sku',
    'A-1',
  ]);
  assert.equal(sent.code, 0, sent.stderr);
  const [{ body, headers }] = catcher.requests;
  const store = storesLibrary(secret);
  const validate = (rawBody) =>
    store.webhooks.validate({
      rawBody,
      rawRequest: {
        method: 'POST',
        url: '/',
        headers: {
          'x-shopify-hmac-sha256': headers['x-hosted-hmac-sha256'],
          'x-shopify-topic': headers['x-hosted-topic'],
          'x-shopify-api-version': '2025-01',
          'x-shopify-shop-domain': 'a.myshopify.com',
          'x-shopify-webhook-id': '1',
        },
      },
    });
  const valid = await validate(body);
  assert.deepEqual([valid.valid, valid.topic], [true, 'ORDERS_PAID'], JSON.stringify(valid));
  assert.equal((await validate(`${body} `)).valid, false);
  assert.equal(JSON.parse(body).id, 4711);

  for (const [index, provider] of ['provider_a', 'provider_b', 'generic'].entries()) {
    const integration = await merchant.store(provider);
    const url = `${stack.bridge.url}/api/webhooks/${provider}/${integration.id}`;
    const args = [
      'send-order',
      '--provider',
      provider,
      '--url',
      url,
      '--secret',
      integration.secret,
      '--order-id',
      String(4800 + index),
      '--username',
      'sent',
      '--sku',
      'A-2',
    ];
    const accepted = await runBridge(args);
    assert.equal(accepted.code, 0, accepted.stdout + accepted.stderr);
    const [row] = await merchant.deliveriesOf(integration, 4800 + index);
    await merchant.reaches(row.id, 'completed');
    const refused = await runBridge(args.map((word) => (word === integration.secret ? 'another secret of it' : word)));
    assert.equal(refused.code, 1, refused.stdout + refused.stderr);
  }
});

test('a Shopify order, signed as that platform does it, is accepted under its own names', async () => {
  const integration = await merchant.store('provider_a');
  const body = JSON.stringify(sampleOrder('provider_a', { orderId: '4900', username: 'real', sku: 'A-1' }));
  const headers = {
    'x-shopify-hmac-sha256': createHmac('sha256', integration.secret).update(body).digest('base64'),
    'x-shopify-topic': 'orders/paid',
    'x-shopify-api-version': '2025-01',
    'x-shopify-shop-domain': 'a.myshopify.com',
    'x-shopify-webhook-id': '1',
  };
  const judged = await storesLibrary(integration.secret).webhooks.validate({
    rawBody: body,
    rawRequest: { method: 'POST', url: '/', headers },
  });
  assert.equal(judged.valid, true, JSON.stringify(judged));
  const answer = await merchant.open.request('POST', `/api/webhooks/shopify/${integration.id}`, { body, headers });
  assert.equal(answer.status, 202, answer.text);
  await merchant.reaches(answer.json.deliveryId, 'completed');
});

test('`listen` believes the same events as the witnesses', async () => {
  const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
  const listener = await new Program('presetbridge', process.env.PRESETBRIDGE_BIN, [
    'listen',
    '--port',
    '0',
    '--secret',
    secret,
    '--json',
    '--once',
    '1',
  ]).listening();
  scope.after(() => listener.child.exitCode === null && listener.kill());
  const lines = [];
  listener.stdout.on('line', (line) => lines.push(line));
  const made = await merchant.api.post('/api/webhook-subscriptions', { url: `${listener.url}/hook`, secret });
  assert.equal(made.status, 201, made.text);
  assert.equal((await merchant.api.post(`/api/webhook-subscriptions/${made.json.id}/test`)).status, 202);
  const { code } = await Promise.race([
    listener.ended,
    once(AbortSignal.timeout(15_000), 'abort').then(() => ({ code: 'late' })),
  ]);
  assert.equal(code, 0, listener.tail());
  assert.equal(JSON.parse(lines.find((line) => line.includes('webhook.test'))).verified, true);
});

// The helpers that sign orders, against the stores' own libraries.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verify } from '@octokit/webhooks-methods';
import '@shopify/shopify-api/adapters/node';
import { ApiVersion, shopifyApi } from '@shopify/shopify-api';
import { sampleOrder, signatureHeaders } from './orders.mjs';

const secret = 'a signing secret';

function validatedByTheStoresLibrary(body, signature) {
  const store = shopifyApi({
    apiSecretKey: secret,
    apiKey: 'key',
    apiVersion: Object.values(ApiVersion).at(-1),
    hostName: 'bridge.example',
    isEmbeddedApp: false,
    logger: { log: () => {} },
  });
  const headers = {
    'x-shopify-hmac-sha256': signature,
    'x-shopify-topic': 'orders/paid',
    'x-shopify-api-version': '2025-01',
    'x-shopify-shop-domain': 'a.myshopify.com',
    'x-shopify-webhook-id': '1',
  };
  return store.webhooks.validate({ rawBody: body, rawRequest: { method: 'POST', url: '/', headers } });
}

test("provider_a's signature is one that the platform's library accepts", async () => {
  const body = JSON.stringify(sampleOrder('provider_a', { username: 'zoé', sku: 'A-1' }));
  const signature = signatureHeaders('provider_a', secret, body)['x-hosted-hmac-sha256'];
  assert.equal((await validatedByTheStoresLibrary(body, signature)).valid, true);
  assert.equal((await validatedByTheStoresLibrary(`${body} `, signature)).valid, false);
});

test('provider_b signs in the same way under its own header', () => {
  assert.equal(
    signatureHeaders('provider_b', secret, 'body')['x-plugin-webhook-signature'],
    signatureHeaders('provider_a', secret, 'body')['x-hosted-hmac-sha256'],
  );
});

test("generic's signature is the hex form that another library accepts", async () => {
  const body = JSON.stringify(sampleOrder('generic', { username: 'zoé', sku: 'A-1' }));
  const signature = signatureHeaders('generic', secret, body)['x-webhook-signature'];
  assert.equal(await verify(secret, body, signature), true);
  assert.equal(await verify(secret, `${body} `, signature), false);
});

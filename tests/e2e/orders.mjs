// Orders as the three kinds of store send and sign them (spec 2.1, 2.2).
import { createHmac } from 'node:crypto';

const hmac = (secret, body, encoding) => createHmac('sha256', secret).update(body).digest(encoding);

const profiles = {
  provider_a: (secret, body) => ({ 'x-hosted-hmac-sha256': hmac(secret, body, 'base64') }),
  provider_b: (secret, body) => ({ 'x-plugin-webhook-signature': hmac(secret, body, 'base64') }),
  generic: (secret, body) => ({ 'x-webhook-signature': `sha256=${hmac(secret, body, 'hex')}` }),
};

const given = (headers) => Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined));

// The signature header of these exact bytes.
export function signatureHeaders(provider, secret, body) {
  return profiles[provider](secret, body);
}

// Sends an order to an integration ({id, provider, secret}). `payload`: an object, or the text or bytes to send as they are.
// `headers` beats what the signature needs: undefined leaves a header out.
export function sendOrder(client, integration, payload, headers = {}, options = {}) {
  const body = typeof payload === 'string' || Buffer.isBuffer(payload) ? payload : JSON.stringify(payload);
  return client.request('POST', `/api/webhooks/${integration.provider}/${integration.id}`, {
    ...options,
    body,
    headers: given({
      'content-type': 'application/json',
      ...signatureHeaders(integration.provider, integration.secret, body),
      ...headers,
    }),
  });
}

// An order of one line as each provider writes it.
export function sampleOrder(provider, { orderId = '1001', username, sku, quantity = 1, email = 'buyer@example.com' }) {
  const line = { sku, quantity };
  const whole = Number(orderId);
  switch (provider) {
    case 'provider_a':
      return {
        id: whole,
        order_number: whole,
        email,
        note: '',
        financial_status: 'paid',
        note_attributes: username ? [{ name: 'vendor_username', value: username }] : [],
        line_items: [{ id: 1, product_id: 11, variant_id: 12, title: 'A preset', ...line }],
      };
    case 'provider_b':
      return {
        id: whole,
        order_key: `wc_order_${orderId}`,
        status: 'processing',
        billing: { email },
        meta_data: username ? [{ key: 'vendor_username', value: username }] : [],
        line_items: [{ id: 1, product_id: 11, variation_id: 12, name: 'A preset', ...line }],
      };
    case 'generic':
      return { orderId, customerEmail: email, targetUsername: username, items: [line] };
    default:
      throw new Error(`no provider ${provider}`);
  }
}

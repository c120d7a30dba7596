import { cleanup, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { createHmac, randomBytes } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { show } from '@/testing/render';
import { Verify } from './Verify';
import { VERIFY } from './verify_code';

afterEach(cleanup);

test.each([
  ['node', 'timingSafeEqual', 'x-vendor-signature', 'webhook-signature'],
  ['python', 'hmac.compare_digest', 'x-vendor-signature', 'webhook-signature'],
  ['php', 'hash_equals', 'HTTP_X_VENDOR_SIGNATURE', 'HTTP_WEBHOOK_SIGNATURE'],
] as const)('%s is shown where it is chosen: it compares in constant time, by the headers that are sent', async (language, ...parts) => {
  await show(<Verify />);
  await userEvent.setup().selectOptions(await screen.findByLabelText('Language'), language);
  const code = screen.getByLabelText('How to verify a signature').textContent;
  expect(code).toBe(VERIFY[language]);
  for (const part of parts) expect(code).toContain(part);
}); // prettier-ignore

test('the program for Node.js takes what is signed, also while the secret is replaced, and nothing else', async () => {
  const source = `data:text/javascript,${encodeURIComponent(VERIFY.node)}`;
  const { verified } = (await import(/* @vite-ignore */ source)) as {
    verified: (headers: Record<string, string>, body: Uint8Array, secret: string) => boolean;
  };
  const key = randomBytes(24);
  const secret = `whsec_${key.toString('base64')}`;
  const body = Buffer.from('{"name":"Motörhead"}');
  const now = Math.floor(Date.now() / 1000);
  const signed = (time: number) => ({
    'webhook-id': 'evt_1',
    'webhook-timestamp': `${time}`,
    'webhook-signature': `v1,x v1,${createHmac('sha256', key).update(`evt_1.${time}.`).update(body).digest('base64')}`,
  });
  const vendor = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  const headers = { ...signed(now), 'x-vendor-signature': vendor };
  expect(verified(headers, body, secret)).toBe(true);
  expect(verified({ ...signed(now), 'x-vendor-signature-previous': vendor }, body, secret)).toBe(true);
  expect(verified({ ...signed(now), 'x-vendor-signature-older': vendor }, body, secret)).toBe(true);
  expect(verified(headers, Buffer.from('{}'), secret)).toBe(false);
  expect(verified({ ...signed(now - 301), 'x-vendor-signature': vendor }, body, secret)).toBe(false);
  expect(verified(signed(now), body, secret)).toBe(false);
  // As many characters, and more bytes.
  expect(verified({ ...headers, 'x-vendor-signature': `é${vendor.slice(1)}` }, body, secret)).toBe(false);
});

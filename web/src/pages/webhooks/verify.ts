// The program that verifies an event, for the receiver's maker to copy. docs/webhooks.md has it too.
export const VERIFY = `import { createHmac, timingSafeEqual } from 'node:crypto';

const equal = (a, b) => a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));

export function verified(headers, body, secret) {
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': sent } = headers;
  if (!id || !sent || !(Math.abs(Date.now() / 1000 - Number(time)) < 300)) return false;
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const own = 'v1,' + createHmac('sha256', key).update(\`\${id}.\${time}.\`).update(body).digest('base64');
  return sent.split(' ').some((one) => equal(one, own));
}
`;

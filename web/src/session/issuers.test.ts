import { expect, test } from 'vitest';
import { startOf } from './issuers';

const back = (place: string, options?: { stepUp: boolean }) =>
  new URL(startOf('https://bridge.example/api/auth/external/google', place, options)).searchParams;

test('one comes back from a provider to the page with its filters, in the form that the service accepts', () => {
  expect(back('/deliveries?status=failed,in_review&q=a b').get('returnTo')).toBe(
    '/deliveries?status=failed%2Cin_review&q=a%20b',
  );
  expect(back('/keys?tab=active', { stepUp: true }).get('stepUp')).toBe('true');
  expect(back('/keys').has('stepUp')).toBe(false);
  expect(back('/keys?a=b#part').get('returnTo')).toBe('/keys?a=b');
  expect(back(`/orders?q=${'x'.repeat(500)}`).get('returnTo')).toBe('/orders');
});

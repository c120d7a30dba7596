import { expect, test } from 'vitest';
import { placeAfter } from './parts';

test('one comes back to a page of this dashboard, wherever the address would lead', () => {
  expect(placeAfter(undefined)).toBe('/');
  expect(placeAfter('/deliveries?status=failed#x')).toBe('/deliveries?status=failed#x');
  for (const elsewhere of [
    'https://evil.example/x',
    '//evil.example',
    '/\\evil.example',
    'javascript:alert(1)',
    'http:evil',
  ]) {
    expect(placeAfter(elsewhere), elsewhere).toMatch(/^\/(?!\/|\\)/);
    expect(new URL(placeAfter(elsewhere), location.origin).origin).toBe(location.origin);
  }
});

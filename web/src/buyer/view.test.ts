import { expect, test } from 'vitest';
import type { BuyerDelivery } from './api';
import { fresh, pageOf, type Acts } from './view';

const delivery = (state: BuyerDelivery['state'], status: BuyerDelivery['items'][number]['status'], dryRun = false) =>
  ({
    state, merchantName: 'Marlow Tone Co.', supportEmail: 'help@marlowtones.example', supportUrl: null, orderNumber: '#1001',
    username: 'jonasek', senderUsername: 'marlow', requestedAt: null, startsAt: null, items: [{ name: 'Lead', kind: 'preset', status }], dryRun,
    canCorrect: false, canRetry: false, canActAt: null, updatedAt: '2026-11-21T10:06:24.000Z',
    cloud: { name: null, friendRequestsUrl: null, appUrl: null },
  }) as BuyerDelivery; // prettier-ignore
const footOf = (it: BuyerDelivery) => pageOf(it, fresh(), {} as Acts, new Date()).querySelector('footer')?.textContent;

test.each([
  ['delivered', 'delivered', false, 'Delivered with '],
  ['closed', 'taken_back', false, ''],
  ['on_its_way', 'on_its_way', false, ''],
  ['delivered', 'delivered', true, ''],
] as const)(
  'the foot names the shop to write to, and says that something was delivered only then: %s, %s',
  (state, status, dryRun, delivered) => {
    expect(footOf(delivery(state, status, dryRun))).toBe(
      `Questions? Write to Marlow Tone Co.${delivered}Preset Delivery Bridge`,
    );
  },
);

test('a delivery that others come before names its time, until that passes', () => {
  const it = { ...delivery('on_its_way', 'on_its_way'), startsAt: '2026-11-21T12:30:00.000Z' };
  const leadAt = (now: string) => pageOf(it, fresh(), {} as Acts, new Date(now)).querySelector('.lead')?.textContent;
  expect(leadAt('2026-11-21T12:10:00.000Z')).toMatch(/^It goes on today at .* or a little later\. You can close/);
  expect(leadAt('2026-11-21T12:31:00.000Z')).toMatch(/^Usually less than a minute\. You can close this page\./);
});

test('a delivery on its way says whose friend request to accept, where one may come', () => {
  const it = delivery('on_its_way', 'on_its_way');
  const lead = (more: Partial<BuyerDelivery>) =>
    pageOf({ ...it, ...more }, fresh(), {} as Acts, new Date('2026-11-21T12:10:00.000Z')).querySelector('.lead')
      ?.textContent;
  const asks = 'If @marlow sends you a friend request on the cloud platform, accept it.';
  expect(lead({})).toBe(`Usually less than a minute. You can close this page. ${asks}`);
  expect(lead({ startsAt: '2026-11-21T12:30:00.000Z' })).toMatch(new RegExp(`close this page\\. ${asks}$`));
  expect(lead({ cloud: { ...it.cloud, name: 'Tone Cloud' } })).toContain('request on Tone Cloud, accept');
  expect(lead({ senderUsername: null })).toMatch(/close this page\.$/);
  expect(lead({ dryRun: true })).toMatch(/close this page\.$/);
});

test('a delivered order points to the shared files, but never says that they are certainly there', () => {
  const cloud = { name: null, friendRequestsUrl: null, appUrl: 'https://cloud.example/app' };
  const it = { ...delivery('delivered', 'delivered'), cloud };
  const shown = (more: Partial<BuyerDelivery>) => {
    const page = pageOf({ ...it, ...more }, fresh(), {} as Acts, new Date());
    return [page.querySelector('.lead')?.textContent, page.querySelector('.primary')?.textContent ?? null];
  };
  // The answer does not say whether the merchant gave them by hand.
  expect(shown({})).toEqual([
    'You find them in the app, among the files that others share with you, unless Marlow Tone Co. gave them to you another way.',
    'Open the app',
  ]);
  // Nothing is shared without a username.
  expect(shown({ username: null })).toEqual(['Marlow Tone Co. gave them to you another way.', null]);
});

import { expect, test } from 'vitest';
import type { BuyerDelivery } from './api';
import { fresh, pageOf, type Acts, type Local } from './view';

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
    'Look in the app, among the files that others share with you. Not there? Ask Marlow Tone Co.',
    'Open the app',
  ]);
  // Nothing is shared without a username.
  expect(shown({ username: null })).toEqual(['Marlow Tone Co. gave them to you another way.', null]);
});

const NOW = new Date('2026-11-21T12:10:00.000Z');
const APP = {
  name: 'Tone Cloud',
  friendRequestsUrl: 'https://cloud.example/friends',
  appUrl: 'https://cloud.example/app',
};
const shownOf = (it: BuyerDelivery, local: Partial<Local> = {}) =>
  pageOf(it, { ...fresh(), ...local }, {} as Acts, NOW);
const filled = (page: HTMLElement) => [...page.querySelectorAll('.primary')].map(({ textContent }) => textContent);

test('one button is filled: while a question is open, the one of the question', () => {
  for (const [state, open, plain] of [
    ['accept_request', 'Open friend requests', 'Open friend requests'],
    ['declined', 'Try again', 'Try again'],
    ['blocked', 'Try again', 'Open the app'],
  ] as const) {
    const it = { ...delivery(state, 'on_its_way'), cloud: APP, canCorrect: true, canRetry: true };
    expect(filled(shownOf(it))).toEqual([plain]);
    expect(filled(shownOf(it, { changing: true }))).toEqual(['Change username']);
    const asked = shownOf(it, { changing: true, confirming: 'jen' });
    expect(filled(asked)).toEqual([expect.stringMatching(/^Send to @\W?jen\W?$/)]);
    expect([...asked.querySelectorAll('.wide')].at(-1)?.textContent).toMatch(/^Keep @\W?jonasek\W?$/);
    expect(asked.textContent).toContain(open);
  }
});

test('a buyer who blocks the shop was sent nothing, and is led to the app first', () => {
  const it = { ...delivery('blocked', 'on_its_way'), canCorrect: true, canRetry: true };
  const page = shownOf(it);
  expect(page.querySelector('.recipient')?.textContent).toMatch(/^Your username/);
  expect(page.querySelector('.lead')?.textContent).toMatch(
    /First, lift the block in the app\. Then try again here, and accept the new request\.$/,
  );
  expect(filled(page)).toEqual(['Try again']); // the address of the app is not known
});

test('nothing is promised at once while an act has to wait, or without a connection', () => {
  const it = { ...delivery('username_not_found', 'on_its_way'), canCorrect: true };
  const lead = (more: Partial<BuyerDelivery>) => shownOf({ ...it, ...more }).querySelector('.lead')?.textContent;
  const canActAt = '2026-11-21T12:10:59.000Z';
  expect(lead({})).toMatch(/Check your username and we try again right away\.$/);
  expect(lead({ canActAt })).toMatch(/Check your username\.$/);
  expect(lead({ state: 'username_missing' })).toBe('Tell us your username, and we send them right away.');
  expect(lead({ state: 'username_missing', canActAt })).toBe('Tell us your username.');

  const waits = { ...delivery('accept_request', 'on_its_way'), requestedAt: '2026-11-21T12:00:00.000Z' };
  const notice = (local: Partial<Local>) => shownOf(waits, local).querySelector('.notice p')?.textContent;
  expect(notice({})).toMatch(/^Sent today at .*\. This page updates by itself\.$/);
  expect(notice({ offline: true })).toMatch(/^Sent today at [^.]*\.$/);
});

test('the list says what came once it did', () => {
  const title = (...of: Parameters<typeof delivery>) => shownOf(delivery(...of)).querySelector('h2')?.textContent;
  expect(title('delivered', 'delivered')).toBe('What you got');
  expect(title('delivered', 'delivered', true)).toBe('What you get');
  expect(title('on_its_way', 'on_its_way')).toBe('What you get');
  expect(title('closed', 'taken_back')).toBe('What you ordered');
});

// A completed delivery claims to have done no more than it did, and no longer claims what was taken back.
import { act, cleanup, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { queries } from '@/api/queries';
import { momentWithin } from '@/i18n/format';
import { aDelivery, itemsOf } from '@/testing/delivery';
import { show } from '@/testing/render';
import { BY_HAND } from '@/vocabulary/delivery_line';
import { DeliveryFacts } from './DeliveryFacts';
import { Journey } from './Journey';
import { DeliveryPanel } from './panels';
import { Questions } from './Questions';
import { takenBackWords } from './taken_back';
import type { Delivery } from './types';

beforeEach(() => void vi.stubGlobal('fetch', () => new Promise(() => undefined)));
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const KEYS = ['order_received', 'buyer_found', 'friend_request', 'accepted', 'shared'] as const;
const RECEIVED = '2026-11-20T10:00:00.000Z';
const SHARED = '2026-11-20T10:05:00.000Z';
const COMPLETED = '2026-11-22T13:21:05.000Z';
type Item = Partial<Delivery['items'][number]>;
const shared: Item = { status: 'shared', sharedAt: SHARED, credits: 1 };
const revoked: Item = { ...shared, status: 'revoked' };

const completed = (items: Item[], more: Partial<Delivery> = {}) =>
  aDelivery({
    ...itemsOf(...items),
    status: 'completed',
    createdAt: RECEIVED,
    completedAt: COMPLETED,
    allowedActions: ['reopen', 'invalidate'],
    steps: KEYS.map((key) => ({ key, state: 'done', at: key === 'order_received' ? RECEIVED : COMPLETED })),
    ...more,
  });
const page = (it: Delivery) =>
  show(
    <Questions it={it}>
      <Journey it={it} />
      <DeliveryPanel it={it} />
      <DeliveryFacts it={it} />
    </Questions>,
  );
const steps = async () =>
  [...(await screen.findByRole('list', { name: 'Journey' })).children].map((step) => [
    step.textContent,
    step.getAttribute('data-state'),
  ]);

test.each([
  [[shared, shared], null],
  [[shared, revoked], '1 of 2 presets was taken back'],
  [[shared, revoked, { status: 'revoking' }], '1 of 3 presets was taken back'],
  [[revoked, { ...shared, status: 'revoking' }, { status: 'dropped' }], '1 of 2 presets was taken back'],
  [[revoked, revoked], 'All presets were taken back'],
  [[revoked], 'The preset was taken back'],
  [[shared, { ...revoked, former: true }], null],
  [[{ ...revoked, staysWithCustomer: true }], null],
  [[revoked, { ...revoked, staysWithCustomer: true }], '1 of 2 presets was taken back'],
] as [Item[], string | null][])('how many presets were taken back: %#', (items, says) => {
  expect(takenBackWords(completed(items))).toBe(says);
});

test('a preset that the buyer has by another order is not said to be taken back', async () => {
  await page(completed([revoked, { ...revoked, staysWithCustomer: true }]));
  expect(await screen.findByText('Has it by another order')).toBeTruthy();
  expect(screen.getByText('Taken back')).toBeTruthy();
});

test('only a completed delivery is said to be without what it delivered', () => {
  expect(takenBackWords(completed([revoked], { status: 'in_review' }))).toBeNull();
});

test('a delivery whose presets were taken back shows so, and the way to share them again', async () => {
  const it = completed([revoked, revoked]);
  const { container } = await page(it);
  expect((await steps()).at(-1)).toEqual(['Taken back', 'skipped']);
  expect(container.textContent).not.toContain('All 5 steps');
  const words = screen.getByText(/^To share them again/);
  expect(words.textContent).toBe('To share them again: Reopen…, then “Approve”. It costs nothing again.');
  await userEvent.setup().click(screen.getByRole('button', { name: 'Reopen…' }));
  await screen.findByText('Put order #4124 back in review?');
});

test.each([
  [[revoked, { ...revoked, credits: 0 }], {}, undefined, /Approve”\. It costs 1 credit\.$/],
  [[shared, revoked], {}, undefined, /^To share it again.* nothing again\.$/],
  [[shared, shared], {}, undefined, null],
  [[revoked], { allowedActions: [] }, undefined, null],
  [[{ ...revoked, fileId: 'f-1' }], { refunded: true }, [[1, 1, 'f-1']], null],
  [[{ ...revoked, fileId: 'f-1' }], { refunded: true }, [[1, 0, 'f-1'], [1, 1, 'f-2']], /^To share it again/],
  [[{ ...revoked, fileId: 'f-1' }, { ...revoked, fileId: 'f-2' }], { refunded: true }, [[1, 0, 'f-1'], [1, 1, 'f-2']], /^To share again what is still paid for/],
  [[{ ...revoked, fileId: 'f-1' }], { refunded: true }, [[1, 0, 'f-2'], [1, 1, 'f-1']], null],
] as [Item[], Partial<Delivery>, [number, number, string][] | undefined, RegExp | null][])(
  'what was taken back is shared again where it is paid for, at its price: %#',
  async (items, more, lines, says) => {
    const { client } = await page(completed(items, more));
    const order = lines?.map(([quantity, refundedQuantity, fileId]) => ({ lineId: fileId, quantity, refundedQuantity, files: [{ fileId }] }));
    act(() => void client.setQueryData(queries.order('ord_0a1b2c3d4e5f6').queryKey, { lines: order } as never));
    await screen.findByRole('heading', { name: 'Presets' });
    const found = screen.queryByText(/^To share/)?.textContent ?? null;
    if (says) expect(found).toMatch(says);
    else expect(found).toBeNull();
  },
); // prettier-ignore

test.each([
  [[shared, { ...shared, sharedAt: '2026-11-20T10:07:00.000Z' }], `Delivered ${momentWithin('2026-11-20T10:07:00.000Z')}, 7 min after the order.`],
  [[shared, { status: 'shared' }], `Delivered ${momentWithin(COMPLETED)}, 2 d after the order.`],
  [[{ status: 'already_shared', sharedAt: '2026-01-02T10:00:00.000Z' }], `Delivered ${momentWithin(COMPLETED)}, 2 d after the order.`],
  [[shared, { status: 'delivered_by_hand' }], `Marked as delivered ${momentWithin(COMPLETED)}, 2 d after the order.`],
] as [Item[], string][])('a delivery says when it was shared, not when it was completed again: %#', async (items, says) => {
  await page(completed(items));
  await screen.findByText(says);
}); // prettier-ignore

test('the steps that did not happen are not needed where all was delivered by hand', async () => {
  const byHand: Item = { status: 'delivered_by_hand' };
  const at = { order_received: RECEIVED, buyer_found: COMPLETED, friend_request: null, accepted: null, shared: COMPLETED };
  const it = completed([byHand, byHand], {
    message: BY_HAND,
    steps: KEYS.map((key) => ({ key, state: 'done', at: at[key] })),
  });
  const { container } = await page(it);
  expect(await steps()).toEqual([
    ['Order received', 'done'],
    ['Buyer found', 'done'],
    ['Friend requestNot needed', 'skipped'],
    ['AcceptedNot needed', 'skipped'],
    ['Delivered by hand', 'done'],
  ]);
  expect(container.textContent).not.toContain('All 5 steps');
  cleanup();

  // The request was accepted at once: its own time is not known.
  const accepted = it.steps.map((step) => (step.key === 'accepted' ? { ...step, at: COMPLETED } : step));
  await page({ ...it, steps: accepted });
  expect((await steps()).map(([, state]) => state)).toEqual(['done', 'done', 'done', 'done', 'done']);
  cleanup();

  // One preset was shared, so its buyer was a friend.
  await page({ ...it, ...itemsOf(shared, byHand) });
  expect((await steps()).map(([name]) => name)).toEqual(['Order received', 'Buyer found', 'Friend request', 'Accepted', 'Shared']);
}); // prettier-ignore

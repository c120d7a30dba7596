// The page says what would really happen next, and offers no answer before another where there is a doubt.
import { act, cleanup, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { queries } from '@/api/queries';
import { aDelivery, failedFor, itemsOf } from '@/testing/delivery';
import { show } from '@/testing/render';
import { Journey } from './Journey';
import { LazyActions } from './LazyActions';
import { DeliveryPanel } from './panels';
import { Questions } from './Questions';
import { Timeline } from './Timeline';
import type { Delivery } from './types';

beforeEach(() => void vi.stubGlobal('fetch', () => new Promise(() => undefined)));
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const page = (it: Delivery) =>
  show(
    <Questions it={it}>
      <LazyActions it={it} />
      <Journey it={it} />
      <DeliveryPanel it={it} />
      <Timeline it={it} />
    </Questions>,
  );
const KEYS = ['order_received', 'buyer_found', 'friend_request', 'accepted', 'shared'] as const;
const stepsTo = (here: number, state: 'current' | 'stopped') =>
  KEYS.map((key, n) => ({ key, state: n < here ? 'done' : n === here ? state : 'ahead', at: null }) as const);
const names = async () =>
  [...(await screen.findByRole('list', { name: 'Journey' })).children].map(({ textContent }) => textContent);

test('a delivery that is queued again is in line, and not accepted', async () => {
  const { container } = await page(aDelivery({ steps: stepsTo(3, 'current'), nextLookAt: '2999-11-22T13:21:05.000Z' }));
  expect(await names()).toEqual(['Order received', 'Buyer found', 'Friend request', 'In line', 'Shared']);
  expect(container.textContent).toContain('Step 4 of 5. In line');
  expect(container.textContent).not.toContain('Next check');
  cleanup();
  await page(aDelivery({ status: 'processing', steps: stepsTo(3, 'current') }));
  expect((await names())[3]).toBe('In progress');
});

const reopened = (...items: Parameters<typeof itemsOf>) =>
  aDelivery({
    ...itemsOf(...items),
    status: 'in_review',
    reviewReason: 'reopened',
    allowedActions: ['approve', 'complete', 'invalidate'],
    steps: stepsTo(4, 'stopped'),
  });

test.each([
  [[{ status: 'shared' }, { status: 'shared' }], 'The buyer has all 2 presets. If you approve it, nothing more is sent, and it is completed again.', 'Shared, in review'],
  [[{ status: 'shared' }, {}], 'If you approve it, 1 preset is shared: 1 credit.', 'In review'],
  [[{ status: 'dropped' }], /^Nothing of it is left to deliver\./, 'In review'],
] as const)('a reopened delivery says what an approval does: %j', async (items, says, last) => {
  await page(reopened(...(items as unknown as Parameters<typeof itemsOf>)));
  await screen.findByText(says);
  expect((await names()).at(-1)).toBe(last);
}); // prettier-ignore

test('who reopens a completed delivery reads what the buyer keeps', async () => {
  const user = userEvent.setup();
  await page(
    aDelivery({
      ...itemsOf({ status: 'shared' }, { status: 'shared' }),
      status: 'completed',
      allowedActions: ['reopen'],
    }),
  );
  await user.click(await screen.findByRole('button', { name: 'More' }));
  await user.click(await screen.findByRole('menuitem', { name: 'Reopen…' }));
  await screen.findByText('The buyer keeps 2 presets.');
});

test.each([
  ['high_risk', ['default', 'default', 'subtle']],
  ['payment_withdrawn', ['default', 'default', 'subtle']],
  ['held', ['filled', 'subtle', 'default']],
] as const)('to approve and to stop weigh the same where there is a doubt: %s', async (reviewReason, looks) => {
  await page(aDelivery({ status: 'in_review', reviewReason, allowedActions: ['approve', 'complete', 'invalidate'] }));
  const looksOf = (name: string) => screen.getByRole('button', { name }).getAttribute('data-variant');
  await screen.findByRole('button', { name: 'Approve' });
  expect(['Approve', 'Stop delivery…', 'Mark as delivered by hand…'].map(looksOf)).toEqual(looks);
});

test('a username is changed only to another one, and left as it is by Cancel', async () => {
  const user = userEvent.setup();
  const { container } = await page(
    aDelivery({ status: 'waiting_for_friendship', requestedAt: '2026-11-22T13:21:05.000Z' }),
  );
  await user.click(await screen.findByRole('button', { name: 'Change username' }));
  expect(container.textContent).toContain(
    'The request to @jonasek_ will be withdrawn, and the new user will be asked.',
  );
  await user.click(screen.getByRole('button', { name: 'Save and ask again' }));
  await screen.findByText('That is the present username. Type another one.');
  await user.click(screen.getByRole('button', { name: 'Cancel' }));
  expect(document.activeElement).toBe(await screen.findByRole('button', { name: 'Change username' }));
  expect(screen.queryByRole('textbox')).toBeNull();
});

test.each([
  ['credentials_missing', 0, 'We need your cloud login to share files. This delivery also needs 2 credits, and you have 0. See credits. Nothing was shared'],
  ['credentials_missing', 2, 'Deliveries go on by themselves once it is saved.'],
  ['credentials_invalid', 1, 'Sign in again. This delivery also needs 2 credits, and you have 1. See credits. Nothing was shared'],
  ['credentials_invalid', 2, '12 deliveries wait for this and go on by themselves.'],
] as const)('a login that is missing is not the only obstacle without credits: %s, %i', async (code, available, says) => {
  const { client, container } = await page(failedFor(code));
  act(() => void client.setQueryData(queries.credits().queryKey, { available } as never));
  await vi.waitFor(() => expect(container.textContent).toContain(says));
  const link = screen.queryByRole('link', { name: 'See credits' });
  expect(link?.getAttribute('href') ?? null).toBe(available < 2 ? '/credits' : null);
}); // prettier-ignore

test.each(['preset_not_shareable', 'preset_not_found'] as const)(
  'a file that was put right is tried again: %s',
  async (code) => {
    await page(failedFor(code));
    expect((await screen.findByRole('button', { name: 'Retry' })).getAttribute('data-variant')).toBe('default');
  },
);

test('an e-mail address as the username is recognised, and only a given one is corrected', async () => {
  const { container } = await page(failedFor('username_not_found', { targetUsername: 'lena@mail.example' }));
  expect(container.textContent).toContain('looks like an e-mail address. Enter the username of the buyer’s profile');
  expect(container.textContent).toContain('They can correct it on their order page.');
  cleanup();
  const missing = await page(failedFor('username_missing', { targetUsername: null }));
  expect(missing.container.textContent).toContain('They can enter it on their order page.');
});

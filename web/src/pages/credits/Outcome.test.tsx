import { act, cleanup, screen, waitFor } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { queries } from '@/api/queries';
import { show } from '@/testing/render';
import type { Purchase } from '@/vocabulary/credits';
import { Outcome } from './Outcome';

afterEach(cleanup);

const bought = (state: Purchase['state']) =>
  ({ state, creditsGranted: 100, packName: '100 credits', amount: 1900, currency: 'eur', url: null }) as Purchase;

test.each([
  ['paid', false],
  ['failed', false],
  ['paid', true],
] as const)('a payment leads back to the guide until something was delivered: %s, %s', async (state, firstDelivery) => {
  const { client } = await show(<Outcome it={bought(state)} asked />);
  await screen.findByRole('heading');
  act(() => {
    client.setQueryData(queries.overview().queryKey, { setup: { firstDelivery } } as never);
    client.setQueryData(queries.credits().queryKey, { available: 7, debt: 0 } as never);
  });
  if (state === 'paid') await screen.findByText('Your balance now is 7.');
  const way = await screen.findByRole('link', { name: firstDelivery ? 'Go to credits' : 'Back to the guide' });
  expect(way.getAttribute('href')).toBe(firstDelivery ? '/credits' : '/start');
  expect(screen.queryAllByRole('link', { name: 'Back to the guide' })).toHaveLength(firstDelivery ? 0 : 1);
});

test('the way back to the guide stays in its place when the first delivery is done meanwhile', async () => {
  const { client } = await show(<Outcome it={bought('paid')} asked />);
  const setup = (firstDelivery: boolean) =>
    act(() => void client.setQueryData(queries.overview().queryKey, { setup: { firstDelivery } } as never));
  setup(false);
  const way = await screen.findByRole('link', { name: 'Back to the guide' });
  setup(true);
  await act(() => new Promise((done) => setTimeout(done, 20))); // readers of the cache are notified later
  expect(screen.getByRole('link', { name: 'Back to the guide' })).toBe(way);
});

test.each([
  [2, null, 'Your balance now is 98. 2 credits were spent since the payment.'],
  [0, null, 'Your balance now is 98.'],
  [100, 'more', 'Your balance now is 98.'], // the sum is not known
] as const)('what was spent since the payment is said beside what is left: %s', async (spent, nextCursor, says) => {
  const paidAt = '2026-11-28T10:00:00.000Z';
  const { client } = await show(<Outcome it={{ ...bought('paid'), paidAt }} asked />);
  await screen.findByRole('heading');
  act(() => {
    client.setQueryData(queries.credits().queryKey, { available: 98, debt: 0, held: 0 } as never);
    const { queryKey } = queries.ledger({ kind: 'spend', createdFrom: paidAt, limit: 100 });
    client.setQueryData(queryKey, { data: Array(spent).fill({ credits: 1 }), nextCursor } as never);
  });
  expect((await screen.findByText(/^Your balance/)).textContent.trim()).toBe(says);
});

test('credits on hold are said too', async () => {
  const { client } = await show(<Outcome it={bought('paid')} asked />);
  await screen.findByRole('heading');
  act(() => void client.setQueryData(queries.credits().queryKey, { available: 98, debt: 0, held: 2 } as never));
  const says = 'Your balance now is 98. 2 held for deliveries in progress';
  expect((await screen.findByText(/^Your balance/)).textContent.trim()).toBe(says);
});

test.each([
  [4, 'pur_ours', '100 credits were added. 4 of them paid your debt.'],
  [4, 'pur_other', '100 credits were added.'],
  [0, 'pur_ours', '100 credits were added.'],
])('the credits that paid debt are named: %s of %s', async (credits, purchaseId, says) => {
  const paidAt = '2026-11-28T10:00:00.000Z';
  const { client } = await show(<Outcome it={{ ...bought('paid'), id: 'pur_ours', paidAt }} asked />);
  await screen.findByRole('heading');
  act(() => {
    const createdTo = '2026-11-28T10:00:01.000Z';
    const { queryKey } = queries.ledger({ kind: 'debt_paid', createdFrom: paidAt, createdTo, limit: 100 });
    client.setQueryData(queryKey, { data: credits ? [{ credits, purchaseId }] : [], nextCursor: null } as never);
  });
  const text = await screen.findByText(/^100 credits were added/);
  await waitFor(() => expect(text.textContent.trim()).toBe(says));
});

test.each([
  [1000, 'Partly refunded', '€10.00 of this payment went back, and the credits of that part with it.'],
  [1900, 'Refunded', '€19.00 of this payment went back, and its credits with it.'],
])('a refund of a part is said to be one: %s', async (amountRefunded, title, text) => {
  await show(<Outcome it={{ ...bought('refunded'), amountRefunded }} asked />);
  await screen.findByRole('heading', { name: title });
  screen.getByText(text);
});

test('a paid purchase has its credits once, and its day', async () => {
  await show(<Outcome it={{ ...bought('paid'), paidAt: '2026-11-03T10:00:00.000Z' }} asked />);
  await screen.findByRole('heading', { name: 'Paid' });
  screen.getByText(/^€19\.00, \S/);
  expect(document.body.textContent.match(/100 credits/g)).toHaveLength(1);
});

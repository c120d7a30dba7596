// The rows of the list stay under the pointer.
import { act, cleanup, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Schemas } from '@/api/client';
import { queries } from '@/api/queries';
import { liveRows } from '@/live/rows';
import { liveState } from '@/live/state';
import { show } from '@/testing/render';
import { OrderRows } from './OrderRows';
import { Orders } from './Orders';
import { queryOf } from './filters';

const at = vi.hoisted(() => ({ search: {} }));
vi.mock('@tanstack/react-router', async (original) => ({
  ...(await original<typeof import('@tanstack/react-router')>()),
  getRouteApi: () => ({ useSearch: () => at.search }),
}));
beforeEach(() => liveState.set('live'));
afterEach(() => {
  cleanup();
  liveState.set('connecting');
  liveRows.follow(undefined);
  at.search = {};
});

const anOrder = (n: number) =>
  ({
    id: `ord_${n}`,
    integrationId: 'int_0a1b2c3d4e5f6',
    orderId: `${n}`,
    orderNumber: `#${n}`,
    outcome: 'delivery',
    deliveryId: `del_${n}`,
    deliveryStatus: 'processing',
    resolutionCode: null,
    lineCount: 0,
    unmappedCount: 0,
    targetUsername: null,
    deliveryUsername: null,
    dryRun: false,
    receivedAt: '2026-11-22T08:15:30.000Z',
  }) as unknown as Schemas['Order'];
const numbers = () => screen.getAllByRole('row').slice(1).map((row) => /#\d/.exec(row.textContent ?? '')?.[0]); // prettier-ignore

async function shown() {
  const { client } = await show(<Orders />);
  const come = (...all: number[]) =>
    act(() =>
      client.setQueryData(queries.orders(queryOf(at.search, 0)).queryKey, { data: all.map(anOrder), nextCursor: null }),
    );
  await come(1, 2);
  await vi.waitFor(() => expect(numbers()).toEqual(['#1', '#2']));
  return come;
}

test('new orders wait until they are asked for', async () => {
  const come = await shown();
  await come(3, 1, 2);
  const fresh = await screen.findByRole('button', { name: '1 new, show' });
  expect(numbers()).toEqual(['#1', '#2']);
  await userEvent.setup().click(fresh);
  expect(numbers()).toEqual(['#3', '#1', '#2']);
});

test('an order that left the list stays, with the status that its delivery has now', async () => {
  liveRows.follow({
    newest: (id) =>
      id === 'del_2'
        ? { id, status: 'completed', resolutionCode: null, items: { shared: 1, total: 1 }, updatedAt: '2026-11-22T15:00:00.000Z', version: 9 }
        : undefined,
    flushes: () => 1,
    subscribe: () => () => undefined,
  }); // prettier-ignore
  const come = await shown();
  await come(3, 1);
  await screen.findByRole('button', { name: '1 new, show' });
  expect(numbers()).toEqual(['#1', '#2']);
  expect(screen.getByText('Completed')).toBeTruthy();
});

test('beside its job the list is as it is read', async () => {
  at.search = { job: 'blk_0a1b2c3d4e5f6' };
  const come = await shown();
  await come(2);
  await vi.waitFor(() => expect(numbers()).toEqual(['#2']));
});

test.each([
  ['lena_hartwig', 'lena', '@lenacorrected', 'The order says @lena_hartwig.'],
  [null, 'lena', '@lenagiven later', 'The order names nobody.'],
  ['lena', 'lena', '@lena', undefined],
  ['lena', null, '@lena', undefined],
])('the order says %s and its delivery is for %s', async (targetUsername, deliveryUsername, buyer, hint) => {
  const it = { ...anOrder(1), targetUsername, deliveryUsername };
  await show(<OrderRows rows={[it]} stores={[]} list="" busy={false} />);
  const [cell] = screen.getAllByText((_, of) => of?.tagName === 'TD' && of.textContent === buyer);
  expect(cell?.querySelector('[title]')?.getAttribute('title') ?? undefined).toBe(hint);
});

test('a delivery that shares nothing is marked as a test', async () => {
  const real = { ...anOrder(1), deliveryStatus: 'completed' } as Schemas['Order'];
  await show(<OrderRows rows={[real, { ...real, id: 'ord_2', dryRun: true }]} stores={[]} list="" busy={false} />);
  const [first, second] = screen.getAllByRole('row').slice(1).map((row) => row.textContent ?? ''); // prettier-ignore
  expect(first).toContain('Completed');
  expect(first).not.toContain('Test');
  expect(second).toContain('Rehearsed');
  expect(second).toContain('Test');
});

test.each([
  ['no_mapped_items', 1, 'Waiting for a match 1 without preset', 'amber', '0 of 1'],
  ['no_mapped_items', 0, 'Nothing to deliver', 'grey', '1 product'],
  ['stopped', 0, 'Stopped', 'grey', '1 of 1'],
] as const)(
  'an order with the outcome %s and %i products without a preset',
  async (outcome, unmappedCount, word, colour, count) => {
    const it = { ...anOrder(1), outcome, unmappedCount, lineCount: 1, deliveryId: null, deliveryStatus: null };
    await show(<OrderRows rows={[it]} stores={[]} list="" busy={false} />);
    const link = await screen.findByRole('link', { name: word });
    expect(link.querySelector('svg')?.dataset.colour).toBe(colour);
    expect(screen.getByText(count)).toBeTruthy();
  },
);

test('the first line of a row has the marks, which a narrow screen shows there', async () => {
  const it = { ...anOrder(1), unmappedCount: 1, lineCount: 2, test: true, refunded: true, cancelled: true };
  await show(<OrderRows rows={[it]} stores={[]} list="" busy={false} />);
  const first = document.querySelector('td[data-narrow="first"]')?.textContent;
  for (const mark of ['Test', 'Refunded', 'Cancelled', '1 without preset']) expect(first).toContain(mark);
  expect(document.querySelector('tbody')?.textContent?.match(/Test|Refunded|Cancelled/g)).toHaveLength(3);
});

test('an order that waits for a match says how much has no preset in the line that a narrow screen shows', async () => {
  const it = { ...anOrder(1), outcome: 'no_mapped_items', deliveryStatus: null, deliveryId: null, unmappedCount: 2, lineCount: 2, test: true } as const; // prettier-ignore
  await show(<OrderRows rows={[it]} stores={[]} list="" busy={false} />);
  expect(document.querySelector('td[data-narrow="first"]')?.textContent).toContain('2 without preset');
});

test('a search that finds no order offers to clear it, and nothing to process', async () => {
  at.search = { q: '#9' };
  const { client } = await show(<Orders />);
  const come = (...all: number[]) =>
    act(() => void client.setQueryData(queries.orders(queryOf(at.search, 0)).queryKey, { data: all.map(anOrder), nextCursor: null })); // prettier-ignore
  await come();
  await screen.findByText(
    /^No order here has this number, username or e-mail\. A search finds the beginnings of .+\.$/,
  );
  screen.getByRole('button', { name: 'Clear search' });
  expect(screen.queryByRole('button', { name: 'Process again…' })).toBeNull();
});

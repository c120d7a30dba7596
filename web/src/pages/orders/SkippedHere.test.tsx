import { act, cleanup, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { queries } from '@/api/queries';
import { show } from '@/testing/render';
import { serve } from '@/testing/service';
import { Orders } from './Orders';
import './SkippedHere'; // loaded where the view shows it

const at = vi.hoisted(() => ({ search: {} as Record<string, string> }));
vi.mock('@tanstack/react-router', async (original) => ({
  ...(await original<typeof import('@tanstack/react-router')>()),
  getRouteApi: () => ({ useSearch: () => at.search }),
}));
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const idOf = (n: number) => `int_${n}a1b2c3d4e5f6`;
const aStore = (n: number, more = {}) => ({
  id: idOf(n),
  name: `Store ${n}`,
  mappingCount: 1,
  lastOrderAt: '2026-11-22T10:00:00.000Z',
  ...more,
});
const sent: unknown[] = [];

async function open(search: Record<string, string>, stores: { id: string }[], skipped: Record<number, number>) {
  at.search = search;
  sent.length = 0;
  serve(async (request) => {
    sent.push(await request.json());
    return Response.json({ id: 'blk_1' }, { status: 202 });
  });
  const { client } = await show(<Orders />);
  act(() => {
    client.setQueryData(queries.stores().queryKey, { data: stores, nextCursor: null } as never);
    for (const [n, count] of Object.entries(skipped))
      client.setQueryData(['stores', 'reprocessable', idOf(Number(n)), 'saved'], {
        reprocessableOrders: count,
        reprocessableOrdersExact: true,
        reprocessableCredits: 2,
      });
  });
  await screen.findByRole('heading', { name: 'Orders' });
  await act(() => new Promise((done) => setTimeout(done, 20)));
}
const lines = () => screen.queryAllByText(/skipped: /).map(({ textContent }) => textContent);

test('orders without a preset that have one now are offered where they are listed', async () => {
  await open({ view: 'unmapped' }, [aStore(1)], { 1: 2 });
  expect(lines()).toEqual(['2 orders were skipped: their products have presets now.']);
  await userEvent.setup().click(screen.getByRole('button', { name: 'Deliver them' }));
  await screen.findByText('2 orders are on their way.');
  expect(sent).toEqual([{ integrationId: idOf(1), unmapped: true }]);
});

test('of several stores each one that has such orders has its line, and the chosen one alone', async () => {
  const stores = [1, 2, 3].map((n) => aStore(n));
  await open({ view: 'unmapped' }, stores, { 1: 2, 2: 0, 3: 1 });
  expect(lines()).toEqual([
    '2 orders of Store 1 were skipped: their products have presets now.',
    '1 order of Store 3 was skipped: its product has presets now.',
  ]);
  screen.getByRole('button', { name: 'Deliver it: Store 3' });
  cleanup();
  await open({ view: 'unmapped', store: idOf(3) }, stores, { 1: 2, 2: 0, 3: 1 });
  expect(lines()).toEqual(['1 order was skipped: its product has presets now.']);
});

test('at most five stores are asked, of those that can have such orders', async () => {
  const stores = [aStore(0, { mappingCount: 0 }), ...[1, 2, 3, 4, 5, 6].map((n) => aStore(n))];
  await open({ view: 'unmapped' }, stores, { 0: 1, 1: 1, 2: 1, 3: 1, 4: 1, 5: 1, 6: 1 });
  expect(lines().map((line) => /Store \d/.exec(line ?? '')?.[0])).toEqual([1, 2, 3, 4, 5].map((n) => `Store ${n}`));
});

test('other views of the orders offer nothing', async () => {
  await open({}, [aStore(1)], { 1: 2 });
  expect(lines()).toEqual([]);
  expect(within(document.body).queryByRole('button', { name: 'Deliver them' })).toBeNull();
});

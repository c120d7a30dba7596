import { act, cleanup, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { queries } from '@/api/queries';
import { liveState } from '@/live/state';
import { aDelivery } from '@/testing/delivery';
import { show } from '@/testing/render';
import type { Search } from '../search';
import { DeliveryList } from './DeliveryList';
import { queryOf } from './filters';

beforeEach(() => liveState.set('live'));
afterEach(() => {
  cleanup();
  liveState.set('connecting');
});

test('rows that stay although they no longer match the filters are said to', async () => {
  const user = userEvent.setup();
  const search = { status: 'failed' };
  const { client } = await show(<DeliveryList search={search} onSearch={() => undefined} />);
  const rows = (status: 'failed' | 'queued', ...ids: string[]) =>
    ids.map((id) => aDelivery({ id, status, orderNumber: `#${id}` }));
  const read = (data: ReturnType<typeof rows>, nextCursor: string | null) =>
    act(() =>
      client.setQueryData(queries.deliveries(queryOf(search, Date.now())).queryKey, {
        data,
        nextCursor,
        count: data.length,
        countIsExact: true,
      }),
    );
  const orders = () => screen.queryAllByText(/^#\d/).map(({ textContent }) => textContent);
  read(rows('failed', '1', '2', '3'), null);
  await vi.waitFor(() => expect(orders()).toEqual(['#1', '#2', '#3']));
  expect(screen.queryByRole('button', { name: /match/ })).toBeNull();
  read(rows('failed', '3'), null);
  await screen.findByRole('button', { name: '2 changed since and no longer match, refresh' });
  read(rows('failed', '4', '3'), null);
  await screen.findByRole('button', { name: '1 new, 2 no longer match, refresh' });
  expect(orders()).toEqual(['#1', '#2', '#3']);
  // The state of both is what it was, as far as is known: they may be on the next page.
  read(rows('failed', '4', '3'), 'cur_1');
  await screen.findByRole('button', { name: '1 new, show' });
  read(rows('failed', '4', '3'), null);
  await user.click(await screen.findByRole('button', { name: /refresh$/ }));
  expect(orders()).toEqual(['#4', '#3']);
});

test.each([
  [{ q: 'posteo' }, true],
  [{ status: 'failed' }, false],
])('a search that found nothing says where it searches: %j', async (search: Search, says) => {
  const { client } = await show(<DeliveryList search={search} onSearch={() => undefined} />);
  act(
    () =>
      void client.setQueryData(queries.deliveries(queryOf(search, Date.now())).queryKey, {
        data: [],
        nextCursor: null,
        count: 0,
        countIsExact: true,
      }),
  );
  await screen.findByRole('heading', { name: 'Nothing matches these filters' });
  const words = screen.queryByText(/A search finds the beginnings of order numbers, usernames and e-mail addresses\.$/);
  expect(words !== null).toBe(says);
});

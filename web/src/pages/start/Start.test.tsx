import { act, cleanup, screen, waitFor } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { queries } from '@/api/queries';
import { show } from '@/testing/render';
import type { Store } from '@/vocabulary/store';
import { Start } from './Start';

vi.mock('@tanstack/react-router', async (original) => ({
  ...(await original<object>()),
  getRouteApi: () => ({ useSearch: () => ({ step: '4' }) }),
}));
afterEach(cleanup);

test('the first order is heard in whichever step', async () => {
  const setup = { cloud: true, store: true, firstOrder: false, mapping: false, testOrder: false, firstDelivery: false };
  const store = { id: 'int_shop', name: 'Shop', provider: 'provider_a', archivedAt: null, lastOrderAt: null } as Store;
  const { client } = await show(<Start />);
  act(() => {
    client.setQueryData(queries.overview().queryKey, { setup } as never);
    client.setQueryData(queries.stores().queryKey, { data: [store], nextCursor: null } as never);
  });
  await screen.findByRole('img', { name: '1 of 5 steps done' });
  const read = vi.spyOn(client, 'invalidateQueries');
  act(
    () =>
      void client.setQueryData(queries.store('int_shop').queryKey, {
        ...store,
        lastOrderAt: '2026-11-22T10:00:00.000Z',
      }),
  );
  await waitFor(() => expect(read).toHaveBeenCalledWith({ queryKey: ['overview'] }));
  expect(read).toHaveBeenCalledWith({ queryKey: ['stores', 'list'] });
});

test('who is led here from the overview reads so, and who opens the guide again does not', async () => {
  const setup = { cloud: true, store: true, firstOrder: true, mapping: true, testOrder: true, firstDelivery: false };
  const { client } = await show(<Start />);
  act(() => client.setQueryData(queries.overview().queryKey, { setup } as never));
  await screen.findByText('Five short steps. You can stop at any point and come back.');
  const prefer = (guideDismissedAt: string | null) =>
    act(() => client.setQueryData(queries.preferences().queryKey, { guideDismissedAt } as never));
  prefer(null);
  await screen.findByText(/^Five short steps\. Your overview takes their place once/);
  prefer('2026-11-22T10:00:00.000Z');
  await screen.findByText('Five short steps. You can stop at any point and come back.');
});

test('a guide whose preset is delivered says so, and a step that is done is shown', async () => {
  const setup = { cloud: true, store: true, firstOrder: true, mapping: true, testOrder: true, firstDelivery: true };
  const { client } = await show(<Start />);
  act(() => client.setQueryData(queries.overview().queryKey, { setup } as never));
  await screen.findByRole('heading', { level: 1, name: 'Your first preset is delivered' });
  expect(screen.queryByText(/^Five short steps/)).toBeNull();
  screen.getByRole('button', { name: /^Show: Watch your first delivery/ });
});

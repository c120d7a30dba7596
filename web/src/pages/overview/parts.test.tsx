import { act, cleanup, screen } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import type { Schemas } from '@/api/client';
import { queries } from '@/api/queries';
import { fails, show } from '@/testing/render';
import { DeliveriesChart } from './DeliveriesChart';
import { Figures } from './Figures';
import { OverviewPage } from './Overview';

vi.mock('@tanstack/react-router', async (original) => ({
  ...(await original<typeof import('@tanstack/react-router')>()),
  getRouteApi: () => ({ useSearch: () => ({}) }),
}));
afterEach(cleanup);

test('the figure of one store leads to the deliveries of that store', async () => {
  const seen = {
    today: { completed: 1, failed: 0, usualCompleted: null, usualFailed: null },
    now: { waiting: 3, oldestWaitingAt: null },
  } as Schemas['Overview'];
  const durations = { data: undefined } as Parameters<typeof Figures>[0]['durations'];
  const address = async () => (await screen.findByRole('link', { name: '3' })).getAttribute('href');
  await show(<Figures seen={seen} store={undefined} durations={durations} />);
  expect(await address()).not.toContain('store=');
  cleanup();
  await show(<Figures seen={seen} store="int_0a1b2c3d4e5f6" durations={durations} />);
  expect(await address()).toContain('store=int_0a1b2c3d4e5f6');
});

test('a time without deliveries is not the first day', async () => {
  const it = { data: [], totals: { made: 0, completed: 0, failed: 0, invalidated: 0, open: 0 } };
  const chart = (first: boolean) =>
    show(
      <DeliveriesChart it={it as unknown as Schemas['DeliveryStatistics']} period="7d" first={first} busy={false} />,
    );
  await chart(true);
  await screen.findByText('Your first deliveries show up here.');
  cleanup();
  await chart(false);
  await screen.findByText('No deliveries in this time.');
});

test('an overview whose account cannot be read says so', async () => {
  const { client } = await show(<OverviewPage />);
  act(() => void client.setQueryData(queries.overview().queryKey, { needs: [] } as never));
  fails(client, queries.account().queryKey, new Error('boom'));
  expect((await screen.findByRole('alert')).textContent).toContain('The overview could not be loaded.');
  screen.getByRole('button', { name: 'Try again' });
});

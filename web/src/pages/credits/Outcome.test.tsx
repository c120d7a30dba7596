import { act, cleanup, screen } from '@testing-library/react';
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
  if (state === 'paid') await screen.findByText('You have 7 now.');
  const way = await screen.findByRole('link', { name: firstDelivery ? 'Go to credits' : 'Back to the guide' });
  expect(way.getAttribute('href')).toBe(firstDelivery ? '/credits' : '/start');
  expect(screen.queryAllByRole('link', { name: 'Back to the guide' })).toHaveLength(firstDelivery ? 0 : 1);
});

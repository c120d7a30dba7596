import { cleanup, screen } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { ApiError } from '@/api/errors';
import { queries } from '@/api/queries';
import { fails, show } from '@/testing/render';
import { PaymentReturn } from './Return';

vi.mock('@tanstack/react-router', async (original) => ({
  ...(await original<typeof import('@tanstack/react-router')>()),
  getRouteApi: () => ({ useSearch: () => ({ purchase: 'pur_0a1b2c3d4e5f6' }) }),
}));
afterEach(cleanup);

test.each([
  [404, 'There is no such purchase in this account', 'Go to credits'],
  [500, 'The purchase could not be loaded.', null],
])('the way back from a payment that was answered with %i', async (status, says, link) => {
  const { client } = await show(<PaymentReturn />);
  fails(client, queries.settledPurchase('pur_0a1b2c3d4e5f6').queryKey, new ApiError(status, 'X', 'no'));
  await screen.findByText(says);
  expect(screen.queryByRole('link', { name: 'Go to credits' })?.textContent ?? null).toBe(link);
  expect(screen.queryByRole('button', { name: 'Try again' }) === null).toBe(link !== null);
});

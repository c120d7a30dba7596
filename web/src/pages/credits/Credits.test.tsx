import { act, cleanup, screen } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { ApiError } from '@/api/errors';
import { queries } from '@/api/queries';
import { fails, show } from '@/testing/render';
import { Credits } from './Credits';

vi.mock('@tanstack/react-router', async (original) => ({
  ...(await original<typeof import('@tanstack/react-router')>()),
  getRouteApi: () => ({ useSearch: () => ({}) }),
}));
afterEach(cleanup);

test('a balance that cannot be read is the one error of the page', async () => {
  const { client } = await show(<Credits />);
  fails(client, queries.credits().queryKey, new ApiError(500, 'INTERNAL_ERROR', 'no'));
  await screen.findByText('The credits could not be loaded.');
  expect(screen.queryByText('Ledger')).toBeNull();
  act(() => void client.setQueryData(queries.credits().queryKey, { available: 7, debt: 0 } as never));
  await screen.findByText('Ledger');
});

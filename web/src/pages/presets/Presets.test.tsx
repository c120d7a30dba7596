import { act, cleanup, screen } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { queries } from '@/api/queries';
import { show } from '@/testing/render';
import { Presets } from './Presets';

vi.mock('@tanstack/react-router', async (original) => ({
  ...(await original<typeof import('@tanstack/react-router')>()),
  getRouteApi: () => ({ useSearch: () => ({ q: 'zzz' }) }),
}));
afterEach(cleanup);

test('a search that finds no preset offers to clear it', async () => {
  const { client } = await show(<Presets />);
  const query = { limit: 50, search: 'zzz' };
  act(() => void client.setQueryData(queries.presetPage(query).queryKey, { data: [], nextCursor: null } as never));
  await screen.findByText('No preset of that name');
  expect(screen.getByRole('button', { name: 'Clear search' }).tagName).toBe('BUTTON');
});

import { cleanup, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { queries } from '@/api/queries';
import { show } from '@/testing/render';
import { Products } from './Products';

const ID = 'int_0a1b2c3d4e5f6';
vi.mock('@tanstack/react-router', async (original) => ({
  ...(await original<typeof import('@tanstack/react-router')>()),
  getRouteApi: () => ({ useParams: () => ({ id: 'int_0a1b2c3d4e5f6' }), useSearch: () => ({}) }),
}));
afterEach(cleanup);

test('a search also finds products that were typed by hand', async () => {
  const mapping = (matchValue: string) => ({ id: `map_${matchValue}`, matchType: 'sku', matchValue, action: 'ignore' });
  const { client } = await show(<Products />);
  const sold = (q?: string) =>
    client.setQueryData(['stores', 'products', ID, { limit: 100, ...(q ? { q } : {}) }], {
      pages: [{ data: [], nextCursor: null }],
      pageParams: [null],
    });
  sold();
  sold('tweed');
  client.setQueryData(queries.mappings(ID).queryKey, {
    version: 1,
    mappings: [mapping('TWEED-59'), mapping('BROWN-01')],
  } as never);
  await screen.findByText('BROWN-01');
  await userEvent.setup().type(await screen.findByRole('searchbox'), 'tweed');
  await vi.waitFor(() => expect(screen.queryByText('BROWN-01')).toBeNull());
  await screen.findByText('TWEED-59');
});

import { act, cleanup, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { queries } from '@/api/queries';
import { show } from '@/testing/render';
import type { Store } from '@/vocabulary/store';
import { useMatchLine, useStoreLine } from './lines';

afterEach(cleanup);

const store = { id: 'int_0a1b2c3d4e5f6', name: 'Marlow', lastOrderAt: '2026-11-22T10:00:00.000Z' } as Store;
const order = (orderNumber: string, targetUsername: string | null) =>
  ({ orderId: orderNumber, orderNumber, targetUsername, test: false }) as never;

test.each([
  [[order('#2', null), order('#1', null)], 'Order #2 had no cloud username. Add the field to your shop.'],
  [
    [order('#2', null), order('#1', 'jonasek')],
    'Order #2 had no cloud username, but order #1 carried one: your shop has the field, and some orders leave it out.',
  ],
  [[order('#2', 'mira'), order('#1', null)], 'Order #2 carried the username @mira'],
  [[order('#3', 'ann'), order('#2', 'mira'), order('#1', null)], 'Order #2 carried the username @mira'],
])('whether a shop has the field for the username', async (orders, text) => {
  const Line = () => useStoreLine(store);
  const { client } = await show(<Line />);
  act(() => {
    client.setQueryData(queries.orders({ integrationId: store.id, limit: 100 }).queryKey, { data: orders } as never);
  });
  const line = await screen.findByText('Marlow sends its orders');
  expect(line.parentElement?.textContent?.replace(/[\u2066-\u2069]/g, '')).toContain(text);
});

test('a sample of Shopify is no order of the store', async () => {
  const shopify = { ...store, platform: 'Shopify' } as Store;
  const Line = () => useStoreLine(shopify);
  const { client } = await show(<Line />);
  const sample = { ...(order('#9999', null) as object), test: true };
  const now = (data: unknown[]) =>
    act(
      () =>
        void client.setQueryData(queries.orders({ integrationId: store.id, limit: 100 }).queryKey, { data } as never),
    );
  now([sample]);
  await screen.findByText('Marlow: test notification received');
  now([order('#1', 'mira'), sample]);
  await screen.findByText('Marlow sends its orders');
});

test.each([
  [0, '1 product has its presets'],
  [1, '1 product has its presets1 product has no preset yet, and is not delivered.'],
])('the line of the matches says that %i products have none', async (unmappedProducts, says) => {
  const shop = { ...store, counts: { unmappedProducts } } as Store;
  const Line = () => <p>{useMatchLine(shop, true)}</p>;
  const { client } = await show(<Line />);
  const mappings = [{ action: 'deliver', matchType: 'sku', matchValue: 'A', fileId: 'A' }];
  act(() => void client.setQueryData(queries.mappings(store.id).queryKey, { mappings } as never));
  const line = await screen.findByText(/^1 product has its presets/);
  expect(line.textContent).toBe(says);
});

test('a product whose file is gone has not its presets', async () => {
  const shop = { ...store, counts: { unmappedProducts: 0 } } as Store;
  const Line = () => useMatchLine(shop, true);
  const { client } = await show(<Line />);
  const mapping = (matchValue: string) => ({ matchType: 'sku', matchValue, action: 'deliver', fileId: matchValue });
  act(() => {
    client.setQueryData(queries.mappings(store.id).queryKey, { mappings: ['A', 'B', 'C'].map(mapping) } as never);
    client.setQueryData(queries.gonePresets().queryKey, ['B']);
  });
  await screen.findByText('2 products have their presets');
});

import { act, cleanup, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { queries } from '@/api/queries';
import { show } from '@/testing/render';
import { Gone } from './Gone';

afterEach(cleanup);

const use = (integrationName: string, matchValue: string) =>
  ({ integrationId: `int_${integrationName}`, integrationName, matchType: 'sku', matchValue, stale: false }) as const;
const links = () =>
  screen.getAllByRole('link').map((link) => [link.textContent, decodeURIComponent(link.getAttribute('href') ?? '')]);

test('a preset that is gone leads to the products of each store, and to the deliveries that failed for it', async () => {
  const uses = [use('EU', 'LOFI-DI'), use('US', 'LOFI-DI'), use('US', 'LOFI-2')];
  const { client } = await show(<Gone it={{ id: 'f1', uses }} />);
  await screen.findByRole('heading', { name: 'This preset is gone' });
  const query = { status: 'failed', resolutionCode: 'preset_not_found', fileId: 'f1' };
  act(() => void client.setQueryData(queries.deliveryCount(query).queryKey, { data: [], count: 3 } as never));
  await screen.findByText('Fix 3 deliveries');
  expect(links()).toEqual([
    ['Match at EU', '/integrations/stores/int_EU/products?q=LOFI-DI'],
    ['Match at US', '/integrations/stores/int_US/products'],
    ['Fix 3 deliveries', '/deliveries?status=failed&code=preset_not_found&file=f1'],
  ]);
});

test('a preset that is gone and that no product delivers asks for nothing', async () => {
  await show(<Gone it={{ id: 'f1', uses: [] }} />);
  await screen.findByText('It is no longer in your cloud account. No product delivers it.');
  expect(screen.queryByRole('link')).toBeNull();
});

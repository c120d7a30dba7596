import { act, cleanup, screen } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { queries } from '@/api/queries';
import { show } from '@/testing/render';
import { serve } from '@/testing/service';
import { USUAL } from '@/vocabulary/keys';
import { queryOf } from '../usage/period';
import { KeyPage } from './Key';

vi.mock('@tanstack/react-router', async (original) => ({
  ...(await original<typeof import('@tanstack/react-router')>()),
  getRouteApi: () => ({ useSearch: () => ({}), useParams: () => ({ id: 'key_1' }) }),
}));
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const aKey = (used: number) => ({
  id: 'key_1',
  name: 'site',
  preview: 'pdb_live_…abcd',
  active: true,
  permissions: ['deliveries:read'],
  integrationIds: [],
  rateLimit: 100,
  createdAt: '2026-11-20T10:00:00.000Z',
  expiresAt: null,
  lastActiveAt: null,
  rotatedFrom: null,
  requests: used,
  deliveries: 0,
  usedThisHour: used,
});

test('the counts beside the chart are read with the chart', async () => {
  const deliveries = { made: 0, completed: 0, failed: 0, invalidated: 0, open: 0 };
  const usage = { data: [], totals: { requests: 1, limited: 0, deliveries } };
  serve(({ url }) => Response.json(url.includes('/usage') ? usage : aKey(1)));
  const { client } = await show(<KeyPage />);
  client.setQueryData(queries.key('key_1').queryKey, aKey(0) as never);
  await screen.findByText('0 of 100');
  await client.fetchQuery(queries.keyUsage('key_1', queryOf('30d', Date.now())));
  await screen.findByText('1 of 100');
});

test('a token that is off says nothing of its hour and limit, and is reactivated by a button', async () => {
  serve(({ url }) => Response.json(url.includes('/usage') ? { data: [] } : aKey(3)));
  const { client } = await show(<KeyPage />);
  act(() => void client.setQueryData(queries.key('key_1').queryKey, { ...aKey(3), active: false } as never));
  await screen.findByRole('button', { name: 'Reactivate' });
  expect(screen.queryByText('This hour')).toBeNull();
  expect(screen.queryByText('Limit')).toBeNull();
});

test('the rights of a token have the words of the list', async () => {
  serve(({ url }) => Response.json(url.includes('/usage') ? { data: [] } : aKey(3)));
  const { client } = await show(<KeyPage />);
  act(() => void client.setQueryData(queries.key('key_1').queryKey, { ...aKey(3), permissions: USUAL } as never));
  await screen.findByText('Manage deliveries, stores and webhooks, read presets');
  screen.getByText('Rights');
});

import { act, cleanup, screen } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { queries } from '@/api/queries';
import { show } from '@/testing/render';
import { queryOf } from './period';
import { UsagePage } from './Usage';

vi.mock('@tanstack/react-router', async (original) => ({
  ...(await original<typeof import('@tanstack/react-router')>()),
  getRouteApi: () => ({ useSearch: () => ({ period: '90d' }) }),
}));
afterEach(cleanup);

test('the sums of tokens name their time, as a narrow chart above them has less of it', async () => {
  const deliveries = { made: 4, completed: 3, failed: 1, open: 0, invalidated: 0 };
  const one = { requests: 10, limited: 0, deliveries };
  const it = { data: [{ at: '2026-11-22T00:00:00.000Z', ...one }], totals: one, groups: [{ keyId: null, integrationId: null, name: null, ...one }] }; // prettier-ignore
  const { client } = await show(<UsagePage />);
  act(() => {
    const key = queries.usage({ ...queryOf('90d', Date.now()), groupBy: 'key' }).queryKey;
    client.setQueryData(key, it as never);
  });
  const by = await screen.findByRole('radiogroup', { name: 'By' });
  expect(by.parentElement?.textContent).toContain('last 90 days');
});

import { cleanup, screen } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { show } from '@/testing/render';
import { Charts } from './Charts';

afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

test.each([
  [{ completed: 5, open: 3, failed: 1, invalidated: 1 }, ['Completed 5', 'Still open 3', 'Stopped 1', 'Failed 1']],
  [{ completed: 0, open: 0, failed: 0, invalidated: 1 }, ['Completed 0', 'Still open 0', 'Stopped 1', 'Failed 0']],
])('the chart has as many deliveries as its table: %o', async (counts, legend) => {
  const deliveries = { made: Object.values(counts).reduce((sum, n) => sum + n), ...counts };
  const one = { requests: 10, limited: 0, deliveries };
  const it = { data: [{ at: '2026-11-22T00:00:00.000Z', ...one }], totals: one };
  await show(<Charts it={it as never} period="7d" search={{}} file="usage" />);
  const chart = await screen.findByRole('img', { name: /^Deliveries per day/ });
  expect(chart.querySelectorAll('rect[data-look]')).toHaveLength(Object.values(counts).filter((n) => n > 0).length);
  expect(screen.getAllByRole('listitem').map(({ textContent }) => textContent)).toEqual(expect.arrayContaining(legend));
});

test('a narrow chart has fewer bars, and the sums of the whole period', async () => {
  const narrow = { matches: true, addEventListener: () => undefined, removeEventListener: () => undefined };
  vi.spyOn(window, 'matchMedia').mockReturnValue(narrow as unknown as MediaQueryList);
  const one = { requests: 1, limited: 0, deliveries: { made: 1, completed: 1, open: 0, failed: 0, invalidated: 0 } };
  const data = Array.from({ length: 30 }, (_, n) => ({
    at: new Date(Date.UTC(2026, 10, n + 1)).toISOString(),
    ...one,
  }));
  const totals = { requests: 30, limited: 0, deliveries: { ...one.deliveries, made: 30, completed: 30 } };
  await show(<Charts it={{ data, totals } as never} period="30d" search={{}} file="usage" />);
  const chart = await screen.findByRole('img', { name: /^Requests per day, last 30 days. 30 taken/ });
  expect(chart.querySelectorAll('rect[data-look]')).toHaveLength(14);
  expect(screen.getAllByRole('listitem').map(({ textContent }) => textContent)).toContain('Requests 30');
  expect(screen.getAllByText('bars of the last 14 of 30 days')).toHaveLength(2);
});

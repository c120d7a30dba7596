import { cleanup, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { show } from '@/testing/render';
import { Charts } from './Charts';

afterEach(cleanup);

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

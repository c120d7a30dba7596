import { expect, test } from 'vitest';
import { csvOf } from '@/components/csv';
import { barsOf, periodOf, queryOf } from './period';

test('a period ends with the hour or day of now', () => {
  const now = Date.parse('2026-11-23T10:07:31.000Z');
  expect(queryOf('24h', now)).toMatchObject({ from: '2026-11-22T11:00:00.000Z', bucket: 'hour' });
  expect(queryOf('7d', now)).toMatchObject({ from: '2026-11-17T10:00:00.000Z', bucket: 'day' });
  expect(periodOf({ period: 'toString' })).toBe('30d');
});

test('every hour and day has its bar, and the last day is today, as on the overview', () => {
  const counts = [
    { at: '2026-11-22T00:00:00.000Z', n: 3 },
    { at: '2026-11-23T00:00:00.000Z', n: 1 },
  ];
  expect(barsOf(counts, '7d', ({ n }) => [n, 0])).toEqual([
    { key: '2026-11-22T00:00:00.000Z', label: '22 Nov', title: 'Sun, 22 Nov 2026', values: [3, 0] },
    { key: '2026-11-23T00:00:00.000Z', label: 'Today', title: 'Mon, 23 Nov 2026', values: [1, 0] },
  ]);
  expect(barsOf(counts, '24h', ({ n }) => [n, 0]).map(({ label }) => label)).not.toContain('Today');
});

test('a table is quoted, and no name is a formula', () => {
  expect(
    csvOf([
      ['Token', 'Requests'],
      ['=HYPERLINK("x")', 3],
      ['a,b\nc', -1],
    ]),
  ).toBe('Token,Requests\r\n"\'=HYPERLINK(""x"")",3\r\n"a,b\nc",-1\r\n');
});

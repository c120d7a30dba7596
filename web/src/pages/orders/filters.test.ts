import '@/i18n/en/orders';
import { expect, test } from 'vitest';
import { filterOf, isFiltered, queryOf, withoutFilters } from './filters';

const NOW = Date.parse('2026-11-23T10:07:31.000Z');

test('what stands in the address is what the service is asked', () => {
  expect(queryOf({}, NOW)).toEqual({ limit: 50 });
  expect(
    queryOf(
      {
        view: 'unmapped',
        outcome: 'stopped',
        store: 'int_0a1b2c3d4e5f6',
        received: '24h',
        q: ' @jonas ',
        at: 'cur_a.cur_b',
      },
      NOW,
    ),
  ).toEqual({
    limit: 50,
    unmapped: true,
    outcome: 'stopped',
    integrationId: 'int_0a1b2c3d4e5f6',
    receivedFrom: '2026-11-22T10:05:00.000Z',
    q: '@jonas',
    cursor: 'cur_b',
  });
  expect(filterOf({ at: 'cur_a', outcome: 'inactive' }, NOW)).toEqual({ outcome: 'inactive' });
});

test('what the service would refuse is not asked for', () => {
  expect(queryOf({ outcome: 'toString', store: "int_'", received: '5y', q: ' @\u200b ', view: 'other' }, NOW)).toEqual({
    limit: 50,
  });
  expect(queryOf({ q: 'a\u0000b' }, NOW).q).toBe('a b');
  expect(queryOf({ q: 'x'.repeat(300) }, NOW).q).toHaveLength(100);
});

test('filters are told apart from the view, and taken away without it', () => {
  expect(isFiltered({ view: 'unmapped', at: 'cur_a', q: '@' })).toBe(false);
  expect(isFiltered({ outcome: 'stopped' })).toBe(true);
  expect(withoutFilters({ view: 'unmapped', outcome: 'stopped', q: 'x', at: 'cur_a', newer: '1' })).toEqual({
    view: 'unmapped',
    newer: '1',
  });
});

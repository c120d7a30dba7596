import { expect, test } from 'vitest';
import { FILTERS, optionsOf, queryOf } from '../filters';
import { filterOf } from './wanted';

const at = Date.parse('2026-11-21T10:06:23.000Z');

test('an action is on what the list shows', () => {
  const search = {
    status: 'failed,queued',
    code: 'cloud_rejected',
    store: 'int_0a1b2c3d4e5f6',
    created: '7d',
    q: '@jonas',
    test: 'false',
    refunded: 'true',
  };
  expect(filterOf(queryOf(search, at))).toEqual({
    status: ['failed', 'queued'],
    resolutionCode: ['cloud_rejected'],
    integrationId: ['int_0a1b2c3d4e5f6'],
    q: 'jonas',
    dryRun: false,
    refunded: true,
    createdFrom: '2026-11-14T10:05:00.000Z',
  });
});

test('a view is part of what is meant, and a page is not', () => {
  expect(filterOf(queryOf({ view: 'needs', at: 'cur_1' }, at))).toEqual({ status: ['failed', 'in_review'] });
  expect(filterOf(queryOf({ view: 'needs', status: 'failed,completed' }, at))).toEqual({ status: ['failed'] });
  expect(filterOf(queryOf({ view: 'waiting' }, at))).toEqual({ status: ['waiting_for_friendship'] });
  expect(filterOf(queryOf({}, at))).toEqual({ all: true });
});

test('every filter of the list is one of the action', () => {
  // A part of the query that is missing from the filter would make the action reach more than the list shows.
  const stores = [{ id: 'int_0a1b2c3d4e5f6', name: 'marlowtones.com' }];
  const given = FILTERS.map((filter) => [filter, optionsOf(filter, stores)[0]?.value ?? 'a/b']);
  for (const search of [{ ...Object.fromEntries(given), q: 'x' }, ...given.map((one) => Object.fromEntries([one]))]) {
    const { limit: _, count: __, ...asked } = queryOf(search, at);
    expect(Object.keys(asked)).toHaveLength(Object.keys(search).length);
    expect(Object.keys(filterOf(asked)).sort()).toEqual(Object.keys(asked).sort());
  }
});

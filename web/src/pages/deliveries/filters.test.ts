import { expect, test } from 'vitest';
import { chipText, isBeyond, isFiltered, optionsOf, queryOf, valuesOf, viewOf, withoutFilters } from './filters';

const NOW = Date.parse('2026-11-23T10:07:31.000Z');
const asked = (search: Record<string, string>) => queryOf(search, NOW);
const plain = { limit: 50, count: true };

test('what stands in the address is what the service is asked', () => {
  expect(asked({})).toEqual(plain);
  expect(asked({ view: 'needs' })).toEqual({ ...plain, needsAttention: true });
  expect(asked({ view: 'waiting' })).toEqual({ ...plain, status: 'waiting_for_friendship' });
  expect(
    asked({ status: 'failed,in_review', code: 'cloud_rejected', store: 'int_0a1b2c3d4e5f6', q: ' @Jonas ' }),
  ).toEqual({
    ...plain,
    status: 'failed,in_review',
    resolutionCode: 'cloud_rejected',
    integrationId: 'int_0a1b2c3d4e5f6',
    q: 'Jonas',
  });
  expect(asked({ test: 'false', refunded: 'true' })).toEqual({ ...plain, dryRun: false, refunded: true });
});

test('a preset and the other order are of the address', () => {
  expect(asked({ file: 'a/b,c', sort: 'createdAt' })).toEqual({ ...plain, fileId: 'a/b,c', sort: 'createdAt' });
  expect(asked({ file: 'x'.repeat(201), sort: 'status' })).toEqual(plain);
  expect(asked({ file: 'a\u0000' })).toEqual(plain);
  expect(withoutFilters({ file: 'a', sort: 'createdAt' })).toEqual({ sort: 'createdAt' });
});

test('a period begins at a step of five minutes, so that the list is not another one at every look', () => {
  expect(asked({ created: '7d' }).createdFrom).toBe('2026-11-16T10:05:00.000Z');
  expect(asked({ updated: '7d' }).updatedFrom).toBe('2026-11-16T10:05:00.000Z');
  expect(queryOf({ created: '7d' }, NOW + 60_000)).toEqual(asked({ created: '7d' }));
});

test('the newest cursor is asked for', () => {
  expect(asked({ at: 'cur_a.cur_b' }).cursor).toBe('cur_b');
});

test('what the service would refuse is not asked for', () => {
  expect(
    asked({
      status: 'failed,no_such',
      code: 'nonsense',
      store: "int_'; drop",
      created: '5y',
      test: 'maybe',
      view: 'other',
    }),
  ).toEqual({
    ...plain,
    status: 'failed',
    dryRun: undefined,
  });
  expect(asked({ q: 'x'.repeat(300) }).q).toHaveLength(100);
  expect(viewOf({ view: 'other' })).toBe('all');
  expect(valuesOf('store', { store: Array(80).fill('int_0a1b2c3d4e5f6').join(',') })).toHaveLength(50);
});

test('filters are told apart from the view, and taken away without it', () => {
  expect(isFiltered({ view: 'needs', at: 'cur_a' })).toBe(false);
  expect(isFiltered({ code: 'nonsense' })).toBe(false);
  expect(isFiltered({ q: 'x' })).toBe(true);
  expect(withoutFilters({ view: 'needs', q: 'x', status: 'failed', at: 'cur_a', newer: '1' })).toEqual({
    view: 'needs',
    newer: '1',
  });
});

test('a chip names up to two values', () => {
  const options = optionsOf('status', []);
  expect(chipText(['failed'], options)).toBe('Failed');
  expect(chipText(['failed', 'in_review'], options)).toBe('Failed, In review');
  expect(chipText(['failed', 'in_review', 'queued'], options)).toBe('any of 3');
  expect(chipText(['int_x'], optionsOf('store', []))).toBe('int_x');
});

test('a delivery is beyond a list by its state alone', () => {
  const failed = { status: 'failed', resolutionCode: 'cloud_rejected' } as const;
  const beyond = (...all: Record<string, string>[]) => all.map((search) => isBeyond(failed, asked(search)));
  expect(beyond({}, { view: 'needs' }, { status: 'in_review,failed' }, { code: 'cloud_rejected' })).not.toContain(true);
  expect(beyond({ view: 'waiting' }, { status: 'completed' }, { code: 'username_missing' })).not.toContain(false);
  expect(isBeyond({ status: 'queued', resolutionCode: null }, asked({ view: 'needs' }))).toBe(true);
});

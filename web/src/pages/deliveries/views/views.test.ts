import { describe, expect, test } from 'vitest';
import { activeOf, isTaken, isWorthSaving, moved, queryTextOf, searchOf } from './views';

const STORE = 'int_0a1b2c3d4e5f6';
const FAILED = { name: 'Failed', query: 'status=failed&created=7d' };

describe('a saved view', () => {
  test('keeps the filters and the order of the rows, and neither search text nor page', () => {
    const search = {
      q: 'jonas',
      at: 'cur_1',
      store: STORE,
      status: 'in_review,failed',
      sort: 'createdAt',
      view: 'needs',
      x: 'y',
    };
    expect(queryTextOf(search)).toBe(`view=needs&status=failed,in_review&store=${STORE}&sort=createdAt`);
  });
  test('is written as the service takes it', () => {
    const text = queryTextOf({ file: "a file's (name)/ö ~*&=+", test: 'false' });
    expect(text).toMatch(
      /^([A-Za-z0-9._~-]{2,}=[A-Za-z0-9._~%,:+!*'()@/-]*(&[A-Za-z0-9._~-]{2,}=[A-Za-z0-9._~%,:+!*'()@/-]*)*)?$/,
    );
    expect(searchOf({ name: '', query: text })).toEqual({ file: "a file's (name)/ö ~*&=+", test: 'false' });
  });
  test('opens nothing that the list does not know', () => {
    expect(searchOf({ name: 'x', query: 'status=failed,nonsense&do=retry-refused&qq=1&q=x' })).toEqual({
      status: 'failed',
    });
  });
  test('is found by what it shows, in whatever order the address says it', () => {
    expect(activeOf([FAILED], { created: '7d', status: 'failed', at: 'cur_2' })).toBe(0);
    expect(activeOf([FAILED], { status: 'failed' })).toBe(-1);
  });
  test('is worth saving once, and only with filters', () => {
    expect(isWorthSaving([], {})).toBe(false);
    expect(isWorthSaving([], { view: 'needs', q: 'jonas' })).toBe(false);
    expect(isWorthSaving([], { status: 'failed' })).toBe(true);
    expect(isWorthSaving([FAILED], { status: 'failed', created: '7d' })).toBe(false);
    expect(isWorthSaving(Array(20).fill(FAILED), { status: 'failed' })).toBe(false);
  });
  test('is not called as a tab that everybody has', () => {
    for (const name of ['All', ' needs you ', 'WAITING FOR BUYER']) expect(isTaken(name)).toBe(true);
    expect(isTaken('All of mine')).toBe(false);
  });
  test('moves among the others', () => {
    const views = ['a', 'b', 'c'].map((name) => ({ name, query: '' }));
    const names = (all: typeof views) => all.map(({ name }) => name).join('');
    expect([
      names(moved(views, 0, 1)),
      names(moved(views, 2, 0)),
      names(moved(views, 0, -1)),
      names(moved(views, 2, 3)),
    ]).toEqual(['bac', 'cab', 'abc', 'abc']);
  });
});

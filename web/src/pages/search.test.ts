import { expect, test } from 'vitest';
import { changed, cursorsOf, parseSearch, stringifySearch } from './search';

test('an address is read and written as text, and stays legible', () => {
  expect(parseSearch('?q=4124&status=failed,in_review&view=needs')).toEqual({
    q: '4124',
    status: 'failed,in_review',
    view: 'needs',
  });
  expect(stringifySearch({ q: '4124', status: 'failed,in_review', empty: '', gone: undefined })).toBe(
    '?q=4124&status=failed,in_review',
  );
  expect(stringifySearch({})).toBe('');
  const odd = { q: 'a&b=c#d é%' };
  expect(parseSearch(stringifySearch(odd))).toEqual(odd);
});

test('a changed filter begins at the first page and keeps what it does not know', () => {
  expect(changed({ at: 'cur_a.cur_b', q: 'x', newer: '1' }, { q: undefined, status: 'failed' })).toEqual({
    newer: '1',
    status: 'failed',
  });
  expect(cursorsOf({ at: 'cur_a.cur_b' })).toEqual(['cur_a', 'cur_b']);
  expect(cursorsOf({})).toEqual([]);
});

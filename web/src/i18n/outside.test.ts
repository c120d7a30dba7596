import { expect, test } from 'vitest';
import { isolated, steering } from './outside';

test.each([
  ['#4124', '#4124'],
  ['Größe – 漢字 ✓', 'Größe – 漢字 ✓'],
  ['#\u202e4214', '#[U+202E]4214'],
  ['\u2069\u202eabc', '[U+2069][U+202E]abc'],
  ['a\u2067b', 'a[U+2067]b'],
  ['a\u2029b', 'a[U+2029]b'],
  ['a \u2067b\u2069 c', 'a \u2067b\u2069 c'],
  ['\u2068a\u2069\u2069\u2066\u2066b\u2069', '\u2068a\u2069[U+2069][U+2066]\u2066b\u2069'],
  ['\u2066a\u202eb\u2069', '\u2066a[U+202E]b\u2069'],
  ['סולו', '\u2068סולו\u2069'],
  ['\u200f12', '\u2068\u200f12\u2069'],
  ['', ''],
])('%j is shown as %j', (text, shown) => {
  expect(isolated(text)).toBe(shown);
  expect(steering(isolated(text))).toEqual([]); // it can stand in another sentence
});

import { expect, test } from 'vitest';
import { isTyped } from './typed';

const HOSTILE = ' Marlow\u2069\u202e Tone ';

test.each([
  ['Marlow Tone', HOSTILE], // by hand
  [HOSTILE, HOSTILE],
  [' MarlowU+2069U+202E Tone', HOSTILE], // copied from an element
  ['Marlow[U+2069][U+202E] Tone', HOSTILE], // copied from a sentence
  ['\u2068סולו\u2069', 'סולו'],
  ['a b', 'a \u2067b\u2069'],
  ['U+202E', '\u202e'],
])('%j is typed for %j', (text, name) => expect(isTyped(text, name)).toBe(true));

test.each([
  ['', HOSTILE],
  ['Marlow', HOSTILE],
  ['marlow Tone', HOSTILE],
  ['', '\u202e'],
  ['Marlow Tone', 'MarlowU+2069 Tone'],
])('%j is not typed for %j', (text, name) => expect(isTyped(text, name)).toBe(false));

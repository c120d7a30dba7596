import { expect, test } from 'vitest';
import { laidOut, visible } from './json_text';

test('what was sent is laid out, and nothing of it changes', () => {
  expect(laidOut('{"id":820982911946154508,"a":[1,2.50,{}],"a":{"b":"x: {\\"y\\", [z"},"none":[]}')).toBe(
    [
      '{',
      '  "id": 820982911946154508,',
      '  "a": [',
      '    1,',
      '    2.50,',
      '    {}',
      '  ],',
      '  "a": {',
      '    "b": "x: {\\"y\\", [z"',
      '  },',
      '  "none": []',
      '}',
    ].join('\n'),
  );
  expect(laidOut(' "text" ')).toBe('"text"');
  expect(() => laidOut('{"a":')).toThrow();
});

test('deep nesting stays small', () => {
  expect(laidOut('['.repeat(2000) + '1' + ']'.repeat(2000)).length).toBeLessThan(500_000);
});

test('what cannot be seen is written out', () => {
  expect(visible('a\u202eb\u200b')).toBe('a\\u202eb\\u200b');
});

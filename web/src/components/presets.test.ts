import { expect, test } from 'vitest';
import { isNamed } from './presets';

test.each([
  ['Plexi ’68 Crunch', 'plexi 68', true],
  ['Plexi ’68 Crunch', "plexi '68", true],
  ['Plexi ’68 Crunch', 'crunch plexi', true],
  ['Plexi ’68 Crunch', '’68', true],
  ['Plexi ’68 Crunch', 'plexi 69', false],
  ['Marshall’s “Blue” Breaker', 'marshalls blue', true],
  ['Café del Mar', 'cafe', true],
  ['Cafe del Mar', 'CAFÉ', true],
  ['JCM-800 Lead', 'jcm800', true],
  ['JCM800 Lead', 'jcm-800', true],
  ['Clean & Loud', '&', true],
  ['Clean', '&', false],
  ['ベース', 'ベース', true],
])('%s by %s: %s', (name, typed, is) => expect(isNamed(name, typed)).toBe(is));

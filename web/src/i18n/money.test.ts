import { expect, test } from 'vitest';
import { money } from './money';

test('the smallest unit is that of the currency', () => {
  expect(money(1900, 'eur')).toBe('€19.00');
  expect(money(1900, 'jpy')).toBe('¥1,900');
  expect(money(19000, 'kwd').replace(/\s/g, ' ')).toBe('KWD 19.000');
  expect(money(190000, 'isk').replace(/\s/g, ' ')).toBe('ISK 1,900.00');
  expect(money(1900, 'mga').replace(/\s/g, ' ')).toBe('MGA 1,900');
});

test('one of many equal parts has one more digit', () => {
  expect(money(7900, 'eur', 500)).toBe('€0.158');
  expect(money(1900, 'eur', 100)).toBe('€0.19');
});

test('an amount without the code of a currency is shown as it was sent', () => {
  expect(money(5, '<b>')).toBe('5 <b>');
});

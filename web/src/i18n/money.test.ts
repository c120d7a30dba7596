import { expect, test } from 'vitest';
import { money, moneyEach } from './money';

test('the smallest unit is that of the currency', () => {
  expect(money(1900, 'eur')).toBe('€19.00');
  expect(money(1900, 'jpy')).toBe('¥1,900');
  expect(money(19000, 'kwd').replace(/\s/g, ' ')).toBe('KWD 19.000');
  expect(money(190000, 'isk').replace(/\s/g, ' ')).toBe('ISK 1,900.00');
  expect(money(5, 'eur')).toBe('€0.05');
  expect(money(9007199254740991, 'eur')).toBe('€90,071,992,547,409.91');
  expect(money(1900, 'mga').replace(/\s/g, ' ')).toBe('MGA 1,900');
});

test.each([
  [7900, 500, '€0.158'],
  [1900, 100, '€0.19'],
  [24900, 2000, '€0.1245'],
  [900, 100, '€0.09'],
  [600, 4, '€1.50'],
  [4900, 300, '€0.163', false], // it never ends, so it cannot add up
  [500, 30_000, '€0.0002', false],
] as [number, number, string, boolean?][])(
  'the price of one says whether it is exact: %i for %i',
  (amount, parts, price, exact = true) => {
    expect(moneyEach(amount, 'eur', parts)).toEqual({ price, exact });
  },
);

test('an exact price of one, so many times, is the price of the pack', () => {
  for (let amount = 1; amount < 30_000; amount += 37)
    for (const credits of [1, 7, 100, 250, 500, 2000]) {
      const { price, exact } = moneyEach(amount, 'eur', credits);
      if (!exact) continue;
      const [whole = '', part = ''] = price.replace(/[€,]/g, '').split('.');
      expect(BigInt(whole + part) * BigInt(credits)).toBe(BigInt(amount) * 10n ** BigInt(part.length - 2));
    }
});

test('an amount without the code of a currency is shown as it was sent', () => {
  expect(money(5, '<b>')).toBe('5 <b>');
  expect(money(1.5, 'eur')).toBe('1.5 eur');
});

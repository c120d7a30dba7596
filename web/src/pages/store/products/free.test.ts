import { expect, test } from 'vitest';
import { freeText } from './free';

const files = (...paid: number[]) => paid.map((paidQuantity) => ({ paidQuantity })) as never;

test.each([
  [files(1, 1), 2, ''],
  [files(1, 1), 0, '2 of them were delivered before and cost nothing again.'],
  [files(0, 1), 1, '1 of them is refunded and costs nothing.'],
  [
    files(0, 1, 1),
    1,
    '1 of them was delivered before and costs nothing again. 1 of them is refunded and costs nothing.',
  ],
])('it is said why files cost nothing: %j for %d', (all, credits, says) => {
  expect(freeText({ files: all, credits })).toBe(says);
});

import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { Bars } from './Bars';

afterEach(cleanup);

const PER_CHARACTER = 7; // px, at least, in the size of the numbers

test.each([3, 900, 1_500, 24_000, 1_200_000])(
  'the numbers beside bars of %s have the width that they need',
  (value) => {
    const bars = [{ key: 'a', label: 'Mon', title: 'Monday', values: [value] }];
    const { container } = render(<Bars name="Bars" parts={[{ key: 'x', name: 'X', look: 'full' }]} bars={bars} />);
    const numbers = [...container.querySelectorAll('text[text-anchor=end]')].filter((text) => text.hasAttribute('dy'));
    expect(numbers.length).toBeGreaterThan(1);
    for (const number of numbers)
      expect(Number(number.getAttribute('x'))).toBeGreaterThanOrEqual(
        (number.textContent ?? '').length * PER_CHARACTER,
      );
  },
);

test('the words of a bar stand in the order of its parts, the top one first', () => {
  const parts = (['full', 'hatched', 'failed'] as const).map((look) => ({ key: look, name: look, look }));
  const bars = [{ key: 'a', label: 'Mon', title: 'Monday', values: [3, 0, 1] }];
  const { container } = render(<Bars name="Bars" parts={parts} bars={bars} />);
  fireEvent.focus(screen.getByRole('img'));
  const words = [...container.querySelectorAll('div[aria-hidden] > span')].map(({ textContent }) => textContent);
  expect(words).toEqual(['failed1', 'hatched0', 'full3']);
});

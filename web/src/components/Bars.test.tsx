import { cleanup, render } from '@testing-library/react';
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

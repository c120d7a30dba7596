import { cleanup, render } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { OrderNumber } from './OrderNumber';

afterEach(cleanup);

test.each([
  ['#test-384826088162852864', '#test-384826088162852864'],
  ['#1001', null],
])('the number %s is one text to be read aloud, and a long one is in its tooltip too', (orderNumber, title) => {
  const { container } = render(<OrderNumber of={{ orderNumber, orderId: 'x' }} />);
  const read = [...container.querySelectorAll('bdi')].filter((it) => !it.closest('[aria-hidden]'));
  expect(read.map((it) => it.textContent)).toEqual([orderNumber]);
  expect(container.firstElementChild?.getAttribute('title')).toBe(title);
});

test('the shown parts of a long number are the whole of it', () => {
  const { container } = render(<OrderNumber of={{ orderNumber: '#test-384826088162852864', orderId: 'x' }} />);
  const parts = [...container.querySelectorAll('[aria-hidden] bdi')].map((it) => it.textContent);
  expect(parts).toEqual(['#test-384826', '088162', '852864']);
});

import { cleanup, render } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { OrderNumber } from './OrderNumber';

afterEach(cleanup);

test.each([
  ['#test-384826088162852864', '#test-384826088162852864'],
  ['#1001', null],
])('the number %s is whole as text, and a long one in its tooltip too', (orderNumber, title) => {
  const { container } = render(<OrderNumber of={{ orderNumber, orderId: 'x' }} />);
  expect([container.textContent, container.firstElementChild?.getAttribute('title')]).toEqual([orderNumber, title]);
});

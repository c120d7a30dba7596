import { cleanup, render } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { OrderNumber } from './OrderNumber';

afterEach(cleanup);

test.each([
  ['#test-384826088162852864', '#test-3848…852864', '#test-384826088162852864'],
  ['#1001', '#1001', null],
])('the number %s', (orderNumber, shown, title) => {
  const { container } = render(<OrderNumber of={{ orderNumber, orderId: 'x' }} />);
  expect([container.textContent, container.querySelector('bdi')?.getAttribute('title')]).toEqual([shown, title]);
});

import { cleanup, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { show } from '@/testing/render';
import { Missing } from './Missing';

afterEach(cleanup);

test('a page names the thing that is missing, and leads to its list', async () => {
  await show(<Missing what="There is no such order in this account" back={{ label: 'All orders', to: '/orders' }} />);
  await screen.findByRole('heading', { level: 1, name: 'There is no such order in this account' });
  screen.getByText('Its address may be misspelt, or it belongs to another account.');
  expect(screen.getByRole('link', { name: 'All orders' }).getAttribute('href')).toBe('/orders');
  expect(screen.queryByText('Page not found')).toBeNull();
});

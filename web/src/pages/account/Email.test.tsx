import { cleanup, screen, within } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { show } from '@/testing/render';
import { Email } from './Email';

afterEach(cleanup);

test('an address that is not confirmed says so beside the address, which stands there once', async () => {
  const { container } = await show(<Email email="sam@shop.example" unconfirmed />);
  const address = await screen.findByText('sam@shop.example');
  const beside = address.closest('div');
  if (!beside) throw new Error('It stands nowhere.');
  within(beside).getByText('It is not confirmed yet. Confirm it by a link.');
  within(beside).getByRole('button', { name: 'Send the link' });
  expect(container.textContent.match(/sam@shop\.example/g)).toHaveLength(1);
});

import { cleanup, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test } from 'vitest';
import { show } from '@/testing/render';
import { NewPasswordField, PasswordField } from './PasswordField';

afterEach(cleanup);

test('the button in the field shows and hides the password, says which, and is reached by the keyboard', async () => {
  await show(<PasswordField label="Secret" />);
  const field = screen.getByLabelText<HTMLInputElement>('Secret');
  const user = userEvent.setup();
  await user.type(field, 'abc');
  expect(field.type).toBe('password');
  await user.tab();
  expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Show the password' }));
  await user.keyboard('{Enter}');
  expect(field.type).toBe('text');
  await user.click(screen.getByRole('button', { name: 'Hide the password' }));
  expect(field.type).toBe('password');
});

test('a password that is chosen has its rule, for password managers too', async () => {
  await show(<NewPasswordField label="New password" />);
  const field = screen.getByLabelText<HTMLInputElement>(/^New password/);
  expect([field.autocomplete, field.name, field.minLength, field.required]).toEqual([
    'new-password',
    'password',
    10,
    true,
  ]);
  const hint = document.getElementById(field.getAttribute('aria-describedby')?.split(' ')[0] ?? '');
  expect(hint?.textContent).toBe('10 characters or more.');
});

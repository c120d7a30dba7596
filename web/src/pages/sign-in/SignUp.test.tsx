import { act, cleanup, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { ApiError } from '@/api/errors';
import { session } from '@/session';
import { show } from '@/testing/render';
import { SignUp } from './SignUp';

vi.mock('@tanstack/react-router', async (original) => ({
  ...(await original<typeof import('@tanstack/react-router')>()),
  getRouteApi: () => ({ useSearch: () => ({}) }),
}));
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

test('an e-mail that has an account is refused at its field, and the way to sign in is there once', async () => {
  const user = userEvent.setup();
  vi.spyOn(session, 'signUp').mockRejectedValue(new ApiError(409, 'EMAIL_TAKEN', 'The address is taken.'));
  const { client } = await show(<SignUp />);
  act(() => void client.setQueryData(['sign-in config'], { signup: 'open', passwords: true, issuers: [], cloud: {} } as never)); // prettier-ignore
  await user.type(await screen.findByLabelText(/^Shop|name/i), 'Marlow');
  const email = screen.getByLabelText(/^E-mail/);
  await user.type(email, 'sam@shop.example');
  await user.type(screen.getByLabelText(/^Password/, { selector: 'input' }), 'correct horse battery{Enter}');
  await vi.waitFor(() => expect(email.getAttribute('aria-invalid')).toBe('true'));
  expect(screen.getAllByText('There is an account with this e-mail.')).toHaveLength(1);
  expect(screen.getAllByRole('link', { name: /^Sign in$/ })).toHaveLength(1);
  expect(document.activeElement).toBe(email);
});

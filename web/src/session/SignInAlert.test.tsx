import { cleanup, render, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { ApiError } from '@/api/errors';
import { SignInAlert } from './SignInAlert';

afterEach(cleanup);

test('the countdown names the limit that the answer names', () => {
  const error = new ApiError(429, 'TOO_MANY_ATTEMPTS', 'x', [], null, 30);
  render(<SignInAlert error={error} left={12} />);
  expect(screen.getByRole('timer').textContent).toBe(
    'Too many failed sign-ins with this e-mail address. Try again in 12 s.',
  );
});

import { expect, test } from 'vitest';
import { ApiError } from '@/api/errors';
import { signInSentence } from './words';

test('who is known is told of the password alone', () => {
  const wrong = new ApiError(401, 'INVALID_CREDENTIALS', 'no', [], 'req_1');
  expect(signInSentence(wrong)).toBe('E-mail or password is wrong.');
  expect(signInSentence(wrong, true)).toBe('The password is wrong.');
});

test.each([
  ['TOO_MANY_ATTEMPTS', 'Too many failed sign-ins with this e-mail address. Try again in 30 s.'],
  ['RATE_LIMIT_EXCEEDED', 'Too many tries. Try again in 30 s.'], // of a network, or of a person's sessions: it does not say of which
])('a limit is said to be of the address where it is: %s', (code, says) => {
  const error = new ApiError(429, code, 'Rate limit exceeded', [], null, 30);
  expect(signInSentence(error)).toBe(says);
});

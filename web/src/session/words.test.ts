import { expect, test } from 'vitest';
import { ApiError } from '@/api/errors';
import { signInSentence } from './words';

test('who is known is told of the password alone', () => {
  const wrong = new ApiError(401, 'INVALID_CREDENTIALS', 'no', [], 'req_1');
  expect(signInSentence(wrong)).toBe('E-mail or password is wrong.');
  expect(signInSentence(wrong, true)).toBe('The password is wrong.');
});

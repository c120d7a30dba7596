import { expect, test } from 'vitest';
import { ApiError, errorOfAnswer, isMissing, problemsOf, sentence, worthAnotherTry } from './errors';

const answer = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  errorOfAnswer(new Response(null, { status, headers }), body);

test('an answer of the service becomes an error with all that it tells', () => {
  const error = answer(
    422,
    {
      error: {
        code: 'VALIDATION_FAILED',
        message: 'The request has fields that are not valid.',
        details: [{ field: 'name', problem: 'is required' }],
      },
    },
    { 'x-request-id': 'req_1' },
  );
  expect(error).toMatchObject({ status: 422, code: 'VALIDATION_FAILED', requestId: 'req_1', retryAfterSeconds: null });
  expect(problemsOf(error)).toEqual({ name: 'is required' });
});

test('a problem of an element is one of its list', () => {
  const error = new ApiError(422, 'VALIDATION_FAILED', '', [{ field: 'settings.tags[12]', problem: 'is too long' }]);
  expect(problemsOf(error)).toEqual({ 'settings.tags': 'is too long' });
});

test('an answer that is none of the service’s is no crash', () => {
  for (const body of [undefined, null, 'text', {}, { error: {} }, { error: 'x' }])
    expect(answer(502, body).code).toBe('UNKNOWN');
});

test('what is said of an error', () => {
  expect(sentence(answer(409, { error: { code: 'CONFLICT', message: 'It was changed.' } }))).toBe('It was changed.');
  expect(
    sentence(answer(429, { error: { code: 'RATE_LIMIT_EXCEEDED', message: 'x' } }, { 'retry-after': '120' })),
  ).toBe('Too many requests. Try again in 2 min.');
  expect(sentence(answer(403, { error: { code: 'FORBIDDEN', message: 'x' } }))).toBe(
    'Your role can look at this, not change it.',
  );
  expect(sentence(new ApiError(401, 'UNAUTHORIZED', ''))).toBe('Your session had ended. Nothing was sent.');
  expect(sentence(answer(401, { error: { code: 'INVALID_CREDENTIALS', message: 'Wrong.' } }))).toBe('Wrong.');
  expect(sentence(answer(503, { error: { code: 'OVERLOADED', message: 'x' } }))).toMatch(/^The bridge is busy/);
  expect(sentence(answer(500, { error: { code: 'INTERNAL_ERROR', message: 'x' } }))).toBe(
    'Something went wrong on our side.',
  );
  expect(sentence(new TypeError('boom'))).toBe('Something went wrong on our side.');
});

test('a read is tried again where that may help', () => {
  const away = new ApiError(0, 'NETWORK', '');
  expect([worthAnotherTry(0, away), worthAnotherTry(2, away)]).toEqual([true, false]);
  expect(worthAnotherTry(0, new ApiError(0, 'OFFLINE', ''))).toBe(false);
  expect(worthAnotherTry(0, answer(503, undefined))).toBe(true);
  expect(worthAnotherTry(0, answer(404, undefined))).toBe(false);
  expect([isMissing(answer(404, undefined)), isMissing(answer(500, undefined))]).toEqual([true, false]);
});

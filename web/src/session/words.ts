import { ApiError, sentence } from '@/api/errors';
import { duration } from '@/i18n/format';
import { t } from '@/i18n/text';

const WAIT_S = 60; // where the service does not say how long

export const waitOf = (error: ApiError) => error.retryAfterSeconds ?? WAIT_S;

// A 429 with the seconds until the next attempt is taken: as far as the answer says which limit it was.
export const lockedSentence = (error: unknown, seconds: number) =>
  t(error instanceof ApiError && error.code === 'TOO_MANY_ATTEMPTS' ? 'signIn.lockedAddress' : 'signIn.locked', {
    time: duration(seconds * 1000),
  });

// The sentence about a sign-in that failed. `known`: the form asks for the password alone, since the address is known.
export function signInSentence(error: unknown, known = false): string {
  if (!(error instanceof ApiError)) return sentence(error);
  if (error.code === 'INVALID_CREDENTIALS' || error.status === 422)
    return t(known ? 'signIn.wrongPassword' : 'signIn.wrong');
  if (error.status === 429) return lockedSentence(error, waitOf(error));
  if (error.code === 'EMAIL_TAKEN') return t('signUp.taken');
  if (error.code === 'INSECURE_ADDRESS' || error.code === 'CROSS_SITE_REQUEST') return t('signIn.insecure');
  if (error.code === 'SIGNUP_CLOSED') return t('signUp.closed');
  return sentence(error);
}

import { ApiError, sentence } from '@/api/errors';
import { duration } from '@/i18n/format';
import { t } from '@/i18n/text';

const WAIT_S = 60; // where the service does not say how long

export const waitOf = (error: ApiError) => error.retryAfterSeconds ?? WAIT_S;

// The sentence about a sign-in that failed. `known`: the form asks for the password alone, since the address is known.
export function signInSentence(error: unknown, known = false): string {
  if (!(error instanceof ApiError)) return sentence(error);
  if (error.code === 'INVALID_CREDENTIALS' || error.status === 422)
    return t(known ? 'signIn.wrongPassword' : 'signIn.wrong');
  if (error.status === 429) return t('signIn.locked', { time: duration(waitOf(error) * 1000) });
  if (error.code === 'EMAIL_TAKEN') return t('signUp.taken');
  if (error.code === 'INSECURE_ADDRESS' || error.code === 'CROSS_SITE_REQUEST') return t('signIn.insecure');
  if (error.code === 'SIGNUP_CLOSED') return t('signUp.closed');
  return sentence(error);
}

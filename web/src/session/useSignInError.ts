// Why a sign-in failed. After too many attempts, `left` counts down the seconds until the service takes another one; at its end the error
// is gone.
import { useState } from 'react';
import { ApiError } from '@/api/errors';
import { useSecondsLeft } from '@/components/useSecondsLeft';
import { waitOf } from './words';

export function useSignInError() {
  const [failure, fail] = useState<unknown>();
  const waits = failure instanceof ApiError && failure.status === 429;
  const left = useSecondsLeft(failure, waits ? waitOf(failure) : 0);
  return { error: waits && left === 0 ? undefined : failure, left, fail };
}

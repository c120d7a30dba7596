// Why a sign-in failed. After too many attempts, `left` counts down the seconds until the service takes another one; at its end the error
// is gone.
import { useCallback, useEffect, useState } from 'react';
import { ApiError } from '@/api/errors';
import { waitOf } from './words';

const secondsOf = (error: unknown) => (error instanceof ApiError && error.status === 429 ? waitOf(error) : 0);

export function useSignInError() {
  const [error, setError] = useState<unknown>();
  const [left, setLeft] = useState(0);
  const fail = useCallback((failure: unknown) => {
    setError(failure);
    setLeft(secondsOf(failure));
  }, []);
  useEffect(() => {
    const seconds = secondsOf(error);
    if (seconds === 0) return undefined;
    const end = Date.now() + seconds * 1000;
    const timer = setInterval(() => {
      const now = Math.max(0, Math.ceil((end - Date.now()) / 1000));
      setLeft(now);
      if (now === 0) setError(undefined);
    }, 1000);
    return () => clearInterval(timer);
  }, [error]);
  return { error, left, fail };
}

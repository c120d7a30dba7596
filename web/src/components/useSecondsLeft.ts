// Counts down the seconds of a wait that begins when its error is first given. The next error begins anew.
import { useEffect, useState } from 'react';

export function useSecondsLeft(error: unknown, seconds: number): number {
  const [left, setLeft] = useState({ error, seconds });
  if (left.error !== error) setLeft({ error, seconds });
  useEffect(() => {
    if (seconds === 0) return undefined;
    const end = Date.now() + seconds * 1000;
    const timer = setInterval(() => {
      const now = Math.max(0, Math.ceil((end - Date.now()) / 1000));
      setLeft({ error, seconds: now });
      if (now === 0) clearInterval(timer);
    }, 1000);
    return () => clearInterval(timer);
  }, [error, seconds]);
  return left.error === error ? left.seconds : seconds;
}

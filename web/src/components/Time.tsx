// A time in the viewer's words; the full date and UTC on hover and focus.
import { useEffect, useState } from 'react';
import { ago, lately, moment, utc } from '@/i18n/format';

const FORMS = { ago, lately, moment };
const AGAIN_MS = 20_000;

export function useNow(everyMs = AGAIN_MS): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

export function Time({ at, form = 'moment' }: { at: string; form?: keyof typeof FORMS }) {
  const now = useNow();
  return (
    <time dateTime={at} title={utc(at)}>
      {FORMS[form](at, now)}
    </time>
  );
}

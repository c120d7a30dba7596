// Announces a text to screen readers when it changes: the newest one, and at most one in three seconds. Until then there is none.
import { useEffect, useRef, useState } from 'react';

const EVERY_MS = 3_000;

export function Announce({ text }: { text: string }) {
  const [said, setSaid] = useState(text);
  const last = useRef(-Infinity);
  useEffect(() => {
    if (text === said) return undefined;
    const timer = setTimeout(
      () => {
        last.current = Date.now();
        setSaid(text);
      },
      Math.max(0, last.current + EVERY_MS - Date.now()),
    );
    return () => clearTimeout(timer);
  }, [text, said]);
  return (
    <p className="unseen" aria-live="polite">
      {said === text ? said : null}
    </p>
  );
}

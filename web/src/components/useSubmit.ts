// One submit at a time. `begin` is false while a former submit is under way: a second click or Enter arrives before React renders the busy
// button, so the state alone does not stop it. `end` allows the next; a form that leaves the page after a success never calls it.
import { useCallback, useRef, useState } from 'react';

export function useSubmit() {
  const running = useRef(false);
  const [busy, setBusy] = useState(false);
  const begin = useCallback(() => {
    if (running.current) return false;
    running.current = true;
    setBusy(true);
    return true;
  }, []);
  const end = useCallback(() => {
    running.current = false;
    setBusy(false);
  }, []);
  return { busy, begin, end };
}

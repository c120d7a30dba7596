// Restores the session while it is not known whether there is one. `error`: the service did not say; `again` asks it once more.
import { useCallback, useEffect, useState } from 'react';
import { session, useSession } from '.';

export function useRestore() {
  const unknown = useSession().name === 'unknown';
  const [error, setError] = useState<unknown>();
  const again = useCallback(() => void session.restore().then(() => setError(undefined), setError), []);
  useEffect(() => {
    if (unknown) again();
  }, [unknown, again]);
  return { error: unknown ? error : undefined, again };
}

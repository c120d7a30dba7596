// The session of this tab.
import { useSyncExternalStore } from 'react';
import { createSession } from './session';

export const session = createSession({
  fetch: (...request) => window.fetch(...request),
  locks: navigator.locks,
  channel: new BroadcastChannel('presetbridge-session'),
  now: () => Date.now(),
});

export const useSession = () => useSyncExternalStore(session.subscribe, session.get);

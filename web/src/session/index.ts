// The session of this tab.
import { useSyncExternalStore } from 'react';
import { owed } from './owed';
import { createSession, type SessionState } from './session';

export const session = createSession({
  fetch: (...request) => window.fetch(...request),
  locks: navigator.locks,
  channel: new BroadcastChannel('presetbridge-session'),
  now: () => Date.now(),
  owed,
});

export const useSession = () => useSyncExternalStore(session.subscribe, session.get);
export const useOwesSignOut = () => useSyncExternalStore(session.subscribe, session.owesSignOut);

// Returns the person and account of a session. null: it is nobody's.
export const personOf = (state: SessionState) =>
  state.name === 'in' || state.name === 'ended' ? `${state.tokens.accountId} ${state.tokens.user.id}` : null;

// Calls `done` when the session is no longer that of the person before.
export function onPersonGone(done: () => void) {
  let person = personOf(session.get());
  return session.subscribe(() => {
    const before = person;
    person = personOf(session.get());
    if (before !== null && before !== person) done();
  });
}

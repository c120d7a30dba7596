// Follows the account that is signed in, until it is stopped.
import { authorized } from '@/api/client';
import { queryClient } from '@/api/queries';
import { session } from '@/session';
import { createApplier } from './apply';
import { liveRows } from './rows';
import { liveState } from './state';
import type { Link } from './stream';
import { readShared } from './tabs';

export function follow(account: string): () => void {
  const stop = new AbortController();
  const name = `presetbridge-live-${account}`;
  const applier = createApplier(queryClient);
  liveRows.follow(applier);
  let reported: Link = 'connecting';
  let offline = navigator.onLine === false;
  const show = () => {
    const before = liveState.get().link;
    liveState.set(offline ? 'offline' : reported);
    // Data with live changes is polled from now on.
    if (before === 'live' && reported === 'away') void queryClient.invalidateQueries({ refetchType: 'active' });
  };
  const { nudge, renew } = readShared(
    { locks: navigator.locks, channel: new BroadcastChannel(name), lock: name },
    {
      open: (headers, signal) =>
        authorized(
          new Request(new URL('/api/events', window.location.origin), {
            headers: { accept: 'text/event-stream', ...headers },
            signal,
            cache: 'no-store',
          }),
        ),
      onBatch: ({ events }) => {
        liveState.heard();
        applier.take(events);
      },
      onBeat: liveState.heard,
      onLink: (link) => {
        reported = link;
        show();
      },
    },
    stop.signal,
  );
  const turned = () => {
    offline = navigator.onLine === false;
    show();
    if (!offline) renew();
  };
  const shown = () => document.visibilityState === 'visible' && nudge();
  const signedIn = session.subscribe(() => session.get().name === 'in' && reported === 'away' && nudge());
  window.addEventListener('online', turned);
  window.addEventListener('offline', turned);
  document.addEventListener('visibilitychange', shown);
  return () => {
    stop.abort();
    applier.stop();
    liveRows.follow(undefined);
    signedIn();
    window.removeEventListener('online', turned);
    window.removeEventListener('offline', turned);
    document.removeEventListener('visibilitychange', shown);
    liveState.set('connecting');
  };
}

// Whether what is shown follows the service. Pages read it here; the reader of the events, which is loaded later, writes it.
import { useSyncExternalStore } from 'react';

type LiveState = {
  link: 'connecting' | 'live' | 'away' | 'offline';
  asOf: number; // until when all was heard
};

let state: LiveState = { link: 'connecting', asOf: Date.now() };
const listeners = new Set<() => void>();

export const liveState = {
  get: () => state,
  set(link: LiveState['link']) {
    if (state.link === link) return;
    state = { link, asOf: state.link === 'live' ? lastSign : link === 'live' ? Date.now() : state.asOf };
    for (const listener of listeners) listener();
  },
  heard() {
    lastSign = Date.now();
  },
  subscribe(listener: () => void) {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
};
let lastSign = Date.now();

export const useLiveState = () => useSyncExternalStore(liveState.subscribe, liveState.get);

// A poll interval: long while live changes arrive, this one while they do not.
const SELDOM_MS = 60_000;
export const paced =
  (ms: number, live = SELDOM_MS) =>
  () =>
    state.link === 'live' ? live : ms;

// The rows of a list while it changes: those that are looked at stay where they are and change in place; new ones wait to be asked for.
import { useState, useSyncExternalStore } from 'react';
import type { Schemas } from '@/api/client';
import type { createApplier } from './apply';
import { patched } from './patch';
import { useLiveState } from './state';

type Row = Schemas['Delivery'];
type Applier = Pick<ReturnType<typeof createApplier>, 'newest' | 'subscribe' | 'flushes'>;

let applier: Applier | undefined;
let leave: (() => void) | undefined;
const listeners = new Set<() => void>();
const notify = () => {
  for (const listener of listeners) listener();
};
export const liveRows = {
  // The first list is drawn before there is one.
  follow(next: Applier | undefined) {
    leave?.();
    applier = next;
    leave = next?.subscribe(notify);
  },
};
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

// `key`: of the list that is asked for; another one begins anew. `settled`: the rows are of that list.
export function useSteadyRows(rows: Row[], key: string, settled: boolean) {
  const [held, setHeld] = useState<{ key: string; rows: Row[] }>({ key: '', rows: [] });
  const live = useLiveState().link === 'live';
  const byId = new Map(rows.map((row) => [row.id, row]));
  const gone = held.rows.some(({ id }) => !byId.has(id));
  useSyncExternalStore(subscribe, () => (gone ? applier?.flushes() : 0));
  const begins = !live || held.key !== key || held.rows.length === 0;
  if (begins && settled && (held.key !== key || held.rows !== rows)) setHeld({ key, rows });
  if (begins) return { rows, fresh: 0, show: () => undefined };
  const ids = new Set(held.rows.map(({ id }) => id));
  return {
    // One that has left the list stays until the list is asked for anew.
    rows: held.rows.map((row) => {
      const now = applier?.newest(row.id);
      return byId.get(row.id) ?? (now ? patched(row, now) : row);
    }),
    fresh: rows.filter(({ id }) => !ids.has(id)).length,
    show: () => setHeld({ key, rows }),
  };
}

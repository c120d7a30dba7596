// The rows of a list while it changes: those that are looked at stay where they are and change in place; new ones wait to be asked for.
import { useState, useSyncExternalStore } from 'react';
import type { Schemas } from '@/api/client';
import { deliveryIdOf } from '@/vocabulary/order';
import type { createApplier } from './apply';
import { patched, type LiveDelivery } from './patch';
import { useLiveState } from './state';

type Newest = (id: string) => LiveDelivery | undefined; // the newest state of a delivery, where one was heard of
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

export function deliveryNow(row: Schemas['Delivery'], newest: Newest) {
  const now = newest(row.id);
  return now ? patched(row, now) : row;
}
export function orderNow(row: Schemas['Order'], newest: Newest): Schemas['Order'] {
  const now = newest(row.deliveryId ?? deliveryIdOf(row.id));
  if (!now) return row;
  const known = { ...row, deliveryStatus: now.status, resolutionCode: now.resolutionCode };
  if (row.deliveryId !== null) return known;
  // The delivery was made since: no event says how many of its products have presets now.
  return { ...known, outcome: 'delivery', deliveryId: now.id, lineCount: 0, unmappedCount: 0 };
}

// `key`: of the list that is asked for; another one begins anew. `settled`: the rows are of that list. `rowNow`: gives a row the newest state
// of its delivery.
export function useSteadyRows<Row extends { id: string }>(
  rows: Row[],
  key: string,
  settled: boolean,
  rowNow: (row: Row, newest: Newest) => Row,
) {
  const [held, setHeld] = useState<{ key: string; rows: Row[] }>({ key: '', rows: [] });
  const live = useLiveState().link === 'live';
  const byId = new Map(rows.map((row) => [row.id, row]));
  const gone = held.rows.some(({ id }) => !byId.has(id));
  useSyncExternalStore(subscribe, () => (gone ? applier?.flushes() : 0));
  const begins = !live || held.key !== key || held.rows.length === 0;
  if (begins && settled && (held.key !== key || held.rows !== rows)) setHeld({ key, rows });
  if (begins) return { rows, fresh: 0, left: [], show: () => undefined };
  const ids = new Set(held.rows.map(({ id }) => id));
  // One that has left the list stays until the list is asked for anew.
  const shown = held.rows.map((row) => byId.get(row.id) ?? rowNow(row, (id) => applier?.newest(id)));
  return {
    rows: shown,
    left: shown.filter(({ id }) => !byId.has(id)),
    fresh: rows.filter(({ id }) => !ids.has(id)).length,
    show: () => setHeld({ key, rows }),
  };
}

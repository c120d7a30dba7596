// Applies events to the cached reads. Rows of deliveries that are on the screen change at once, at most four times a second;
// all else that an event touches is read anew, each thing no more often than it bears.
import type { QueryClient, QueryKey } from '@tanstack/react-query';
import { withRows, type LiveDelivery } from './patch';
import type { LiveEvent } from './stream';

export const FLUSH_MS = 250;
export const AGAIN_MS = [2_500, 5_000]; // the service notes them each two seconds, and later under load

type Kind = 'delivery' | 'order' | 'intake_refused' | 'subscription' | 'credits' | 'cloud' | 'bulk';

// The reads by the beginning of their keys; after which events they are repeated, and how often at most. `again`: twice more some seconds
// later, as the service notes the time of a store's last order, its counts and its products each few seconds.
type Reading = { key: QueryKey; after: Kind[]; everyMs: number; again?: true };
export const READINGS: Reading[] = [
  { key: ['deliveries', 'one'], after: ['delivery'], everyMs: 500 },
  { key: ['deliveries', 'list'], after: ['delivery', 'bulk'], everyMs: 2_000 },
  { key: ['deliveries', 'count'], after: ['delivery', 'bulk'], everyMs: 2_000 },
  { key: ['overview'], after: ['delivery', 'order', 'intake_refused', 'subscription', 'credits', 'cloud'], everyMs: 2_000, again: true },
  { key: ['stats'], after: ['delivery'], everyMs: 10_000 },
  { key: ['orders'], after: ['order', 'delivery'], everyMs: 2_000 },
  { key: ['stores', 'list'], after: ['order', 'delivery', 'intake_refused'], everyMs: 3_000, again: true },
  { key: ['stores', 'one'], after: ['order', 'delivery', 'intake_refused'], everyMs: 2_000, again: true },
  { key: ['stores', 'products'], after: ['order'], everyMs: 3_000, again: true },
  { key: ['stores', 'reprocessable'], after: ['order'], everyMs: 3_000 },
  { key: ['subscriptions'], after: ['subscription'], everyMs: 1_000 },
  { key: ['credits'], after: ['credits'], everyMs: 2_000 },
  { key: ['cloud'], after: ['cloud'], everyMs: 1_000 },
  { key: ['presets'], after: ['cloud'], everyMs: 10_000 },
  { key: ['usage'], after: ['delivery', 'order'], everyMs: 30_000 },
  { key: ['keys', 'usage'], after: ['delivery', 'order'], everyMs: 30_000 },
  { key: ['bulk'], after: ['bulk'], everyMs: 500 },
]; // prettier-ignore

const MOST_NEWEST = 2_000; // newest states of deliveries, for rows that have left their list

export function createApplier(client: QueryClient, now: () => number = Date.now) {
  let waiting = new Map<string, LiveEvent>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let flushedAt = -Infinity;
  let flushes = 0;
  const newest = new Map<string, LiveDelivery>();
  const listeners = new Set<() => void>();
  const turns = READINGS.map((reading) => ({ ...reading, endedAt: -Infinity, busy: false, dirty: false, timer: undefined as ReturnType<typeof setTimeout> | undefined, later: [] as ReturnType<typeof setTimeout>[] })); // prettier-ignore
  type Turn = (typeof turns)[number];

  async function read(turn: Turn) {
    turn.timer = undefined;
    turn.dirty = false;
    turn.busy = true;
    await client.invalidateQueries({ queryKey: turn.key }).catch(() => undefined);
    turn.busy = false;
    turn.endedAt = now();
    if (turn.dirty) readSoon(turn);
  }
  function readSoon(turn: Turn) {
    if (turn.busy) turn.dirty = true;
    else turn.timer ??= setTimeout(() => void read(turn), Math.max(0, turn.endedAt + turn.everyMs - now()));
  }

  function patch(all: ReadonlyMap<string, LiveDelivery>) {
    for (const [id, data] of all) {
      newest.delete(id);
      newest.set(id, data);
    }
    for (const id of newest.keys()) {
      if (newest.size <= MOST_NEWEST) break;
      newest.delete(id);
    }
    for (const [key, field] of [[['deliveries', 'list'], 'data'], [['overview'], 'recent']] as const) {
      for (const query of client.getQueryCache().findAll({ queryKey: key, type: 'active' })) {
        const data = query.state.data as Record<string, unknown> | undefined;
        if (data === undefined) continue;
        const next = withRows(data, field, all);
        // As old as it was: only rows of it are newer.
        if (next !== data) client.setQueryData(query.queryKey, next, { updatedAt: query.state.dataUpdatedAt });
      }
    } // prettier-ignore
  }

  function flush() {
    timer = undefined;
    flushedAt = now();
    const batch = [...waiting.values()];
    waiting = new Map();
    const missed = batch.some(({ event, data }) => event === 'reset' || (event === 'hello' && data.resumed !== true));
    const deliveries = batch.filter(({ event }) => event === 'delivery').map(({ data }) => data as LiveDelivery);
    if (deliveries.length > 0) patch(new Map(deliveries.map((one) => [one.id, one])));
    const kinds = new Set(batch.map(({ event }) => event));
    if (missed) void client.invalidateQueries();
    else
      for (const turn of turns) {
        if (!turn.after.some((kind) => kinds.has(kind))) continue;
        readSoon(turn);
        if (!turn.again) continue;
        turn.later.forEach(clearTimeout);
        turn.later = AGAIN_MS.map((ms) => setTimeout(() => readSoon(turn), ms));
      }
    flushes += 1;
    for (const listener of listeners) listener();
  }

  return {
    take(events: LiveEvent[]) {
      for (const one of events) {
        const id = typeof one.data.id === 'string' ? one.data.id : '';
        const key = `${one.event}:${id}`;
        if (one.event === 'delivery') {
          const known = (waiting.get(key)?.data ?? newest.get(id)) as LiveDelivery | undefined;
          if (known && known.version > (one.data as LiveDelivery).version) continue;
        }
        if (one.event === 'hello' && one.data.resumed === true) continue;
        waiting.set(key, one);
      }
      if (waiting.size > 0) timer ??= setTimeout(flush, Math.max(0, flushedAt + FLUSH_MS - now()));
    },
    newest: (id: string) => newest.get(id),
    flushes: () => flushes,
    subscribe(listener: () => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    stop() {
      clearTimeout(timer);
      for (const { timer: soon, later } of turns) {
        clearTimeout(soon);
        later.forEach(clearTimeout);
      }
      waiting.clear();
    },
  };
}

// What happened to a delivery, as the page tells it: tries that came to the same are one entry.
import type { Schemas } from '@/api/client';

export type Entry = Schemas['TimelineEntry'];
export type Told = { entry: Entry; again: Entry[] }; // the newest of them, and the older ones

const REPEATED = new Set<Entry['type']>(['put_off', 'waiting', 'looked_up']);

export function folded(entries: Entry[]): Told[] {
  const told: Told[] = [];
  for (const entry of entries) {
    const last = told.at(-1);
    const same =
      last && REPEATED.has(entry.type) && entry.type === last.entry.type && entry.message === last.entry.message;
    if (same) last.again.push(entry);
    else told.push({ entry, again: [] });
  }
  return told;
}

// The newest entry that tells what the delivery came to: the only one in colour.
const OUTCOMES = new Set<Entry['type']>(['completed', 'failed', 'in_review', 'invalidated', 'waiting', 'request_sent']);
const decided = ({ type, status, data }: Entry) => type === 'action' && status !== null && data.to === undefined;
export const outcomeOf = (entries: Entry[]) => entries.find((entry) => OUTCOMES.has(entry.type) || decided(entry))?.id;

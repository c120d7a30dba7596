// The history of a delivery, as the page shows it: attempts in a row with an equal result are one entry.
import type { Schemas } from '@/api/client';

export type Entry = Schemas['TimelineEntry'];
export type Folded = { entry: Entry; again: Entry[] }; // the newest of them, and the older ones

// The newest first. Of one moment, an event comes after the state that it reports, and an action before the state that came of it.
export function inOrder(entries: Entry[]): Entry[] {
  const all = [...entries];
  for (const entry of entries) {
    const isTold = entry.type === 'event_told';
    if (!isTold && entry.type !== 'action') continue;
    const from = all.indexOf(entry);
    const isState = ({ at, type, status }: Entry) =>
      at === entry.at && status === entry.status && type !== 'event_told' && (isTold || type === status);
    const to = all.findLastIndex(isState);
    if (to < 0 || from < to === isTold) continue;
    all.splice(from, 1);
    all.splice(to, 0, entry);
  }
  return all;
}

const REPEATED = new Set<Entry['type']>(['put_off', 'waiting', 'looked_up']);

export function folded(entries: Entry[]): Folded[] {
  const all: Folded[] = [];
  for (const entry of entries) {
    const last = all.at(-1);
    const same =
      last && REPEATED.has(entry.type) && entry.type === last.entry.type && entry.message === last.entry.message;
    if (same) last.again.push(entry);
    else all.push({ entry, again: [] });
  }
  return all;
}

// The service's sentences about acts that leave the delivery's status as it is.
export const TAKING_BACK = 'The shared files are being taken back.';
export const NEW_LINK = "The buyer's link was made anew.";

// The id of the newest entry with an outcome of the delivery: the only one in colour. The end of a failure is an outcome too. An action
// of the order decides nothing: what comes of it has an entry of its own.
const OUTCOMES = new Set<Entry['type']>([
  'queued',
  'completed',
  'failed',
  'in_review',
  'invalidated',
  'waiting',
  'request_sent',
]);
const decided = ({ type, actor, status, data, message }: Entry) =>
  type === 'action' &&
  actor !== 'order' &&
  status !== null &&
  data.to === undefined &&
  message !== TAKING_BACK &&
  message !== NEW_LINK;
export const outcomeOf = (entries: Entry[]) => entries.find((entry) => OUTCOMES.has(entry.type) || decided(entry))?.id;

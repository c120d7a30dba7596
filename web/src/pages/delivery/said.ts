// The service's sentence about an entry of the timeline (its `message`, which programs read too), in this page's words for the
// merchant and the buyer. A sentence that is not here is shown as the service wrote it.
import '@/i18n/en/delivery';
import { BY_HAND } from '@/vocabulary/delivery_line';
import { NEW_LINK, TAKING_BACK, type Entry } from './timeline';

export const WAITS = "The merchant waits for the customer's answer for another 14 days.";

// Acts of a person, which are shown with the person's name.
const DID = {
  [BY_HAND]: 'timeline.did.byHand',
  'The merchant invalidated the delivery.': 'timeline.did.stopped',
  'The merchant reopened the order for review.': 'timeline.did.reopened',
  'The merchant asked for a new attempt.': 'timeline.did.retried',
  'The merchant asked for a new friend request.': 'timeline.did.askedAnew',
  [WAITS]: 'timeline.did.waits',
  'The merchant approved the order.': 'timeline.did.approved',
  "The customer's username was changed.": 'timeline.did.renamed',
  [NEW_LINK]: 'timeline.did.newLink',
  [TAKING_BACK]: 'timeline.did.takingBack',
} as const;

const SAID = {
  'A friend request was sent; the customer has to accept it.': 'timeline.said.asked',
  'The customer has not accepted the friend request yet.': 'timeline.said.notYet',
  'All files were shared with the customer.': 'timeline.said.allShared',
  'Dry run: the order would have been delivered. Nothing was shared and no credit was spent.':
    'timeline.said.rehearsed',
  'The files that the order still owes were shared with the customer.': 'timeline.said.restShared',
  [BY_HAND]: 'timeline.said.byHand',
  "The cloud platform or the merchant's account is in trouble; the delivery goes on when that has passed.":
    'timeline.said.trouble',
  "The customer's username was changed.": 'timeline.said.renamed',
  "The merchant's cloud account was changed.": 'timeline.said.otherCloud',
  'The store sent another username; the files are owed to that customer.': 'timeline.said.otherBuyer',
  "The customer's data was erased.": 'timeline.said.erased',
  'The merchant invalidated the delivery.': 'timeline.said.stopped',
  'The merchant reopened the order for review.': 'timeline.said.reopened',
  'The merchant asked for a new attempt.': 'timeline.said.retried',
  'The merchant asked for a new friend request.': 'timeline.said.askedAnew',
  [WAITS]: 'timeline.said.waits',
  'The merchant approved the order.': 'timeline.said.approved',
  'The order was processed again with the mappings of now.': 'timeline.said.again',
  'The store named the customer.': 'timeline.said.named',
  'The store sent another username for the customer.': 'timeline.said.anotherName',
  'The cloud platform found the customer.': 'timeline.said.found',
  'The customer declined the friend request, so nothing can be shared.': 'timeline.said.declined',
  'The customer did not accept the friend request within 14 days.': 'timeline.said.noAnswer',
  "The customer's cloud user blocks yours, so no request can be sent.": 'timeline.said.blocked',
} as const;

const of = <Said extends Record<string, string>>(said: Said, message: string): Said[keyof Said] | undefined =>
  Object.hasOwn(said, message) ? said[message as keyof Said] : undefined;

// Whether a person or a token did it, not the service itself or an order.
export const isSomebodys = ({ actor }: Entry) => actor !== 'system' && actor !== 'order';
export const didKey = (entry: Entry) => (isSomebodys(entry) ? of(DID, entry.message) : undefined);
// The names of the files that a delivery no longer owes, and of those that it owes instead, as the service lists them.
export function replacedIn(message: string): { gone: string; instead: string | null } | null {
  const [, gone, instead] = /^No longer owed: (.+?)\.(?: Owed instead: (.+)\.)?$/s.exec(message) ?? [];
  return gone === undefined ? null : { gone, instead: instead ?? null };
}
export const saidKey = (message: string) => of(SAID, message);

// Whether a person let the delivery wait on for the buyer, and nothing came of it yet.
const ANSWERS = new Set<Entry['type']>(['action', 'accepted', 'request_sent', 'waiting', 'failed', 'completed']);
export const waitsOn = (timeline: Entry[]) => timeline.find(({ type }) => ANSWERS.has(type))?.message === WAITS;

// These change the username of the delivery, and do not say to which one.
const RENAMED = new Set<string | undefined>([
  'timeline.said.otherBuyer',
  'timeline.said.named',
  'timeline.said.anotherName',
  'timeline.said.renamed',
]);

// The username at the time of each entry, newest first: the delivery's own, or the one before a change; null where it is not known.
export function usernames(entries: Entry[], now: string | null): Map<string, string | null> {
  let name = now;
  const all = new Map<string, string | null>();
  for (const { id, message, data } of entries) {
    all.set(id, data.username ?? name);
    if (data.to !== undefined) name = data.from || null;
    else if (RENAMED.has(saidKey(message))) name = null;
  }
  return all;
}

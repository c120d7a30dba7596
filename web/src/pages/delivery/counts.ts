// How much of a delivery was shared and what it costs, by its items. An item of a former username has its own share and its own credit.
import { presentHolder } from './holders';
import type { Delivery } from './types';

type Item = Delivery['items'][number];

const isOneOf =
  (...statuses: Item['status'][]) =>
  ({ status }: Item) =>
    statuses.includes(status);
const isShared = isOneOf('shared', 'already_shared');
const isKept = isOneOf('shared', 'already_shared', 'revoking', 'revoke_failed');
const isThere = isOneOf('shared', 'already_shared', 'delivered_by_hand', 'revoking', 'revoke_failed');
const isHad = (item: Item) => isThere(item) || item.staysWithCustomer;
const isComing = isOneOf('owed', 'sharing');
const wasShared = (item: Item) => !item.dryRun && (item.sharedAt !== null || isShared(item));

// Whether an approval has anything to deliver, or to show as delivered.
export const hasSomethingLeft = ({ items }: Delivery) =>
  items.length === 0 || items.some(({ status }) => status !== 'dropped');

export function countsOf(it: Delivery) {
  const present = presentHolder(it).items.filter(({ status }) => status !== 'dropped');
  return {
    total: present.length,
    owed: present.filter(isOneOf('owed')).length,
    shared: present.filter(wasShared).length, // also what was taken back since
    sharedFormerly: it.items.filter((item) => item.former && wasShared(item)).length,
    unknown: it.items.filter(isOneOf('sharing')).length, // no answer about the share has come yet
    has: present.filter(isHad).length,
    took: present.filter((item) => item.status === 'revoked' && !isHad(item)).length,
    kept: present.filter((item) => !item.dryRun && isKept(item)).length, // by the present user, after another username is given
    spent: it.items.reduce((sum, { credits }) => sum + credits, 0),
    toSpend: it.dryRun ? 0 : present.filter((item) => isComing(item) && item.credits === 0).length,
  };
}

// How many presets the user of another username needs: not those that they got before it was given.
export function countFor(it: Delivery, username: string) {
  const had = new Set(
    it.items.filter((item) => item.former && item.username === username && isShared(item)).map(({ fileId }) => fileId),
  );
  return presentHolder(it).items.filter(
    ({ status, fileId }) => !['dropped', 'delivered_by_hand'].includes(status) && !had.has(fileId),
  ).length;
}

// Items belong to a user: to the present one, or to one of before the username was corrected.
import type { Delivery } from './types';

export type Holder = { username: string; items: Delivery['items'] };

export const presentHolder = ({ items, targetUsername }: Delivery): Holder => ({
  username: targetUsername ?? '',
  items: items.filter(({ former }) => !former),
});

export function formerHolders({ items }: Delivery): Holder[] {
  const former = items.filter((one) => one.former);
  const nameOf = ({ username }: (typeof items)[number]) => username ?? '';
  return [...new Set(former.map(nameOf))].map((username) => ({
    username,
    items: former.filter((one) => nameOf(one) === username),
  }));
}

// The items that can be taken back, also where that was tried in vain.
const SHARED: ReadonlySet<string> = new Set(['shared', 'already_shared', 'revoke_failed']);
export const revocable = ({ items }: Holder) => items.filter(({ status, dryRun }) => SHARED.has(status) && !dryRun);

// The kinds of stores, and whether orders come in from one.
import type { Schemas } from '@/api/client';
import type { Colour, Icon } from './delivery';

export type Store = Schemas['Integration'];
type StoreState = 'receiving' | 'refusing' | 'silent' | 'off' | 'archived';

export const STORE_LOOKS = {
  receiving: ['check', 'teal'],
  refusing: ['octagon', 'red'],
  silent: ['dashed', 'grey'],
  off: ['slash', 'grey'],
  archived: ['slash', 'grey'],
} satisfies Record<StoreState, [Icon, Colour]>;

type Known = Pick<Store, 'active' | 'archivedAt' | 'intake' | 'lastOrderAt'> & Partial<Pick<Store, 'secretChangedAt'>>;
type Refusal = Store['intake']['refused'][number];

const COUNTED_MS = 25 * 3_600_000; // the counts are of the last 24 hours, to the hour
const time = (at: string | null | undefined) => (at ? Date.parse(at) : -Infinity);

// Until when refusals with the code are mended: until the last order that was accepted and, of a wrong signature, the last change of the secret.
export const mendedUntil = (it: Known, code: string) =>
  Math.max(time(it.lastOrderAt), code === 'INVALID_SIGNATURE' ? time(it.secretChangedAt) : -Infinity);

const newestOf = (refused: Refusal[]) =>
  refused.reduce<Refusal | null>((found, one) => (found === null || one.lastAt > found.lastAt ? one : found), null);

// The newest refusal that nothing has mended. `mixed`: its count may count mended ones too.
export function openRefusal(it: Known) {
  const open = newestOf(it.intake.refused.filter(({ code, lastAt }) => time(lastAt) > mendedUntil(it, code)));
  if (open === null) return null;
  return { ...open, mixed: time(open.lastAt) - COUNTED_MS <= mendedUntil(it, open.code) };
}

// The newest refusal, if it is newer than the last order that was accepted; else null. A change of the secret may have mended it.
export function newestRefusal(it: Known) {
  const newest = newestOf(it.intake.refused);
  return newest && time(newest.lastAt) > time(it.lastOrderAt) ? newest : null;
}

export function storeState(it: Known): StoreState {
  if (it.archivedAt !== null) return 'archived';
  if (!it.active) return 'off';
  if (openRefusal(it)) return 'refusing';
  return it.lastOrderAt === null ? 'silent' : 'receiving';
}

export const kindOf = (it: Pick<Store, 'platform'>) => it.platform ?? 'generic';

export type MatchType = Schemas['MatchType'];
// In the order in which mappings are tried for a product.
export const MATCH_TYPES = ['variant_id', 'sku', 'product_id', 'title'] as const satisfies readonly MatchType[];

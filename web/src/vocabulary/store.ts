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

type Known = Pick<Store, 'active' | 'archivedAt' | 'intake' | 'lastOrderAt'>;

// The newest refusal, if it is newer than the last order that was accepted; else null.
export function newestRefusal(it: Known) {
  const newest = it.intake.refused.reduce<Store['intake']['refused'][number] | null>(
    (found, one) => (found === null || one.lastAt > found.lastAt ? one : found),
    null,
  );
  return newest && (it.lastOrderAt === null || newest.lastAt > it.lastOrderAt) ? newest : null;
}

export function storeState(it: Known): StoreState {
  if (it.archivedAt !== null) return 'archived';
  if (!it.active) return 'off';
  if (newestRefusal(it)) return 'refusing';
  return it.lastOrderAt === null ? 'silent' : 'receiving';
}

export const kindOf = (it: Pick<Store, 'platform'>) => it.platform ?? 'generic';

export type MatchType = Schemas['MatchType'];
// In the order in which mappings are tried for a product.
export const MATCH_TYPES = ['variant_id', 'sku', 'product_id', 'title'] as const satisfies readonly MatchType[];

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
type Refusal = Store['intake']['refused'][number];

const time = (at: string | null) => (at ? Date.parse(at) : -Infinity);

const newestOf = (refused: Refusal[]) =>
  refused.reduce<Refusal | null>((found, one) => (found === null || one.lastAt > found.lastAt ? one : found), null);

export const isOpen = ({ lastAt, mendedUntil }: Refusal) => time(lastAt) > time(mendedUntil);

// The newest refusal that nothing has mended. Where it has `mendedUntil`, its count may count mended ones too.
export const openRefusal = (it: Known) => newestOf(it.intake.refused.filter(isOpen));

// The newest refusal, if it is newer than the last order that was accepted; else null. A change of the secret may have mended it.
export function newestRefusal({ intake }: Known) {
  const newest = newestOf(intake.refused);
  return newest && time(newest.lastAt) > time(intake.lastAcceptedAt) ? newest : null;
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

// What the address of the list of orders asks for, and what of it the service is asked.
import type { OrderQuery } from '@/api/queries';
import { t } from '@/i18n/text';
import { OUTCOMES, outcomeWord, type Outcome } from '@/vocabulary/order';
import type { Option } from '../deliveries/filters';
import { cursorsOf, type Search } from '../search';

export const PAGE = 50;
const PERIODS_H = { '24h': 24, '7d': 7 * 24, '30d': 30 * 24, '90d': 90 * 24 } as const;
type Period = keyof typeof PERIODS_H;
const STEP_MS = 5 * 60_000; // a period's beginning moves in steps, so that a list is not asked for anew at every look

export const FILTERS = ['outcome', 'store', 'received'] as const;
export type Filter = (typeof FILTERS)[number];

const STORE = /^int_[0-7][0-9a-hjkmnp-tv-z]{12}$/;
// What the service takes for a search: something beside spaces, signs without a width, and @.
const FINDS = /[^\s\p{Cf}\p{Cc}@]/u;

export const isUnmappedView = ({ view }: Search) => view === 'unmapped';

export function valuesOf(filter: Filter, search: Search): string[] {
  const value = search[filter] ?? '';
  const good = {
    outcome: () => (OUTCOMES as string[]).includes(value),
    store: () => STORE.test(value),
    received: () => Object.hasOwn(PERIODS_H, value),
  };
  return good[filter]() ? [value] : [];
}

export function textOf(search: Search): string | undefined {
  const text =
    search.q
      ?.replace(/[\u0000-\u001f\u007f]/g, ' ')
      .trim()
      .slice(0, 100) ?? '';
  return FINDS.test(text) ? text : undefined;
}

// The filters alone, as the list and as an action on all that they find take them.
export function filterOf(search: Search, now: number) {
  const [outcome] = valuesOf('outcome', search) as Outcome[];
  const [integrationId] = valuesOf('store', search);
  const [period] = valuesOf('received', search) as Period[];
  const q = textOf(search);
  return {
    ...(outcome ? { outcome } : {}),
    ...(integrationId ? { integrationId } : {}),
    ...(isUnmappedView(search) ? { unmapped: true } : {}),
    ...(q ? { q } : {}),
    ...(period
      ? { receivedFrom: new Date(Math.floor(now / STEP_MS) * STEP_MS - PERIODS_H[period] * 3_600_000).toISOString() }
      : {}),
  };
}

export function queryOf(search: Search, now: number): OrderQuery {
  const cursor = cursorsOf(search).at(-1);
  return { ...filterOf(search, now), limit: PAGE, ...(cursor ? { cursor } : {}) };
}

export const isFiltered = (search: Search) =>
  textOf(search) !== undefined || FILTERS.some((filter) => valuesOf(filter, search).length > 0);
export const withoutFilters = (search: Search): Search => {
  const gone = new Set<string>([...FILTERS, 'q', 'at']);
  return Object.fromEntries(Object.entries(search).filter(([name]) => !gone.has(name)));
};

export function optionsOf(filter: Filter, stores: { id: string; name: string }[]): Option[] {
  switch (filter) {
    case 'outcome':
      return OUTCOMES.map((value) => ({ value, label: outcomeWord(value) }));
    case 'store':
      return stores.map(({ id, name }) => ({ value: id, label: name }));
    case 'received':
      return (Object.keys(PERIODS_H) as Period[]).map((value) => ({ value, label: t(`filter.created.${value}`) }));
  }
}

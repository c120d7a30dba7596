// The filters of the list of orders: read from the address, and sent to the service.
import type { OrderQuery } from '@/api/queries';
import { t } from '@/i18n/text';
import { OUTCOMES, outcomeWord, type Outcome } from '@/vocabulary/outcome';
import type { Option } from '../deliveries/filters';
import { beginOf, PERIODS, type Period } from '../period';
import { cursorsOf, isStoreId, type Search } from '../search';

export const PAGE = 50;

export const FILTERS = ['outcome', 'store', 'received'] as const;
export type Filter = (typeof FILTERS)[number];

// The service refuses a search that is only spaces, characters without a width, and @.
const FINDS = /[^\s\p{Cf}\p{Cc}@]/u;

export const isUnmappedView = ({ view }: Search) => view === 'unmapped';

export function valuesOf(filter: Filter, search: Search): string[] {
  const value = search[filter] ?? '';
  const good = {
    outcome: () => (OUTCOMES as string[]).includes(value),
    store: () => isStoreId(value),
    received: () => (PERIODS as string[]).includes(value),
  };
  return good[filter]() ? [value] : [];
}

function textOf(search: Search): string | undefined {
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
    ...(period ? { receivedFrom: beginOf(period, now) } : {}),
  };
}

export function queryOf(search: Search, now: number): OrderQuery {
  const cursor = cursorsOf(search).at(-1);
  return { ...filterOf(search, now), limit: PAGE, ...(cursor ? { cursor } : {}) };
}

export const isFiltered = (search: Search) =>
  textOf(search) !== undefined || FILTERS.some((filter) => valuesOf(filter, search).length > 0);
export const isSearchedOnly = (search: Search) =>
  textOf(search) !== undefined && FILTERS.every((filter) => valuesOf(filter, search).length === 0);
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
      return PERIODS.map((value) => ({ value, label: t(`filter.created.${value}`) }));
  }
}

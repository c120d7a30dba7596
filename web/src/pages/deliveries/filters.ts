// The filters of the list: read from the address, sent to the service, and shown on chips.
import type { Schemas } from '@/api/client';
import type { DeliveryQuery } from '@/api/queries';
import { t } from '@/i18n/text';
import { CODES, codeWord, STATUSES, statusWord } from '@/vocabulary/delivery';
import { beginOf, PERIODS, type Period } from '../period';
import { cursorsOf, isStoreId, type Search } from '../search';

export const PAGE = 50;
export const VIEWS = ['all', 'needs', 'waiting'] as const;
export type View = (typeof VIEWS)[number];

export const FILTERS = ['status', 'code', 'store', 'file', 'created', 'updated', 'test', 'refunded'] as const;
export type Filter = (typeof FILTERS)[number];
export const MANY: ReadonlySet<Filter> = new Set(['status', 'code', 'store']);

export const viewOf = ({ view }: Search): View => VIEWS.find((one) => one === view) ?? 'all';
export const queryOfView = (view: View): DeliveryQuery =>
  view === 'needs' ? { needsAttention: true } : view === 'waiting' ? { status: 'waiting_for_friendship' } : {};

// Only values that the service knows, so that an address that was typed, or is of a newer page, still shows a list.
const known = (value: string | undefined, all: readonly string[]) =>
  (value ?? '').split(',').filter((one) => all.includes(one));
const isFileId = (value: string) => value.length <= 200 && !/[\u0000-\u001f]/.test(value); // the service's rule
const flag = (value: string | undefined) => (value === 'true' ? true : value === 'false' ? false : undefined);

export function valuesOf(filter: Filter, search: Search): string[] {
  const value = search[filter];
  switch (filter) {
    case 'status':
      return known(value, STATUSES);
    case 'code':
      return known(value, CODES);
    case 'store':
      return (value ?? '').split(',').filter(isStoreId).slice(0, 50);
    case 'file':
      return value && isFileId(value) ? [value] : [];
    case 'created':
    case 'updated':
      return known(value, PERIODS).slice(0, 1);
    default:
      return flag(value) === undefined ? [] : [String(flag(value))];
  }
}

export function queryOf(search: Search, now: number): DeliveryQuery {
  const query: DeliveryQuery = { ...queryOfView(viewOf(search)), limit: PAGE, count: true };
  const joined = (filter: Filter) => valuesOf(filter, search).join(',');
  if (joined('status')) query.status = joined('status');
  if (joined('code')) query.resolutionCode = joined('code');
  if (joined('store')) query.integrationId = joined('store');
  if (joined('file')) query.fileId = joined('file');
  if (isOldestFirst(search)) query.sort = 'createdAt';
  const period = valuesOf('created', search)[0] as Period | undefined;
  if (period) query.createdFrom = beginOf(period, now);
  const updated = valuesOf('updated', search)[0] as Period | undefined;
  if (updated) query.updatedFrom = beginOf(updated, now);
  if (search.test) query.dryRun = flag(search.test);
  if (search.refunded) query.refunded = flag(search.refunded);
  const text = search.q?.trim().replace(/^@/, '').slice(0, 100);
  if (text) query.q = text;
  const cursor = cursorsOf(search).at(-1);
  if (cursor) query.cursor = cursor;
  return query;
}

// Whether the state of a delivery that was in the list is beyond what was asked for. One whose state is not may be on the next page now.
export function isBeyond(
  { status, resolutionCode }: Pick<Schemas['Delivery'], 'status' | 'resolutionCode'>,
  query: DeliveryQuery,
) {
  const lacks = (asked: string | undefined, value: string) => asked !== undefined && !asked.split(',').includes(value);
  return (
    lacks(query.status, status) ||
    lacks(query.resolutionCode, resolutionCode ?? '') ||
    lacks(query.needsAttention ? 'failed,in_review' : undefined, status)
  );
}

export const isOldestFirst = ({ sort }: Search) => sort === 'createdAt';

export const isFiltered = (search: Search) =>
  Boolean(search.q?.trim()) || FILTERS.some((filter) => valuesOf(filter, search).length > 0);
export const withoutFilters = (search: Search): Search => {
  const gone = new Set<string>([...FILTERS, 'q', 'at']);
  return Object.fromEntries(Object.entries(search).filter(([name]) => !gone.has(name)));
};

export type Option = { value: string; label: string };
export function optionsOf(filter: Filter, stores: { id: string; name: string }[]): Option[] {
  switch (filter) {
    case 'status':
      return STATUSES.map((value) => ({ value, label: statusWord(value) }));
    case 'code':
      return CODES.map((value) => ({ value, label: codeWord(value) }));
    case 'store':
      return stores.map(({ id, name }) => ({ value: id, label: name }));
    case 'file':
      return []; // is chosen on the preset's page
    case 'created':
    case 'updated':
      return PERIODS.map((value) => ({ value, label: t(`filter.created.${value}`) }));
    case 'test':
      return (['true', 'false'] as const).map((value) => ({ value, label: t(`filter.test.${value}`) }));
    case 'refunded':
      return (['true', 'false'] as const).map((value) => ({ value, label: t(`filter.refunded.${value}`) }));
  }
}

// "Failed, In review" or "any of 3".
export function chipText(values: string[], options: Option[]): string {
  if (values.length > 2) return t('filter.anyOf', { count: values.length });
  return values.map((value) => options.find((option) => option.value === value)?.label ?? value).join(', ');
}

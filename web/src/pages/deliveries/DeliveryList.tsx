// A list of deliveries that the address describes: search, filters, rows, pages; for all stores or for one.
import { Button } from '@mantine/core';
import { IconArrowsSort, IconPackage } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, type ReactNode } from 'react';
import { queries } from '@/api/queries';
import { Announce } from '@/components/Announce';
import { FreshRows } from '@/components/FreshRows';
import { EmptyState, Loaded, NoMatch, SkeletonRows } from '@/components/States';
import { Pager } from '@/components/Pager';
import { useNow } from '@/components/Time';
import { listed } from '@/i18n/format';
import { t } from '@/i18n/text';
import { deliveryNow, useSteadyRows } from '@/live/rows';
import { changed, cursorsOf, stringifySearch, type Search } from '../search';
import { useSelection } from './bulk/selection';
import { DeliveryRows } from './DeliveryRows';
import { FilterBar, type Filters } from './FilterBar';
import {
  chipText,
  FILTERS,
  MANY,
  optionsOf,
  valuesOf,
  isBeyond,
  isFiltered,
  isOldestFirst,
  PAGE,
  queryOf,
  queryOfView,
  viewOf,
  withoutFilters,
  type Filter,
} from './filters';

const filters: Filters<Filter> = {
  all: FILTERS,
  many: MANY,
  nameOf: (filter) => t(`filter.${filter}`),
  valuesOf,
  optionsOf,
  placeholder: t('deliveries.search'),
};

const NONE: [] = [];

const BulkBar = lazy(() => import('./bulk/BulkBar').then((part) => ({ default: part.BulkBar })));

type Props = {
  search: Search;
  onSearch: (next: Search, replace?: boolean) => void;
  store?: string; // of this store alone
  empty?: ReactNode;
};

export function DeliveryList({ search, onSearch, store, empty }: Props) {
  const now = useNow(60_000);
  const asked: Search = store ? { ...search, store } : search;
  const stores = useQuery(queries.stores());
  const query = queryOf(asked, now);
  const read = useQuery(queries.deliveries(query));
  const file = valuesOf('file', asked)[0];
  const preset = useQuery({ ...queries.preset(file ?? ''), enabled: file !== undefined });
  const oldest = isOldestFirst(search);
  const cursors = cursorsOf(search);
  const at = (next: string[]) =>
    onSearch({ ...changed(search, {}), ...(next.length > 0 ? { at: next.join('.') } : {}) });
  const { count, countIsExact, nextCursor } = read.data ?? {};
  const { rows, fresh, left, show } = useSteadyRows(
    read.data?.data ?? NONE,
    stringifySearch(asked),
    !read.isPlaceholderData,
    deliveryNow,
  );
  const counted =
    count === undefined
      ? ''
      : countIsExact === false
        ? t('deliveries.countMany', { count })
        : t('count.deliveries', { count });
  const ids = rows.map(({ id }) => id);
  const { at: _, ...chosenFilters } = asked;
  const { chosen, selection, isEmpty, chooseAll, clear } = useSelection(stringifySearch(chosenFilters), ids, (id) => {
    const row = rows.find((one) => one.id === id);
    return row?.orderNumber ?? row?.orderId ?? id;
  });
  return (
    <>
      <FilterBar
        filters={{
          ...filters,
          optionsOf: (filter, of) =>
            filter === 'file' && file ? [{ value: file, label: preset.data?.name || file }] : optionsOf(filter, of),
        }}
        search={search}
        stores={stores.data?.data ?? []}
        fixed={store ? ['store'] : []}
        onChange={(change, typed) => onSearch(changed(search, change), typed)}
      >
        <Button
          variant="subtle"
          leftSection={<IconArrowsSort size={16} />}
          onClick={() => onSearch(changed(search, { sort: oldest ? undefined : 'createdAt' }))}
        >
          {t(oldest ? 'deliveries.oldestFirst' : 'deliveries.newestFirst')}
        </Button>
        <span aria-hidden="true">{counted}</span>
        <Announce text={counted} />
      </FilterBar>
      <FreshRows count={fresh} left={left.filter((row) => !nextCursor || isBeyond(row, query)).length} onShow={show} />
      <Loaded read={read} what={t('deliveries.what')} skeleton={<SkeletonRows rows={12} />}>
        {() =>
          rows.length > 0 ? (
            <DeliveryRows
              rows={rows}
              list={stringifySearch(asked).slice(1)}
              busy={read.isPlaceholderData}
              selection={selection}
              solves={store !== undefined}
            />
          ) : nextCursor ? (
            <p className="muted">{t('list.searchedSoFar')}</p>
          ) : isFiltered(search) ? (
            <NoneMatch
              search={search}
              store={store}
              stores={stores.data?.data ?? []}
              onClear={() => onSearch(withoutFilters(search))}
            />
          ) : (
            (empty ?? <NoneOf view={viewOf(search)} />)
          )
        }
      </Loaded>
      <Pager
        page={cursors.length + 1}
        size={PAGE}
        shown={rows.length}
        count={count}
        exact={countIsExact}
        words={oldest ? { newer: t('list.older'), older: t('list.newer') } : undefined}
        onNewer={cursors.length > 0 ? () => at(cursors.slice(0, -1)) : undefined}
        onOlder={nextCursor ? () => at([...cursors, nextCursor]) : undefined}
      />
      {isEmpty ? null : (
        <Suspense>
          <BulkBar
            chosen={chosen}
            rows={rows}
            count={count}
            exact={countIsExact !== false}
            pageChosen={ids.every(selection.has)}
            onAll={() => chooseAll(query)}
            onClear={clear}
          />
        </Suspense>
      )}
    </>
  );
}

type NoneMatchProps = { search: Search; store?: string; stores: { id: string; name: string }[]; onClear: () => void };

function NoneMatch({ search, store, stores, onClear }: NoneMatchProps) {
  const all = useQuery(
    queries.deliveryCount({ ...queryOfView(viewOf(search)), ...(store ? { integrationId: store } : {}) }),
  ).data;
  const names = FILTERS.filter((filter) => filter !== 'file' && !(store && filter === 'store')).flatMap((filter) => {
    const values = valuesOf(filter, search);
    if (values.length === 0) return [];
    const text = chipText(values, optionsOf(filter, stores));
    return filter === 'status' || filter === 'code' || filter === 'store' ? text : `${t(`filter.${filter}`)} ${text}`;
  });
  const typed = search.q?.trim();
  const filters = listed(
    [...(typed ? [typed] : []), ...names].map((filter) => t('deliveries.none.filter', { filter })),
  );
  const count = all?.count ?? 0;
  const hidden =
    count > 0 && all?.countIsExact !== false && filters
      ? t('deliveries.none.hidden', { count, filters })
      : t('deliveries.none.body');
  return <NoMatch onClear={onClear} body={typed ? `${hidden} ${t('deliveries.none.beginnings')}` : hidden} />;
}

function NoneOf({ view }: { view: 'all' | 'needs' | 'waiting' }) {
  if (view === 'needs')
    return (
      <EmptyState icon={IconPackage} title={t('deliveries.noneNeeds.title')} body={t('deliveries.noneNeeds.body')} />
    );
  if (view === 'waiting')
    return (
      <EmptyState
        icon={IconPackage}
        title={t('deliveries.noneWaiting.title')}
        body={t('deliveries.noneWaiting.body')}
      />
    );
  return <EmptyState icon={IconPackage} title={t('deliveries.empty.title')} body={t('deliveries.empty.body')} />;
}

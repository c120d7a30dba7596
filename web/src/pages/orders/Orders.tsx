import '@/i18n/en/orders';
import { Button } from '@mantine/core';
import { IconReceipt, IconRefresh } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { queries } from '@/api/queries';
import { FreshRows } from '@/components/FreshRows';
import { PageHeader } from '@/components/PageHeader';
import { Pager } from '@/components/Pager';
import { EmptyState, Loaded, NoMatch, SkeletonRows } from '@/components/States';
import { Tabs } from '@/components/Tabs';
import { useNow } from '@/components/Time';
import { t } from '@/i18n/text';
import { orderNow, useSteadyRows } from '@/live/rows';
import { FilterBar, type Filters } from '../deliveries/FilterBar';
import { changed, cursorsOf, stringifySearch, type Search } from '../search';
import {
  FILTERS,
  isFiltered,
  isSearchedOnly,
  isUnmappedView,
  optionsOf,
  PAGE,
  queryOf,
  valuesOf,
  withoutFilters,
  type Filter,
} from './filters';
import { Job } from './Job';
import { OrderRows } from './OrderRows';

const NONE: [] = [];

const ProcessAgain = lazy(() => import('./ProcessAgain').then((part) => ({ default: part.ProcessAgain })));

const SkippedHere = lazy(() => import('./SkippedHere').then((part) => ({ default: part.SkippedHere })));

const route = getRouteApi('/inside/orders');
const filters: Filters<Filter> = {
  all: FILTERS,
  many: new Set(),
  nameOf: (filter) => t(`orderFilter.${filter}`),
  valuesOf,
  optionsOf,
  placeholder: t('orders.search'),
};

const nothingFound = (search: Search) => {
  if (!search.q?.trim()) return {};
  const only = isSearchedOnly(search);
  return {
    body: `${t(only ? 'orders.none.search' : 'deliveries.none.body')} ${t('deliveries.none.beginnings')}`,
    ...(only ? { button: t('action.clearSearch') } : {}),
  };
};

export function Orders() {
  const search = route.useSearch();
  const navigate = useNavigate();
  const now = useNow(60_000);
  const [asking, setAsking] = useState(false);
  const stores = useQuery(queries.stores());
  const read = useQuery(queries.orders(queryOf(search, now)));
  const unmapped = isUnmappedView(search);
  const cursors = cursorsOf(search);
  const nextCursor = read.data?.nextCursor;
  const list = stringifySearch(changed(search, { job: undefined, at: search.at }));
  const { rows, fresh, left, show } = useSteadyRows(
    read.data?.data ?? NONE,
    search.job ? `${list} ${read.dataUpdatedAt}` : list, // beside its job the list is shown as it is read
    !read.isPlaceholderData,
    orderNow,
  );
  const none = read.data !== undefined && rows.length === 0 && !nextCursor && cursors.length === 0;
  const go = (next: Search, replace = false) => void navigate({ to: '/orders', search: next, replace });
  const at = (next: string[]) => go({ ...changed(search, {}), ...(next.length > 0 ? { at: next.join('.') } : {}) });
  return (
    <>
      <PageHeader
        title={t('orders.title')}
        lead={t('orders.lead')}
        actions={
          (unmapped || isFiltered(search)) && !none ? (
            <Button leftSection={<IconRefresh size={16} />} onClick={() => setAsking(true)}>
              {t('orders.again')}
            </Button>
          ) : undefined
        }
      />
      {search.job ? (
        <Job
          id={search.job}
          orders={read.data?.data ?? NONE}
          onClose={() => go(changed(search, { job: undefined }), true)}
        />
      ) : null}
      <Tabs
        label={t('orders.title')}
        tabs={(['all', 'unmapped'] as const).map((view) => ({
          label: t(`orders.tab.${view}`),
          active: (view === 'unmapped') === unmapped,
          link: { to: '/orders', search: changed(search, { view: view === 'all' ? undefined : view }) },
        }))}
      />
      <FilterBar
        filters={filters}
        search={search}
        stores={stores.data?.data ?? []}
        onChange={(change, typed) => go(changed(search, change), typed)}
      />
      {unmapped ? (
        <Suspense>
          <SkippedHere stores={stores.data?.data ?? NONE} chosen={valuesOf('store', search)[0]} />
        </Suspense>
      ) : null}
      <FreshRows count={fresh} left={nextCursor || !(unmapped || isFiltered(search)) ? 0 : left.length} onShow={show} />
      <Loaded read={read} what={t('orders.what')} skeleton={<SkeletonRows rows={12} />}>
        {() =>
          rows.length > 0 ? (
            <OrderRows
              rows={rows}
              stores={stores.data?.data ?? []}
              list={list.slice(1)}
              busy={read.isPlaceholderData}
            />
          ) : nextCursor ? (
            <p className="muted">{t('list.searchedSoFar')}</p>
          ) : isFiltered(search) ? (
            <NoMatch onClear={() => go(withoutFilters(search))} {...nothingFound(search)} />
          ) : (
            <None unmapped={unmapped} />
          )
        }
      </Loaded>
      <Pager
        page={cursors.length + 1}
        size={PAGE}
        shown={rows.length}
        onNewer={cursors.length > 0 ? () => at(cursors.slice(0, -1)) : undefined}
        onOlder={nextCursor ? () => at([...cursors, nextCursor]) : undefined}
      />
      <Suspense>
        {asking ? (
          <ProcessAgain
            search={search}
            onClose={() => setAsking(false)}
            onStarted={(job) => go(changed(search, { job }))}
          />
        ) : null}
      </Suspense>
    </>
  );
}

function None({ unmapped }: { unmapped: boolean }) {
  if (unmapped)
    return (
      <EmptyState icon={IconReceipt} title={t('orders.noneUnmapped.title')} body={t('orders.noneUnmapped.body')} />
    );
  return (
    <EmptyState
      icon={IconReceipt}
      title={t('orders.empty.title')}
      body={t('orders.empty.body')}
      action={
        <Button component={Link} to="/integrations/stores" variant="filled">
          {t('orders.empty.action')}
        </Button>
      }
    />
  );
}

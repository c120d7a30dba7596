import { ActionIcon, Button } from '@mantine/core';
import { IconDownload, IconPackage } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { api, ok } from '@/api/client';
import { queries } from '@/api/queries';
import { LiveSign } from '@/components/LiveSign';
import { download } from '@/components/download';
import { useNarrow } from '@/components/narrow';
import { PageHeader } from '@/components/PageHeader';
import { EmptyState, SkeletonRows } from '@/components/States';
import { toast } from '@/components/toasts';
import { useAct } from '@/components/useAct';
import { t } from '@/i18n/text';
import { changed, type Search } from '../search';
import { DeliveryList } from './DeliveryList';
import { isFiltered, queryOf, queryOfView, viewOf, type View } from './filters';
import { GroupSwitch } from './GroupSwitch';
import { ViewTabs } from './views/ViewTabs';

const route = getRouteApi('/inside/deliveries');
const RetryRefused = lazy(() => import('./bulk/RetryRefused').then((part) => ({ default: part.RetryRefused })));
const Problems = lazy(() => import('./Problems').then((part) => ({ default: part.Problems })));
const number = new Intl.NumberFormat('en');

export function Deliveries() {
  const search = route.useSearch();
  const navigate = useNavigate();
  const view = viewOf(search);
  // Problems are counted over all that need somebody.
  const groups = view === 'needs' && !isFiltered(search);
  const asking = search.do === 'retry-refused';
  const grouped = groups && search.group === 'problem';
  const counts = {
    all: useQuery(queries.deliveryCount(queryOfView('all'))),
    needs: useQuery(queries.deliveryCount(queryOfView('needs'))),
    waiting: useQuery(queries.deliveryCount(queryOfView('waiting'))),
  };
  const countOf = (one: View) => {
    const { data } = counts[one];
    return data?.count === undefined
      ? undefined
      : `${number.format(data.count)}${data.countIsExact === false ? '+' : ''}`;
  };
  const go = (next: Search, replace?: boolean) =>
    void navigate({ to: '/deliveries', search: next, replace: replace ?? false });
  const narrow = useNarrow();
  const retry =
    asking || (!isFiltered(search) && view !== 'waiting') ? (
      <Suspense>
        <RetryRefused
          opened={asking}
          onOpen={(opened) => go(changed(search, { do: opened ? 'retry-refused' : undefined }), true)}
          wide={narrow}
        />
      </Suspense>
    ) : null;
  return (
    <>
      <PageHeader
        title={t('deliveries.title')}
        page={
          counts.needs.data?.count ? `(${counts.needs.data.count}) ${t('deliveries.title')}` : t('deliveries.title')
        }
        actions={
          <>
            <LiveSign />
            {narrow ? null : retry}
            <Export search={search} narrow={narrow} />
          </>
        }
      />
      {narrow ? retry : null}
      <ViewTabs search={search} onSearch={go} countOf={countOf} />
      {groups ? <GroupSwitch search={search} grouped={grouped} /> : null}
      {grouped ? (
        <Suspense fallback={<SkeletonRows rows={6} />}>
          <Problems />
        </Suspense>
      ) : (
        <DeliveryList
          search={search}
          onSearch={go}
          empty={
            view === 'all' ? (
              <EmptyState
                icon={IconPackage}
                title={t('deliveries.empty.title')}
                body={t('deliveries.empty.body')}
                action={<Begin />}
              />
            ) : undefined
          }
        />
      )}
    </>
  );
}

// The first delivery comes from a test order, and that from a store.
function Begin() {
  const stores = useQuery(queries.stores());
  const store = stores.data?.data[0];
  if (stores.isPending) return null;
  return (
    <Button
      variant="filled"
      renderRoot={(props) =>
        store ? (
          <Link
            {...props}
            to="/integrations/stores/$id/products"
            params={{ id: store.id }}
            search={{ test: 'order' }}
          />
        ) : (
          <Link {...props} to="/integrations/stores/new" search={{}} />
        )
      }
    >
      {t(store ? 'deliveries.empty.test' : 'deliveries.empty.action')}
    </Button>
  );
}

// Downloads the deliveries that the filters find, as the service's CSV.
function Export({ search, narrow }: { search: Search; narrow: boolean }) {
  const { busy, button } = useAct(async () => {
    const { limit: _, count: __, cursor: ___, ...query } = queryOf(search, Date.now());
    let part = false;
    const text = await ok<unknown>(
      api
        .GET('/api/deliveries', { params: { query }, headers: { accept: 'text/csv' }, parseAs: 'text' })
        .then((answer) => {
          part = answer.response.headers.has('x-next-cursor');
          return answer;
        }),
    );
    download('deliveries.csv', String(text));
    if (part) toast(t('deliveries.exportPart'));
  });
  if (narrow)
    return (
      <ActionIcon variant="default" size={44} aria-label={t('deliveries.export')} {...button}>
        <IconDownload size={17} />
      </ActionIcon>
    );
  return (
    <Button leftSection={<IconDownload size={16} />} {...button}>
      {busy ? t('deliveries.exporting') : t('deliveries.export')}
    </Button>
  );
}

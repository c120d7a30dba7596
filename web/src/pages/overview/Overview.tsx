// The overview: needs, figures of today, and the present state.
import '@/i18n/en/home';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, Navigate } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import type { Schemas } from '@/api/client';
import { isMissing } from '@/api/errors';
import { usePreferences } from '@/api/preferences';
import { queries } from '@/api/queries';
import { LazyMenu } from '@/components/LazyMenu';
import { LiveSign } from '@/components/LiveSign';
import { PageHeader } from '@/components/PageHeader';
import { ErrorState, Loaded, SkeletonRows } from '@/components/States';
import { useNow } from '@/components/Time';
import { t } from '@/i18n/text';
import { changed, storeOf } from '../search';
import { isGuided } from '../start/later';
import { Figures } from './Figures';
import { Needs } from './Needs';
import { periodOf, PERIODS, queryOf, type Period } from './period';
import { Recent } from './Recent';
import { RightNow } from './RightNow';
import { SetupStrip } from './SetupStrip';
import { StoreBlock } from './StoreBlock';
import { StoreButton } from './StoreButton';
import styles from './overview.module.css';

// A script of its own: the chart waits for its numbers in any case.
const DeliveriesChart = lazy(() => import('./DeliveriesChart').then((part) => ({ default: part.DeliveriesChart })));
const StoreMenu = lazy(() => import('./StoreMenu').then((part) => ({ default: part.StoreMenu })));

const route = getRouteApi('/inside/');

export function OverviewPage() {
  const search = route.useSearch();
  const store = storeOf(search);
  const read = useQuery(queries.overview(store));
  const account = useQuery(queries.account());
  const preferences = usePreferences();
  const period = periodOf(search);
  const statistics = useStatistics(period, store);
  const failed = (read.data?.needs ?? []).reduce(
    (sum, { kind, count }) => (kind === 'failed' || kind === 'review' ? sum + count : sum),
    0,
  );
  if (preferences.data && read.data && !store && isGuided(read.data.setup, preferences.data))
    return <Navigate to="/start" />;
  const name = t('overview.title');
  return (
    <>
      <PageHeader title={name} page={failed > 0 ? `(${failed}) ${name}` : name} actions={<Controls store={store} />} />
      {store && isMissing(read.error) ? (
        <ErrorState what={t('overview.what')} error={read.error} onRetry={() => void read.refetch()} />
      ) : (
        <Loaded read={read} what={t('overview.what')} skeleton={<SkeletonRows rows={9} height={56} />}>
          {(seen) => (
            <Loaded read={account} what={t('overview.what')} skeleton={<SkeletonRows rows={9} height={56} />}>
              {() =>
                preferences.isPending ? null : (
                  <Content seen={seen} store={store} period={period} statistics={statistics} />
                )
              }
            </Loaded>
          )}
        </Loaded>
      )}
    </>
  );
}

function Controls({ store }: { store: string | undefined }) {
  const search = route.useSearch();
  const rows = useQuery(queries.stores()).data?.data ?? [];
  const period = periodOf(search);
  return (
    <div className={styles.controls}>
      <LiveSign />
      {rows.length > 1 || store ? (
        <LazyMenu button={(props) => <StoreButton rows={rows} store={store} {...props} />}>
          <StoreMenu rows={rows} store={store} search={search} />
        </LazyMenu>
      ) : null}
      <nav className={styles.periods} aria-label={t('overview.period')}>
        {PERIODS.map((one) => (
          <Link
            key={one}
            to="/"
            search={changed(search, { period: one === '30d' ? undefined : one })}
            resetScroll={false}
            activeOptions={{ exact: true }}
            activeProps={{ 'aria-current': 'true' }}
            data-on={one === period || undefined}
          >
            {t(`overview.period.${one}`)}
          </Link>
        ))}
      </nav>
    </div>
  );
}

// Asked for beside the overview, not after it.
function useStatistics(period: Period, store: string | undefined) {
  const now = useNow(60_000);
  const query = queryOf(period, store, now);
  const chart = useQuery(queries.deliveryStatistics(query));
  const { bucket: _, ...span } = query;
  const durations = useQuery({ ...queries.durations(span), placeholderData: keepPreviousData });
  return { chart, durations };
}

type Seen = {
  seen: Schemas['Overview'];
  store: string | undefined;
  period: Period;
  statistics: ReturnType<typeof useStatistics>;
};

function Content({ seen, store, period, statistics: { chart, durations } }: Seen) {
  return (
    <div className={styles.page}>
      {store || seen.setup.firstDelivery ? null : <SetupStrip setup={seen.setup} />}
      <Needs seen={seen} store={store} />
      <Figures seen={seen} store={store} durations={durations} />
      <div className={styles.columns}>
        <section className={styles.chart} aria-label={t('overview.deliveries')}>
          <Loaded read={chart} what={t('overview.deliveriesWhat')} skeleton={<SkeletonRows rows={5} />}>
            {(it) => (
              <Suspense fallback={<SkeletonRows rows={5} />}>
                <DeliveriesChart
                  it={it}
                  period={period}
                  first={!seen.setup.firstDelivery}
                  busy={chart.isPlaceholderData}
                  today={seen.today}
                />
              </Suspense>
            )}
          </Loaded>
        </section>
        <RightNow seen={seen} store={store} />
        <Recent rows={seen.recent} store={store} />
      </div>
      {seen.stores.length > 1 ? <StoreBlock rows={seen.stores} /> : null}
    </div>
  );
}

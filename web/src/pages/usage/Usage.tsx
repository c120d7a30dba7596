import '@/i18n/en/usage';
import { Button, NativeSelect, SegmentedControl } from '@mantine/core';
import { IconChartBar } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import type { Schemas } from '@/api/client';
import { queries } from '@/api/queries';
import { PageHeader } from '@/components/PageHeader';
import { EmptyState, Loaded, SkeletonRows } from '@/components/States';
import { useNow } from '@/components/Time';
import { t } from '@/i18n/text';
import { changed, storeOf, type Search } from '../search';
import { Charts } from './Charts';
import { Groups } from './Groups';
import { PeriodChoice } from './PeriodChoice';
import { periodOf, queryOf } from './period';
import styles from './usage.module.css';

const route = getRouteApi('/inside/usage');

const isEmpty = ({ totals: { requests, limited, deliveries } }: Schemas['UsageOfAll']) =>
  requests + limited + deliveries.made + deliveries.completed + deliveries.failed + deliveries.open === 0;

export function UsagePage() {
  const search = route.useSearch();
  const navigate = useNavigate();
  const now = useNow(60_000);
  const period = periodOf(search);
  const by = search.by === 'store' ? 'store' : 'key';
  const store = storeOf(search);
  const stores = useQuery(queries.stores());
  const read = useQuery(
    queries.usage({
      ...queryOf(period, now),
      groupBy: by === 'store' ? 'integration' : 'key',
      ...(store ? { integrationId: store } : {}),
    }),
  );
  const go = (next: Search) => void navigate({ to: '/usage', search: next });
  return (
    <div className={styles.page}>
      <PageHeader
        title={t('usage.title')}
        lead={t('usage.lead')}
        actions={<PeriodChoice value={period} onChange={(next) => go(changed(search, { period: next }))} />}
      />
      {(stores.data?.data.length ?? 0) > 1 || store ? (
        <NativeSelect
          className={styles.store}
          aria-label={t('usage.store')}
          value={store ?? ''}
          onChange={(event) => go(changed(search, { store: event.currentTarget.value || undefined }))}
          data={[
            { value: '', label: t('usage.allStores') },
            ...(stores.data?.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
          ]}
        />
      ) : null}
      <Loaded read={read} what={t('usage.what')} skeleton={<SkeletonRows rows={8} />}>
        {(it) =>
          isEmpty(it) && !store ? (
            <EmptyState
              icon={IconChartBar}
              title={t('usage.empty.title')}
              body={t('usage.empty.body')}
              action={
                <Button component={Link} to="/keys">
                  {t('usage.empty.action')}
                </Button>
              }
            />
          ) : (
            <>
              <Charts it={it} period={period} search={search} file={t('usage.file')} />
              <section className={styles.groups}>
                <SegmentedControl
                  aria-label={t('usage.by')}
                  value={by}
                  onChange={(next) => go(changed(search, { by: next === 'store' ? next : undefined }))}
                  data={[
                    { value: 'key', label: t('usage.by.key') },
                    { value: 'store', label: t('usage.by.store') },
                  ]}
                />
                <span className="quiet">{t(`usage.period.words.${period}`)}</span>
                <Groups groups={it.groups} by={by} />
              </section>
            </>
          )
        }
      </Loaded>
    </div>
  );
}

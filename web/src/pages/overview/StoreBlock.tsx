// One row a store, where there is more than one.
import '@/i18n/en/home';
import { Link } from '@tanstack/react-router';
import type { Schemas } from '@/api/client';
import { Bdi } from '@/components/Bdi';
import { Rows, type Column } from '@/components/Rows';
import { Time } from '@/components/Time';
import { t } from '@/i18n/text';
import styles from './overview.module.css';

type Row = Schemas['Overview']['stores'][number];

const count = (
  it: Row,
  n: number,
  word: string,
  colour: 'red' | 'amber' | null,
  search: Record<string, string> | null,
) =>
  n === 0 ? (
    <span className={styles.zero}>{n}</span>
  ) : (
    <Link
      className={styles.count}
      data-above=""
      data-colour={colour ?? undefined}
      {...(search
        ? { to: '/integrations/stores/$id/deliveries', params: { id: it.integrationId }, search }
        : { to: '/integrations/stores/$id/products', params: { id: it.integrationId }, search: { show: 'needs' } })}
    >
      {n}
      <span className={styles.onlyNarrow}> {word}</span>
    </Link>
  );

const columns: Column<Row>[] = [
  {
    key: 'store',
    header: t('overview.col.store'),
    narrow: 'first',
    cell: ({ name }) => (
      <Bdi className="strong" title={name}>
        {name}
      </Bdi>
    ),
  },
  {
    key: 'last',
    header: t('overview.col.last'),
    width: '20%',
    narrow: 'firstEnd',
    cell: ({ lastOrderAt }) => (lastOrderAt ? <Time at={lastOrderAt} form="lately" /> : t('overview.never')),
  },
  {
    key: 'failed',
    header: t('overview.col.failed'),
    width: '110px',
    end: true,
    narrow: 'second',
    cell: (it) => count(it, it.failed, t('overview.narrow.failed'), 'red', { status: 'failed' }),
  },
  {
    key: 'waiting',
    header: t('overview.col.waiting'),
    width: '110px',
    end: true,
    cell: (it) => count(it, it.waiting, t('overview.narrow.waiting'), null, { status: 'waiting_for_friendship' }),
  },
  {
    key: 'unmapped',
    header: t('overview.col.unmapped'),
    width: '140px',
    end: true,
    narrow: 'secondEnd',
    cell: (it) => count(it, it.unmappedProducts, t('overview.narrow.unmapped'), 'amber', null),
  },
];

export function StoreBlock({ rows }: { rows: Row[] }) {
  return (
    <section aria-label={t('overview.stores')}>
      <h2 className={styles.h2}>{t('overview.stores')}</h2>
      <Rows
        label={t('overview.stores')}
        columns={columns}
        rows={rows}
        idOf={({ integrationId }) => integrationId}
        linkOf={({ integrationId }) => ({
          to: '/integrations/stores/$id/products',
          params: { id: integrationId },
          search: {},
        })}
      />
    </section>
  );
}

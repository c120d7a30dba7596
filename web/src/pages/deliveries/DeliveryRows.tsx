// Deliveries as rows, on their own page and on a store's.
import { Bdi } from '@/components/Bdi';
import { Buyer } from '@/components/Buyer';
import { OrderNumber } from '@/components/OrderNumber';
import { Rows, type Column } from '@/components/Rows';
import type { Selection } from '@/components/Select';
import { StatusText } from '@/components/StatusIcon';
import { StatusWithMarks } from '@/components/StatusWithMarks';
import { Marks } from '@/components/Tag';
import { Time, useNow } from '@/components/Time';
import type { Schemas } from '@/api/client';
import { t } from '@/i18n/text';
import { lazy, Suspense, useState } from 'react';
import { lineOf } from '@/vocabulary/delivery_line';
import styles from './deliveries.module.css';

type Delivery = Schemas['Delivery'];

const Status = ({ it }: { it: Delivery }) => (
  <StatusWithMarks
    status={<StatusText status={it.status} dryRun={it.dryRun} line={lineOf(it, useNow(60_000))} />}
    marks={<Marks of={it} />}
  />
);

const columns: Column<Delivery>[] = [
  {
    key: 'status',
    header: t('deliveries.col.status'),
    width: 'var(--col-status)',
    narrow: 'first',
    cell: (it) => <Status it={it} />,
  },
  {
    key: 'order',
    header: t('deliveries.col.order'),
    width: 'var(--col-order)',
    narrow: 'second',
    cell: (it) => (
      <>
        <OrderNumber of={it} />{' '}
        <Bdi className="muted" title={it.integrationName}>
          {it.integrationName}
        </Bdi>
      </>
    ),
  },
  {
    key: 'buyer',
    header: t('deliveries.col.buyer'),
    width: '16%',
    narrow: 'secondEnd',
    cell: (it) => <Buyer username={it.targetUsername} />,
  },
  {
    key: 'presets',
    header: t('deliveries.col.presets'),
    cell: (it) => (
      <span className={styles.presets}>
        <Bdi className={styles.name}>{it.firstItemName}</Bdi>
        {it.itemCount > 1 ? <span className="muted">{t('deliveries.more', { n: it.itemCount - 1 })}</span> : null}
      </span>
    ),
  },
  {
    key: 'created',
    header: t('deliveries.col.created'),
    width: '72px',
    end: true,
    narrow: 'firstEnd',
    cell: (it) => <Time at={it.createdAt} form="ago" />,
  },
];

// The columns of a list of one store, whose name is left out.
const ofOneStore = columns.map((column) =>
  column.key === 'order' ? { ...column, width: '15%', cell: (it: Delivery) => <OrderNumber of={it} /> } : column,
);

const RowFix = lazy(() => import('./RowFix').then((part) => ({ default: part.RowFix })));
const RowUsername = lazy(() => import('./RowFix').then((part) => ({ default: part.RowUsername })));

// `list`: the query of the list, so that the delivery's page can walk it. `solves`: the rows are of one store, and a failed one can be
// retried in its row.
type Props = { rows: Delivery[]; list: string; busy?: boolean; selection?: Selection; solves?: boolean };
export function DeliveryRows({ rows, list, busy, selection, solves = false }: Props) {
  const [naming, setNaming] = useState<string | null>(null); // whose username is being typed
  const fix: Column<Delivery> = {
    key: 'fix',
    header: '',
    width: 'var(--row-fix)',
    end: true,
    cell: (it) =>
      it.status === 'failed' ? (
        <Suspense>
          <RowFix it={it} onName={() => setNaming((now) => (now === it.id ? null : it.id))} naming={naming === it.id} />
        </Suspense>
      ) : null,
  };
  return (
    <Rows
      label={t('deliveries.what')}
      columns={solves ? (rows.some(({ status }) => status === 'failed') ? [...ofOneStore, fix] : ofOneStore) : columns}
      rows={rows}
      idOf={({ id }) => id}
      busy={busy}
      selection={selection}
      under={(it) =>
        solves && naming === it.id && it.status === 'failed' ? (
          <Suspense>
            <RowUsername it={it} onDone={() => setNaming(null)} />
          </Suspense>
        ) : null
      }
      icons
      linkOf={({ id }) => ({ to: '/deliveries/$id', params: { id }, search: list ? { list } : {} })}
    />
  );
}

import '@/i18n/en/orders';
import type { Schemas } from '@/api/client';
import { Bdi } from '@/components/Bdi';
import { Buyer } from '@/components/Buyer';
import { OrderNumber } from '@/components/OrderNumber';
import { Rows, type Column } from '@/components/Rows';
import { StatusWithMarks } from '@/components/StatusWithMarks';
import { Marks } from '@/components/Tag';
import { Time } from '@/components/Time';
import { t } from '@/i18n/text';
import { standingOf } from '@/vocabulary/outcome';
import { OutcomeText } from './OutcomeText';
import styles from './orders.module.css';

type Order = Schemas['Order'];
type Props = { rows: Order[]; stores: { id: string; name: string }[]; list: string; busy: boolean };

// `list`: the query of the list, to which the order's page links.
export function OrderRows({ rows, stores, list, busy }: Props) {
  const names = new Map(stores.map(({ id, name }) => [id, name]));
  const columns: Column<Order>[] = [
    {
      key: 'outcome',
      header: t('orders.col.outcome'),
      width: '24%',
      narrow: 'first',
      cell: (it) => (
        <StatusWithMarks
          status={<OutcomeText it={it} />}
          marks={<Marks of={it} />}
          note={it.unmappedCount > 0 ? <Bare it={it} /> : null}
        />
      ),
    },
    {
      key: 'order',
      header: t('orders.col.order'),
      width: '25%',
      narrow: 'second',
      cell: (it) => (
        <>
          <OrderNumber of={it} />{' '}
          <Bdi className="muted" title={names.get(it.integrationId)}>
            {names.get(it.integrationId)}
          </Bdi>
        </>
      ),
    },
    {
      key: 'products',
      header: t('orders.col.products'),
      cell: (it) => <Matched it={it} />,
    },
    {
      key: 'buyer',
      header: t('orders.col.buyer'),
      width: '17%',
      narrow: 'secondEnd',
      cell: (it) => <DeliveredTo it={it} />,
    },
    {
      key: 'received',
      header: t('orders.col.received'),
      width: '72px',
      end: true,
      narrow: 'firstEnd',
      cell: (it) => <Time at={it.receivedAt} form="ago" />,
    },
  ];
  return (
    <Rows
      label={t('orders.what')}
      columns={columns}
      rows={rows}
      idOf={({ id }) => id}
      busy={busy}
      icons
      linkOf={({ id }) => ({ to: '/orders/$id', params: { id }, search: list ? { list } : {} })}
    />
  );
}

// The username that the delivery goes to: the order's, or the corrected one.
function DeliveredTo({ it: { deliveryUsername, targetUsername } }: { it: Order }) {
  const username = deliveryUsername ?? targetUsername;
  if (username === targetUsername) return <Buyer username={username} />;
  const said = targetUsername
    ? t('orderPage.usernameSaid', { buyer: `@${targetUsername}` })
    : t('orderPage.usernameNone');
  return (
    <span className={styles.buyer} title={said}>
      <Buyer username={username} />
      <span className="muted">{t(targetUsername ? 'orders.corrected' : 'orders.given')}</span>
    </span>
  );
}

function Bare({ it }: { it: Order }) {
  if (it.unmappedCount === 0) return null;
  const words = t('orders.bare', { count: it.unmappedCount });
  return (
    <span className={styles.bare} title={words}>
      {words}
    </span>
  );
}

// How many of its products have presets, and what is missing.
function Matched({ it }: { it: Order }) {
  return (
    <span className={styles.products}>
      {it.lineCount > 0 ? (
        <span>
          {standingOf(it) === 'nothing'
            ? t('orders.products', { count: it.lineCount })
            : t('orders.matched', { n: it.lineCount - it.unmappedCount, total: it.lineCount })}
        </span>
      ) : null}
      <Bare it={it} />
    </span>
  );
}

// Deliveries as rows, on their own page and on a store's.
import { Buyer } from '@/components/Buyer';
import { Rows, type Column } from '@/components/Rows';
import type { Selection } from '@/components/Select';
import { StatusText } from '@/components/StatusIcon';
import { Tag } from '@/components/Tag';
import { Time } from '@/components/Time';
import type { Schemas } from '@/api/client';
import { t } from '@/i18n/text';
import { lineOf } from '@/vocabulary/delivery_line';
import { orderName } from '@/vocabulary/order';
import styles from './deliveries.module.css';

type Delivery = Schemas['Delivery'];

const columns: Column<Delivery>[] = [
  {
    key: 'status',
    header: t('deliveries.col.status'),
    width: '29%',
    narrow: 'first',
    cell: (it) => <StatusText status={it.status} line={lineOf(it)} />,
  },
  {
    key: 'order',
    header: t('deliveries.col.order'),
    width: '22%',
    narrow: 'second',
    cell: (it) => (
      <>
        <bdi className="strong">{orderName(it)}</bdi>{' '}
        <bdi className="muted" title={it.integrationName}>
          {it.integrationName}
        </bdi>
      </>
    ),
  },
  {
    key: 'buyer',
    header: t('deliveries.col.buyer'),
    width: '17%',
    narrow: 'secondEnd',
    cell: (it) => <Buyer username={it.targetUsername} />,
  },
  {
    key: 'presets',
    header: t('deliveries.col.presets'),
    cell: (it) => (
      <span className={styles.presets}>
        {it.dryRun ? <Tag>{t('tag.test')}</Tag> : null}
        {it.refunded ? <Tag>{t('tag.refunded')}</Tag> : null}
        {it.cancelled ? <Tag>{t('tag.cancelled')}</Tag> : null}
        <bdi className={styles.name}>{it.firstItemName}</bdi>
        {it.itemCount > 1 ? <span className="muted">{t('deliveries.more', { n: it.itemCount - 1 })}</span> : null}
      </span>
    ),
  },
  {
    key: 'updated',
    header: t('deliveries.col.updated'),
    width: '76px',
    end: true,
    narrow: 'firstEnd',
    cell: (it) => <Time at={it.updatedAt} form="ago" />,
  },
];

// `list`: the query of the list, so that the delivery's page can walk it.
type Props = { rows: Delivery[]; list: string; busy?: boolean; selection?: Selection };
export function DeliveryRows({ rows, list, busy, selection }: Props) {
  return (
    <Rows
      label={t('deliveries.what')}
      columns={columns}
      rows={rows}
      idOf={({ id }) => id}
      busy={busy}
      selection={selection}
      icons
      linkOf={({ id }) => ({ to: '/deliveries/$id', params: { id }, search: list ? { list } : {} })}
    />
  );
}

// The orders of a buyer, and what can be done with all of them.
import '@/i18n/en/customers';
import { Button } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useState } from 'react';
import { Bdi } from '@/components/Bdi';
import { download } from '@/components/download';
import { Rows, type Column } from '@/components/Rows';
import { StatusIcon } from '@/components/StatusIcon';
import { Time } from '@/components/Time';
import { toast } from '@/components/toasts';
import { useAct } from '@/components/useAct';
import { t, T } from '@/i18n/text';
import { statusWord } from '@/vocabulary/delivery';
import { orderName } from '@/vocabulary/order';
import { ordersOf, type Buyer, type By, type CustomerOrder } from './buyer';
import { EraseBuyer } from './EraseBuyer';
import { StoreName } from './StoreName';
import styles from './customers.module.css';

type Order = CustomerOrder['order'];
type Props = { by: By; it: Buyer; onErasing: (job: string) => void };

export function Found({ by, it, onErasing }: Props) {
  const [asked, setAsked] = useState(false);
  const name = <Bdi>{by.value}</Bdi>;
  const { busy, button } = useAct(async () => {
    const orders: CustomerOrder[] = [];
    for await (const order of ordersOf(by)) orders.push(order);
    const now = new Date().toISOString();
    const text = JSON.stringify({ exportedAt: now, [by.name]: by.value, orders }, null, 2);
    download(`${t('buyerData.file')}-${now.slice(0, 10)}.json`, `${text}\n`, 'application/json');
    toast(t('buyerData.exported', { count: orders.length }));
  });
  if (it.total === 0)
    return (
      <p className={styles.none}>
        <T k="buyerData.none" values={{ name }} />
      </p>
    );
  const more = it.total - it.first.length;
  return (
    <div className={styles.found}>
      <div className={styles.head}>
        <h3>
          <T k={it.totalIsExact ? 'buyerData.found' : 'buyerData.foundMany'} values={{ count: it.total, name }} />
        </h3>
        <div className={styles.buttons}>
          <Button leftSection={<IconDownload size={16} />} {...button}>
            {busy ? t('buyerData.exporting') : t('buyerData.export')}
          </Button>
          <Button onClick={() => setAsked(true)}>{t('buyerData.erase')}</Button>
        </div>
      </div>
      <Rows
        label={t('buyerData.what')}
        columns={columns}
        rows={it.first}
        idOf={({ id }) => id}
        linkOf={({ id }) => ({ to: '/orders/$id', params: { id }, search: {} })}
      />
      {more > 0 ? (
        <p className={styles.none}>
          {it.totalIsExact ? t('buyerData.more', { count: more }) : t('buyerData.moreMany')}
        </p>
      ) : null}
      {asked ? <EraseBuyer by={by} it={it} onClose={() => setAsked(false)} onErasing={onErasing} /> : null}
    </div>
  );
}

const columns: Column<Order>[] = [
  {
    key: 'order',
    header: t('buyerData.col.order'),
    width: '24%',
    narrow: 'first',
    cell: (it) => <Bdi className="strong">{orderName(it)}</Bdi>,
  },
  {
    key: 'store',
    header: t('buyerData.col.store'),
    narrow: 'second',
    cell: (it) => <StoreName id={it.integrationId} />,
  },
  {
    key: 'state',
    header: t('buyerData.col.state'),
    narrow: 'secondEnd',
    cell: (it) =>
      it.deliveryStatus ? (
        <span className={styles.state}>
          <StatusIcon status={it.deliveryStatus} />
          <span>{statusWord(it.deliveryStatus)}</span>
        </span>
      ) : (
        <span className="muted">{t('buyerData.noDelivery')}</span>
      ),
  },
  {
    key: 'received',
    header: t('buyerData.col.received'),
    width: '84px',
    end: true,
    narrow: 'firstEnd',
    cell: (it) => <Time at={it.receivedAt} form="ago" />,
  },
];

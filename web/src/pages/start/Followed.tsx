// One delivery on its way: its journey, and in words where it stands.
import '@/i18n/en/delivery';
import '@/i18n/en/guide';
import { useQuery } from '@tanstack/react-query';
import { queries } from '@/api/queries';
import { Announce } from '@/components/Announce';
import { Buyer } from '@/components/Buyer';
import { Loaded, SkeletonRows } from '@/components/States';
import { StatusText } from '@/components/StatusIcon';
import { t } from '@/i18n/text';
import { statusWord } from '@/vocabulary/delivery';
import { lineOf } from '@/vocabulary/delivery_line';
import { orderName } from '@/vocabulary/order';
import { Journey } from '../delivery/Journey';
import styles from './start.module.css';

export function Followed({ id }: { id: string }) {
  const read = useQuery(queries.delivery(id));
  return (
    <Loaded read={read} what={t('deliveries.one')} skeleton={<SkeletonRows rows={1} height={90} />}>
      {(it) => (
        <div className={styles.followed}>
          <p className={styles.which}>
            <bdi className="strong">{orderName(it)}</bdi> <Buyer username={it.targetUsername} />
          </p>
          <StatusText status={it.status} line={lineOf(it)} />
          <Journey it={it} />
          <Announce text={t('delivery.titleStatus', { order: orderName(it), status: statusWord(it.status) })} />
        </div>
      )}
    </Loaded>
  );
}

// One delivery on its way: its journey, and in words where it stands.
import '@/i18n/en/delivery';
import '@/i18n/en/guide';
import { useQuery } from '@tanstack/react-query';
import { queries } from '@/api/queries';
import { Announce } from '@/components/Announce';
import { Bdi } from '@/components/Bdi';
import { Buyer } from '@/components/Buyer';
import { Loaded, SkeletonRows } from '@/components/States';
import { Shape, StatusText } from '@/components/StatusIcon';
import { t } from '@/i18n/text';
import { statusWord } from '@/vocabulary/delivery';
import { lineOf } from '@/vocabulary/delivery_line';
import { orderName } from '@/vocabulary/order';
import { Journey } from '../delivery/Journey';
import type { Delivery } from '../delivery/types';
import styles from './start.module.css';

// A delivery without credits goes on by itself, so a newcomer reads of no failure.
const waits = (it: Delivery) => it.status === 'failed' && it.resolutionCode === 'insufficient_credits';

const creditsLine = (needed: number | undefined, have: number | undefined) =>
  needed === undefined || have === undefined
    ? t('guide.first.creditsNone')
    : t('guide.first.credits', { count: needed, have });

export function Followed({ id }: { id: string }) {
  const read = useQuery(queries.delivery(id));
  const credits = useQuery(queries.credits()).data;
  return (
    <Loaded read={read} what={t('deliveries.one')} skeleton={<SkeletonRows rows={1} height={90} />}>
      {(it) => (
        <div className={styles.followed}>
          <p className={styles.which}>
            <Bdi className="strong">{orderName(it)}</Bdi> <Buyer username={it.targetUsername} />
          </p>
          {waits(it) ? (
            <p className={styles.check}>
              <Shape icon="clock" colour="amber" />
              <span>{creditsLine(it.resolution?.creditsNeeded, credits?.available)}</span>
            </p>
          ) : (
            <StatusText status={it.status} line={lineOf(it)} />
          )}
          <Journey it={it} />
          <Announce
            text={t('delivery.titleStatus', {
              order: orderName(it),
              status: waits(it) ? t('guide.first.creditsNone') : statusWord(it.status),
            })}
          />
        </div>
      )}
    </Loaded>
  );
}

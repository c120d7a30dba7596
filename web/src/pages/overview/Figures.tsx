// Four figures of today, each beside what is usual.
import '@/i18n/en/home';
import type { UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Schemas } from '@/api/client';
import { useNow } from '@/components/Time';
import { duration } from '@/i18n/format';
import { t } from '@/i18n/text';
import { classOf } from './typical';
import styles from './overview.module.css';

const number = new Intl.NumberFormat('en');

function Figure({ name, value, text }: { name: string; value: ReactNode; text: string }) {
  return (
    <div className={styles.figure}>
      <dt>{name}</dt>
      <dd>
        <span className={styles.value}>{value}</span>
        <span className={styles.beside}>{text}</span>
      </dd>
    </div>
  );
}

function besideUsual(now: number, usual: number | null): string {
  if (usual === null) return '';
  if (now === usual) return t('overview.asUsual');
  return now > usual ? t('overview.more', { n: now - usual }) : t('overview.fewer', { n: usual - now });
}

type Props = {
  seen: Schemas['Overview'];
  store: string | undefined;
  durations: UseQueryResult<Schemas['DurationStatistics']>;
};

export function Figures({ seen: { today, now }, store, durations }: Props) {
  const at = useNow(60_000);
  return (
    <dl className={styles.figures}>
      <Figure
        name={t('overview.completedToday')}
        value={number.format(today.completed)}
        text={besideUsual(today.completed, today.usualCompleted)}
      />
      <Figure
        name={t('overview.failedToday')}
        value={number.format(today.failed)}
        text={today.usualFailed === null ? '' : t('overview.usually', { n: today.usualFailed })}
      />
      <Figure
        name={t('overview.waiting')}
        value={
          <Link to="/deliveries" search={{ view: 'waiting', ...(store ? { store } : {}) }}>
            {number.format(now.waiting)}
          </Link>
        }
        text={
          now.oldestWaitingAt
            ? t('overview.longest', { time: duration(Math.max(at - Date.parse(now.oldestWaitingAt), 1000)) })
            : t('overview.nobody')
        }
      />
      <Typical read={durations} />
    </dl>
  );
}

function Typical({ read }: { read: Props['durations'] }) {
  const { p50Ms, ownP50Ms, buckets } = read.data ?? { p50Ms: null, ownP50Ms: null, buckets: [] };
  if (read.data === undefined) return <Figure name={t('overview.typical')} value={'–'} text="" />;
  if (p50Ms === null) return <Figure name={t('overview.typical')} value={'–'} text={t('overview.noneCompleted')} />;
  const time = classOf(p50Ms, buckets);
  const unit = time.lastIndexOf(' ');
  return (
    <Figure
      name={t('overview.typical')}
      value={
        <>
          {time.slice(0, unit)}
          <small>{time.slice(unit)}</small>
        </>
      }
      text={
        ownP50Ms === null || ownP50Ms >= p50Ms
          ? t('overview.allOurs')
          : t('overview.ours', { time: classOf(ownP50Ms, buckets) })
      }
    />
  );
}

// The counts of open deliveries, and how much of the cloud platform's limit is used.
import '@/i18n/en/home';
import { Link } from '@tanstack/react-router';
import type { Schemas } from '@/api/client';
import { StatusIcon } from '@/components/StatusIcon';
import { useNow } from '@/components/Time';
import { duration, hoursMinutes } from '@/i18n/format';
import { t } from '@/i18n/text';
import { statusWord } from '@/vocabulary/delivery';
import styles from './overview.module.css';

const number = new Intl.NumberFormat('en');
const MOST_SLOTS = 20; // beyond, a slot is too narrow to be one

type Seen = Schemas['Overview'];

export function RightNow({ seen, store }: { seen: Seen; store: string | undefined }) {
  const { now } = seen;
  const counts = [
    ['queued', now.queued],
    ['processing', now.processing],
    ['waiting_for_friendship', now.waiting],
    ['in_review', now.inReview],
  ] as const;
  return (
    <section className={styles.now} aria-label={t('overview.now')}>
      <h2 className={styles.h2}>{t('overview.now')}</h2>
      <ul>
        {counts.map(([status, count]) => (
          <li key={status}>
            <Link to="/deliveries" search={{ status, ...(store ? { store } : {}) }}>
              <StatusIcon status={status} />
              <span>{statusWord(status)}</span>
              <strong>{number.format(count)}</strong>
            </Link>
          </li>
        ))}
      </ul>
      <Limit limit={seen.limit} queued={now.queued} />
    </section>
  );
}

function Limit({ limit, queued }: { limit: Seen['limit']; queued: number }) {
  const now = useNow(1_000);
  const { perMinute, usedLast60s, nextStartAt, paused } = limit;
  const wait = nextStartAt ? Date.parse(nextStartAt) - now : 0;
  const slots = perMinute !== null && perMinute <= MOST_SLOTS ? perMinute : 0;
  const said = paused
    ? `${t(`overview.paused.${paused.reason}`)} ${paused.until ? t('overview.pausedUntil', { time: hoursMinutes(paused.until) }) : t('overview.pausedOpen')}`
    : queued === 0
      ? t('overview.limitIdle')
      : wait > 1000
        ? t('overview.limitNext', { count: queued, time: duration(wait) })
        : t('overview.limitNow', { count: queued });
  return (
    <div className={styles.limit} data-paused={paused ? true : undefined}>
      <p className={styles.limitHead}>
        <span>{t('overview.limit')}</span>
        <span>
          {perMinute === null ? t('overview.limitNone') : t('overview.limitUsed', { n: usedLast60s, total: perMinute })}
        </span>
      </p>
      {slots > 0 ? (
        <div className={styles.slots} aria-hidden="true">
          {Array.from({ length: slots }, (_, slot) => (
            <i key={slot} data-used={slot < usedLast60s || undefined} />
          ))}
        </div>
      ) : null}
      <p className={styles.limitText}>{said}</p>
    </div>
  );
}

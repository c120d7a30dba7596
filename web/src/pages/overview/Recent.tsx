// The newest deliveries, each as a sentence, in the order of their times.
import '@/i18n/en/home';
import { IconArrowRight } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { Schemas } from '@/api/client';
import { Buyer } from '@/components/Buyer';
import { OrderNumber } from '@/components/OrderNumber';
import { StatusIcon } from '@/components/StatusIcon';
import { Tag } from '@/components/Tag';
import { Time } from '@/components/Time';
import { lasted } from '@/i18n/format';
import { t, T } from '@/i18n/text';
import { codeWord, statusWord } from '@/vocabulary/delivery';
import { BY_HAND } from '@/vocabulary/delivery_line';
import styles from './overview.module.css';

type Row = Schemas['Delivery'];

// A list does not say which of the files the buyer had before, so no sentence says that they were shared.
function sentenceOf(it: Row): string {
  switch (it.status) {
    case 'processing':
      return it.itemCount > 0
        ? t('recent.processing', { n: Math.min(it.sharedCount + 1, it.itemCount), total: it.itemCount })
        : statusWord(it.status);
    case 'completed':
      if (it.message === BY_HAND) return t('recent.byHand');
      if (it.dryRun && it.sharedCount > 0) return t('recent.rehearsed', { count: it.sharedCount });
      return it.completedAt && it.sharedCount > 0
        ? t('recent.completed', {
            count: it.sharedCount,
            time: lasted(Date.parse(it.completedAt) - Date.parse(it.createdAt)),
          })
        : statusWord(it.status);
    case 'failed':
      return it.resolutionCode ? codeWord(it.resolutionCode) : statusWord(it.status);
    case 'queued':
    case 'waiting_for_friendship':
    case 'in_review':
    case 'invalidated':
      return t(`recent.${it.status}`);
    default:
      return statusWord(it.status);
  }
}

const timeOf = (it: Row) => (it.status === 'completed' && it.completedAt) || it.updatedAt;

export function Recent({ rows, store }: { rows: Row[]; store: string | undefined }) {
  const newestFirst = rows.toSorted((a, b) => Date.parse(timeOf(b)) - Date.parse(timeOf(a)));
  return (
    <section className={styles.recent} aria-label={t('overview.recent')}>
      <div className={styles.head}>
        <h2>{t('overview.recent')}</h2>
        <Link className={styles.more} to="/deliveries" search={store ? { store } : {}}>
          {t('overview.all')}
          <IconArrowRight size={15} aria-hidden="true" />
        </Link>
      </div>
      {rows.length > 0 ? (
        <ul>
          {newestFirst.map((it) => (
            <li key={it.id}>
              <Link to="/deliveries/$id" params={{ id: it.id }} search={{}} title={it.status}>
                <StatusIcon status={it.status} />
                <span className={styles.sentence}>
                  {it.targetUsername ? (
                    <T
                      k="recent.for"
                      values={{
                        what: sentenceOf(it),
                        buyer: (
                          <span className={styles.who}>
                            <Buyer username={it.targetUsername} />
                          </span>
                        ),
                      }}
                    />
                  ) : (
                    sentenceOf(it)
                  )}
                </span>
                {it.dryRun ? <Tag>{t('tag.test')}</Tag> : null}
                <OrderNumber of={it} className={styles.order} />
                <span className={styles.ago}>
                  <Time at={timeOf(it)} form="ago" />
                </span>
              </Link>
            </li>
          ))}
        </ul>
      ) : (
        <p className="muted">{t('overview.recentNone')}</p>
      )}
    </section>
  );
}

// The payload that the shop sent, folded: it is read only when it is opened.
import '@/i18n/en/orders';
import { lazy, Suspense, useState } from 'react';
import { SkeletonRows } from '@/components/States';
import { date } from '@/i18n/format';
import { t } from '@/i18n/text';
import type { Order } from './types';
import styles from './order.module.css';

const Body = lazy(() => import('./PayloadBody').then((part) => ({ default: part.PayloadBody })));

export function Payload({ it }: { it: Order }) {
  const [opened, setOpened] = useState(false);
  if (it.payloadKeptUntil === null)
    return (
      <section>
        <h2 className={styles.title}>{t('orderPage.payload')}</h2>
        <p className="muted">{t('orderPage.payload.none')}</p>
      </section>
    );
  return (
    <details className={styles.payload} onToggle={(event) => setOpened(event.currentTarget.open)}>
      <summary>
        <h2>{t('orderPage.payload')}</h2>
        <span className="quiet">{t('orderPage.payload.kept', { date: date(it.payloadKeptUntil) })}</span>
      </summary>
      {opened ? (
        <Suspense fallback={<SkeletonRows rows={4} height={24} />}>
          <Body id={it.id} />
        </Suspense>
      ) : null}
    </details>
  );
}

// The payload that the shop sent, folded: it is read only when it is opened.
import '@/i18n/en/orders';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { isMissing } from '@/api/errors';
import { queries } from '@/api/queries';
import { CopyIcon } from '@/components/Copy';
import { Json } from '@/components/Json';
import { Loaded, SkeletonRows } from '@/components/States';
import { date } from '@/i18n/format';
import { t } from '@/i18n/text';
import type { Order } from './types';
import styles from './order.module.css';

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
      {opened ? <Body id={it.id} /> : null}
    </details>
  );
}

function Body({ id }: { id: string }) {
  const read = useQuery(queries.orderPayload(id));
  if (isMissing(read.error)) return <p className="muted">{t('orderPage.payload.none')}</p>;
  return (
    <Loaded read={read} what={t('orderPage.payload')} skeleton={<SkeletonRows rows={4} height={24} />}>
      {({ body }) => (
        <div className={styles.body}>
          <div className={styles.copy}>
            <CopyIcon text={body} what={t('orderPage.payload.copy')} />
          </div>
          <pre tabIndex={0} role="group" aria-label={t('orderPage.payload')}>
            <Json text={body} />
          </pre>
        </div>
      )}
    </Loaded>
  );
}

import '@/i18n/en/orders';
import { useQuery } from '@tanstack/react-query';
import { isMissing } from '@/api/errors';
import { queries } from '@/api/queries';
import { CopyIcon } from '@/components/Copy';
import { Json } from '@/components/Json';
import { Loaded, SkeletonRows } from '@/components/States';
import { t } from '@/i18n/text';
import styles from './order.module.css';

export function PayloadBody({ id }: { id: string }) {
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

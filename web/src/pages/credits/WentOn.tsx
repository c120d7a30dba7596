// Deliveries that are older than a payment and have moved since, most of which waited for credits. Renders nothing where none has.
import '@/i18n/en/credits';
import { useQuery } from '@tanstack/react-query';
import { queries } from '@/api/queries';
import { StaleBar } from '@/components/States';
import { t } from '@/i18n/text';
import { DeliveryRows } from '../deliveries/DeliveryRows';
import { WaitForCredits } from './WaitForCredits';
import styles from './credits.module.css';

const MOVING = 'queued,processing,waiting_for_friendship,completed';

export function WentOn({ since }: { since: string }) {
  const read = useQuery({
    ...queries.deliveries({ status: MOVING, createdTo: since, updatedFrom: since, limit: 10 }),
    refetchInterval: 5_000,
  });
  const rows = read.data?.data ?? [];
  return (
    <>
      <div className={styles.part}>
        <WaitForCredits />
      </div>
      {rows.length > 0 ? (
        <section>
          <div className={styles.head}>
            <h2>{t('payment.wentOn')}</h2>
          </div>
          <StaleBar read={read} />
          <DeliveryRows rows={rows} list="" />
        </section>
      ) : null}
    </>
  );
}

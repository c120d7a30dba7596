// Stores and outbound webhooks on one page.
import '@/i18n/en/stores';
import '@/i18n/en/webhooks';
import { PageHeader } from '@/components/PageHeader';
import { t } from '@/i18n/text';
import { NewStoreButton, StoreList } from '../stores/Stores';
import { NewWebhookButton, SubscriptionList } from '../webhooks/Webhooks';
import styles from './integrations.module.css';

export function Integrations() {
  return (
    <>
      <PageHeader title={t('integrations.title')} lead={t('integrations.lead')} />
      <section className={styles.part}>
        <div className={styles.head}>
          <h2>{t('stores.title')}</h2>
          <NewStoreButton />
        </div>
        <StoreList />
      </section>
      <section className={styles.part}>
        <div className={styles.head}>
          <h2>{t('webhooks.title')}</h2>
          <NewWebhookButton filled={false} />
        </div>
        <SubscriptionList filled={false} />
      </section>
    </>
  );
}

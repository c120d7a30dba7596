// The stored data of buyers: their requests that came through shops, and one buyer to export or erase.
import '@/i18n/en/customers';
import { ForOwners } from '@/components/ForOwners';
import { t } from '@/i18n/text';
import { useIsOwner } from '@/session/useIsOwner';
import { AccountPage } from '../account/AccountPage';
import { OneBuyer } from './OneBuyer';
import { Requests } from './Requests';
import styles from './customers.module.css';

export function Customers() {
  const owner = useIsOwner();
  return (
    <AccountPage tab="customers">
      <Requests />
      <section className={styles.part} aria-labelledby="one-buyer">
        <h2 id="one-buyer">{t('buyerData.title')}</h2>
        {owner === false ? <ForOwners>{t('buyerData.owners')}</ForOwners> : owner ? <OneBuyer /> : null}
      </section>
    </AccountPage>
  );
}

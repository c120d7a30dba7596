import '@/i18n/en/credits';
import { useQuery } from '@tanstack/react-query';
import { queries } from '@/api/queries';
import { PageHeader } from '@/components/PageHeader';
import { Loaded, SkeletonRows } from '@/components/States';
import { t } from '@/i18n/text';
import { Balance } from './Balance';
import { Ledger } from './Ledger';
import { Packs } from './Packs';
import { Purchases } from './Purchases';
import { WaitForCredits } from './WaitForCredits';
import styles from './credits.module.css';

// Where the balance cannot be read, the other parts would say the same once more each.
export function Credits() {
  const balance = useQuery(queries.credits());
  return (
    <div className={styles.page}>
      <PageHeader title={t('credits.title')} lead={t('credits.lead')} />
      <WaitForCredits />
      <Loaded read={balance} what={t('credits.what')} skeleton={<SkeletonRows rows={3} />}>
        {(it) => <Balance it={it} />}
      </Loaded>
      {balance.data === undefined && balance.error ? null : (
        <>
          <div className={styles.buy}>
            <Packs debt={balance.data?.debt ?? 0} />
          </div>
          <Purchases />
          <Ledger />
        </>
      )}
    </div>
  );
}

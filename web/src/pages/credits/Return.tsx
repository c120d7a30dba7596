// The page after the payment page, paid or not: the outcome of the purchase, and the deliveries that go on now.
import '@/i18n/en/credits';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect } from 'react';
import { isMissing } from '@/api/errors';
import { queries } from '@/api/queries';
import { PageHeader } from '@/components/PageHeader';
import { Loaded, SkeletonRows } from '@/components/States';
import { t } from '@/i18n/text';
import { Outcome } from './Outcome';
import { WentOn } from './WentOn';
import { NoPayment } from './NoPayment';
import styles from './credits.module.css';

const route = getRouteApi('/inside/credits/return');
const PURCHASE = /^pur_[0-7][0-9a-hjkmnp-tv-z]{12}$/;

export function PaymentReturn() {
  const { purchase = '' } = route.useSearch();
  return (
    <div className={styles.narrow}>
      <PageHeader
        title={t('payment.title')}
        crumbs={[{ label: t('credits.title'), to: '/credits' }, { label: t('payment.title') }]}
      />
      {PURCHASE.test(purchase) ? <Asked id={purchase} /> : <NoPayment />}
    </div>
  );
}

function Asked({ id }: { id: string }) {
  const client = useQueryClient();
  const read = useQuery(queries.settledPurchase(id));
  const state = read.data?.purchase.state;
  useEffect(() => {
    // The navigation shows the new balance too.
    if (state === undefined || state === 'pending') return;
    for (const what of ['balance', 'ledger', 'purchases'])
      void client.invalidateQueries({ queryKey: ['credits', what] });
  }, [client, state]);
  if (read.data === undefined && isMissing(read.error)) return <NoPayment unknown />;
  return (
    <Loaded read={read} what={t('payment.what')} skeleton={<SkeletonRows rows={3} height={56} />}>
      {({ purchase, asked }) => (
        <>
          <Outcome it={purchase} asked={asked} />
          {purchase.state === 'paid' && purchase.paidAt ? <WentOn since={purchase.paidAt} /> : null}
        </>
      )}
    </Loaded>
  );
}

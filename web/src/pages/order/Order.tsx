// One order: its outcome, its products with the files that each delivered, and the shop's payload.
import '@/i18n/en/orders';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { isMissing } from '@/api/errors';
import { queries } from '@/api/queries';
import { Bdi } from '@/components/Bdi';
import { PageHeader } from '@/components/PageHeader';
import { Loaded, SkeletonRows } from '@/components/States';
import { Marks } from '@/components/Tag';
import { Time } from '@/components/Time';
import { t } from '@/i18n/text';
import { stateWord } from '@/vocabulary/delivery';
import { orderName, partRefunded } from '@/vocabulary/order';
import { outcomeWord, standingOf } from '@/vocabulary/outcome';
import { Missing } from '../missing/Missing';
import { OutcomeText } from '../orders/OutcomeText';
import { parseSearch } from '../search';
import { Lines } from './Lines';
import { OrderFacts } from './OrderFacts';
import { OutcomePanel } from './OutcomePanel';
import { Payload } from './Payload';
import type { Order } from './types';
import styles from './order.module.css';

const route = getRouteApi('/inside/orders/$id');

export function OrderPage() {
  const { id } = route.useParams();
  const { list } = route.useSearch();
  const read = useQuery(queries.order(id));
  if (isMissing(read.error))
    return <Missing what={t('orderPage.missing')} back={{ label: t('orderPage.all'), to: '/orders' }} />;
  return (
    <div className={styles.page}>
      <Loaded read={read} page what={t('orderPage.what')} skeleton={<SkeletonRows rows={8} height={56} />}>
        {(it) => <Content key={it.id} it={it} list={list} />}
      </Loaded>
    </div>
  );
}

function Content({ it, list }: { it: Order; list: string | undefined }) {
  const title = t('orderPage.title', { order: orderName(it) });
  const dryRun = it.dryRun ?? false;
  const state = it.deliveryStatus ? stateWord({ status: it.deliveryStatus, dryRun }) : outcomeWord(standingOf(it));
  const refunded = it.refunded ? partRefunded(it.lines) : null;
  const stores = useQuery(queries.stores());
  return (
    <>
      <PageHeader
        title={title}
        page={`${title}, ${state}`}
        crumbs={[
          { label: t('orders.title'), to: '/orders', search: parseSearch(list ?? '') },
          { label: orderName(it) },
        ]}
        meta={
          <>
            <span className={styles.status}>
              <OutcomeText it={it} />
              <Marks of={it} />
            </span>
            {refunded ? <span>{t('tag.partRefunded', refunded)}</span> : null}
            <Bdi>{stores.data?.data.find(({ id }) => id === it.integrationId)?.name}</Bdi>
            <Time at={it.receivedAt} />
          </>
        }
      />
      <div className={styles.columns}>
        <div className={styles.left}>
          <OutcomePanel it={it} />
          <Lines it={it} />
          <Payload it={it} />
        </div>
        <OrderFacts it={it} />
      </div>
    </>
  );
}

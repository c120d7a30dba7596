import '@/i18n/en/delivery';
import { getRouteApi } from '@tanstack/react-router';
import { useQuery } from '@tanstack/react-query';
import { ApiError } from '@/api/errors';
import { queries } from '@/api/queries';
import { Announce } from '@/components/Announce';
import { Bdi } from '@/components/Bdi';
import { Buyer } from '@/components/Buyer';
import { PageHeader } from '@/components/PageHeader';
import { Loaded, SkeletonRows } from '@/components/States';
import { StatusIcon } from '@/components/StatusIcon';
import { Marks } from '@/components/Tag';
import { Time } from '@/components/Time';
import { t, T } from '@/i18n/text';
import { orderName } from '@/vocabulary/order';
import { Missing } from '../missing/Missing';
import { parseSearch } from '../search';
import { shownStatus, shownWord } from './accepted';
import { LazyActions } from './LazyActions';
import { DeliveryFacts } from './DeliveryFacts';
import { FixFlow } from './FixFlow';
import { Journey } from './Journey';
import { Neighbours } from './Neighbours';
import { DeliveryPanel } from './panels';
import { Questions } from './Questions';
import { takenBackWords } from './taken_back';
import { Timeline } from './Timeline';
import type { Delivery } from './types';
import { useWalk } from './walk';
import styles from './delivery.module.css';

const route = getRouteApi('/inside/deliveries/$id');

export function DeliveryPage() {
  const { id } = route.useParams();
  const { list } = route.useSearch();
  const read = useQuery(queries.delivery(id));
  if (read.error instanceof ApiError && (read.error.status === 404 || read.error.status === 422)) {
    return <Missing body={t('delivery.missing')} />;
  }
  return (
    <div className={styles.page}>
      <Loaded read={read} page what={t('deliveries.one')} skeleton={<SkeletonRows rows={10} height={56} />}>
        {(it) => <Content key={it.id} it={it} list={list} />}
      </Loaded>
    </div>
  );
}

function Content({ it, list }: { it: Delivery; list: string | undefined }) {
  const order = orderName(it);
  const title = t('delivery.title', { order });
  const titleStatus = t('delivery.titleStatus', { order, status: shownWord(it) });
  const walk = useWalk(it.id, list);
  const takenBack = takenBackWords(it);
  return (
    <Questions it={it}>
      <PageHeader
        title={title}
        page={titleStatus}
        crumbs={[
          { label: t('deliveries.title'), to: '/deliveries', search: parseSearch(list ?? '') },
          { label: t('delivery.crumb', { order }) },
        ]}
        beside={<Neighbours list={list} walk={walk} />}
        meta={
          <>
            <span className={styles.status} data-status={it.status} title={it.status}>
              <StatusIcon status={shownStatus(it)} />
              {shownWord(it)}
              <Marks of={it} />
            </span>
            {takenBack ? <span>{takenBack}</span> : null}
            {it.itemCount > 0 ? (
              <span>
                <T
                  k={it.targetUsername === null ? 'delivery.forNobody' : 'delivery.for'}
                  values={{
                    presets: t('count.presets', { count: it.itemCount }),
                    buyer: <Buyer username={it.targetUsername} />,
                  }}
                />
              </span>
            ) : (
              <Buyer username={it.targetUsername} />
            )}
            <Bdi>{it.integrationName}</Bdi>
            <Time at={it.createdAt} />
          </>
        }
        actions={<LazyActions it={it} />}
      />
      <Announce text={titleStatus} />
      <Journey it={it} />
      <div className={styles.columns}>
        <div className={styles.left}>
          <FixFlow it={it} list={list} walk={walk}>
            <DeliveryPanel it={it} />
          </FixFlow>
          <Timeline it={it} />
        </div>
        <DeliveryFacts it={it} />
      </div>
    </Questions>
  );
}

// The line under a step that is not open, by the service's data.
import '@/i18n/en/guide';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { queries } from '@/api/queries';
import { Bdi } from '@/components/Bdi';
import { Buyer } from '@/components/Buyer';
import { Shape } from '@/components/StatusIcon';
import { t, T } from '@/i18n/text';
import type { Store } from '@/vocabulary/store';
import { orderName } from '@/vocabulary/order';
import { matchesOf } from '../store/products/draft';
import { hasLost, useLostFiles } from '../store/products/lost';
import { isOfBuyer, useOrdersOf, useSampled } from '../store/sampled';
import styles from './start.module.css';

export function useCloudLine(): ReactNode {
  const cloud = useQuery(queries.cloud());
  const presets = useQuery({ ...queries.presets(''), enabled: cloud.data?.status === 'valid' });
  if (cloud.data?.status === 'unchecked') return t('guide.cloud.unchecked');
  if (cloud.data?.status !== 'valid') return null;
  const name = (
    <strong>
      <Bdi translate="no">{cloud.data.cloudUsername}</Bdi>
    </strong>
  );
  if (!presets.data) return <T k="guide.cloud.signedIn" values={{ name }} />;
  const n = presets.data.data.length;
  return presets.data.nextCursor ? (
    <T k="guide.cloud.doneSome" values={{ name, n }} />
  ) : (
    <T k="guide.cloud.done" values={{ name, presets: t('guide.files', { count: n }) }} />
  );
}

// The store of gifts (Gift.tsx) has orders and no product of a shop.
const hasProducts = ({ provider, mappingCount }: Store) => provider !== 'generic' || mappingCount > 0;

// The store that the guide is about: the chosen one, else one that has sent orders, else the newest.
export function useGuideStore(chosen: string | undefined): Store | undefined {
  const rows = useQuery(queries.stores()).data?.data.filter(({ archivedAt }) => archivedAt === null) ?? [];
  const newest = (all: Store[]) =>
    all.reduce<Store | undefined>((a, b) => (a && a.createdAt > b.createdAt ? a : b), undefined);
  const heard = rows.filter(({ lastOrderAt }) => lastOrderAt !== null);
  return rows.find(({ id }) => id === chosen) ?? newest(heard.filter(hasProducts)) ?? newest(heard) ?? newest(rows);
}

// The newest order of buyers; the first that carried a username; whether one carried none.
export function useFirstOrder(store: Store | undefined) {
  const orders = useOrdersOf(store)?.filter(isOfBuyer) ?? [];
  const [order] = orders;
  const carried = orders.findLast(({ targetUsername }) => targetUsername);
  return order && { order, carried, lacks: orders.some(({ targetUsername }) => !targetUsername) };
}

export function useStoreLine(store: Store | undefined): ReactNode {
  const first = useFirstOrder(store);
  const sampled = useSampled(store);
  if (!store?.lastOrderAt) return null;
  return (
    <>
      <Bdi>{t(sampled ? 'guide.store.sample' : 'guide.store.done', { name: store.name })}</Bdi>
      {first ? <UsernameLine {...first} /> : null}
    </>
  );
}

// `carried`: an order that has a username, so the shop has the field.
export function UsernameLine({ order: newest, carried }: NonNullable<ReturnType<typeof useFirstOrder>>) {
  const order = newest.targetUsername && carried ? carried : newest;
  const number = <Bdi>{orderName(order)}</Bdi>;
  return (
    <span className={styles.check} data-good={order.targetUsername ? true : undefined}>
      <Shape icon={order.targetUsername ? 'check' : 'clock'} colour={order.targetUsername ? 'teal' : 'amber'} />
      <span>
        {order.targetUsername ? (
          <T k="guide.username.good" values={{ order: number, buyer: <Buyer username={order.targetUsername} /> }} />
        ) : carried ? (
          <T k="guide.username.some" values={{ order: number, other: <Bdi>{orderName(carried)}</Bdi> }} />
        ) : (
          <T k="guide.username.bad" values={{ order: number }} />
        )}
      </span>
    </span>
  );
}

// Below the wait for the first order.
export function Username({ store }: { store: Store }) {
  const first = useFirstOrder(store);
  return first ? <UsernameLine {...first} /> : <p className={styles.note}>{t('guide.username.waiting')}</p>;
}

export function useFirstLine(done: boolean): ReactNode {
  const credits = useQuery(queries.credits()).data;
  return !done && credits && credits.available <= 0 ? t('guide.first.noneLine') : null;
}

export function useMatchLine(store: Store | undefined, done: boolean): ReactNode {
  const read = useQuery({ ...queries.mappings(store?.id ?? ''), enabled: store !== undefined && done });
  const matches = matchesOf(done ? (read.data?.mappings ?? []) : []);
  const lost = useLostFiles(matches.size > 0);
  const count = [...matches.values()].filter((match) => match.files.length > 0 && !hasLost(match, lost)).length;
  if (!store || count === 0) return null;
  const bare = store.counts.unmappedProducts;
  return (
    <>
      {t('guide.mapping.done', { count })}
      {bare > 0 ? (
        <span className={styles.check}>
          <Shape icon="clock" colour="amber" />
          <span>{t('guide.mapping.others', { count: bare })}</span>
        </span>
      ) : null}
    </>
  );
}

// How many products of the order have no preset, also in the matches as they are now.
export function useBare(order: string | undefined) {
  const it = useQuery({ ...queries.order(order ?? ''), enabled: order !== undefined }).data;
  const count = it?.lines.filter(({ result, matchedBy }) => result === 'unmapped' && matchedBy === null).length;
  return it && count ? { order: orderName(it), count } : null;
}

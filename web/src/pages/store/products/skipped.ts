// The orders that skipped a product without a match: how many a set of matches would deliver, and their delivery.
import '@/i18n/en/stores';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, queryOptions, skipToken, useQuery, type QueryClient } from '@tanstack/react-query';
import { api, ok, type Schemas } from '@/api/client';
import { paced } from '@/live/state';
import { t } from '@/i18n/text';

export type Orders = { count: number; exact: boolean };
type Mappings = Schemas['NewMapping'][] | 'saved' | null; // null: none are counted

type Text =
  | 'products.reprocess'
  | 'products.alsoBefore'
  | 'products.saveDeliver'
  | 'products.savedDeliver'
  | 'products.savedShort'
  | 'skipped.orders'
  | 'skipped.onTheWay'
  | 'skipped.short';
export const ordersText = (key: Text, { count, exact }: Orders) =>
  exact ? t(key, { count }) : t(`${key}Many`, { n: count });
export const ordersOf = (store: string, { count, exact }: Orders) =>
  exact ? t('skipped.ordersOf', { count, store }) : t('skipped.ordersOfMany', { n: count, store });

export function useSkipped(id: string, mappings: Mappings) {
  const [asked] = useDebouncedValue(mappings, 400);
  const { data, isPlaceholderData } = useQuery({
    queryKey: ['stores', 'reprocessable', id, asked],
    queryFn: ({ signal }) =>
      ok(
        api.POST('/api/integrations/{integration}/mappings/preview', {
          params: { path: { integration: id } },
          body: asked === 'saved' ? {} : { mappings: asked },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
    ...(asked === 'saved' ? { refetchInterval: paced(15_000) } : {}),
    ...(asked === null || mappings === null ? { enabled: false } : {}), // the value of before outlasts a change
  });
  return {
    orders: { count: data?.reprocessableOrders ?? 0, exact: data?.reprocessableOrdersExact ?? true } as Orders,
    credits: data?.reprocessableCredits,
    known: data !== undefined,
    // While the orders of these matches are not counted yet, the count of others stands for nothing.
    counting: isPlaceholderData || JSON.stringify(asked) !== JSON.stringify(mappings),
  };
}

// The orders that changed matches would deliver, where those are more than the saved ones deliver: `before`.
export function useMoreSkipped(id: string, mappings: Exclude<Mappings, 'saved'>) {
  const { orders: before, known } = useSkipped(id, 'saved');
  const { orders, credits, counting } = useSkipped(id, mappings);
  const more = mappings !== null && known && orders.count > before.count;
  return { orders: more ? orders : { count: 0, exact: true }, before, credits, counting };
}

// Whether the account has less than that, and both in words.
export function creditsFor(needed: number | undefined, have: number | undefined) {
  if (needed === undefined || have === undefined) return { short: false, words: '' };
  const short = needed > have;
  return { short, words: t(short ? 'products.creditsShort' : 'products.credits', { count: needed, n: have }) };
}

export const reprocessWords = (orders: Orders, before: Orders, credits: string) =>
  [ordersText('products.reprocess', orders), before.count > 0 ? ordersText('products.alsoBefore', before) : '', credits]
    .filter(Boolean)
    .join(' ');

// The job that delivers them, until it has ended: wherever it was begun, no place offers the orders meanwhile.
// `short`: the account may have too few credits for them.
export type Begun = { orders: Orders; short: boolean };
type Job = Begun & { id: string };
export const skippedJob = (id: string) =>
  queryOptions<Job | null>({ queryKey: ['skipped job', id], queryFn: skipToken });

export const savedText = ({ orders, short }: Begun) =>
  ordersText(short ? 'products.savedShort' : 'products.savedDeliver', orders);

export async function deliverSkipped(client: QueryClient, id: string, begun: Begun) {
  const job = (await ok(
    api.POST('/api/orders/reprocess', { body: { integrationId: id, unmapped: true } }),
  )) as Schemas['BulkJob'];
  const known: Job = { id: job.id, ...begun };
  client.setQueryData(skippedJob(id).queryKey, known);
  for (const key of ['stores', 'deliveries']) void client.invalidateQueries({ queryKey: [key] });
}

// The orders that skipped a product without a match: how many a set of matches would deliver, and their delivery.
import '@/i18n/en/stores';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery, type QueryClient } from '@tanstack/react-query';
import { api, ok, type Schemas } from '@/api/client';
import { paced } from '@/live/state';
import { t } from '@/i18n/text';

export type Orders = { count: number; exact: boolean };
type Mappings = Schemas['NewMapping'][] | 'saved' | null; // null: none are counted

export const ordersText = (
  key: 'products.reprocess' | 'products.saveDeliver' | 'products.savedDeliver' | 'guide.first.skipped',
  { count, exact }: Orders,
) => (exact ? t(key, { count }) : t(`${key}Many`, { n: count }));

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
    ...(asked === null ? { enabled: false } : {}),
  });
  return {
    orders: { count: data?.reprocessableOrders ?? 0, exact: data?.reprocessableOrdersExact ?? true } as Orders,
    credits: data?.reprocessableCredits,
    // While the orders of these matches are not counted yet, the count of others stands for nothing.
    counting: isPlaceholderData || JSON.stringify(asked) !== JSON.stringify(mappings),
  };
}

// The job that delivers them.
export async function deliverSkipped(client: QueryClient, id: string) {
  const job = (await ok(
    api.POST('/api/orders/reprocess', { body: { integrationId: id, unmapped: true } }),
  )) as Schemas['BulkJob'];
  for (const key of ['stores', 'deliveries']) void client.invalidateQueries({ queryKey: [key] });
  return job;
}

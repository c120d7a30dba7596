// The newest orders of a store, and whether only samples of the shop came so far.
import { useQuery } from '@tanstack/react-query';
import type { Schemas } from '@/api/client';
import { queries } from '@/api/queries';
import type { Store } from '@/vocabulary/store';

type Order = Schemas['Order'];
const isOurs = ({ orderId }: Order) => orderId.startsWith('test-'); // made by "Send test order"
export const isOfBuyer = (it: Order) => !it.test && !isOurs(it);

export function useOrdersOf(store: Store | undefined): Order[] | undefined {
  const read = useQuery({
    ...queries.orders({ integrationId: store?.id ?? '', limit: 100 }),
    enabled: Boolean(store?.lastOrderAt),
  });
  return read.data?.data;
}

// Shopify alone sends a sample that is an order.
export function useSampled(store: Store | undefined): boolean {
  const orders = useOrdersOf(store);
  return store?.platform === 'Shopify' && !orders?.some(isOfBuyer) && (orders?.some(({ test }) => test) ?? false);
}

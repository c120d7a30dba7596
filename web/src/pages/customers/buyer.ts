// The stored data of one buyer, by their e-mail address or username.
import { queryOptions } from '@tanstack/react-query';
import { api, ok, type Schemas } from '@/api/client';

export const NAMES = ['email', 'username'] as const;
export type By = { name: (typeof NAMES)[number]; value: string };
export type CustomerOrder = Schemas['CustomerOrder'];

const bodyOf = ({ name, value }: By) =>
  (name === 'email' ? { email: value } : { username: value }) satisfies Schemas['ExportCustomer'];

const SHOWN = 10;
const MOST = 20; // orders a page of the export

// A page may be short though more follow.
export async function* ordersOf(by: By, limit = MOST, signal?: AbortSignal): AsyncGenerator<CustomerOrder> {
  let cursor: string | null = null;
  do {
    const body: Schemas['ExportCustomer'] = { ...bodyOf(by), limit, ...(cursor ? { cursor } : {}) };
    const page: Schemas['CustomerOrderList'] = await ok(api.POST('/api/customers/export', { body, signal }));
    yield* page.data;
    cursor = page.nextCursor;
  } while (cursor !== null);
}

export type Buyer = { total: number; totalIsExact: boolean; first: CustomerOrder['order'][] };

async function findBuyer(by: By, signal?: AbortSignal): Promise<Buyer> {
  const counted = await ok(api.POST('/api/customers/erase', { body: { ...bodyOf(by), dryRun: true }, signal }));
  const { total, totalIsExact } = counted as Schemas['BulkCount'];
  const first: CustomerOrder['order'][] = [];
  if (total > 0)
    for await (const { order } of ordersOf(by, SHOWN, signal)) {
      first.push(order);
      if (first.length === SHOWN) break;
    }
  return { total, totalIsExact, first };
}

// Nothing of it stays in the cache when the page is left.
export const buyerQuery = (by: By | null) =>
  queryOptions({
    queryKey: ['buyer', by],
    queryFn: ({ signal }) => findBuyer(by!, signal),
    enabled: by !== null,
    gcTime: 0,
  });

export const erase = async (by: By) =>
  (await ok(api.POST('/api/customers/erase', { body: bodyOf(by) }))) as Schemas['BulkJob'];

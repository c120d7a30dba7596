// The stores that may have skipped orders whose products have presets now: the chosen one, or each that has presets and orders.
import { useQueries, useQuery } from '@tanstack/react-query';
import type { Schemas } from '@/api/client';
import { queries } from '@/api/queries';
import { reprocessable } from '../store/products/skipped';

export const MOST = 5; // stores, as the service searches the orders of each

export const servedOf = (stores: Schemas['Integration'][], chosen: string | undefined) =>
  stores.filter(({ id, mappingCount, lastOrderAt }) =>
    chosen === undefined ? mappingCount > 0 && lastOrderAt !== null : id === chosen,
  );

// The credits that the delivery of all of them costs at most; undefined: not known, or not of all.
export function useMostCredits(chosen: string | undefined): number | undefined {
  const stores = useQuery(queries.stores()).data?.data;
  const served = servedOf(stores ?? [], chosen).filter(({ archivedAt }) => archivedAt === null);
  const counted = useQueries({
    queries: (served.length <= MOST ? served : []).map(({ id }) => reprocessable(id, 'saved')),
  });
  const exact = counted.every(({ data }) => data?.reprocessableOrdersExact);
  if (!stores || served.length > MOST || !exact) return undefined;
  return counted.reduce((sum, { data }) => sum + (data?.reprocessableCredits ?? 0), 0);
}

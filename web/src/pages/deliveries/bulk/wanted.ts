// The deliveries that an action on many is for: chosen rows, or all that the filters of a list find.
import type { Schemas } from '@/api/client';
import type { BulkWanted, DeliveryQuery } from '@/api/queries';

export type BulkAction = BulkWanted['action'];
export type Meant = Pick<BulkWanted, 'ids' | 'filter' | 'asOf'>;
type Filter = Schemas['DeliveriesFilter'];

export const MOST_IDS = 1000; // in one request

const ATTENTION = ['failed', 'in_review'];
const listOf = <T extends string>(value: string | undefined) => value?.split(',') as T[] | undefined;

// The list's query as the filter of an action. A query without filters becomes `all`, and `needsAttention` failed and in review.
export function filterOf(query: DeliveryQuery): Filter | Schemas['EveryDelivery'] {
  let status = listOf<Schemas['DeliveryStatus']>(query.status);
  if (query.needsAttention)
    status = (status ?? (ATTENTION as Schemas['DeliveryStatus'][])).filter((one) => ATTENTION.includes(one));
  const filter: Filter = {
    status,
    resolutionCode: listOf<Schemas['ResolutionCode']>(query.resolutionCode),
    integrationId: listOf(query.integrationId),
    q: query.q,
    fileId: query.fileId,
    dryRun: query.dryRun,
    refunded: query.refunded,
    createdFrom: query.createdFrom,
    updatedFrom: query.updatedFrom,
  };
  const given = Object.entries(filter).filter(([, value]) => value !== undefined);
  return given.length > 0 ? Object.fromEntries(given) : { all: true };
}

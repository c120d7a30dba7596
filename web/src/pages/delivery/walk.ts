// The list from which this delivery was opened, as it was then: a delivery that is fixed leaves the list, and the way through it stays.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Schemas } from '@/api/client';
import { queries } from '@/api/queries';
import { PAGE, queryOf } from '../deliveries/filters';
import { cursorsOf, parseSearch } from '../search';

type Row = Pick<Schemas['Delivery'], 'id' | 'orderNumber' | 'orderId'>;
export type Walk = { rows: Row[]; place: number; n: number; total: number };

export function useWalk(id: string, list: string | undefined): Walk | null {
  const [now] = useState(() => Date.now());
  const search = parseSearch(list ?? '');
  const read = useQuery({
    ...queries.deliveries(queryOf(search, now)),
    enabled: list !== undefined,
    refetchInterval: false,
  });
  const [kept, setKept] = useState<Walk | null>(null);
  const rows = list === undefined || read.isPlaceholderData ? [] : (read.data?.data ?? []);
  const place = rows.findIndex((row) => row.id === id);
  if (kept === null && place >= 0) {
    const n = cursorsOf(search).length * PAGE + place + 1;
    setKept({ rows, place, n, total: read.data?.count ?? rows.length });
  }
  return kept;
}

// The delivery after this one; at the end, the first of the list.
export const nextOf = ({ rows, place }: Walk): Row | undefined => rows[place + 1] ?? (place > 0 ? rows[0] : undefined);

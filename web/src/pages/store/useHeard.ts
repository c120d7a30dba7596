// A store, read often enough to hear its first order within seconds; what depends on that order is then read anew.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { queries } from '@/api/queries';

const EVERY_MS = 3_000;

// undefined: there is nothing to listen for.
export function useHeard(id: string | undefined) {
  const { data } = useQuery({
    ...queries.store(id ?? ''),
    refetchInterval: EVERY_MS,
    ...(id === undefined ? { enabled: false } : {}),
  });
  const client = useQueryClient();
  // The other reads of a page poll more slowly, and would still say that no order came.
  const lastOrderAt = data?.lastOrderAt ?? null;
  useEffect(() => {
    if (id === undefined || lastOrderAt === null) return;
    const others = [['stores', 'list'], ['stores', 'products', id], ['orders'], ['overview']];
    for (const queryKey of others) void client.invalidateQueries({ queryKey });
  }, [client, id, lastOrderAt]);
  return data;
}

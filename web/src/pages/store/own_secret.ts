// Whether a store's secret is the one that its shop signs with.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { queries } from '@/api/queries';
import { newestRefusal, type Store } from '@/vocabulary/store';

export function useOwnSecret(it: Store) {
  const client = useQueryClient();
  const now = useQuery(queries.store(it.id)).data ?? it;
  // A secret of before that was entered may look like one that the service made; an order that it has signed shows that it is right.
  const signed = now.topicsSeen.length > 0 && newestRefusal(now)?.code !== 'INVALID_SIGNATURE';
  return {
    // The end of the shop's secret; null: it may be missing.
    end: now.secretSetBy === 'merchant' || signed ? now.secretPreview : null,
    note(changed: Store) {
      client.setQueryData(queries.store(it.id).queryKey, changed);
      return client.invalidateQueries({ queryKey: ['stores'] });
    },
  };
}

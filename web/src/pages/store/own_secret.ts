// Whether a store's secret is the one that its shop signs with. The service shows a secret's end and not who made it, so it is known once
// it was entered, until the page is loaded anew, and of a store that has sent something signed.
import { skipToken, useQuery, useQueryClient } from '@tanstack/react-query';
import { queries } from '@/api/queries';
import { newestRefusal, type Store } from '@/vocabulary/store';

export function useOwnSecret(it: Store) {
  const client = useQueryClient();
  const queryKey = ['entered secret', it.id];
  const entered = useQuery<string>({ queryKey, queryFn: skipToken, staleTime: Infinity, gcTime: Infinity }).data;
  const { secretPreview, ...now } = useQuery(queries.store(it.id)).data ?? it;
  const signed = now.topicsSeen.length > 0 && newestRefusal(now)?.code !== 'INVALID_SIGNATURE';
  return {
    // The end of the shop's secret; null: it may be missing.
    end: signed || entered === secretPreview ? secretPreview : null,
    note(changed: Store) {
      client.setQueryData(queryKey, changed.secretPreview);
      client.setQueryData(queries.store(it.id).queryKey, changed);
      return client.invalidateQueries({ queryKey: ['stores'] });
    },
  };
}

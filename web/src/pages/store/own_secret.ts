// Whether a store's secret is the one that its shop signs with.
import { useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query';
import { queries } from '@/api/queries';
import { useIsOwner } from '@/session/useIsOwner';
import { newestRefusal, type Store } from '@/vocabulary/store';

export function useOwnSecret(it: Store) {
  const client = useQueryClient();
  const now = useQuery(queries.store(it.id)).data ?? it;
  // A secret that was entered may look like one that the service made; an order that it has signed shows that it is right.
  const signed = now.topicsSeen.length > 0 && newestRefusal(now)?.code !== 'INVALID_SIGNATURE';
  return {
    // The end of the shop's secret; null: it may be missing.
    end: now.secretSetBy === 'merchant' || signed ? now.secretPreview : null,
    note(changed: Store) {
      client.setQueryData(queries.store(it.id).queryKey, changed);
      return readSecretAnew(client);
    },
  };
}

export const readSecretAnew = (client: QueryClient) =>
  Promise.all([['stores'], ['account', 'audit']].map((queryKey) => client.invalidateQueries({ queryKey })));

export const secretChanges = (id: string) =>
  queries.audit({ action: 'integration.secret_rotated', target: id, limit: 1 });

// When the secret was last changed, by the audit log, which owners may read; undefined: not known.
export function useSecretChanged(id: string, matters: boolean): string | null | undefined {
  const owner = useIsOwner();
  const read = useQuery({ ...secretChanges(id), ...(matters && owner ? {} : { enabled: false }) });
  return read.data ? (read.data.data[0]?.at ?? null) : undefined;
}

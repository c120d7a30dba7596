// Saves a store's matches, one save at a time.
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, ok, type Schemas } from '@/api/client';
import { queries } from '@/api/queries';
import { useSubmit } from '@/components/useSubmit';

type Matches = { version?: number; mappings: Schemas['NewMapping'][] }; // without a version they replace whatever is saved

export function useSaveMatches(id: string) {
  const { busy, begin, end } = useSubmit();
  const [error, setError] = useState<unknown>();
  const client = useQueryClient();
  // `matches`: asked for once the save begins. `then`: what follows it, and is part of it.
  async function save(matches: () => Matches | Promise<Matches>, then: (saved: Schemas['MappingSet']) => unknown) {
    if (!begin()) return;
    setError(undefined);
    try {
      const params = { path: { integration: id } };
      const body = await matches();
      const saved = await ok(api.PUT('/api/integrations/{integration}/mappings', { params, body }));
      client.setQueryData(queries.mappings(id).queryKey, saved);
      await then(saved);
    } catch (failure) {
      setError(failure);
    } finally {
      end();
    }
  }
  return { save, busy, error };
}

// Matches with a file that the cloud account no longer has: their deliveries fail until another is chosen.
import { queryOptions, useQuery } from '@tanstack/react-query';
import { api, ok, type Schemas } from '@/api/client';
import { allPages, queries } from '@/api/queries';
import { matchesOf, type File, type Match } from './draft';

// The ids of the matched files that are gone; none while that is not known. `asked`: whether any file is matched.
export function useLostFiles(asked: boolean): ReadonlySet<string> {
  return new Set(useQuery({ ...queries.gonePresets(), ...(asked ? {} : { enabled: false }) }).data);
}

export const isLost = ({ fileId, stale }: File, lost: ReadonlySet<string>) => !stale && lost.has(fileId);
export const hasLost = ({ files }: Pick<Match, 'files'>, lost: ReadonlySet<string>) =>
  files.some((file) => isLost(file, lost));

// A file that is gone gives way to the one that is chosen.
export function withoutLost(before: Match, after: Match, lost: ReadonlySet<string>): Match {
  const had = new Set(before.files.map(({ fileId }) => fileId));
  const adds = after.files.some(({ fileId }) => !had.has(fileId));
  return adds ? { ...after, files: after.files.filter((file) => !had.has(file.fileId) || !isLost(file, lost)) } : after;
}

// Those files, and how many of the store's saved matches have one.
export function useLostMatches(id: string) {
  const mappings = useQuery({ ...queries.mappings(id), refetchOnWindowFocus: false }).data?.mappings ?? [];
  const lost = useLostFiles(mappings.some(({ action }) => action === 'deliver'));
  return { lost, count: [...matchesOf(mappings).values()].filter((match) => hasLost(match, lost)).length };
}

// All products that a match serves.
export const servedProducts = (id: string, q: string) =>
  queryOptions({
    queryKey: ['stores', 'products', id, 'served', q],
    queryFn: async ({ signal }) => {
      const { data } = await allPages<Schemas['Product']>((page) =>
        ok(
          api.GET('/api/integrations/{integration}/products', {
            params: { path: { integration: id }, query: { mapped: true, ...(q ? { q } : {}), ...page } },
            signal,
          }),
        ),
      );
      return data;
    },
  });

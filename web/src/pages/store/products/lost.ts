// Matches with a file that the cloud account no longer has: their deliveries fail until another is chosen.
import { useQuery } from '@tanstack/react-query';
import { queries } from '@/api/queries';
import type { File, Match } from './draft';

// The ids of the matched files that are gone; none while that is not known. `asked`: whether any file is matched.
export function useLostFiles(asked: boolean): ReadonlySet<string> {
  return new Set(useQuery({ ...queries.gonePresets(), ...(asked ? {} : { enabled: false }) }).data);
}

type FileId = Pick<File, 'fileId' | 'stale'>;
export const isLost = ({ fileId, stale }: FileId, lost: ReadonlySet<string>) => !stale && lost.has(fileId);
export const hasLost = ({ files }: Pick<Match, 'files'>, lost: ReadonlySet<string>) =>
  files.some((file) => isLost(file, lost));

// A file that is gone gives way to the one that is chosen.
export function withoutLost(before: Match, after: Match, lost: ReadonlySet<string>): Match {
  const had = new Set(before.files.map(({ fileId }) => fileId));
  const adds = after.files.some(({ fileId }) => !had.has(fileId));
  return adds ? { ...after, files: after.files.filter((file) => !had.has(file.fileId) || !isLost(file, lost)) } : after;
}

// The gone files, and the number of the store's saved matches that have one.
export function useLostMatches(id: string) {
  const mappings = useQuery({ ...queries.mappings(id), refetchOnWindowFocus: false }).data?.mappings ?? [];
  const deliver = mappings.filter(({ action }) => action === 'deliver');
  const lost = useLostFiles(deliver.length > 0);
  const broken = deliver.filter((one) => isLost(one, lost));
  return { lost, count: new Set(broken.map(({ matchType, matchValue }) => `${matchType}:${matchValue}`)).size };
}

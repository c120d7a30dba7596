// The person's settings of their own screens. A change is shown at once; changes are saved one after the other, and those of
// another tab meanwhile stay.
import { useQuery } from '@tanstack/react-query';
import { api, ok, type Schemas } from './client';
import { ApiError } from './errors';
import { queries, queryClient } from './queries';

type Preferences = Schemas['Preferences'];
type Change = (now: Preferences) => Partial<Omit<Preferences, 'version'>>;

const { queryKey } = queries.preferences();
const NONE: Preferences = { version: 0, views: [], shortcutsOff: false, guideDismissedAt: null };
let turn: Promise<unknown> = Promise.resolve();

export const usePreferences = () => useQuery(queries.preferences());

// The wanted settings are shown meanwhile, so the service's answer is shown only at the end.
async function write(change: Change, tries = 3): Promise<void> {
  const now = await ok(api.GET('/api/me/preferences'));
  try {
    const written = await ok(api.PUT('/api/me/preferences', { body: { ...now, ...change(now) } }));
    queryClient.setQueryData(queryKey, written);
  } catch (error) {
    if (tries > 1 && error instanceof ApiError && error.code === 'CONFLICT') return write(change, tries - 1);
    throw error;
  }
}

// `change` may be called again on what is newer. Rejects where the service does not take it; then all is shown as it was.
export function changePreferences(change: Change): Promise<void> {
  void queryClient.cancelQueries({ queryKey });
  const before = queryClient.getQueryData(queryKey) ?? NONE;
  queryClient.setQueryData(queryKey, { ...before, ...change(before) });
  const written = turn.then(() => write(change));
  turn = written.catch(() => queryClient.invalidateQueries({ queryKey }));
  return written;
}

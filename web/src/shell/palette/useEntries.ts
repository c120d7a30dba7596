import '@/i18n/en/palette';
import { useMantineColorScheme } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { queries } from '@/api/queries';
import { session, useSession } from '@/session';
import { useSale } from '@/session/sale';
import { useIsOwner } from '@/session/useIsOwner';
import { recentOf } from '../recent';
import { actionEntries, foundEntries, matching, pageEntries, recentEntries, type Entry } from './entries';

const EACH = 5; // of a group

// Before anything is typed: the pages that were opened last, then the first pages and actions.
export function useEntries(text: string, onHelp: () => void) {
  const { setColorScheme } = useMantineColorScheme();
  const state = useSession();
  const user = state.name === 'in' || state.name === 'ended' ? state.tokens.user.id : '';
  const owner = useIsOwner();
  const stores = useQuery(queries.stores());
  const typed = text.replace(/\p{Cc}/gu, ' ').trim();
  // Pages show usernames with an "@"; the service knows them without it.
  const wanted = typed.replace(/^[@\s]+/, '');
  const [asked] = useDebouncedValue(wanted, 150);
  const found = useQuery(queries.search(asked));
  const does = { theme: setColorScheme, shortcuts: onHelp, signOut: () => void session.signOut() };
  const sold = useSale(owner === true && typed !== '');
  const actions = actionEntries(stores.data?.data ?? [], does, owner, sold);
  const first = (entries: Entry[]) => entries.slice(0, EACH);
  if (!typed) {
    const recent = recentEntries(recentOf(user));
    return { shown: [...first(recent), ...first(pageEntries(owner)), ...first(actions)], busy: false, error: null };
  }
  const former = asked !== wanted || found.isPlaceholderData;
  return {
    shown: [
      ...first(matching(pageEntries(owner), typed)),
      ...first(matching(actions, typed)),
      ...foundEntries((wanted && found.data?.groups) || []).map((entry) => ({ ...entry, former })),
    ],
    busy: found.isFetching || asked !== wanted,
    error: found.error,
  };
}

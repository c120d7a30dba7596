// The owners that a member may ask for something that only owners can do. People without an address are not named.
import { useQuery } from '@tanstack/react-query';
import { queries } from '@/api/queries';
import { listed } from '@/i18n/format';
import { isolated } from '@/i18n/outside';
import { t } from '@/i18n/text';

const NAMED = 3;

export function AskOwners() {
  const people = useQuery({ ...queries.people(), refetchInterval: false, staleTime: 60_000 });
  const owners = people.data?.data.flatMap(({ role, email }) => (role === 'owner' && email ? [email] : [])) ?? [];
  if (people.isPending && people.fetchStatus !== 'idle') return null;
  return (
    <span>
      {owners.length > 0
        ? t('owners.ask', { owners: listed(owners.slice(0, NAMED).map(isolated)) })
        : t('owners.askOne')}
    </span>
  );
}

// Controls of owners are shown to owners alone. The service refuses others in any case. undefined: not known yet.
import { useQuery } from '@tanstack/react-query';
import { queries } from '@/api/queries';

export function useIsOwner(): boolean | undefined {
  const role = useQuery(queries.account()).data?.caller.role;
  return role === undefined ? undefined : role === 'owner';
}

// Whether the person signs in with an identity provider, and so leaves the page for it. undefined: not known yet.
import { useQuery } from '@tanstack/react-query';
import { queries } from '@/api/queries';
import { signInConfig } from './config';

export function useByIssuer(): boolean | undefined {
  const config = useQuery(signInConfig()).data;
  const own = useQuery({ ...queries.ownIssuer(), enabled: Boolean(config?.issuers.length) }).data;
  const theirs = useQuery(queries.account()).data?.caller.issuer;
  if (config?.passwords === false) return true;
  if (config?.issuers.length === 0) return false;
  return own !== undefined && theirs !== undefined ? theirs !== own : undefined;
}

// The invitation of a link. Not read through the queries, whose keys would hold the token.
import { useCallback, useEffect, useState } from 'react';
import { ok, open } from '@/api/client';
import { errorOfNetwork } from '@/api/errors';

const read = (invitation: string) =>
  ok(
    open.POST('/api/auth/invitation', { body: { invitation } }).catch(() => {
      throw errorOfNetwork();
    }),
  );

export type Invitation = Awaited<ReturnType<typeof read>>;
type State = { of?: string; data?: Invitation; error?: unknown };

export function useInvitation(token: string) {
  const [state, setState] = useState<State>({});
  const ask = useCallback(
    () =>
      void read(token).then(
        (data) => setState({ of: token, data }),
        (error: unknown) => setState({ of: token, error }),
      ),
    [token],
  );
  useEffect(() => {
    if (token) ask();
  }, [token, ask]);
  return { ...(state.of === token ? state : {}), again: ask };
}

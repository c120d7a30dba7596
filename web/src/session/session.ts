// Who is signed in. The ID token lives in this object and nowhere else; the refresh token is a cookie that no script can read.
// Tabs refresh one after the other (Web Locks), and post the new tokens to one another (BroadcastChannel), so that one refresh serves
// all. No framework here: the surroundings are parameters.
import { ApiError, errorOfAnswer, errorOfNetwork } from '@/api/errors';
import type { components } from '@/api/schema.mjs';

type Tokens = {
  idToken: string;
  idTokenExpiresAt: string;
  user: { id: string; email: string };
  accountId: string;
};

export type SessionState =
  | { name: 'unknown' } // the service was not asked yet
  | { name: 'out'; everywhere?: true } // all sessions of the person were ended here
  | { name: 'in'; tokens: Tokens }
  | { name: 'ended'; tokens: Tokens }; // it was in, and the service does not know it any more

// `ask`: does another tab have a token? `answer`: the reply to it, which only a tab that asks takes in.
type Message = { type: 'tokens' | 'answer'; tokens: Tokens } | { type: 'out'; everywhere?: true } | { type: 'ask' };
export type Surroundings = {
  fetch: typeof fetch;
  locks: Pick<LockManager, 'request'> | undefined;
  channel: Pick<BroadcastChannel, 'postMessage'> & { onmessage: BroadcastChannel['onmessage'] };
  now: () => number;
  // Whether a sign-out is still owed to the service. Kept over a reload, and the same in all tabs; it holds nothing else.
  owed: { get: () => boolean; set: (owed: boolean) => void };
};

const ANSWER_MS = 1_000; // for another tab to post its tokens, if it has any
const EARLY_MS = 60_000; // a token that ends sooner is refreshed before it is used
const LOCK = 'presetbridge-session';

// The service gave no decision: it cannot be reached, is busy or broken. Its answer may be another one later.
const isAway = (error: unknown) =>
  !(error instanceof ApiError) || error.status === 0 || error.status === 429 || error.status >= 500;

export function createSession({ fetch, locks, channel, now, owed }: Surroundings) {
  let state: SessionState = { name: 'unknown' };
  let refreshing: Promise<Tokens | null> | undefined;
  let restoring: Promise<void> | undefined;
  const listeners = new Set<() => void>();

  const become = (next: SessionState) => {
    state = next;
    for (const listener of listeners) listener();
  };
  const enter = (tokens: Tokens) => {
    become({ name: 'in', tokens });
    channel.postMessage({ type: 'tokens', tokens } satisfies Message);
  };
  const tokens = () => (state.name === 'in' ? state.tokens : null);
  const fresh = () => {
    const held = tokens();
    return held && Date.parse(held.idTokenExpiresAt) - now() > EARLY_MS ? held : null;
  };
  const isOver = () => state.name === 'ended' || state.name === 'out';
  const leave = () =>
    become(state.name === 'in' || state.name === 'ended' ? { name: 'ended', tokens: state.tokens } : { name: 'out' });

  let answered: ((tokens: Tokens) => void) | undefined;
  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    switch (data.type) {
      case 'tokens':
        become({ name: 'in', tokens: data.tokens });
        break;
      case 'answer':
        answered?.(data.tokens);
        break;
      case 'ask': {
        const held = fresh();
        if (held) channel.postMessage({ type: 'answer', tokens: held } satisfies Message);
        break;
      }
      case 'out': {
        const { type: name, ...rest } = data;
        become({ name, ...rest });
      }
    }
  };
  // Waits until this tab has another token than `used` or its session is over, at most ANSWER_MS.
  function hear(used: string | null): Promise<void> {
    const isThere = () => isOver() || (fresh() ?? { idToken: used }).idToken !== used;
    if (isThere()) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        listeners.delete(check);
        answered = undefined;
        resolve();
      };
      const check = () => isThere() && done();
      const timer = setTimeout(done, ANSWER_MS);
      listeners.add(check);
      answered = (next) => {
        const held = tokens();
        const newer = !held || Date.parse(next.idTokenExpiresAt) >= Date.parse(held.idTokenExpiresAt);
        if (newer && next.idToken !== used) become({ name: 'in', tokens: next });
      };
      channel.postMessage({ type: 'ask' } satisfies Message);
    });
  }

  async function send(
    path: string,
    body: Record<string, unknown>,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    try {
      return await fetch(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
        credentials: 'same-origin',
      });
    } catch {
      throw errorOfNetwork();
    }
  }
  async function enterBy(path: string, body: Record<string, unknown>) {
    const response = await send(path, { ...body, session: 'cookie' });
    const answer: unknown = await response.json().catch(() => undefined);
    if (!response.ok) throw errorOfAnswer(response, answer);
    owed.set(false); // the new cookie took the place of the one before
    enter(answer as Tokens);
  }

  // New tokens by the cookie; null: there is no session any more. `used`: the token that was refused, if one was.
  async function refreshNow(used: string | null): Promise<Tokens | null> {
    const held = fresh();
    if (held && held.idToken !== used) return held; // another tab was first
    const response = await send('/api/auth/refresh', { session: 'cookie' });
    if (response.ok) {
      const next = (await response.json()) as Tokens;
      enter(next);
      return next;
    }
    const error = errorOfAnswer(response, await response.json().catch(() => undefined));
    if (response.status !== 401 && response.status !== 403) throw error; // the service is away: the session may live on
    leave();
    return null;
  }
  // One tab after the other. A tab that had to wait takes the result of the one before it, however late that message arrives.
  async function inTurn(used: string | null): Promise<Tokens | null> {
    if (!locks) return refreshNow(used);
    const first = await locks.request(LOCK, { ifAvailable: true }, async (lock) =>
      lock ? { tokens: await refreshNow(used) } : null,
    );
    if (first) return first.tokens;
    return locks.request(LOCK, async () => {
      await hear(used);
      return isOver() ? null : refreshNow(used);
    });
  }
  async function refresh(used: string | null): Promise<Tokens | null> {
    if (isOver()) return null; // until somebody signs in again
    if (refreshing) {
      const next = await refreshing;
      return next && next.idToken === used ? refresh(used) : next;
    }
    refreshing = inTurn(used).finally(() => {
      refreshing = undefined;
    });
    return refreshing;
  }

  // For changes that end all other sessions. Resolves to the tokens of programs that are in force; null: they could not be read.
  async function replace(path: string, body: Record<string, unknown>) {
    const bearer = { authorization: `Bearer ${(fresh() ?? (await refresh(null)))?.idToken ?? ''}` };
    return enterAnew(await send(path, body, bearer));
  }
  async function enterAnew(response: Response) {
    const answer: unknown = await response.json().catch(() => undefined);
    if (!response.ok) throw errorOfAnswer(response, answer);
    const { keys, ...tokens } = answer as Tokens & { keys: components['schemas']['ApiKey'][] | null };
    owed.set(false); // the new cookie took the place of the one before
    enter(tokens);
    return keys;
  }

  // Signed out here whatever the service says; in all tabs. Until the service has done it, it is owed: the cookie may still open the
  // session.
  async function signOut({ everywhere = false } = {}) {
    owed.set(true);
    const done = await send('/api/auth/sign-out', { session: 'cookie' }).then(
      ({ ok }) => ok,
      () => false,
    );
    if (done) owed.set(false);
    const rest = everywhere ? ({ everywhere } as const) : {};
    become({ name: 'out', ...rest });
    channel.postMessage({ type: 'out', ...rest } satisfies Message);
  }
  async function restore() {
    if (owed.get()) return signOut();
    try {
      await refresh(null);
    } catch (error) {
      if (isAway(error)) throw error;
      become({ name: 'out' });
    }
  }

  return {
    get: () => state,
    subscribe(listener: () => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    // At the start: is there a session that the cookie opens? Throws where the service does not say; the state is then still unknown.
    async restore() {
      if (state.name !== 'unknown') return;
      restoring ??= restore().finally(() => {
        restoring = undefined;
      });
      await restoring;
    },
    // An ID token that is good for a while. Throws 401 where there is no session.
    async token(): Promise<string> {
      const held = fresh() ?? (await refresh(null));
      if (!held) throw new ApiError(401, 'UNAUTHORIZED', '');
      return held.idToken;
    },
    // A token instead of one that the service refused.
    async tokenAfter(used: string): Promise<string | null> {
      return (await refresh(used))?.idToken ?? null;
    },
    signIn: (email: string, password: string) => enterBy('/api/auth/sign-in', { email, password }),
    // With an account of their own, or into the account that the invitation is of.
    signUp: (email: string, password: string, into: { accountName?: string } | { invitation: string }) =>
      enterBy('/api/auth/sign-up', { email, password, ...into }),
    // Confirms in this session that it is still the same person.
    async stepUp(password: string) {
      const bearer = { authorization: `Bearer ${(fresh() ?? (await refresh(null)))?.idToken ?? ''}` };
      const response = await send('/api/auth/step-up', { password }, bearer);
      const answer: unknown = await response.json().catch(() => undefined);
      if (!response.ok) throw errorOfAnswer(response, answer);
      enter(answer as Tokens);
    },
    changePassword: (currentPassword: string, newPassword: string) =>
      replace('/api/auth/password', { currentPassword, newPassword }),
    // By the token of a link in a mail, whoever is signed in here.
    resetPassword: async (token: string, password: string) =>
      enterAnew(await send('/api/auth/password-reset/confirm', { token, password, session: 'cookie' })),
    changeEmail: (password: string, email: string) => replace('/api/auth/email', { password, email }),
    signOut,
    owesSignOut: () => state.name === 'out' && owed.get(),
    forget() {
      become({ name: 'out' });
    },
  };
}

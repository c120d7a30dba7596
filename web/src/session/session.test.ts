import { beforeEach, expect, test, vi } from 'vitest';
import { ApiError } from '@/api/errors';
import { createSession, type Surroundings } from './session';

const START = Date.parse('2026-11-23T10:00:00.000Z');
let now: number;
let calls: { path: string; body: Record<string, unknown>; authorization: string | null }[];
let answers: Record<string, (body: Record<string, unknown>) => Response | Promise<Response>>;
let issued: number;

const json = (status: number, body: unknown) => new Response(body === null ? null : JSON.stringify(body), { status });
const refusal = (status: number, code: string) => json(status, { error: { code, message: code } });
const tokens = (life = 3_600_000) => ({
  idToken: `token-${++issued}`,
  idTokenExpiresAt: new Date(now + life).toISOString(),
  user: { id: 'usr_1', email: 'sam@shop.example' },
  accountId: 'acc_1',
});

type Work = (lock: object | null) => unknown;

// Tabs of one browser: a message of one reaches the others, and they share one lock.
class Browser {
  channels: (Pick<BroadcastChannel, 'onmessage'> & { postMessage: (data: unknown) => void })[] = [];
  held: Promise<unknown> = Promise.resolve();
  holders = 0;
  late = 0; // ms until a message arrives
  owes = false;
  owed = { get: () => this.owes, set: (owes: boolean) => void (this.owes = owes) };
  tab() {
    const channels = this.channels;
    const deliver = (hear: () => void) => (this.late > 0 ? void setTimeout(hear, this.late) : hear());
    const channel = {
      onmessage: null as BroadcastChannel['onmessage'],
      postMessage(data: unknown) {
        for (const other of channels) {
          if (other !== this)
            deliver(() =>
              other.onmessage?.call(
                other as BroadcastChannel,
                new MessageEvent('message', { data: structuredClone(data) }),
              ),
            );
        }
      },
    };
    channels.push(channel);
    const locks = {
      request: (_: string, ...given: [work: Work] | [{ ifAvailable: boolean }, Work]) => {
        const [options, work] = given.length === 1 ? [{ ifAvailable: false }, given[0]] : given;
        if (options.ifAvailable && this.holders > 0) return Promise.resolve(work(null));
        ++this.holders;
        const turn = this.held.then(() => work({})).finally(() => --this.holders);
        this.held = turn.catch(() => undefined);
        return turn;
      },
    };
    const fetch = async (path: string, init: RequestInit) => {
      const body = JSON.parse(String(init.body));
      calls.push({ path, body, authorization: new Headers(init.headers).get('authorization') });
      await Promise.resolve();
      const answer = answers[path];
      if (!answer) throw new TypeError('no network');
      return answer(body);
    };
    return createSession({ fetch, locks, channel, now: () => now, owed: this.owed } as unknown as Surroundings);
  }
}
let browser: Browser;
const refreshes = () => calls.filter(({ path }) => path === '/api/auth/refresh').length;

beforeEach(() => {
  now = START;
  calls = [];
  issued = 0;
  browser = new Browser();
  answers = {
    '/api/auth/sign-in': () => json(200, tokens()),
    '/api/auth/refresh': () => json(200, tokens()),
    '/api/auth/sign-out': () => json(204, null),
  };
});

test('a session is asked for as a cookie, and the token is used until a minute before its end', async () => {
  const session = browser.tab();
  await session.signIn('sam@shop.example', 'secret');
  expect(calls[0]?.body).toEqual({ email: 'sam@shop.example', password: 'secret', session: 'cookie' });
  expect(await session.token()).toBe('token-1');
  now += 3_600_000 - 61_000;
  expect(await session.token()).toBe('token-1');
  now += 2_000;
  expect(await session.token()).toBe('token-2');
  expect(calls.at(-1)).toMatchObject({ path: '/api/auth/refresh', body: { session: 'cookie' } });
});

test('all who want a token at once wait for one refresh', async () => {
  const session = browser.tab();
  await session.signIn('sam@shop.example', 'secret');
  now += 3_600_000;
  const got = await Promise.all([session.token(), session.token(), session.token()]);
  expect(new Set(got)).toEqual(new Set(['token-2']));
  expect(refreshes()).toBe(1);
});

test('two tabs over an expiry refresh once, and both go on', async () => {
  const [one, two] = [browser.tab(), browser.tab()];
  await one.signIn('sam@shop.example', 'secret');
  expect(two.get()).toMatchObject({ name: 'in' }); // it has heard
  now += 3_600_000;
  expect(await Promise.all([one.token(), two.token()])).toEqual(['token-2', 'token-2']);
  expect(refreshes()).toBe(1);
});

test('a refused token is refreshed, unless another tab already has', async () => {
  const [one, two] = [browser.tab(), browser.tab()];
  await one.signIn('sam@shop.example', 'secret');
  expect(await Promise.all([one.tokenAfter('token-1'), two.tokenAfter('token-1')])).toEqual(['token-2', 'token-2']);
  expect(refreshes()).toBe(1);
});

test('a tab that hears late does not refresh again', async () => {
  const [one, two] = [browser.tab(), browser.tab()];
  await one.signIn('sam@shop.example', 'secret');
  now += 3_600_000;
  browser.late = 300;
  expect(await Promise.all([one.token(), two.token()])).toEqual(['token-2', 'token-2']);
  expect(refreshes()).toBe(1);
});

test('a tab that missed a message asks for it', async () => {
  const [one, two] = [browser.tab(), browser.tab()];
  await one.signIn('sam@shop.example', 'secret');
  now += 3_600_000;
  const hears = browser.channels[1]!;
  const { onmessage } = hears;
  hears.onmessage = function (event) {
    if ((event.data as { type: string }).type !== 'tokens') onmessage?.call(this, event);
  };
  expect(await Promise.all([one.token(), two.token()])).toEqual(['token-2', 'token-2']);
  expect(refreshes()).toBe(1);
});

test('where nobody answers, the next tab refreshes', async () => {
  const [one, two] = [browser.tab(), browser.tab()];
  await one.signIn('sam@shop.example', 'secret');
  now += 3_600_000;
  answers['/api/auth/refresh'] = () => (refreshes() === 1 ? refusal(503, 'OVERLOADED') : json(200, tokens()));
  const [first, second] = await Promise.allSettled([one.token(), two.token()]);
  expect([first.status, second]).toMatchObject(['rejected', { status: 'fulfilled', value: 'token-2' }]);
});

test('an answer to one tab takes no other tab back', async () => {
  const [one, two] = [browser.tab(), browser.tab()];
  await one.signIn('sam@shop.example', 'secret');
  const old = one.get();
  await two.tokenAfter('token-1');
  browser.channels[1]!.postMessage({ type: 'answer', tokens: (old as { tokens: unknown }).tokens });
  expect(await one.token()).toBe('token-2');
});

test('no timer holds other tabs up', async () => {
  const session = browser.tab();
  await session.signIn('sam@shop.example', 'secret');
  vi.useFakeTimers();
  try {
    expect(await session.tokenAfter('token-1')).toBe('token-2');
  } finally {
    vi.useRealTimers();
  }
});

test('who asks for a token in the place of one gets another, also of a refresh that is under way', async () => {
  const session = browser.tab();
  await session.signIn('sam@shop.example', 'secret');
  const got = await Promise.all([session.tokenAfter('token-1'), session.tokenAfter('token-2')]);
  expect(got).toEqual(['token-2', 'token-3']);
});

test('without a session one is out; one that ended says so, and whose it was', async () => {
  answers['/api/auth/refresh'] = () => refusal(401, 'UNAUTHORIZED');
  const fresh = browser.tab();
  await fresh.restore();
  expect(fresh.get()).toEqual({ name: 'out' });

  const session = browser.tab();
  await session.signIn('sam@shop.example', 'secret');
  now += 3_600_000;
  await expect(session.token()).rejects.toMatchObject({ status: 401 });
  expect(session.get()).toMatchObject({ name: 'ended', tokens: { user: { email: 'sam@shop.example' } } });
});

test('a tab whose session has ended goes on once a tab that came back from a provider restores the new one', async () => {
  const session = browser.tab();
  await session.signIn('sam@shop.example', 'secret');
  answers['/api/auth/refresh'] = () => refusal(401, 'UNAUTHORIZED');
  expect(await session.tokenAfter('token-1')).toBeNull();
  expect(session.get().name).toBe('ended');
  answers['/api/auth/refresh'] = () => json(200, tokens()); // the provider's callback has set another cookie
  await browser.tab().restore();
  expect(session.get()).toMatchObject({ name: 'in', tokens: { idToken: 'token-2' } });
  expect(await session.token()).toBe('token-2');
});

test('nothing is asked of a session that is over, until somebody signs in', async () => {
  const session = browser.tab();
  await session.signIn('sam@shop.example', 'secret');
  now += 3_600_000;
  answers['/api/auth/refresh'] = () => refusal(401, 'UNAUTHORIZED');
  await expect(session.token()).rejects.toMatchObject({ status: 401 });
  const asked = calls.length;
  for (let i = 0; i < 3; ++i) await expect(session.token()).rejects.toMatchObject({ status: 401 });
  expect(await session.tokenAfter('token-1')).toBeNull();
  session.forget();
  await expect(session.token()).rejects.toMatchObject({ status: 401 });
  expect(calls.length).toBe(asked);
  await session.signIn('sam@shop.example', 'secret');
  expect(await session.token()).toBe('token-2');
});

test('a service that is away ends no session', async () => {
  const session = browser.tab();
  await session.signIn('sam@shop.example', 'secret');
  now += 3_600_000;
  answers['/api/auth/refresh'] = () => refusal(503, 'OVERLOADED');
  await expect(session.token()).rejects.toMatchObject({ code: 'OVERLOADED' });
  delete answers['/api/auth/refresh'];
  await expect(session.token()).rejects.toMatchObject({ code: 'NETWORK', status: 0 });
  expect(session.get().name).toBe('in');
  answers['/api/auth/refresh'] = () => json(200, tokens());
  expect(await session.token()).toBe('token-2');
});

test('signing out reaches all tabs, also where the service does not answer', async () => {
  const [one, two] = [browser.tab(), browser.tab()];
  await one.signIn('sam@shop.example', 'secret');
  delete answers['/api/auth/sign-out'];
  await two.signOut();
  expect([one.get(), two.get()]).toEqual([{ name: 'out' }, { name: 'out' }]);
});

test('after a sign-out of all sessions every tab can say so, until somebody signs in', async () => {
  const [one, two] = [browser.tab(), browser.tab()];
  await one.signIn('sam@shop.example', 'secret');
  await two.signOut({ everywhere: true });
  expect([one.get(), two.get()]).toEqual(Array(2).fill({ name: 'out', everywhere: true }));
  await one.signIn('sam@shop.example', 'secret');
  await one.signOut();
  expect([one.get(), two.get()]).toEqual(Array(2).fill({ name: 'out' }));
});

test('a sign-out that did not reach the service is owed: a reload sends it first, and restores nothing', async () => {
  const [one, two] = [browser.tab(), browser.tab()];
  await one.signIn('sam@shop.example', 'secret');
  answers['/api/auth/sign-out'] = () => refusal(503, 'OVERLOADED');
  await one.signOut();
  expect([one.owesSignOut(), two.owesSignOut()]).toEqual([true, true]);

  const reloaded = browser.tab();
  await reloaded.restore();
  expect([reloaded.get(), reloaded.owesSignOut()]).toEqual([{ name: 'out' }, true]);
  answers['/api/auth/sign-out'] = () => json(204, null);
  await reloaded.signOut();
  expect([one.owesSignOut(), two.owesSignOut(), reloaded.owesSignOut()]).toEqual([false, false, false]);
  expect(refreshes()).toBe(0);
});

test('a sign-in settles a sign-out that is owed, since its cookie takes the place of the one before', async () => {
  const session = browser.tab();
  await session.signIn('sam@shop.example', 'secret');
  delete answers['/api/auth/sign-out'];
  await session.signOut();
  await session.signIn('ann@shop.example', 'secret');
  const reloaded = browser.tab();
  await reloaded.restore();
  expect(reloaded.get().name).toBe('in');
});

test('a service that does not say whether there is a session ends none', async () => {
  const away = [
    undefined,
    () => refusal(503, 'OVERLOADED'),
    () => refusal(429, 'RATE_LIMIT_EXCEEDED'),
    () => new Response('<p>Restarting</p>', { status: 502 }),
  ];
  for (const answer of away) {
    if (answer) answers['/api/auth/refresh'] = answer;
    else delete answers['/api/auth/refresh'];
    const session = browser.tab();
    await expect(session.restore()).rejects.toThrow();
    expect(session.get().name).toBe('unknown');
    answers['/api/auth/refresh'] = () => json(200, tokens());
    await session.restore();
    expect(session.get().name).toBe('in');
  }
  for (const status of [401, 403, 422]) {
    answers['/api/auth/refresh'] = () => refusal(status, 'REFUSED');
    const session = browser.tab();
    await session.restore();
    expect(session.get()).toEqual({ name: 'out' });
  }
});

test('a wrong password is reported as the service does, and nobody is in', async () => {
  answers['/api/auth/sign-in'] = () =>
    new Response(JSON.stringify({ error: { code: 'TOO_MANY_ATTEMPTS', message: 'Wait.' } }), {
      status: 429,
      headers: { 'retry-after': '30' },
    });
  const session = browser.tab();
  const error = await session.signIn('sam@shop.example', 'x').catch((failure: unknown) => failure);
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ code: 'TOO_MANY_ATTEMPTS', retryAfterSeconds: 30 });
  expect(session.get().name).toBe('unknown');
});

test('to confirm sends the password with the token, and takes the newer one', async () => {
  const session = browser.tab();
  await session.signIn('sam@shop.example', 'secret');
  answers['/api/auth/step-up'] = () => json(200, tokens());
  await session.stepUp('secret');
  expect(calls.at(-1)).toEqual({
    path: '/api/auth/step-up',
    body: { password: 'secret' },
    authorization: 'Bearer token-1',
  });
  expect(await session.token()).toBe('token-2');
});

test('no token is written where a script could find it later', async () => {
  const stored = vi.spyOn(Storage.prototype, 'setItem');
  const session = browser.tab();
  await session.signIn('sam@shop.example', 'secret');
  await session.tokenAfter('token-1');
  expect(stored).not.toHaveBeenCalled();
  expect(document.cookie).toBe('');
});

test('a new password is a new session in all tabs, and the list of tokens is in none', async () => {
  const [one, two] = [browser.tab(), browser.tab()];
  answers['/api/auth/sign-in'] = () => json(200, tokens());
  await one.signIn('sam@shop.example', 'correct horse battery');
  answers['/api/auth/password'] = ({ currentPassword }) =>
    currentPassword === 'correct horse battery'
      ? json(200, { ...tokens(), keys: [{ id: 'key_1' }] })
      : refusal(401, 'INVALID_CREDENTIALS');
  await expect(one.changePassword('wrong', 'staple of another stable')).rejects.toMatchObject({
    code: 'INVALID_CREDENTIALS',
  });
  expect(await one.token()).toBe('token-1');
  expect(await one.changePassword('correct horse battery', 'staple of another stable')).toEqual([{ id: 'key_1' }]);
  expect(calls.at(-1)?.authorization).toBe('Bearer token-1');
  expect([await one.token(), await two.token()]).toEqual(['token-2', 'token-2']);
  expect(JSON.stringify([one.get(), two.get()])).not.toContain('key_1');
});

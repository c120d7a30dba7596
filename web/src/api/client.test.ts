import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { session } from '@/session';
import { stepUp } from '@/session/step_up';
import { authorized } from './client';

const refusal = (status: number, code: string) =>
  new Response(JSON.stringify({ error: { code, message: code } }), { status });
const life = () => new Date(Date.now() + 3_600_000).toISOString();
let sent: { path: string; authorization: string | null; body: string }[];
let answers: Response[];
let user: string;
let issued = 0;

beforeEach(async () => {
  sent = [];
  answers = [];
  user = 'u';
  vi.stubGlobal('fetch', async (target: Request | string, init?: RequestInit) => {
    const request = new Request(typeof target === 'string' ? new URL(target, 'http://localhost') : target, init);
    const path = new URL(request.url).pathname;
    sent.push({ path, authorization: request.headers.get('authorization'), body: await request.text() });
    if (path.startsWith('/api/auth/')) {
      return new Response(
        JSON.stringify({
          idToken: `token-${++issued}`,
          idTokenExpiresAt: life(),
          user: { id: user, email: 'e' },
          accountId: 'a',
        }),
      );
    }
    const answer = answers.shift();
    if (!answer) throw new TypeError('no network');
    return answer;
  });
  await session.signIn('e', 'p');
  sent = [];
});
afterEach(() => vi.unstubAllGlobals());

const request = () => new Request('http://localhost/api/keys', { method: 'POST', body: '{"name":"x"}' });
const paths = () => sent.map(({ path }) => path);

test('a request carries the token', async () => {
  answers = [new Response('{}')];
  expect((await authorized(request())).status).toBe(200);
  expect(sent[0]?.authorization).toBe(`Bearer token-${issued}`);
});

test('a token that is refused is refreshed, and the request sent again whole', async () => {
  answers = [refusal(401, 'UNAUTHORIZED'), new Response('{}')];
  expect((await authorized(request())).status).toBe(200);
  expect(paths()).toEqual(['/api/keys', '/api/auth/refresh', '/api/keys']);
  expect(sent[2]).toEqual({ path: '/api/keys', authorization: `Bearer token-${issued}`, body: '{"name":"x"}' });
});

test('the cloud platform’s refusal of a login is not one of the session', async () => {
  answers = [refusal(401, 'INVALID_CREDENTIALS')];
  expect((await authorized(request())).status).toBe(401);
  expect(paths()).toEqual(['/api/keys']);
});

test('what wants a newer sign-in waits for it and goes on, or stays refused', async () => {
  answers = [refusal(403, 'STEP_UP_REQUIRED'), new Response('{}')];
  const going = authorized(request());
  await vi.waitFor(() => expect(stepUp.isAsking()).toBe(true));
  expect(stepUp.request()).toBe('POST /api/keys');
  stepUp.answer(true);
  expect((await going).status).toBe(200);
  expect(sent.at(-1)?.body).toBe('{"name":"x"}');

  answers = [refusal(403, 'STEP_UP_REQUIRED')];
  const refused = authorized(request());
  await vi.waitFor(() => expect(stepUp.isAsking()).toBe(true));
  stepUp.answer(false);
  expect((await refused).status).toBe(403);
});

test('a step-up that waits ends with its person’s session, and its request is not sent for the next one', async () => {
  for (const leave of [() => session.signOut(), () => session.signIn('another', 'p')]) {
    answers = [refusal(403, 'STEP_UP_REQUIRED'), new Response('{}')];
    user = 'u';
    await session.signIn('e', 'p');
    sent = [];
    const going = authorized(request());
    await vi.waitFor(() => expect(stepUp.isAsking()).toBe(true));
    user = 'another';
    await leave();
    expect(stepUp.isAsking()).toBe(false);
    expect((await going).status).toBe(403);
    expect(paths().filter((path) => path === '/api/keys')).toEqual(['/api/keys']);
  }
});

test('a request is not sent again with the token of another person', async () => {
  answers = [refusal(401, 'UNAUTHORIZED'), new Response('{}')];
  user = 'another';
  expect((await authorized(request())).status).toBe(401);
  expect(paths()).toEqual(['/api/keys', '/api/auth/refresh']);
});

test('the next person is not asked to confirm what another one sent', async () => {
  let answer: (response: Response) => void = () => undefined;
  const held = new Promise<Response>((resolve) => (answer = resolve));
  answers = [held as unknown as Response];
  const going = authorized(request());
  await vi.waitFor(() => expect(paths()).toEqual(['/api/keys']));
  user = 'another';
  await session.signIn('another', 'p');
  answer(refusal(403, 'STEP_UP_REQUIRED'));
  expect((await going).status).toBe(403);
  expect(stepUp.isAsking()).toBe(false);
});

test('a lost connection is told as one', async () => {
  await expect(authorized(request())).rejects.toMatchObject({ code: 'NETWORK', status: 0 });
});

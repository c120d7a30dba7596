// The script of ./dev run: the month that it opens with, and that a second one beside it does no harm.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import readline from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client, Scope, scratch, until, within } from './harness.mjs';
import { isOk } from './merchant.mjs';

const DEMO = fileURLToPath(new URL('../../tools/demo.mjs', import.meta.url));

// In a folder of its own, where it makes build/demo.
function demo(cwd, args = []) {
  const child = spawn(process.execPath, [DEMO, ...args], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  const lines = [];
  for (const stream of [child.stdout, child.stderr])
    readline.createInterface({ input: stream }).on('line', (line) => lines.push(line));
  return { child, lines, ended: once(child, 'close') };
}
const ends = async (name, { ended, lines }) => [(await within(name, ended, 60_000))[0], lines.join('\n')];
// Until the line that begins so.
const says = (it, text) =>
  within(
    `it says: ${text}`,
    new Promise((resolve, reject) => {
      it.child.stdout.on('data', () => it.lines.some((line) => line.includes(text)) && resolve());
      it.ended.then(() => reject(new Error(it.lines.join('\n'))));
    }),
    200_000,
  );

const STATUSES = ['queued', 'waiting_for_friendship', 'completed', 'failed', 'in_review', 'invalidated'];
// Which account has deliveries that failed so. Of `internal_error` nothing makes one.
const CODES = {
  sam: [
    'username_missing',
    'username_not_found',
    'friend_request_declined',
    'friendship_timeout',
    'blocked_by_customer',
    'preset_not_found',
    'preset_not_shareable',
    'cloud_unavailable',
    'cloud_rejected',
    'order_too_large',
  ],
  riley: ['credentials_invalid'],
  nova: ['credentials_missing'],
  pat: ['insufficient_credits'],
};

// Every page has something to show: asked of the API, as the dashboard does.
async function opensOnAMonth(told) {
  const [, url, password] = told.match(/dashboard +(\S+) .*password (\S+);/);
  const open = new Client(url);
  const signedIn = async (name) => {
    const { idToken } = isOk(await open.post('/api/auth/sign-in', { email: `${name}@marlowtones.example`, password }));
    return open.with({ authorization: `Bearer ${idToken}` });
  };
  for (const [name, codes] of Object.entries(CODES)) {
    const api = await signedIn(name);
    for (const code of codes)
      assert.ok(
        isOk(await api.get(`/api/deliveries?resolutionCode=${code}&count=true`)).count >= 1,
        `${name} has none of ${code}`,
      );
  }
  // A newcomer's own sign-up has a cloud login to save, which is nobody's yet.
  const [, email, secret] = told.match(/the cloud login “(\S+)”, with the password “(.+)”$/m);
  const newcomer = isOk(
    await open.post('/api/auth/sign-up', { email: 'new@shop.example', password: 'of a newcomer', accountName: 'New' }),
    201,
  );
  const login = await open
    .with({ authorization: `Bearer ${newcomer.idToken}` })
    .put('/api/credentials', { email, password: secret });
  assert.equal(isOk(login).status, 'valid');
  const api = await signedIn('sam');
  const get = async (path) => isOk(await api.get(path));
  for (const status of STATUSES)
    assert.ok((await get(`/api/deliveries?status=${status}&count=true`)).count >= 1, status);
  assert.ok((await get('/api/deliveries?count=true')).count >= 300);
  const days = (
    await get(
      `/api/stats/deliveries?from=${new Date(Date.now() - 29 * 86_400_000).toISOString()}&to=${new Date().toISOString()}&bucket=day`,
    )
  ).data;
  assert.ok(days.filter(({ completed }) => completed > 0).length >= 28, 'a month of days');
  for (const outcome of ['delivery', 'no_mapped_items', 'awaiting_payment', 'stopped', 'inactive'])
    assert.ok((await get(`/api/orders?outcome=${outcome}`)).data.length >= 1, outcome);
  assert.deepEqual((await get('/api/webhook-subscriptions')).data.map(({ health }) => health).sort(), [
    'failing',
    'gone',
    'healthy',
    'off',
  ]);
  assert.deepEqual([...new Set((await get('/api/credits/purchases')).data.map(({ state }) => state))].sort(), [
    'expired',
    'paid',
    'refunded',
  ]);
  const usage = (
    await get(
      `/api/usage?from=${new Date(Date.now() - 29 * 86_400_000).toISOString()}&to=${new Date().toISOString()}&bucket=day`,
    )
  ).data;
  assert.ok(
    usage.some(({ requests }) => requests > 0) && usage.some(({ limited }) => limited > 0),
    'tokens were used, and limited',
  );
  assert.equal((await get('/api/privacy-requests')).data.length, 2);
  assert.deepEqual((await get('/api/people')).data.map(({ role }) => role).sort(), ['member', 'owner']);
  assert.equal((await get('/api/invitations')).data.length, 1);
  assert.ok((await get('/api/account/audit?action=sign_in.failed')).data.length >= 1);
  const reasons = new Set(
    (await get('/api/deliveries?status=in_review&limit=100')).data.map(({ reviewReason }) => reviewReason),
  );
  for (const reason of ['held', 'too_large', 'payment_withdrawn', 'high_risk', 'reopened'])
    assert.ok(reasons.has(reason), reason);
  // Deliveries that began before go on: the platform knows its friend requests, and the login opens.
  const rush = (await get('/api/deliveries?status=queued&count=true')).count;
  await until(
    'those in line have their turn',
    async () => (await get('/api/deliveries?status=queued&count=true')).count < rush,
    90_000,
  );
}

test('a second demonstration beside one is refused, and leaves it alone', async (t) => {
  const scope = new Scope(t);
  const folder = await scratch(scope);
  const first = demo(folder);
  scope.after(async () => {
    first.child.kill('SIGTERM');
    assert.equal((await ends('the first ends', first))[0], 0);
  });
  await says(first, 'Still serving');
  await opensOnAMonth(first.lines.join('\n'));
  const before = await readdir(path.join(folder, 'build/demo'), { recursive: true });
  const [code, told] = await ends('the second is refused', demo(folder, ['--once']));
  assert.equal(code, 1);
  assert.match(told, /another \.\/dev run is at work in build\/demo; stop it first/);
  assert.deepEqual(await readdir(path.join(folder, 'build/demo'), { recursive: true }), before);
});

test('one that was killed holds nothing', async (t) => {
  const folder = await scratch(new Scope(t));
  const killed = demo(folder);
  await within('it begins', once(killed.child.stdout, 'data'), 20_000);
  killed.child.kill('SIGKILL');
  await within('it is gone', once(killed.child, 'exit'), 10_000);
  const [code, told] = await ends('another one', demo(folder, ['--once']));
  assert.equal(code, 0, told);
});

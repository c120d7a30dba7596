// Sessions of browsers: cookies, two tabs, theft, pages of others, step-up, sessions listed and ended.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { Browser, Page } from './browser.mjs';
import { Client, ENGINE, Scope, scratch, startBridge, startCloudsim } from './harness.mjs';
import { PASSWORD, contract, isError, isOk } from './merchant.mjs';
import { cluster } from './postgres.mjs';

const scope = new Scope({ after });
let cloud, dataDir, bridge;
let people = 0;

async function start() {
  bridge = await startBridge(bridgeScope, {
    cloudUrl: cloud.url,
    dataDir,
    args: ['--identity-signups-per-hour', '1000'],
  });
}
let bridgeScope = new Scope();
before(async () => {
  cloud = await startCloudsim(scope);
  dataDir = await scratch(scope);
  scope.after(() => bridgeScope.close());
  await start();
});

const browserOf = (options = {}) => new Browser({ check: contract.check, ...options });
const pageIn = (browser) => new Page(browser, bridge.url);
const claims = (token) => JSON.parse(Buffer.from(token.split('.')[1], 'base64url'));
const account = (page) => page.ask('GET', '/api/account');

async function someone() {
  const email = `person-${++people}@shop.example`;
  const page = pageIn(browserOf());
  isOk(await page.sign('sign-up', { email, password: PASSWORD }), 201);
  return { page, email };
}
async function elsewhere(email, options) {
  const page = pageIn(browserOf(options));
  isOk(await page.sign('sign-in', { email, password: PASSWORD }));
  return page;
}
// Moves stored times back, while the service is stopped.
async function pass(ms, pages) {
  const url = bridge.databaseUrl;
  await bridgeScope.close();
  const sql = `UPDATE sessions SET authenticated_at = authenticated_at - ${ms}; UPDATE session_tokens SET replaced_at = replaced_at - ${ms} WHERE replaced_at IS NOT NULL;`;
  if (ENGINE === 'postgres') await (await cluster()).sql(sql, url);
  else await promisify(execFile)('sqlite3', [path.join(dataDir, 'presetbridge.db'), sql]);
  bridgeScope = new Scope();
  await start();
  for (const page of pages) page.origin = bridge.url;
}

describe('the cookie', () => {
  test('on this machine: HttpOnly, SameSite=Strict, in no body', async () => {
    const { page } = await someone();
    const cookie = page.browser.cookie('pdb_session');
    assert.deepEqual([cookie.httpOnly, cookie.sameSite, cookie.path, cookie.secure], [true, 'Strict', '/', false]);
    assert.match(cookie.value, /^pdb_refresh_/);
    assert.equal(isOk(await account(page)).caller.email, `person-${people}@shop.example`);
    const { sid, auth_time } = claims(page.idToken);
    assert.match(sid, /^ses_/);
    assert.ok(Math.abs(auth_time - Date.now() / 1000) < 30);
  });

  test('at any name of this machine, and at no other address of plain http', async (t) => {
    const { port } = new URL(bridge.url);
    const local = new Page(
      browserOf({ origins: { [`http://localhost:${port}`]: bridge.url } }),
      `http://localhost:${port}`,
    );
    const host = { host: `localhost:${port}` };
    const signUp = (page, headers) =>
      page.ask(
        'POST',
        '/api/auth/sign-up',
        { email: `local-${++people}@shop.example`, password: PASSWORD, session: 'cookie' },
        headers,
      );
    isOk(await signUp(local, host), 201);
    const plain = 'http://bridge.example';
    const other = await startBridge(t, { cloudUrl: cloud.url, args: ['--base-url', plain] });
    const page = new Page(browserOf({ origins: { [plain]: other.url } }), plain);
    isError(await signUp(page, { host: 'bridge.example' }), 403, 'INSECURE_ADDRESS');
    assert.equal(page.browser.cookie('pdb_session'), undefined);
  });

  test('behind https: __Host-, Secure, and for that origin alone', async (t) => {
    const origin = 'https://bridge.example';
    const secure = await startBridge(t, { cloudUrl: cloud.url, args: ['--base-url', origin] });
    const origins = { [origin]: secure.url, 'http://bridge.example': secure.url };
    const page = new Page(browserOf({ origins }), origin);
    isOk(await page.sign('sign-up', { email: 'ann@shop.example', password: PASSWORD }), 201);
    const cookie = page.browser.cookie('__Host-pdb_session');
    assert.deepEqual([cookie.httpOnly, cookie.secure, cookie.sameSite], [true, true, 'Strict']);
    isOk(await page.sign('refresh'));
    isOk(await account(page));
    const direct = new Page(browserOf(), secure.url);
    isError(
      await direct.ask('POST', '/api/auth/sign-in', {
        email: 'ann@shop.example',
        password: PASSWORD,
        session: 'cookie',
      }),
      403,
      'INSECURE_ADDRESS',
    );
  });

  test('a refresh gives another, and the one of a program is no cookie', async () => {
    const { page, email } = await someone();
    const first = page.browser.cookie('pdb_session').value;
    isOk(await page.sign('refresh'));
    assert.notEqual(page.browser.cookie('pdb_session').value, first);
    isOk(await account(page));
    const open = new Client(bridge.url, { check: contract.check });
    isError(
      await open.post('/api/auth/refresh', { refreshToken: page.browser.cookie('pdb_session').value }),
      401,
      'UNAUTHORIZED',
    );
    const { refreshToken } = isOk(await open.post('/api/auth/sign-in', { email, password: PASSWORD }));
    isError(
      await page.ask('POST', '/api/auth/refresh', { session: 'cookie' }, { cookie: `pdb_session=${refreshToken}` }),
      401,
      'UNAUTHORIZED',
    );
    isOk(await open.post('/api/auth/refresh', { refreshToken }));
    isOk(await page.sign('refresh'));
    isError(await pageIn(browserOf()).sign('refresh'), 401, 'UNAUTHORIZED');
  });
});

test('pages of others get and use no session, whatever they send', async () => {
  const { page, email } = await someone();
  const evil = 'https://evil.example';
  const body = { email, password: PASSWORD, session: 'cookie' };
  const ways = {
    'from another origin': { from: evil, json: body },
    'without an origin': { json: body },
    'with an origin that is none': { json: body, headers: { origin: 'null' } },
    'with two': { from: bridge.url, json: body, headers: { origin: [bridge.url, bridge.url] } },
    'from another origin that looks alike': { from: 'http://127.0.0.1.evil.example', json: body },
    'from another port': { from: 'http://127.0.0.1:1', json: body },
    'by a browser that says so': { from: bridge.url, json: body, headers: { 'sec-fetch-site': 'same-site' } },
    'for another host': { from: 'http://rebound.example', json: body, headers: { host: 'rebound.example' } },
  };
  const jar = page.browser;
  const before = jar.cookie('pdb_session').value;
  for (const [how, options] of Object.entries(ways)) {
    for (const operation of ['sign-in', 'refresh', 'sign-out', 'sign-up']) {
      const json = ['refresh', 'sign-out'].includes(operation) ? { session: 'cookie' } : options.json;
      // Even with a cookie that came along.
      const answer = await jar.request('POST', `${bridge.url}/api/auth/${operation}`, {
        ...options,
        json,
        headers: { cookie: `pdb_session=${before}`, ...options.headers },
      });
      assert.equal(answer.status, 403, `${how}, ${operation}: ${answer.text}`);
      assert.ok(['CROSS_SITE_REQUEST', 'INSECURE_ADDRESS'].includes(answer.json.error.code), `${how}: ${answer.text}`);
      assert.equal(answer.headers['set-cookie'], undefined, how);
    }
  }
  // Types that a form can send to another site without a preflight request.
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
    for (const from of [evil, bridge.url]) {
      const answer = await jar.request('POST', `${bridge.url}/api/auth/refresh`, {
        from,
        navigation: true,
        body: '{"session":"cookie"}',
        headers: { 'content-type': type, cookie: `pdb_session=${before}` },
      });
      isError(answer, 415, 'UNSUPPORTED_MEDIA_TYPE');
    }
  }
  assert.equal(
    (
      await jar.request('POST', `${bridge.url}/api/auth/refresh`, {
        from: evil,
        navigation: true,
        json: { session: 'cookie' },
      })
    ).status,
    403,
  );
  assert.equal(jar.cookie('pdb_session').value, before);
  isOk(await page.sign('refresh'));
  assert.equal(isOk(await page.ask('GET', '/api/account/sessions')).data.length, 1);
});

describe('a session goes on', () => {
  test('in two tabs that refresh at once', async () => {
    const { page } = await someone();
    const tab = pageIn(page.browser);
    for (let round = 0; round < 5; ++round) {
      const answers = await Promise.all([page.sign('refresh'), tab.sign('refresh'), tab.sign('refresh')]);
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 200, 200],
      );
      for (const one of [page, tab]) isOk(await account(one));
    }
    isOk(await page.sign('refresh'));
  });

  test('and ends for all when a token comes again later: one of the two is a thief', async () => {
    const { page } = await someone();
    const { page: calm } = await someone();
    const thief = new Page(page.browser.stolen(), page.origin);
    isOk(await page.sign('refresh'));
    await pass(11_000, [page, thief, calm]);
    isOk(await account(page));
    isError(await thief.sign('refresh'), 401, 'UNAUTHORIZED');
    isError(await account(page), 401, 'UNAUTHORIZED');
    isError(await page.sign('refresh'), 401, 'UNAUTHORIZED');
    isOk(await calm.sign('refresh'));
  });
});

describe('sessions are seen and ended', () => {
  test('one by one, from another', async () => {
    const { page, email } = await someone();
    const stolen = await elsewhere(email, { userAgent: 'curl/8.1' });
    const rows = isOk(await page.ask('GET', '/api/account/sessions')).data;
    assert.deepEqual(
      rows.map(({ kind, current, userAgent, network }) => [kind, current, userAgent, network]),
      [
        ['browser', false, 'curl', '127.0.0.1'],
        ['browser', true, 'Firefox on Linux', '127.0.0.1'],
      ],
    );
    const { page: other } = await someone();
    isError(await other.ask('DELETE', `/api/account/sessions/${rows[0].id}`), 404, 'NOT_FOUND');
    isOk(await account(stolen));
    assert.equal((await page.ask('DELETE', `/api/account/sessions/${rows[0].id}`)).status, 204);
    isError(await account(stolen), 401, 'UNAUTHORIZED');
    isError(await stolen.sign('refresh'), 401, 'UNAUTHORIZED');
    isError(await page.ask('DELETE', `/api/account/sessions/${rows[0].id}`), 404, 'NOT_FOUND');
    isOk(await page.sign('refresh'));
    assert.ok(
      isOk(await page.ask('GET', '/api/account/audit')).data.some(
        ({ action, target }) => action === 'session.ended' && target === rows[0].id,
      ),
    );
  });

  test('by signing out here, which takes the cookie and the ID token', async () => {
    const { page, email } = await someone();
    const other = await elsewhere(email);
    assert.equal((await page.sign('sign-out')).status, 204);
    assert.equal(page.browser.cookie('pdb_session'), undefined);
    isError(await account(page), 401, 'UNAUTHORIZED');
    isOk(await account(other));
  });

  test('everywhere', async () => {
    const { page, email } = await someone();
    const open = new Client(bridge.url, { check: contract.check });
    const { refreshToken } = isOk(await open.post('/api/auth/sign-in', { email, password: PASSWORD }));
    const other = await elsewhere(email);
    assert.equal((await page.ask('DELETE', '/api/account/sessions')).status, 204);
    for (const one of [page, other]) {
      isError(await account(one), 401, 'UNAUTHORIZED');
      isError(await one.sign('refresh'), 401, 'UNAUTHORIZED');
    }
    isError(await open.post('/api/auth/refresh', { refreshToken }), 401, 'UNAUTHORIZED');
  });

  test('by a change of the password, which shows the keys', async () => {
    const { page, email } = await someone();
    const thief = await elsewhere(email);
    const { id } = isOk(await thief.ask('POST', '/api/keys', { name: 'left behind' }), 201);
    const former = page.browser.stolen();
    const changed = isOk(
      await page.sign('password', { currentPassword: PASSWORD, newPassword: `${PASSWORD} of today` }),
    );
    assert.deepEqual(
      changed.keys.map((key) => [key.id, key.name, 'secret' in key]),
      [[id, 'left behind', false]],
    );
    isOk(await account(page));
    isOk(await page.sign('refresh'));
    isError(await account(thief), 401, 'UNAUTHORIZED');
    isError(await thief.sign('refresh'), 401, 'UNAUTHORIZED');
    isError(await new Page(former, page.origin).sign('refresh'), 401, 'UNAUTHORIZED');
    assert.equal(isOk(await page.ask('GET', '/api/account/sessions')).data.length, 1);
  });
});

test('what shows a secret asks a browser for a sign-in of the last ten minutes', async () => {
  const { page, email } = await someone();
  const open = new Client(() => bridge.url, { check: contract.check });
  const store = isOk(await page.ask('POST', '/api/integrations', { name: 'A store', provider: 'generic' }), 201);
  const key = isOk(await page.ask('POST', '/api/keys', { name: 'a key' }), 201);
  await pass(10 * 60_000 + 1_000, [page]);
  isOk(await page.sign('refresh'));
  const asked = [
    ['POST', '/api/keys', { name: 'another' }],
    ['POST', `/api/keys/${key.id}/rotate`, {}],
    ['POST', '/api/integrations', { name: 'Another store', provider: 'generic' }],
    ['POST', `/api/integrations/${store.id}/rotate-secret`, {}],
    ['POST', '/api/webhook-subscriptions', { url: 'https://receiver.example/hook' }],
    ['PUT', '/api/credentials', { email: 'x@cloudsim.test', password: 'x' }],
    ['DELETE', '/api/credentials'],
    // A key that opens more is as good as a new one, and a thief's own person as an owner.
    ['PATCH', `/api/keys/${key.id}`, { permissions: ['login', 'deliveries:write', 'deliveries:any_file'] }],
    ['PATCH', `/api/keys/${key.id}`, { integrationIds: [store.id] }],
    ['PATCH', `/api/people/${isOk(await page.ask('GET', '/api/people')).data[0].id}`, { role: 'owner' }],
  ];
  for (const [method, target, body] of asked) isError(await page.ask(method, target, body), 403, 'STEP_UP_REQUIRED');
  isOk(await page.ask('GET', '/api/keys'));
  isOk(await page.ask('PATCH', `/api/keys/${key.id}`, { name: 'renamed' }));
  isOk(await page.ask('PATCH', `/api/keys/${key.id}`, { active: false }));
  isError(await page.ask('PATCH', `/api/keys/${key.id}`, { active: true }), 403, 'STEP_UP_REQUIRED');
  // A program is not asked: it got its token in a body.
  const program = isOk(await open.post('/api/auth/sign-in', { email, password: PASSWORD }));
  await pass(10 * 60_000 + 1_000, [page]);
  const api = new Client(() => bridge.url, {
    check: contract.check,
    headers: { authorization: `Bearer ${program.idToken}` },
  });
  isOk(await api.post('/api/keys', { name: 'of a program' }), 201);
  isError(await api.post('/api/auth/step-up', { password: PASSWORD }), 403, 'FORBIDDEN');

  isError(await page.sign('step-up', { password: `${PASSWORD}!` }), 401, 'INVALID_CREDENTIALS');
  isError(await page.ask('POST', '/api/keys', { name: 'another' }), 403, 'STEP_UP_REQUIRED');
  isError(
    await page.browser.request('POST', `${bridge.url}/api/auth/step-up`, {
      from: 'https://evil.example',
      json: { password: PASSWORD },
      headers: { authorization: `Bearer ${page.idToken}` },
    }),
    403,
    'CROSS_SITE_REQUEST',
  );
  const stale = page.idToken;
  const cookie = page.browser.cookie('pdb_session').value;
  isOk(await page.sign('step-up', { password: PASSWORD }));
  assert.equal(page.browser.cookie('pdb_session').value, cookie, 'the cookie stays');
  isOk(await page.ask('POST', '/api/keys', { name: 'another' }), 201);
  isError(
    await page.ask('POST', '/api/keys', { name: 'third' }, { authorization: `Bearer ${stale}` }),
    403,
    'STEP_UP_REQUIRED',
  );
});

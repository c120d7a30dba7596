// Sign-in with identity providers elsewhere, through the service: a real one (oidc-provider), and one that lies.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { SignJWT } from 'jose';
import { Browser, Page } from './browser.mjs';
import { Client, Scope, runBridge, scratch, startBridge, startCloudsim, until } from './harness.mjs';
import { LyingIssuer, RealIssuer } from './issuers.mjs';
import { PASSWORD, contract, isError, isOk } from './merchant.mjs';

const scope = new Scope({ after });
const issuers = {};
let cloud, bridge, open;

const external = (id, signup, issuer) => `${id} ${signup} ${issuer.iss} bridge The provider ${id}`;
async function startWith(context, list, { args = [], env } = {}) {
  const dataDir = await scratch(context);
  for (const [id, , issuer] of list) {
    if (issuer.secret)
      await writeFile(path.join(dataDir, `${id}.client-secret`), `${issuer.secret}\n`, { mode: 0o600 });
  }
  return startBridge(context, {
    cloudUrl: cloud.url,
    dataDir,
    args: ['--identity-external', list.map((one) => external(...one)).join(','), ...args],
    env,
  });
}
before(async () => {
  cloud = await startCloudsim(scope);
  // The port of the service is known only once it listens, and by then a provider has to know its address.
  issuers.lying = await LyingIssuer.start(scope);
  for (const id of ['real', 'second', 'members'])
    issuers[id] = await new RealIssuer(scope, { algorithm: id === 'real' ? 'RS256' : 'ES256' }).start([
      'http://127.0.0.1:1/never',
    ]);
  const away = await new RealIssuer(scope).start(['http://127.0.0.1:1/never']);
  await away.stop();
  bridge = await startWith(scope, [
    ['real', 'open', issuers.real],
    ['second', 'open', issuers.second],
    ['members', 'closed', issuers.members],
    ['lying', 'open', issuers.lying],
    ['away', 'open', away],
  ]);
  for (const id of ['real', 'second', 'members']) await registered(id);
  open = new Client(bridge.url, { check: contract.check });
});
const callback = (id) => `${bridge.url}/api/auth/external/${id}/callback`;
// The provider anew, with keys of its own, and the service as its client.
async function registered(id) {
  await issuers[id].stop();
  await issuers[id].start([callback(id)]);
}

// The dashboard at `/` is no part of the contract.
const checked = (answer, url) => url.hostname === '127.0.0.1' && url.pathname !== '/' && contract.check(answer);
const fresh = () => new Browser({ check: checked });
const start = (id, query = '') => `${bridge.url}/api/auth/external/${id}${query}`;
const signInAt = (browser, id, query = '?returnTo=/docs', options = {}) =>
  browser.go(start(id, query), { from: bridge.url, ...options });
// Through all pages, to a session: a page of the service in that browser.
async function signedIn(id, browser = fresh()) {
  const ended = await signInAt(browser, id);
  assert.equal(ended.url.href, `${bridge.url}/docs`, `${ended.status} ${ended.text.slice(0, 600)}`);
  const page = new Page(browser, bridge.url);
  isOk(await page.sign('refresh'));
  return page;
}
const account = async (page) => isOk(await page.ask('GET', '/api/account'));
// Up to the callback, which is not asked yet: its address.
async function toCallback(browser, id, query = '') {
  const before = await signInAt(browser, id, query, { stopAt: (url) => url.pathname.endsWith('/callback') });
  return new URL(before.headers.location, before.url);
}
const back = (browser, url) => browser.go(url, { from: issuers.real.iss });
function isPage(answer, status, code) {
  assert.equal(answer.status, status, answer.text.slice(0, 900));
  assert.match(answer.headers['content-type'], /^text\/html/);
  assert.ok(answer.text.includes(`<code>${code}</code>`), answer.text);
  assert.match(answer.headers['content-security-policy'], /default-src 'none'/);
  assert.equal(answer.headers['cache-control'], 'no-store');
}
const isNobody = async (browser) => isError(await new Page(browser, bridge.url).sign('refresh'), 401, 'UNAUTHORIZED');
const claims = (token) => JSON.parse(Buffer.from(token.split('.')[1], 'base64url'));

test('a sign-in page knows the ways in', async () => {
  const config = isOk(await open.get('/api/auth/config'));
  assert.deepEqual(config.issuers.map(({ id, name, startUrl }) => [id, name, startUrl])[0], [
    'real',
    'The provider real',
    start('real'),
  ]);
  assert.deepEqual(
    { ...config, issuers: config.issuers.length },
    {
      signup: 'open',
      passwords: true,
      mail: false,
      sandbox: true,
      issuers: 5,
      cloud: { name: 'the cloud platform', friendRequestsUrl: null, appUrl: null },
      supportUrl: null,
    },
  );
});

describe('a person of another provider', () => {
  test('has an account from the first sign-in on, and the same at the second', async () => {
    issuers.real.person = 'ann';
    const page = await signedIn('real');
    const first = await account(page);
    assert.equal(first.caller.issuer, issuers.real.iss);
    assert.deepEqual([first.name, first.caller.email], ['ann', 'ann@shop.example']);
    const { iss, sub, sid, auth_time } = claims(page.idToken);
    assert.deepEqual([iss.startsWith('http://127.0.0.1'), sub], [true, first.caller.userId]);
    assert.match(sid, /^ses_/);
    assert.equal(auth_time, undefined, 'the provider was not asked when');
    assert.equal((await account(await signedIn('real'))).id, first.id);
    const rows = isOk(await page.ask('GET', '/api/account/sessions')).data;
    assert.deepEqual(
      rows.map(({ kind }) => kind),
      ['browser', 'browser'],
    );
    const change = await page.sign('password', { currentPassword: PASSWORD, newPassword: `${PASSWORD} new` });
    isError(change, 403, 'FORBIDDEN');
    assert.equal((await page.sign('sign-out')).status, 204);
    await isNobody(page.browser);
  });

  test('is nobody else who has the same name or e-mail address', async () => {
    issuers.real.person = issuers.second.person = 'bob';
    const { accountId } = isOk(
      await open.post('/api/auth/sign-up', { email: 'bob@shop.example', password: PASSWORD }),
      201,
    );
    const accounts = [
      accountId,
      (await account(await signedIn('real'))).id,
      (await account(await signedIn('second'))).id,
    ];
    assert.equal(new Set(accounts).size, 3, String(accounts));
  });

  test('comes in where the provider makes no accounts only with one', async () => {
    issuers.members.person = 'eve';
    const browser = fresh();
    const refused = await signInAt(browser, 'members');
    isPage(refused, 403, 'SIGNUP_CLOSED');
    for (const part of ['<h1>Not signed in</h1>', '<a href="/docs">'])
      assert.ok(refused.text.includes(part), refused.text);
    await isNobody(browser);
  });

  test('of an account that the operator disabled is told so, and has no session', async () => {
    issuers.real.person = 'dora';
    const { id } = await account(await signedIn('real'));
    const admin = async (verb) =>
      assert.equal((await runBridge(['admin', verb, id, '--data-dir', bridge.dataDir])).code, 0);
    await admin('disable-account');
    const browser = fresh();
    const refused = await signInAt(browser, 'real');
    isPage(refused, 403, 'FORBIDDEN');
    assert.match(refused.text, /This account is disabled/);
    await isNobody(browser);
    await admin('enable-account');
    await signedIn('real');
  });

  test('signs up as often as strangers may, and in as often as they like', async (t) => {
    const liar = await LyingIssuer.start(t);
    const few = await startWith(t, [['lying', 'open', liar]], { args: ['--identity-signups-per-hour', '2'] });
    const signIn = async (sub) => {
      liar.claims = (right) => ({ ...right, sub });
      return fresh().go(`${few.url}/api/auth/external/lying?returnTo=/docs`, { from: few.url });
    };
    for (const sub of ['one', 'two', 'one', 'two', 'one']) assert.equal((await signIn(sub)).status, 200);
    const refused = await signIn('three');
    isPage(refused, 429, 'RATE_LIMIT_EXCEEDED');
    assert.ok(Number(refused.headers['retry-after']) > 60);
  });

  test('looks up no more sessions of strangers than their network may fail to sign in', async (t) => {
    const liar = await LyingIssuer.start(t);
    const few = await startWith(t, [['lying', 'open', liar]], { args: ['--http-trusted-proxies', '127.0.0.1'] });
    const confirm = async (headers) => {
      const response = await fetch(`${few.url}/api/auth/external/lying?stepUp=true`, {
        redirect: 'manual',
        headers: { 'x-forwarded-for': '198.51.100.7', ...headers },
      });
      await response.text();
      return response.status;
    };
    // Without a session nothing is looked up.
    for (let i = 0; i < 150; ++i) assert.equal(await confirm({}), 401);
    const told = { 401: 0, 429: 0 };
    while (told[429] === 0 && told[401] < 200) {
      const status = await confirm({ cookie: `pdb_session=pdb_refresh_${randomBytes(32).toString('hex')}` });
      assert.ok(status in told, `${status}`);
      told[status] += 1;
    }
    assert.ok(told[401] >= 100 && told[429] === 1, JSON.stringify(told));
  });

  test('counts no answer to a sign-in that was not begun in the browser', async (t) => {
    const liar = await LyingIssuer.start(t);
    const few = await startWith(t, [['lying', 'open', liar]], { args: ['--http-trusted-proxies', '127.0.0.1'] });
    const answer = async (headers) => {
      const response = await fetch(`${few.url}/api/auth/external/lying/callback?state=x&code=y`, {
        headers: { 'x-forwarded-for': '198.51.100.8', ...headers },
      });
      await response.text();
      return response.status;
    };
    for (let i = 0; i < 150; ++i) {
      assert.equal(await answer({}), 400);
      assert.equal(await answer({ cookie: `pdb_sign_in=${randomBytes(32).toString('hex')}` }), 400);
    }
  });

  test('confirms there what asks for a sign-in of the last ten minutes', async () => {
    issuers.real.person = 'cyd';
    issuers.lying.claims = (right) => ({ ...right, sub: 'cyd', auth_time: right.iat - 3_600 });
    const page = await signedIn('lying');
    isError(await page.ask('POST', '/api/keys', { name: 'a key' }), 403, 'STEP_UP_REQUIRED');
    isError(await page.sign('step-up', { password: PASSWORD }), 403, 'FORBIDDEN');
    const confirm = (browser) => signInAt(browser, 'lying', '?returnTo=/docs&stepUp=true');
    const refused = await confirm(page.browser);
    isPage(refused, 502, 'ISSUER_ANSWER_INVALID'); // of an hour ago
    // The person is still signed in, and /docs is for one who has confirmed.
    for (const part of ['<h1>Not confirmed</h1>', '<a href="/">']) assert.ok(refused.text.includes(part), refused.text);
    assert.equal(issuers.lying.asked.max_age, '600');
    issuers.lying.claims = ({ auth_time, ...right }) => ({ ...right, sub: 'cyd' });
    isPage(await confirm(page.browser), 502, 'ISSUER_ANSWER_INVALID'); // at a time that nobody says
    issuers.lying.claims = (right) => ({ ...right, sub: 'dee' });
    isPage(await confirm(page.browser), 403, 'SIGN_IN_OTHER_PERSON');
    isPage(await signInAt(page.browser, 'real', '?stepUp=true'), 403, 'FORBIDDEN');
    isPage(await confirm(fresh()), 401, 'UNAUTHORIZED');
    // A page of others cannot bring the cookie along.
    isPage(
      await page.browser.go(start('lying', '?stepUp=true'), { from: 'https://evil.example' }),
      401,
      'UNAUTHORIZED',
    );
    isOk(await page.sign('refresh'));
    isError(await page.ask('POST', '/api/keys', { name: 'a key' }), 403, 'STEP_UP_REQUIRED');
    const cookie = page.browser.cookie('pdb_session').value;
    issuers.lying.claims = (right) => ({ ...right, sub: 'cyd' });
    assert.equal((await confirm(page.browser)).url.pathname, '/docs');
    assert.equal(page.browser.cookie('pdb_session').value, cookie, 'the same session goes on');
    isOk(await page.sign('refresh'));
    isOk(await page.ask('POST', '/api/keys', { name: 'a key' }), 201);
    issuers.lying.claims = (right) => right;

    const real = await signedIn('real');
    isError(await real.ask('POST', '/api/keys', { name: 'a key' }), 403, 'STEP_UP_REQUIRED');
    assert.equal((await signInAt(real.browser, 'real', '?returnTo=/docs&stepUp=true')).url.pathname, '/docs');
    isOk(await real.sign('refresh'));
    assert.ok(Math.abs(claims(real.idToken).auth_time - Date.now() / 1000) < 60);
    isOk(await real.ask('POST', '/api/keys', { name: 'a key' }), 201);
  });
});

describe('what does not come whole from the right provider to the right browser gives no session', () => {
  test('denied', async () => {
    issuers.real.person = null;
    const browser = fresh();
    isPage(await signInAt(browser, 'real'), 403, 'SIGN_IN_DENIED');
    await isNobody(browser);
    issuers.real.person = 'ann';
  });

  test('away, before and after its page', async () => {
    const browser = fresh();
    const refused = await signInAt(browser, 'away');
    isPage(refused, 503, 'ISSUER_UNAVAILABLE');
    assert.equal(refused.headers['retry-after'], '1');
    const url = await toCallback(browser, 'second');
    await issuers.second.stop();
    isPage(await back(browser, url), 503, 'ISSUER_UNAVAILABLE');
    await isNobody(browser);
    await registered('second');
    isPage(await signInAt(browser, 'nobody'), 404, 'NOT_FOUND');
  });

  test('a state that is forged, another browser, no browser, another provider', async () => {
    const browser = fresh();
    const url = await toCallback(browser, 'real');
    const cookie = browser.cookie('pdb_sign_in');
    assert.deepEqual([cookie.httpOnly, cookie.sameSite], [true, 'Lax']);
    const forged = new URL(url);
    forged.searchParams.set('state', `${url.searchParams.get('state').slice(0, -1)}x`);
    const without = new URL(url);
    without.searchParams.delete('state');
    const elsewhere = new URL(url.href.replace('/real/', '/second/'));
    const mixed = new URL(url);
    mixed.searchParams.set('iss', 'https://evil.example');
    for (const wrong of [forged, without, elsewhere, mixed])
      isPage(await browser.stolen().go(wrong, { from: issuers.real.iss }), 400, 'SIGN_IN_STATE_INVALID');
    isPage(await back(fresh(), url), 400, 'SIGN_IN_STATE_INVALID');
    const other = fresh();
    await toCallback(other, 'real');
    isPage(await back(other, url), 400, 'SIGN_IN_STATE_INVALID');
    await isNobody(other);
    for (const value of ['', 'x', 'A'.repeat(3_000), `${cookie.value.slice(0, -4)}AAAA`, cookie.value.slice(0, 100)]) {
      const answer = await new Client(bridge.url, {
        check: contract.check,
        headers: { cookie: `pdb_sign_in=${value}` },
      }).get(`${url.pathname}${url.search}`);
      isPage(answer, 400, 'SIGN_IN_STATE_INVALID');
    }
    assert.equal((await back(browser, url)).url.pathname, '/', 'and the right one still comes in');
  });

  test('a code that is used twice', async () => {
    for (const [id, code] of [
      ['real', 'ISSUER_ANSWER_INVALID'],
      ['lying', 'SIGN_IN_STATE_INVALID'],
    ]) {
      const browser = fresh();
      const url = await toCallback(browser, id);
      const kept = browser.stolen();
      assert.equal((await back(browser, url)).url.pathname, '/');
      isPage(await back(browser, url), 400, 'SIGN_IN_STATE_INVALID'); // its cookie is gone
      // Even with the cookie: the one refuses the code, and of the other, which does not, the service remembers.
      const again = await back(kept, url);
      isPage(again, code === 'SIGN_IN_STATE_INVALID' ? 400 : 502, code);
      await isNobody(kept);
    }
  });

  const lies = {
    'a nonce of another sign-in': { claims: (right) => ({ ...right, nonce: 'another' }) },
    'no nonce': { claims: ({ nonce, ...right }) => right },
    'another audience': { claims: (right) => ({ ...right, aud: 'somebody' }) },
    'a token for another client': { claims: (right) => ({ ...right, aud: ['bridge', 'other'], azp: 'other' }) },
    'another issuer': { claims: (right) => ({ ...right, iss: 'https://evil.example' }) },
    'an expired token': { claims: (right) => ({ ...right, exp: right.iat - 120, iat: right.iat - 300 }) },
    nobody: { claims: (right) => ({ ...right, sub: '' }) },
    'a sign-in in the future': { claims: (right) => ({ ...right, auth_time: right.iat + 600 }) },
    'a key that is not its own': { signer: 'other' },
    'no token': { token: () => ({ status: 200, body: { access_token: 'x' } }) },
    'a token without a signature': {
      token: (token) => ({
        status: 200,
        body: { id_token: `${Buffer.from('{"alg":"none"}').toString('base64url')}.${token.split('.')[1]}.` },
      }),
    },
    'a web page': { token: () => ({ status: 200, body: '<html>', headers: { 'content-type': 'text/html' } }) },
    'a list': { token: () => ({ status: 200, body: '[]' }) },
    'more than anybody reads': {
      token: (token) => ({ status: 200, body: { id_token: token, more: 'x'.repeat(100_000) } }),
    },
    'a refusal': { token: () => ({ status: 400, body: { error: 'invalid_grant' } }) },
    'a way elsewhere': { token: () => ({ status: 302, body: '', headers: { location: 'http://127.0.0.1:1/' } }) },
  };
  for (const [what, { claims: change = (right) => right, token, signer = 'key' }] of Object.entries(lies)) {
    test(what, async () => {
      const { lying } = issuers;
      const honest = lying.token;
      Object.assign(lying, { claims: change, token: token ?? honest, signer: lying[signer] });
      const browser = fresh();
      isPage(await signInAt(browser, 'lying'), 502, 'ISSUER_ANSWER_INVALID');
      await isNobody(browser);
      Object.assign(lying, { claims: (right) => right, token: honest, signer: lying.key });
    });
  }
  test('a fault of its own', async () => {
    const honest = issuers.lying.token;
    issuers.lying.token = () => ({ status: 500, body: 'oops' });
    isPage(await signInAt(fresh(), 'lying'), 503, 'ISSUER_UNAVAILABLE');
    issuers.lying.token = honest;
    await signedIn('lying');
  });
});

test('a provider that changes its keys is believed soon', async () => {
  issuers.real.person = 'ann';
  const { id } = await account(await signedIn('real'));
  await registered('real');
  const page = await until('the new keys are known', () => signedIn('real'), 20_000);
  assert.equal((await account(page)).id, id);
});

test('nobody is sent to another host', async () => {
  const browser = fresh();
  const paths = [
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    '\\evil',
    'evil',
    '',
    '/%0aSet-Cookie',
    '/\n/evil.example',
    '/\t/evil.example',
    'javascript:alert(1)',
    `/${'x'.repeat(500)}`,
    '/"><script>',
    '/é',
  ];
  for (const text of paths) {
    const answer = await browser.request('GET', start('lying', `?${new URLSearchParams({ returnTo: text })}`), {
      navigation: true,
    });
    if (text === '/%0aSet-Cookie') assert.equal(answer.status, 303, 'a text that means nothing');
    else isError(answer, 422, 'VALIDATION_FAILED');
  }
  const ended = await signInAt(browser, 'lying', '?returnTo=/deliveries?status=failed%26x=1', {
    stopAt: (url) => url.pathname === '/deliveries',
  });
  assert.equal(ended.headers.location, '/deliveries?status=failed&x=1');
  isPage(await signInAt(fresh(), 'nobody', '?returnTo=/a?b=1%26c=2'), 404, 'NOT_FOUND');
});

test('no secret, code or token is in a log', async () => {
  const browser = fresh();
  const url = await toCallback(browser, 'lying');
  await back(browser, url);
  const secrets = [
    url.searchParams.get('code'),
    url.searchParams.get('state'),
    issuers.real.secret,
    browser.cookie('pdb_session').value,
    'pdb_refresh_',
    'eyJ',
  ];
  for (const text of secrets) assert.ok(!bridge.log.some((line) => line.includes(text)), text);
});

test('settings that cannot be are told at the start', async (t) => {
  const dataDir = await scratch(t);
  const check = (...args) =>
    runBridge(['config', 'check', '--data-dir', dataDir, '--cloud-url', 'http://127.0.0.1:1', ...args]);
  for (const [text, problem] of [
    ['google', /open, invite or closed/],
    ['Google open https://id.example x Name', /a-z/],
    ['google maybe https://id.example x Name', /open, invite or closed/],
    ['google open id.example x Name', /URL/],
    ['google open https://id.example x', /what people call/],
    ['google open https://id.example x Name,google open https://id.example y Other', /otherwise/],
  ]) {
    const { code, stderr, stdout } = await check('--identity-external', text);
    assert.notEqual(code, 0, text);
    assert.match(stderr + stdout, problem);
  }
  assert.equal((await check('--identity-external', 'google open https://id.example x A long Name')).code, 0);
  const { code } = await runBridge(['config', 'check', '--data-dir', dataDir, '--cloud-url', 'http://127.0.0.1:1'], {
    env: { PRESETBRIDGE_IDENTITY_PASSWORDS: 'false' },
  });
  assert.notEqual(code, 0, 'nobody could sign in');
  await writeFile(path.join(dataDir, 'real.client-secret'), 'x', { mode: 0o644 });
  const exposed = await runBridge([
    'serve',
    '--sandbox',
    '--listen',
    '127.0.0.1:0',
    '--data-dir',
    dataDir,
    '--identity-external',
    external('real', 'open', issuers.real),
  ]);
  assert.equal(exposed.code, 1);
  assert.match(exposed.stderr + exposed.stdout, /real\.client-secret can be read or changed by others/);
});

test('without passwords a provider is the only way in', async (t) => {
  const only = await startWith(t, [['lying', 'open', issuers.lying]], {
    env: { PRESETBRIDGE_IDENTITY_PASSWORDS: 'false' },
  });
  const api = new Client(only.url, { check: contract.check });
  assert.equal(isOk(await api.get('/api/auth/config')).passwords, false);
  for (const operation of ['sign-up', 'sign-in'])
    isError(
      await api.post(`/api/auth/${operation}`, { email: 'x@shop.example', password: PASSWORD }),
      403,
      'PASSWORDS_OFF',
    );
  const page = new Page(fresh(), only.url);
  assert.equal(
    (await page.browser.go(`${only.url}/api/auth/external/lying?returnTo=/docs`, { from: only.url })).status,
    200,
  );
  isOk(await page.sign('refresh'));
});

describe('by an invitation', () => {
  let liar, closed, invited, owner;
  const invite = async () =>
    new URL(isOk(await owner.post('/api/invitations', { role: 'member' }), 201).url).hash.slice(1);
  before(async () => {
    liar = await LyingIssuer.start(scope);
    closed = await LyingIssuer.start(scope);
    invited = await startWith(
      scope,
      [
        ['lying', 'invite', liar],
        ['closed', 'closed', closed],
      ],
      { args: ['--identity-trusted', `${liar.iss} bridge`] },
    );
    const { idToken } = isOk(
      await new Client(invited.url, { check: contract.check }).post('/api/auth/sign-up', {
        email: 'owner@shop.example',
        password: PASSWORD,
      }),
      201,
    );
    owner = new Client(invited.url, { check: contract.check }).with({ authorization: `Bearer ${idToken}` });
  });
  const begun = async (invitation, sub, id = 'lying') => {
    (id === 'lying' ? liar : closed).claims = (right) => ({ ...right, sub, email: `${sub}@id.example` });
    const browser = fresh();
    const page = new Page(browser, invited.url);
    const { url } = isOk(await page.ask('POST', `/api/auth/external/${id}`, { invitation, returnTo: '/docs' }));
    return { page, ended: await browser.go(url, { from: invited.url }) };
  };

  test('a person of another provider joins its account, and is known there by what the provider says', async () => {
    const token = await invite();
    const { page, ended } = await begun(token, 'ann');
    assert.equal(ended.url.href, `${invited.url}/docs`, ended.text.slice(0, 600));
    isOk(await page.sign('refresh'));
    const mine = await account(page);
    assert.deepEqual([mine.id, mine.caller.role], [isOk(await owner.get('/api/account')).id, 'member']);
    const people = isOk(await owner.get('/api/people')).data;
    assert.deepEqual(
      people.map(({ email, role, issuer }) => [email, role, issuer === liar.iss]),
      [
        ['ann@id.example', 'member', true],
        ['owner@shop.example', 'owner', false],
      ],
    );
    // Used up; and who has an account joins no other.
    isPage((await begun(token, 'bob')).ended, 404, 'INVITATION_INVALID');
    const other = await invite();
    isPage((await begun(other, 'ann')).ended, 409, 'ALREADY_MEMBER');
    isOk(await owner.delete(`/api/people/${mine.caller.userId}`), 204);
    isError(await page.ask('GET', '/api/account'), 401, 'UNAUTHORIZED');
    assert.equal((await begun(other, 'ann')).ended.url.href, `${invited.url}/docs`);
  });

  test('nobody comes in without one, nor where sign-up is closed', async () => {
    liar.claims = (right) => ({ ...right, sub: 'stranger' });
    isPage(await fresh().go(`${invited.url}/api/auth/external/lying`, { from: invited.url }), 403, 'SIGNUP_CLOSED');
    isPage((await begun(await invite(), 'cyd', 'closed')).ended, 403, 'SIGNUP_CLOSED');
    const page = new Page(fresh(), invited.url);
    isError(
      await page.browser.request('POST', `${invited.url}/api/auth/external/lying`, {
        from: 'https://evil.example',
        json: { invitation: await invite() },
      }),
      403,
      'CROSS_SITE_REQUEST',
    );
  });

  test("a program joins with a trusted issuer's ID token", async () => {
    const now = Math.floor(Date.now() / 1000);
    const tokenFor = (sub, more = {}) =>
      new SignJWT({ iss: liar.iss, sub, aud: 'bridge', iat: now, exp: now + 300, email: `${sub}@id.example`, ...more })
        .setProtectedHeader({ alg: 'ES256', kid: liar.key.kid })
        .sign(liar.key.privateKey);
    const outside = new Client(invited.url, { check: contract.check });
    const invitation = await invite();
    isError(await outside.post('/api/auth/invitation/accept', { invitation, idToken: 'x.y.z' }), 401, 'UNAUTHORIZED');
    isError(
      await outside.post('/api/auth/invitation/accept', {
        invitation,
        idToken: await tokenFor('dee', { exp: now - 600, iat: now - 900 }),
      }),
      401,
      'UNAUTHORIZED',
    );
    const idToken = await tokenFor('dee');
    const joined = isOk(await outside.post('/api/auth/invitation/accept', { invitation, idToken }));
    assert.equal(joined.role, 'member');
    assert.equal(
      isOk(await outside.with({ authorization: `Bearer ${idToken}` }).get('/api/account')).id,
      joined.accountId,
    );
    isError(
      await outside.post('/api/auth/invitation/accept', { invitation: await invite(), idToken }),
      409,
      'ALREADY_MEMBER',
    );
    isError(
      await outside.post('/api/auth/invitation/accept', { invitation, idToken: await tokenFor('eve') }),
      404,
      'INVITATION_INVALID',
    );
  });
});

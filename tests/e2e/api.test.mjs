// The API for people and programs (spec 3, 4.3, 5.1, 6-9, 11), against the running programs. Every answer is checked against
// api/openapi.yaml by the client itself.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Scope, startBridge, until } from './harness.mjs';
import { Merchant, PASSWORD, contract, isError, isOk, startStack } from './merchant.mjs';
import { sampleOrder } from './orders.mjs';

const scope = new Scope({ after });
let stack, sim, merchant, other, store;
let lastOrder = 9000;
const newOrderId = () => String(++lastOrder);

before(async () => {
  stack = await startStack(scope);
  sim = stack.sim;
  merchant = await Merchant.signUp(stack.bridge, 1);
  other = await Merchant.signUp(stack.bridge, 2, { credits: 0, connected: false });
  store = await merchant.store('generic');
  await sim.post('/sim/customers', { username: 'patient', answer: 'never' });
});

describe('authentication', () => {
  test('what is no valid token is 401', async () => {
    const { idToken, refreshToken } = merchant.tokens;
    const [header, claims, signature] = idToken.split('.');
    const unsigned = Buffer.from('{"alg":"none"}').toString('base64url');
    const altered = Buffer.from(
      Buffer.from(claims, 'base64url')
        .toString()
        .replace(/"exp":\d+/, '"exp":4102444800'),
    ).toString('base64url');
    for (const token of [
      '',
      'x',
      idToken.slice(0, -4),
      refreshToken,
      `${unsigned}.${claims}.`,
      `${header}.${altered}.${signature}`,
      `${header}.${claims}.${other.tokens.idToken.split('.')[2]}`,
    ]) {
      isError(
        await merchant.open.get('/api/account', { headers: { authorization: `Bearer ${token}` } }),
        401,
        'UNAUTHORIZED',
      );
    }
    isError(await merchant.open.get('/api/account', { headers: { authorization: idToken } }), 401, 'UNAUTHORIZED');
    isError(
      await merchant.open.get('/api/account', {
        headers: { authorization: `Basic ${Buffer.from(`a:${PASSWORD}`).toString('base64')}` },
      }),
      401,
      'UNAUTHORIZED',
    );
  });
  test('a token opens the account of its user, and no other', async () => {
    const account = isOk(await merchant.api.get('/api/account'));
    assert.deepEqual(
      [account.id, account.caller.email, account.caller.role],
      [merchant.accountId, merchant.email, 'owner'],
    );
    assert.equal(isOk(await other.api.get('/api/account')).id, other.accountId);
  });
  test('signing in: the right password, a wrong one, an unknown address', async () => {
    const signIn = (email, password) => merchant.open.post('/api/auth/sign-in', { email, password });
    const tokens = isOk(await signIn(merchant.email, PASSWORD));
    assert.equal(tokens.accountId, merchant.accountId);
    const wrong = await signIn(merchant.email, `${PASSWORD}!`);
    isError(wrong, 401, 'INVALID_CREDENTIALS');
    const unknown = await signIn('nobody@shop.example', PASSWORD);
    isError(unknown, 401, 'INVALID_CREDENTIALS');
    assert.equal(unknown.json.error.message, wrong.json.error.message);
    isError(
      await merchant.open.post('/api/auth/sign-up', { email: merchant.email, password: PASSWORD }),
      409,
      'EMAIL_TAKEN',
    );
  });
  test('a refresh token works once; its second use ends the sign-in', async () => {
    const first = isOk(await merchant.open.post('/api/auth/sign-in', { email: merchant.email, password: PASSWORD }));
    const second = isOk(await merchant.open.post('/api/auth/refresh', { refreshToken: first.refreshToken }));
    assert.equal(
      isOk(await merchant.open.get('/api/account', { headers: { authorization: `Bearer ${second.idToken}` } })).id,
      merchant.accountId,
    );
    isError(await merchant.open.post('/api/auth/refresh', { refreshToken: first.refreshToken }), 401, 'UNAUTHORIZED');
    isError(await merchant.open.post('/api/auth/refresh', { refreshToken: second.refreshToken }), 401, 'UNAUTHORIZED');
  });
  test('one address signs up once, and one refresh token is used once, also at the same moment', async () => {
    const signUp = () => merchant.open.post('/api/auth/sign-up', { email: 'race@shop.example', password: PASSWORD });
    const answers = await Promise.all([signUp(), signUp(), signUp()]);
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409]);
    const { refreshToken } = answers.find(({ status }) => status === 201).json;
    const refreshed = await Promise.all(
      Array.from({ length: 4 }, () => merchant.open.post('/api/auth/refresh', { refreshToken })),
    );
    assert.ok(
      refreshed.filter(({ status }) => status === 200).length <= 1,
      JSON.stringify(refreshed.map(({ status }) => status)),
    );
  });
  test('a key: not valid 401, without the permission 403, inactive 403, expired 403', async () => {
    const { id, secret } = await merchant.key({ permissions: ['deliveries:read'] });
    const by = merchant.open.with({ 'x-api-key': secret });
    isOk(await by.get('/api/deliveries'));
    isError(await by.post('/api/deliveries/del_0a1b2c3d4e5f6/reopen'), 403, 'FORBIDDEN');
    for (const path of ['/api/keys', '/api/credentials', '/api/credits', '/api/account/audit'])
      isError(await by.get(path), 403, 'FORBIDDEN');
    isError(
      await merchant.open.get('/api/deliveries', { headers: { 'x-api-key': `${secret.slice(0, -1)}?` } }),
      401,
      'UNAUTHORIZED',
    );
    isOk(await merchant.api.patch(`/api/keys/${id}`, { active: false }));
    isError(await by.get('/api/deliveries'), 403, 'FORBIDDEN');
    isOk(await merchant.api.patch(`/api/keys/${id}`, { active: true }));
    isOk(await by.get('/api/deliveries'));

    const short = await merchant.key({ expiresAt: new Date(Date.now() + 5000).toISOString() });
    const expiring = merchant.open.with({ 'x-api-key': short.secret });
    isOk(await expiring.get('/api/deliveries'));
    isError(
      await until('the key expires', async () => {
        const answer = await expiring.get('/api/deliveries');
        return answer.status !== 200 && answer;
      }),
      403,
      'FORBIDDEN',
    );
  });
  test('a token and a key together must be of one account, and the lesser rights hold', async () => {
    const { secret } = await merchant.key({ permissions: ['deliveries:read'] });
    const both = merchant.api.with({ 'x-api-key': secret });
    isOk(await both.get('/api/deliveries'));
    isError(await both.get('/api/keys'), 403, 'FORBIDDEN');
    isError(await other.api.get('/api/deliveries', { headers: { 'x-api-key': secret } }), 403, 'FORBIDDEN');
    isError(await merchant.api.get('/api/deliveries', { headers: { 'x-api-key': 'x' } }), 401, 'UNAUTHORIZED');
  });
});

describe('rate limit', () => {
  test('a key has 100 requests an hour; what follows is 429 and counts for nothing', async () => {
    const limited = await merchant.key();
    const by = merchant.open.with({ 'x-api-key': limited.secret });
    for (let left = 99; left >= 0; --left) {
      const { status, headers } = await by.get('/api/account');
      assert.deepEqual(
        [status, headers['ratelimit-limit'], headers['ratelimit-remaining']],
        [200, '100', String(left)],
      );
      assert.match(headers['ratelimit-reset'], /^\d+$/);
    }
    for (let i = 0; i < 3; ++i) {
      const refused = await by.get('/api/account');
      isError(refused, 429, 'RATE_LIMIT_EXCEEDED');
      assert.equal(refused.json.error.message, 'Rate limit exceeded');
      assert.deepEqual([refused.headers['ratelimit-limit'], refused.headers['ratelimit-remaining']], ['100', '0']);
      const wait = Number(refused.headers['retry-after']);
      assert.ok(wait > 3500 && wait <= 3600, `Retry-After: ${wait}`);
    }
    isError(await by.get('/api/keys'), 429, 'RATE_LIMIT_EXCEEDED');
    isOk(await merchant.open.get('/api/account', { headers: { 'x-api-key': (await merchant.key()).secret } }));
    const { requests } = isOk(await merchant.api.get(`/api/keys/${limited.id}`));
    assert.equal(requests, 100);
    // A store's orders are never refused for it (spec 2.4).
    assert.equal(
      (
        await merchant.send(store, sampleOrder('generic', { orderId: newOrderId(), username: 'buyer', sku: 'A-1' }), {
          'x-api-key': limited.secret,
        })
      ).status,
      202,
    );
  });
  test('of 150 requests at once exactly 100 are let through', async () => {
    const { secret } = await merchant.key();
    const answers = await Promise.all(
      Array.from({ length: 150 }, () => merchant.open.get('/api/account', { headers: { 'x-api-key': secret } })),
    );
    const count = (status) => answers.filter((answer) => answer.status === status).length;
    assert.deepEqual([count(200), count(429)], [100, 50]);
    const left = answers
      .filter(({ status }) => status === 200)
      .map(({ headers }) => Number(headers['ratelimit-remaining']));
    assert.deepEqual(
      left.sort((a, b) => a - b),
      Array.from({ length: 100 }, (_, i) => i),
    );
  });
  test('a token has no such limit', async () => {
    for (let i = 0; i < 110; ++i) isOk(await merchant.api.get('/api/account'));
  });
  test('a request that is refused for its permission counts', async () => {
    const key = await merchant.key({ permissions: ['deliveries:read'] });
    const answer = await merchant.open.get('/api/keys', { headers: { 'x-api-key': key.secret } });
    isError(answer, 403, 'FORBIDDEN');
    assert.equal(answer.headers['ratelimit-remaining'], '99');
  });
});

describe('API keys', () => {
  test('the secret is shown once; afterwards there is a masked preview', async () => {
    const made = await merchant.key({ name: 'Storefront' });
    assert.match(made.secret, /^pdb_live_[0-9A-Za-z]{38}$/);
    assert.equal(made.preview, `pdb_live_…${made.secret.slice(-4)}`);
    for (const path of [`/api/keys/${made.id}`, '/api/keys?limit=100', '/api/account/audit?limit=100']) {
      const { text } = await merchant.api.get(path);
      assert.equal(text.includes(made.secret.slice(9, 40)), false, path);
    }
    assert.equal(isOk(await merchant.api.get(`/api/keys/${made.id}`)).preview, made.preview);
  });
  test('a key cannot be deleted, and says what to do instead', async () => {
    const { id, secret } = await merchant.key();
    const answer = await merchant.api.delete(`/api/keys/${id}`);
    isError(answer, 405, 'METHOD_NOT_ALLOWED');
    assert.match(answer.json.error.message, /never deleted/);
    assert.match(answer.headers.allow, /GET/);
    assert.equal(isOk(await merchant.api.get(`/api/keys/${id}`)).active, true);
    isOk(await merchant.open.get('/api/account', { headers: { 'x-api-key': secret } }));
  });
  test('rotation: both keys work in the overlap, the new one alone without', async () => {
    const use = async (secret) =>
      (await merchant.open.get('/api/account', { headers: { 'x-api-key': secret } })).status;
    const first = await merchant.key({ permissions: ['deliveries:read'] });
    const second = isOk(await merchant.api.post(`/api/keys/${first.id}/rotate`, { overlapSeconds: 3600 }), 201);
    assert.deepEqual([second.rotatedFrom, second.permissions], [first.id, ['deliveries:read']]);
    assert.deepEqual([await use(first.secret), await use(second.secret)], [200, 200]);
    const third = isOk(await merchant.api.post(`/api/keys/${second.id}/rotate`, {}), 201);
    assert.deepEqual([await use(second.secret), await use(third.secret)], [403, 200]);
  });
  test('a scoped key sees and makes only what is of its stores', async () => {
    const outside = await merchant.store('generic');
    const scoped = await merchant.key({ integrationIds: [store.id] });
    const by = merchant.open.with({ 'x-api-key': scoped.secret });
    const inside = await merchant.order(store, { orderId: newOrderId(), username: 'patient' });
    const hidden = await merchant.order(outside, { orderId: newOrderId(), username: 'patient' });
    isOk(await by.get(`/api/deliveries/${inside.deliveryId}`));
    isError(await by.get(`/api/deliveries/${hidden.deliveryId}`), 404, 'NOT_FOUND');
    isError(await by.get(`/api/integrations/${outside.id}`), 404, 'NOT_FOUND');
    const listed = isOk(await by.get('/api/deliveries?limit=100')).data;
    assert.ok(listed.length > 0 && listed.every(({ integrationId }) => integrationId === store.id));
    assert.deepEqual(
      isOk(await by.get('/api/integrations')).data.map(({ id }) => id),
      [store.id],
    );
  });
  test('an account has at most 50 active keys', async () => {
    for (let i = 0; i < 50; ++i) {
      const answer = await other.api.post('/api/keys', { name: `key ${i}` });
      if (answer.status === 409) assert.ok(i >= 45, `LIMIT_REACHED already at ${i}`);
      if (answer.status === 409) break;
    }
    isError(await other.api.post('/api/keys', { name: 'one more' }), 409, 'LIMIT_REACHED');
    const [first] = isOk(await other.api.get('/api/keys?active=true&limit=1')).data;
    isOk(await other.api.patch(`/api/keys/${first.id}`, { active: false }));
    isOk(await other.api.post('/api/keys', { name: 'in its place' }), 201);
  });
});

describe('POST /api/auth/login', () => {
  const login = (by, email, password) => by.post('/api/auth/login', { credentials: { email, password } });
  let by;
  before(async () => {
    by = merchant.open.with({ 'x-api-key': (await merchant.key({ permissions: ['login', 'presets:read'] })).secret });
  });
  test('a good login gives a session, which reads the presets of that user', async () => {
    const { session, user } = isOk(await login(by, 'merchant-3@cloudsim.test', 'password-3'));
    assert.deepEqual(user, { id: 'm-3', username: 'merchant-3' });
    assert.ok(Date.parse(session.expiresAt) - Date.now() <= 3_600_000);
    const presets = isOk(await by.get('/api/presets', { headers: { 'x-session-token': session.token } }));
    assert.equal(presets.data.length, 10);
    assert.ok(presets.data.every(({ id }) => id.startsWith('m-3-')));
    // Bound to the key that made it.
    const another = merchant.open.with({ 'x-api-key': (await merchant.key()).secret });
    const stolen = await another.get('/api/presets', { headers: { 'x-session-token': session.token } });
    isError(stolen, 401, 'UNAUTHORIZED');
  });
  test('without the session the presets are of the stored login', async () => {
    const { data } = isOk(await by.get('/api/presets?search=preset%203'));
    assert.deepEqual(data, [{ id: 'm-1-f3', kind: 'preset', name: 'Preset 3' }]);
    isOk(await by.get('/api/presets/m-1-f4'));
    isError(await by.get('/api/presets/m-2-f4'), 404, 'NOT_FOUND');
  });
  test('a wrong password is 401 INVALID_CREDENTIALS, and no proxy for guessing', async () => {
    for (let i = 0; i < 5; ++i)
      isError(await login(by, 'merchant-4@cloudsim.test', `guess ${i}`), 401, 'INVALID_CREDENTIALS');
    const refused = await login(by, 'merchant-4@cloudsim.test', 'password-4');
    assert.equal(refused.status, 429, refused.text);
    const { logins } = (await sim.get('/sim/counts')).json;
    assert.equal(logins.refused, 5);
  });
  test('the platform away is 502', async () => {
    await sim.put('/sim/faults', { endpoint: 'login', drop_before: 1 });
    const answer = await login(by, 'merchant-3@cloudsim.test', 'password-3');
    await sim.delete('/sim/faults');
    isError(answer, 502, 'CLOUD_UNAVAILABLE');
  });
  test('a key without the permission, none, and what is no login', async () => {
    isError(
      await login(merchant.open.with({ 'x-api-key': (await merchant.key()).secret }), 'a@b.c', 'x'),
      403,
      'FORBIDDEN',
    );
    isError(await login(merchant.open, 'a@b.c', 'x'), 401, 'UNAUTHORIZED');
    isError(await by.post('/api/auth/login', {}), 422, 'VALIDATION_FAILED');
    isError(await by.post('/api/auth/login', { credentials: { email: 'a@b.c' } }), 422, 'VALIDATION_FAILED');
    isError(
      await by.request('POST', '/api/auth/login', { body: '{}', headers: { 'content-type': 'text/plain' } }),
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    );
  });
});

describe('credentials', () => {
  let owner, shop;
  before(async () => {
    owner = await Merchant.signUp(stack.bridge, 3, { connected: false });
    shop = await owner.store('generic');
  });
  test('missing, then refused, then valid, then gone; never a password', async () => {
    assert.equal(isOk(await owner.api.get('/api/credentials')).status, 'missing');
    isError(await owner.api.post('/api/credentials/validate'), 404, 'NOT_FOUND');
    const { deliveryId, ...early } = await owner.order(shop, { orderId: newOrderId(), username: 'early' });
    assert.deepEqual([early.status, early.resolutionCode], ['failed', 'credentials_missing']);

    isError(
      await owner.api.put('/api/credentials', { ...owner.cloudLogin, password: 'wrong-password-3' }),
      401,
      'INVALID_CREDENTIALS',
    );
    assert.equal(isOk(await owner.api.get('/api/credentials')).status, 'missing');
    const right = await owner.api.put('/api/credentials', owner.cloudLogin);
    assert.deepEqual(
      [isOk(right).status, right.json.cloudUserId, right.json.maskedEmail],
      ['valid', 'm-3', 'm…@cloudsim.test'],
    );
    assert.equal(right.text.includes(owner.cloudLogin.password), false);
    assert.equal(isOk(await owner.api.post('/api/credentials/validate')).status, 'valid');
    // A delivery that the missing login had stopped goes on by itself (spec 3.6).
    await owner.reaches(deliveryId, 'completed');

    isOk(await owner.api.delete('/api/credentials'), 204);
    assert.equal(isOk(await owner.api.get('/api/credentials')).status, 'missing');
    isOk(await owner.api.delete('/api/credentials'), 204);
    const late = await owner.order(shop, { orderId: newOrderId(), username: 'late' });
    assert.deepEqual([late.status, late.resolutionCode], ['failed', 'credentials_missing']);
  });
  test('the platform refusing a login that was good is told, and fails what it stops', async () => {
    await owner.connect();
    await sim.post('/sim/merchants', {
      userId: 'm-3',
      email: owner.cloudLogin.email,
      password: 'changed at the platform',
    });
    assert.equal(isOk(await owner.api.post('/api/credentials/validate')).status, 'invalid');
    const { status, resolutionCode } = await owner.order(shop, { orderId: newOrderId(), username: 'late' });
    assert.deepEqual([status, resolutionCode], ['failed', 'credentials_invalid']);
    await sim.post('/sim/merchants', {
      userId: 'm-3',
      email: owner.cloudLogin.email,
      password: owner.cloudLogin.password,
    });
  });
  test('what is no login is 422', async () => {
    for (const body of [{}, { email: 'a@b.c' }, { email: '', password: 'x' }, { email: 'a@b.c', password: 1 }]) {
      isError(await owner.api.put('/api/credentials', body), 422, 'VALIDATION_FAILED');
    }
  });
});

describe('manners', () => {
  test('unknown paths and methods, wrong bodies', async () => {
    isError(await merchant.api.get('/api/no-such-thing'), 404, 'NOT_FOUND');
    isError(await merchant.api.get('/nowhere'), 404, 'NOT_FOUND');
    isError(await merchant.api.put('/api/keys', {}), 405, 'METHOD_NOT_ALLOWED');
    isError(
      await merchant.api.request('POST', '/api/keys', {
        body: '{"name":',
        headers: { 'content-type': 'application/json' },
      }),
      422,
      'VALIDATION_FAILED',
    );
    isError(await merchant.api.request('POST', '/api/keys', { body: '{"name":"x"}' }), 415, 'UNSUPPORTED_MEDIA_TYPE');
    const many = await merchant.api.post('/api/integrations', { provider: 'provider_z' });
    isError(many, 422, 'VALIDATION_FAILED');
    assert.deepEqual(many.json.error.details.map(({ field }) => field).sort(), ['name', 'provider']);
    const large = await merchant.api.request('POST', '/api/keys', {
      body: `{"name":"${'x'.repeat(1024 * 1024)}"}`,
      headers: { 'content-type': 'application/json' },
    });
    isError(large, 413, 'PAYLOAD_TOO_LARGE');
    assert.match(large.json.error.message, /at most 1048576 bytes/);
    const key = await merchant.key({});
    isOk(await merchant.api.request('POST', `/api/keys/${key.id}/rotate`), 201);
    const twice = await merchant.api.get('/api/deliveries?limit=1&limit=2');
    isError(twice, 422, 'VALIDATION_FAILED');
    assert.deepEqual(twice.json.error.details, [{ field: 'limit', problem: 'is given more than once' }]);
  });
  test('HEAD answers as GET does, without the body; other methods are told which there are', async () => {
    const ask = (method, path, headers = {}) => fetch(merchant.open.url + path, { method, headers });
    const token = { authorization: `Bearer ${merchant.tokens.idToken}` };
    for (const [path, headers] of [
      ['/api/version', {}],
      ['/api/keys', token],
      ['/api/keys', {}],
      ['/nowhere', {}],
    ]) {
      const [get, head] = [await ask('GET', path, headers), await ask('HEAD', path, headers)];
      assert.equal(head.status, get.status, path);
      for (const name of ['content-type', 'content-length'])
        assert.equal(head.headers.get(name), get.headers.get(name), `${path} ${name}`);
      assert.ok(Number(get.headers.get('content-length')) > 0);
      assert.equal(await head.text(), '');
      await get.text();
    }
    for (const method of ['OPTIONS', 'PUT']) {
      const refused = await ask(method, '/api/keys');
      assert.deepEqual(
        [refused.status, refused.headers.get('allow').split(', ').sort()],
        [405, ['GET', 'HEAD', 'POST']],
      );
      await refused.text();
    }
  });
  test('the service says what it is', async () => {
    const version = isOk(await merchant.open.get('/api/version'));
    assert.equal(version.sandbox, true);
    assert.equal(isOk(await merchant.open.get('/healthz')).status, 'ok');
    assert.equal(isOk(await merchant.open.get('/readyz')).status, 'ready');
    assert.match((await merchant.open.get('/metrics')).text, /^presetbridge_\w+/m);
    assert.deepEqual(isOk(await merchant.open.get('/api/openapi.json')), JSON.parse(JSON.stringify(contract.document)));
    const { status, headers, text } = await merchant.open.get('/docs');
    assert.deepEqual(
      [status, headers['content-type'], text.includes('<p class="notice">Sandbox')],
      [200, 'text/html; charset=utf-8', true],
    );
    for (const where of ['/docs', '/api/openapi.json']) {
      const packed = await fetch(stack.bridge.url + where, { headers: { 'accept-encoding': 'gzip' } });
      assert.deepEqual([packed.status, packed.headers.get('content-encoding')], [200, 'gzip'], where);
      assert.equal(await packed.text(), (await merchant.open.get(where)).text, where);
      const again = await fetch(stack.bridge.url + where, {
        headers: { 'accept-encoding': 'gzip', 'if-none-match': packed.headers.get('etag') },
      });
      assert.deepEqual([again.status, await again.text()], [304, ''], where);
    }
    const discovery = isOk(await merchant.open.get('/.well-known/openid-configuration'));
    assert.ok(discovery.jwks_uri.endsWith('/.well-known/jwks.json'));
    const { keys } = isOk(await merchant.open.get('/.well-known/jwks.json'));
    assert.ok(keys.length > 0 && keys.every((key) => !('d' in key)));
  });
  test('the audit log tells who did what', async () => {
    const { id } = await merchant.key();
    const [entry] = isOk(await merchant.api.get('/api/account/audit?limit=1')).data;
    assert.deepEqual([entry.target, entry.actor.slice(0, 4)], [id, 'usr_']);
  });
});

test('accounts, keys and used-up limits live through a restart', async () => {
  const limited = await merchant.key();
  for (let i = 0; i < 100; ++i)
    isOk(await merchant.open.get('/api/account', { headers: { 'x-api-key': limited.secret } }));
  await stack.bridge.stop();
  merchant.moveTo(await startBridge(scope, { cloudUrl: stack.cloud.url, dataDir: stack.bridge.dataDir }));
  isError(
    await merchant.open.get('/api/account', { headers: { 'x-api-key': limited.secret } }),
    429,
    'RATE_LIMIT_EXCEEDED',
  );
  assert.equal(isOk(await merchant.api.get('/api/account')).id, merchant.accountId);
  assert.equal(isOk(await merchant.api.get(`/api/keys/${limited.id}`)).requests, 100);
});

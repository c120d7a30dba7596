// The API for people and programs (spec 3, 4.3, 5.1, 6-9, 11), against the running programs. Every answer is checked against
// api/openapi.yaml by the client itself.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Scope, startBridge, until } from './harness.mjs';
import { Merchant, PASSWORD, contract, startStack } from './merchant.mjs';
import { sampleOrder } from './orders.mjs';
import { startReceiver, verifiedEvent } from './receiver.mjs';

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

function isError(answer, status, code) {
  assert.deepEqual([answer.status, answer.json?.error?.code], [status, code], `${answer.method} ${answer.path}: ${answer.text}`);
  assert.ok(answer.headers['x-request-id'], 'an X-Request-Id');
}
function isOk(answer, status = 200) {
  assert.equal(answer.status, status, `${answer.method} ${answer.path}: ${answer.text}`);
  return answer.json;
}

const METHODS = ['get', 'put', 'post', 'patch', 'delete'];
const operations = Object.entries(contract.document.paths).flatMap(([path, item]) =>
  METHODS.filter((method) => method in item).map((method) => ({ path, method: method.toUpperCase(), ...item[method] })),
);
const isPublic = ({ security, operationId }) => security?.length === 0 || ['receiveOrder', 'deleteKey'].includes(operationId);
const filled = (path, ids) => path.replace(/\{([^}]+)\}/g, (_, name) => ids[name] ?? `${name.slice(0, 3)}_0a1b2c3d4e5f6`);

describe('authentication', () => {
  test('every operation that is not public answers 401 to nobody', async () => {
    const closed = operations.filter((operation) => !isPublic(operation));
    assert.ok(closed.length > 40);
    for (const { path, method } of closed) isError(await merchant.open.request(method, filled(path, {})), 401, 'UNAUTHORIZED');
  });
  test('what is no valid token is 401', async () => {
    const { idToken, refreshToken } = merchant.tokens;
    const [header, claims, signature] = idToken.split('.');
    const unsigned = Buffer.from('{"alg":"none"}').toString('base64url');
    const altered = Buffer.from(Buffer.from(claims, 'base64url').toString().replace(/"exp":\d+/, '"exp":4102444800')).toString('base64url');
    for (const token of ['', 'x', idToken.slice(0, -4), refreshToken, `${unsigned}.${claims}.`, `${header}.${altered}.${signature}`, `${header}.${claims}.${other.tokens.idToken.split('.')[2]}`]) {
      isError(await merchant.open.get('/api/account', { headers: { authorization: `Bearer ${token}` } }), 401, 'UNAUTHORIZED');
    }
    isError(await merchant.open.get('/api/account', { headers: { authorization: idToken } }), 401, 'UNAUTHORIZED');
    isError(await merchant.open.get('/api/account', { headers: { authorization: `Basic ${Buffer.from(`a:${PASSWORD}`).toString('base64')}` } }), 401, 'UNAUTHORIZED');
  });
  test('a token opens the account of its user, and no other', async () => {
    const account = isOk(await merchant.api.get('/api/account'));
    assert.deepEqual([account.id, account.caller.email, account.caller.role], [merchant.accountId, merchant.email, 'owner']);
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
    isError(await merchant.open.post('/api/auth/sign-up', { email: merchant.email, password: PASSWORD }), 409, 'EMAIL_TAKEN');
  });
  test('a refresh token works once; its second use ends the sign-in', async () => {
    const first = isOk(await merchant.open.post('/api/auth/sign-in', { email: merchant.email, password: PASSWORD }));
    const second = isOk(await merchant.open.post('/api/auth/refresh', { refreshToken: first.refreshToken }));
    assert.equal(isOk(await merchant.open.get('/api/account', { headers: { authorization: `Bearer ${second.idToken}` } })).id, merchant.accountId);
    isError(await merchant.open.post('/api/auth/refresh', { refreshToken: first.refreshToken }), 401, 'UNAUTHORIZED');
    isError(await merchant.open.post('/api/auth/refresh', { refreshToken: second.refreshToken }), 401, 'UNAUTHORIZED');
  });
  test('a key: not valid 401, without the permission 403, inactive 403, expired 403', async () => {
    const { id, secret } = await merchant.key({ permissions: ['deliveries:read'] });
    const by = merchant.open.with({ 'x-api-key': secret });
    isOk(await by.get('/api/deliveries'));
    isError(await by.post('/api/deliveries/retry', {}), 403, 'FORBIDDEN');
    for (const path of ['/api/keys', '/api/credentials', '/api/credits', '/api/account/audit']) isError(await by.get(path), 403, 'FORBIDDEN');
    isError(await merchant.open.get('/api/deliveries', { headers: { 'x-api-key': `${secret.slice(0, -1)}?` } }), 401, 'UNAUTHORIZED');
    isOk(await merchant.api.patch(`/api/keys/${id}`, { active: false }));
    isError(await by.get('/api/deliveries'), 403, 'FORBIDDEN');
    isOk(await merchant.api.patch(`/api/keys/${id}`, { active: true }));
    isOk(await by.get('/api/deliveries'));

    const short = await merchant.key({ expiresAt: new Date(Date.now() + 1500).toISOString() });
    const expiring = merchant.open.with({ 'x-api-key': short.secret });
    isOk(await expiring.get('/api/deliveries'));
    isError(await until('the key expires', async () => {
      const answer = await expiring.get('/api/deliveries');
      return answer.status !== 200 && answer;
    }), 403, 'FORBIDDEN');
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
      assert.deepEqual([status, headers['ratelimit-limit'], headers['ratelimit-remaining']], [200, '100', String(left)]);
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
    assert.equal((await merchant.send(store, sampleOrder('generic', { orderId: newOrderId(), username: 'buyer', sku: 'A-1' }), { 'x-api-key': limited.secret })).status, 202);
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
    const use = async (secret) => (await merchant.open.get('/api/account', { headers: { 'x-api-key': secret } })).status;
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
    assert.deepEqual(isOk(await by.get('/api/integrations')).data.map(({ id }) => id), [store.id]);
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
  test('a good login gives a session, which reads that user\'s presets', async () => {
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
    for (let i = 0; i < 5; ++i) isError(await login(by, 'merchant-4@cloudsim.test', `guess ${i}`), 401, 'INVALID_CREDENTIALS');
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
    isError(await login(merchant.open.with({ 'x-api-key': (await merchant.key()).secret }), 'a@b.c', 'x'), 403, 'FORBIDDEN');
    isError(await login(merchant.open, 'a@b.c', 'x'), 401, 'UNAUTHORIZED');
    isError(await by.post('/api/auth/login', {}), 422, 'VALIDATION_FAILED');
    isError(await by.post('/api/auth/login', { credentials: { email: 'a@b.c' } }), 422, 'VALIDATION_FAILED');
    isError(await by.request('POST', '/api/auth/login', { body: '{}', headers: { 'content-type': 'text/plain' } }), 415, 'UNSUPPORTED_MEDIA_TYPE');
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

    const wrong = isOk(await owner.api.put('/api/credentials', { ...owner.cloudLogin, password: 'wrong-password-3' }));
    assert.equal(wrong.status, 'invalid');
    const right = await owner.api.put('/api/credentials', owner.cloudLogin);
    assert.deepEqual([isOk(right).status, right.json.cloudUserId, right.json.maskedEmail], ['valid', 'm-3', 'm…@cloudsim.test']);
    assert.equal(right.text.includes(owner.cloudLogin.password), false);
    assert.equal(isOk(await owner.api.post('/api/credentials/validate')).status, 'valid');
    // What the missing login had stopped goes on by itself (spec 3.6).
    await owner.reaches(deliveryId, 'completed');

    isOk(await owner.api.delete('/api/credentials'), 204);
    assert.equal(isOk(await owner.api.get('/api/credentials')).status, 'missing');
    isOk(await owner.api.delete('/api/credentials'), 204);
    const late = await owner.order(shop, { orderId: newOrderId(), username: 'late' });
    assert.deepEqual([late.status, late.resolutionCode], ['failed', 'credentials_missing']);
  });
  test('the platform refusing a login that was good is told, and fails what it stops', async () => {
    await owner.connect();
    await sim.post('/sim/merchants', { userId: 'm-3', email: owner.cloudLogin.email, password: 'changed at the platform' });
    assert.equal(isOk(await owner.api.post('/api/credentials/validate')).status, 'invalid');
    const { status, resolutionCode } = await owner.order(shop, { orderId: newOrderId(), username: 'late' });
    assert.deepEqual([status, resolutionCode], ['failed', 'credentials_invalid']);
    await sim.post('/sim/merchants', { userId: 'm-3', email: owner.cloudLogin.email, password: owner.cloudLogin.password });
  });
  test('what is no login is 422', async () => {
    for (const body of [{}, { email: 'a@b.c' }, { email: '', password: 'x' }, { email: 'a@b.c', password: 1 }]) {
      isError(await owner.api.put('/api/credentials', body), 422, 'VALIDATION_FAILED');
    }
  });
});

describe('deliveries', () => {
  const act = (id, name, body) => merchant.api.post(`/api/deliveries/${id}/${name}`, body);
  test('one that completed shows its items, attempts and what it cost', async () => {
    const { spent } = await merchant.balance();
    const { deliveryId } = await merchant.order(store, { orderId: newOrderId(), username: 'shown', email: 'shown@example.com' });
    const it = await merchant.reaches(deliveryId, 'completed');
    assert.deepEqual(it.items.map(({ fileId, status, matchedBy, quantity }) => [fileId, status, matchedBy.split(' ')[0], quantity]), [[merchant.file(1), 'shared', 'sku', 1]]);
    assert.deepEqual([it.accountId, it.integrationId, it.customerEmail, it.targetUsername], [merchant.accountId, store.id, 'shown@example.com', 'shown']);
    assert.ok(it.timeline.length > 0 && it.attemptCount > 0 && it.completedAt);
    assert.equal((await merchant.balance()).spent, spent + 1);
    const [entry] = isOk(await merchant.api.get('/api/credits/ledger?kind=spend&limit=1')).data;
    assert.deepEqual([entry.kind, entry.credits, entry.itemId], ['spend', 1, it.items[0].id]);
  });
  test('pages join without gap or repeat, and filters hold', async () => {
    const made = [];
    for (let i = 0; i < 5; ++i) made.push((await merchant.order(store, { orderId: newOrderId(), username: 'patient' })).deliveryId);
    for (const id of made) await merchant.reaches(id, 'waiting_for_friendship');
    const all = await merchant.all('/api/deliveries');
    const paged = [];
    for (let cursor = null; ; ) {
      const page = isOk(await merchant.api.get(`/api/deliveries?limit=2${cursor ? `&cursor=${cursor}` : ''}`));
      assert.ok(page.data.length <= 2);
      paged.push(...page.data.map(({ id }) => id));
      cursor = page.nextCursor;
      if (cursor === null) break;
    }
    assert.deepEqual(paged, all.map(({ id }) => id));
    assert.equal(new Set(paged).size, paged.length);
    const waiting = isOk(await merchant.api.get('/api/deliveries?status=waiting_for_friendship&limit=100')).data;
    assert.ok(made.every((id) => waiting.some((row) => row.id === id)) && waiting.every(({ status }) => status === 'waiting_for_friendship'));
    isError(await merchant.api.get('/api/deliveries?status=lost'), 422, 'VALIDATION_FAILED');
    isError(await merchant.api.get('/api/deliveries?limit=101'), 422, 'VALIDATION_FAILED');
    isError(await merchant.api.get('/api/deliveries?cursor=x'), 422, 'VALIDATION_FAILED');
  });
  test('a missing username: a retry with one delivers', async () => {
    const shop = await merchant.store('provider_b');
    const { deliveryId } = await merchant.order(shop, { orderId: newOrderId() });
    const failed = await merchant.delivery(deliveryId);
    assert.deepEqual([failed.status, failed.resolutionCode], ['failed', 'username_missing']);
    assert.ok(failed.resolution.title && failed.resolution.whatHappened && failed.resolution.whatToDo);
    isOk(await act(deliveryId, 'retry', { targetUsername: ' @found ' }));
    const it = await merchant.reaches(deliveryId, 'completed');
    assert.deepEqual([it.targetUsername, it.resolutionCode], ['found', null]);
    assert.ok(it.timeline.some(({ kind, actor }) => kind === 'action' && actor.startsWith('usr_')));
  });
  test('a wrong username: the platform says so, and a retry with the right one delivers', async () => {
    await sim.put('/sim/unknown-users', { create: false });
    const { deliveryId } = await merchant.order(store, { orderId: newOrderId(), username: 'misspelt' });
    const failed = await merchant.reaches(deliveryId, 'failed');
    await sim.put('/sim/unknown-users', { create: true });
    assert.equal(failed.resolutionCode, 'username_not_found');
    isOk(await act(deliveryId, 'retry', { targetUsername: 'spelt' }));
    await merchant.reaches(deliveryId, 'completed');
    isError(await act(deliveryId, 'retry', {}), 409, 'INVALID_TRANSITION');
  });
  test('a customer who declines, and one who blocks', async () => {
    await sim.post('/sim/customers', { customers: [{ username: 'declines', answer: 'decline' }, { username: 'blocks', answer: 'block' }] });
    for (const [username, code] of [['declines', 'friend_request_declined'], ['blocks', 'blocked_by_customer']]) {
      const { deliveryId } = await merchant.order(store, { orderId: newOrderId(), username });
      assert.equal((await merchant.reaches(deliveryId, 'failed')).resolutionCode, code);
    }
  });
  test('a preset that is not there, and one that may not be shared', async () => {
    await sim.post('/sim/files', { merchant: 'm-1', files: [{ id: 'sealed', name: 'Sealed', shareable: false }] });
    const shop = await merchant.store('generic');
    const mappings = [['GONE', 'no-such-file'], ['SEALED', 'sealed']].map(([matchValue, fileId]) => ({ matchType: 'sku', matchValue, fileId }));
    isOk(await merchant.api.put(`/api/integrations/${shop.id}/mappings`, { mappings }));
    const { held, spent } = await merchant.balance();
    for (const [sku, code] of [['GONE', 'preset_not_found'], ['SEALED', 'preset_not_shareable']]) {
      const { deliveryId } = await merchant.order(shop, { orderId: newOrderId(), username: 'unlucky', sku });
      assert.equal((await merchant.reaches(deliveryId, 'failed')).resolutionCode, code);
    }
    assert.deepEqual([(await merchant.balance()).held, (await merchant.balance()).spent], [held, spent]);
  });
  test('without credits a delivery waits for some, and goes on when there are', async () => {
    const poor = await Merchant.signUp(stack.bridge, 4, { credits: 0 });
    const shop = await poor.store('generic');
    const { deliveryId, status, resolutionCode } = await poor.order(shop, { orderId: newOrderId(), username: 'thrifty' });
    assert.deepEqual([status, resolutionCode], ['failed', 'insufficient_credits']);
    const { grantCredits } = await import('./merchant.mjs');
    await grantCredits(stack.bridge, poor.accountId, 1);
    await poor.reaches(deliveryId, 'completed');
    const balance = await poor.balance();
    assert.deepEqual([balance.granted, balance.spent, balance.available], [1, 1, 0]);
  });
  test('invalidate needs a reason, stops for good, and reopen returns it to review without an attempt', async () => {
    const { deliveryId } = await merchant.order(store, { orderId: newOrderId(), username: 'patient' });
    const { attemptCount } = await merchant.reaches(deliveryId, 'waiting_for_friendship');
    isError(await act(deliveryId, 'invalidate', {}), 422, 'VALIDATION_FAILED');
    isError(await act(deliveryId, 'invalidate', { reason: '' }), 422, 'VALIDATION_FAILED');
    const stopped = isOk(await act(deliveryId, 'invalidate', { reason: 'Charged back' }));
    assert.deepEqual([stopped.status, stopped.reason], ['invalidated', 'Charged back']);
    isError(await act(deliveryId, 'invalidate', { reason: 'again' }), 409, 'INVALID_TRANSITION');
    isError(await act(deliveryId, 'retry', {}), 409, 'INVALID_TRANSITION');
    const reopened = isOk(await act(deliveryId, 'reopen'));
    assert.deepEqual([reopened.status, reopened.attemptCount], ['in_review', attemptCount]);
    isError(await act(deliveryId, 'reopen'), 409, 'INVALID_TRANSITION');
    const done = isOk(await act(deliveryId, 'complete'));
    assert.deepEqual([done.status, done.items[0].status], ['completed', 'delivered_by_hand']);
  });
  test('a completed one can be reopened and invalidated', async () => {
    const { deliveryId } = await merchant.order(store, { orderId: newOrderId(), username: 'reopened' });
    await merchant.reaches(deliveryId, 'completed');
    assert.equal(isOk(await act(deliveryId, 'reopen')).status, 'in_review');
    assert.equal(isOk(await act(deliveryId, 'invalidate', { reason: 'wrong preset' })).status, 'invalidated');
  });
  test('revoking takes the shares back, and costs and returns no credit', async () => {
    const { deliveryId } = await merchant.order(store, { orderId: newOrderId(), username: 'revoked' });
    const { customerId } = await merchant.reaches(deliveryId, 'completed');
    assert.ok(customerId);
    const before = await merchant.balance();
    isOk(await act(deliveryId, 'revoke'), 202);
    const it = await until('the share is revoked', async () => {
      const row = await merchant.delivery(deliveryId);
      return row.items[0].status === 'revoked' && row;
    });
    assert.equal(it.status, 'completed');
    const { shares, friendships } = await merchant.effects(sim);
    const { customer } = friendships.find(({ username }) => username === 'revoked');
    assert.deepEqual(shares.filter((row) => row.customer === customer).map(({ standing, made, revoked }) => [standing, made, revoked]), [[false, 1, 1]]);
    assert.deepEqual(await merchant.balance(), before);
    isError(await act(deliveryId, 'revoke'), 409, 'INVALID_TRANSITION');
  });
  test('two orders of one buyer make one request and share a file once', async () => {
    const username = 'twice';
    await sim.post('/sim/customers', { username, answer: 'accept' });
    const answers = await Promise.all([1, 2].map(() => merchant.order(store, { orderId: newOrderId(), username })));
    for (const { deliveryId } of answers) await merchant.reaches(deliveryId, 'completed');
    const { shares, friendships } = await merchant.effects(sim);
    const [{ customer, requests }] = friendships.filter((row) => row.username === username);
    assert.equal(requests, 1);
    assert.deepEqual(shares.filter((row) => row.customer === customer).map(({ made, repeats, existed }) => [made, repeats, existed]), [[1, 0, 0]]);
  });
  test('all that failed for one cause are retried at once', async () => {
    const shop = await merchant.store('provider_b');
    for (let i = 0; i < 3; ++i) await merchant.order(shop, { orderId: newOrderId() });
    const answer = isOk(await merchant.api.post('/api/deliveries/retry', { integrationId: shop.id, resolutionCode: 'username_missing' }));
    assert.deepEqual([answer.retried, answer.more], [3, false]);
    // The cause stands still.
    for (const row of await merchant.deliveriesOf(shop)) assert.equal(row.resolutionCode, 'username_missing');
  });
  test('one made directly, and again under the same order id or idempotency key', async () => {
    const order = { integrationId: store.id, orderId: newOrderId(), targetUsername: 'direct', items: [{ sku: 'A-2' }] };
    const headers = { 'idempotency-key': 'one-of-a-kind' };
    const made = isOk(await merchant.api.post('/api/deliveries', order, { headers }), 201);
    await merchant.reaches(made.id, 'completed');
    const again = await merchant.api.post('/api/deliveries', order, { headers });
    assert.equal(again.json.id, made.id, again.text);
    assert.equal(isOk(await merchant.api.post('/api/deliveries', order)).id, made.id);
    isError(await merchant.api.post('/api/deliveries', { ...order, orderId: newOrderId() }, { headers }), 409, 'IDEMPOTENCY_KEY_REUSED');
    const key = await merchant.key();
    const byFile = { ...order, orderId: newOrderId(), items: [{ fileId: merchant.file(3) }] };
    isError(await merchant.open.post('/api/deliveries', byFile, { headers: { 'x-api-key': key.secret } }), 403, 'FORBIDDEN');
    isError(await merchant.api.post('/api/deliveries', { ...order, items: [] }), 422, 'VALIDATION_FAILED');
  });
  test('a test order runs dry: no call, no credit, marked as such', async () => {
    const before = await merchant.balance();
    const { json } = await merchant.api.post(`/api/integrations/${store.id}/test-order`, { targetUsername: 'nobody-at-all', items: [{ sku: 'A-1' }] });
    const it = await merchant.reaches(json.deliveryId, 'completed');
    assert.equal(it.dryRun, true);
    assert.deepEqual(await merchant.balance(), before);
    const { friendships } = await merchant.effects(sim);
    assert.equal(friendships.some(({ username }) => username === 'nobody-at-all'), false);
  });
});

describe('mappings', () => {
  test('the most specific key wins, and the preview tells what an order would deliver', async () => {
    const shop = await merchant.store('generic');
    const mappings = [
      { matchType: 'title', matchValue: 'Loud  Amp', fileId: merchant.file(1) },
      { matchType: 'product_id', matchValue: '77', fileId: merchant.file(2) },
      { matchType: 'sku', matchValue: 'LOUD', fileId: merchant.file(3) },
      { matchType: 'sku', matchValue: 'LOUD', fileId: merchant.file(4) },
      { matchType: 'sku', matchValue: 'STICKER', action: 'ignore' },
    ];
    const { version } = isOk(await merchant.api.put(`/api/integrations/${shop.id}/mappings`, { mappings }));
    const preview = async (item) => isOk(await merchant.api.post(`/api/integrations/${shop.id}/mappings/preview`, { items: [item] }));
    const files = async (item) => (await preview(item)).items.map(({ fileId }) => fileId).sort();
    assert.deepEqual(await files({ sku: 'LOUD', productId: '77', title: 'Loud Amp' }), [merchant.file(3), merchant.file(4)]);
    assert.deepEqual(await files({ sku: 'other', productId: '77', title: 'Loud Amp' }), [merchant.file(2)]);
    assert.deepEqual(await files({ title: ' loud amp ' }), [merchant.file(1)]);
    assert.deepEqual(await files({ sku: 'STICKER' }), []);
    assert.deepEqual((await preview({ sku: 'STICKER' })).unmapped, []);
    assert.deepEqual((await preview({ sku: 'loud' })).unmapped, [0]);
    isOk(await merchant.api.put(`/api/integrations/${shop.id}/mappings`, { version, mappings: mappings.slice(1) }));
    isError(await merchant.api.put(`/api/integrations/${shop.id}/mappings`, { version, mappings: [] }), 409, 'CONFLICT');
  });
});

describe('outbound webhook subscriptions', () => {
  let receiver, subscription;
  before(async () => {
    receiver = await startReceiver(scope);
    const shop = await merchant.store('generic');
    subscription = { shop, ...isOk(await merchant.api.post('/api/webhook-subscriptions', { url: receiver.url, integrationIds: [shop.id], eventTypes: ['delivery.completed', 'delivery.invalidated'] }), 201) };
  });
  const path = () => `/api/webhook-subscriptions/${subscription.id}`;

  test('the secret is shown once', async () => {
    assert.match(subscription.secret, /^whsec_/);
    for (const target of [path(), '/api/webhook-subscriptions', '/api/account/audit']) {
      assert.equal((await merchant.api.get(target)).text.includes(subscription.secret.slice(6)), false);
    }
  });
  test('only what was asked for arrives: these events, of these stores', async () => {
    const elsewhere = await merchant.order(store, { orderId: newOrderId(), username: 'elsewhere' });
    await merchant.reaches(elsewhere.deliveryId, 'completed');
    const here = await merchant.order(subscription.shop, { orderId: newOrderId(), username: 'here' });
    const request = await receiver.waitFor('the completion', (event) => event.deliveryId === here.deliveryId);
    const event = await verifiedEvent(request, subscription.secret);
    assert.deepEqual([event.type, event.integrationId, event.delivery.status, event.delivery.orderId, event.delivery.eventId], ['delivery.completed', subscription.shop.id, 'completed', here.orderId, here.eventId]);
    assert.deepEqual(receiver.requests.map(({ body }) => JSON.parse(body).type), ['delivery.completed']);
  });
  test('the merchant\'s reason is in the event', async () => {
    const { deliveryId } = await merchant.order(subscription.shop, { orderId: newOrderId(), username: 'patient' });
    await merchant.reaches(deliveryId, 'waiting_for_friendship');
    isOk(await merchant.api.post(`/api/deliveries/${deliveryId}/invalidate`, { reason: 'Out of stock' }));
    const { body } = await receiver.waitFor('the invalidation', (event) => event.deliveryId === deliveryId);
    assert.deepEqual([JSON.parse(body).type, JSON.parse(body).delivery.reason], ['delivery.invalidated', 'Out of stock']);
  });
  test('a test event, its attempt with the response code, and sending it again', async () => {
    const { eventId } = isOk(await merchant.api.post(`${path()}/test`), 202);
    const first = await receiver.waitFor('the test event', (event) => event.id === eventId);
    assert.equal(JSON.parse(first.body).type, 'webhook.test');
    const attempt = await until('the attempt is shown', async () => isOk(await merchant.api.get(`${path()}/attempts`)).data.find((row) => row.eventId === eventId));
    assert.deepEqual([attempt.statusCode, attempt.outcome], [204, 'succeeded']);
    assert.equal(isOk(await merchant.api.post(`${path()}/attempts/${attempt.id}/resend`), 202).eventId, eventId);
    const twice = await until('it comes again', () => {
      const all = receiver.requests.filter(({ body }) => JSON.parse(body).id === eventId);
      return all.length === 2 && all;
    });
    assert.equal(twice[0].body, twice[1].body);
  });
  test('rotation: both secrets sign in the overlap', async () => {
    const renewed = isOk(await merchant.api.post(`${path()}/rotate-secret`, { overlapSeconds: 600 }));
    assert.notEqual(renewed.secret, subscription.secret);
    const { eventId } = isOk(await merchant.api.post(`${path()}/test`), 202);
    const request = await receiver.waitFor('the test event', (event) => event.id === eventId);
    await verifiedEvent(request, renewed.secret);
    const previous = request.headers['x-vendor-signature-previous'];
    await verifiedEvent({ ...request, headers: { ...request.headers, 'x-vendor-signature': previous } }, subscription.secret);
  });
  test('what a subscription cannot be is 422', async () => {
    for (const url of ['http://example.com/hook', 'ftp://127.0.0.1/', 'https://user:pw@example.com/', 'not a url', '']) {
      isError(await merchant.api.post('/api/webhook-subscriptions', { url }), 422, 'VALIDATION_FAILED');
    }
    isError(await merchant.api.post('/api/webhook-subscriptions', { url: receiver.url, eventTypes: ['delivery.lost'] }), 422, 'VALIDATION_FAILED');
    isError(await merchant.api.post('/api/webhook-subscriptions', { url: receiver.url, secret: 'plain' }), 422, 'VALIDATION_FAILED');
  });
  test('an inactive one is sent nothing; an ended one is gone', async () => {
    isOk(await merchant.api.patch(path(), { active: false }));
    const count = receiver.requests.length;
    const { deliveryId } = await merchant.order(subscription.shop, { orderId: newOrderId(), username: 'silent' });
    await merchant.reaches(deliveryId, 'completed');
    isOk(await merchant.api.delete(path()), 204);
    isError(await merchant.api.get(path()), 404, 'NOT_FOUND');
    assert.equal(receiver.requests.length, count);
  });
});

describe('credits', () => {
  test('the ledger adds up to the balance', async () => {
    const ledger = await merchant.all('/api/credits/ledger');
    const sum = (kind) => ledger.filter((entry) => entry.kind === kind).reduce((total, { credits }) => total + credits, 0);
    const balance = await merchant.balance();
    assert.deepEqual([sum('grant'), sum('purchase'), sum('spend'), sum('reversal')], [balance.granted, balance.purchased, balance.spent, balance.reversed]);
    assert.equal(balance.available, balance.granted + balance.purchased - balance.reversed - balance.spent - balance.held);
    const items = ledger.filter(({ kind }) => kind === 'spend').map(({ itemId }) => itemId);
    assert.equal(new Set(items).size, items.length);
  });
});

describe("another account's ids", () => {
  test('are 404 in every operation', async () => {
    const key = await merchant.key();
    const { deliveryId } = await merchant.order(store, { orderId: newOrderId(), username: 'patient' });
    const receiver = await startReceiver(scope);
    const subscription = isOk(await merchant.api.post('/api/webhook-subscriptions', { url: receiver.url }), 201);
    isOk(await merchant.api.post(`/api/webhook-subscriptions/${subscription.id}/test`), 202);
    const attempt = await until('an attempt', async () => isOk(await merchant.api.get(`/api/webhook-subscriptions/${subscription.id}/attempts`)).data[0]);
    const ids = { key: key.id, integration: store.id, delivery: deliveryId, subscription: subscription.id, attempt: attempt.id };
    const bodies = {
      changeKey: { name: 'mine' },
      changeIntegration: { name: 'mine' },
      replaceMappings: { mappings: [] },
      previewMappings: { items: [{ sku: 'A-1' }] },
      invalidateDelivery: { reason: 'mine' },
      changeSubscription: { active: false },
      recoverEvents: { since: '2026-01-01T00:00:00.000Z' },
    };
    const theirs = operations.filter(({ path, ...operation }) => /\{(key|integration|delivery|subscription)\}/.test(path) && !isPublic(operation));
    assert.ok(theirs.length > 20);
    for (const { path, method, operationId, requestBody } of theirs) {
      const json = requestBody || bodies[operationId] ? (bodies[operationId] ?? {}) : undefined;
      isError(await other.api.request(method, filled(path, ids), { json }), 404, 'NOT_FOUND');
    }
    isError(await other.api.post('/api/deliveries', { integrationId: store.id, orderId: '1', targetUsername: 'x', items: [{ sku: 'A-1' }] }), 404, 'NOT_FOUND');
    // And nothing of it happened.
    assert.equal(isOk(await merchant.api.get(`/api/integrations/${store.id}/mappings`)).mappings.length, 5);
    assert.notEqual((await merchant.delivery(deliveryId)).status, 'invalidated');
    assert.equal(isOk(await merchant.api.get(`/api/webhook-subscriptions/${subscription.id}`)).active, true);
    assert.deepEqual(isOk(await other.api.get('/api/deliveries')).data, []);
    assert.deepEqual(isOk(await other.api.get('/api/integrations')).data, []);
  });
});

describe('manners', () => {
  test('unknown paths and methods, wrong bodies', async () => {
    isError(await merchant.api.get('/api/no-such-thing'), 404, 'NOT_FOUND');
    isError(await merchant.api.get('/'), 404, 'NOT_FOUND');
    isError(await merchant.api.put('/api/keys', {}), 405, 'METHOD_NOT_ALLOWED');
    isError(await merchant.api.request('POST', '/api/keys', { body: '{"name":', headers: { 'content-type': 'application/json' } }), 422, 'VALIDATION_FAILED');
    isError(await merchant.api.request('POST', '/api/keys', { body: '{"name":"x"}' }), 415, 'UNSUPPORTED_MEDIA_TYPE');
    const many = await merchant.api.post('/api/integrations', { provider: 'provider_z' });
    isError(many, 422, 'VALIDATION_FAILED');
    assert.deepEqual(many.json.error.details.map(({ field }) => field).sort(), ['name', 'provider']);
    isError(await merchant.api.request('POST', '/api/keys', { body: `{"name":"${'x'.repeat(1024 * 1024)}"}`, headers: { 'content-type': 'application/json' } }), 413, 'PAYLOAD_TOO_LARGE');
  });
  test('the service says what it is', async () => {
    const version = isOk(await merchant.open.get('/api/version'));
    assert.equal(version.sandbox, true);
    assert.equal(isOk(await merchant.open.get('/healthz')).status, 'ok');
    assert.equal(isOk(await merchant.open.get('/readyz')).status, 'ready');
    assert.match((await merchant.open.get('/metrics')).text, /^presetbridge_\w+/m);
    assert.deepEqual(isOk(await merchant.open.get('/api/openapi.json')), JSON.parse(JSON.stringify(contract.document)));
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
  for (let i = 0; i < 100; ++i) isOk(await merchant.open.get('/api/account', { headers: { 'x-api-key': limited.secret } }));
  await stack.bridge.stop();
  merchant.moveTo(await startBridge(scope, { cloudUrl: stack.cloud.url, dataDir: stack.bridge.dataDir }));
  isError(await merchant.open.get('/api/account', { headers: { 'x-api-key': limited.secret } }), 429, 'RATE_LIMIT_EXCEEDED');
  assert.equal(isOk(await merchant.api.get('/api/account')).id, merchant.accountId);
  assert.equal(isOk(await merchant.api.get(`/api/keys/${limited.id}`)).requests, 100);
});

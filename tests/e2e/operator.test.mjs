// The operator's verbs for accounts: they are disabled and enabled again, with their keys and their orders.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { runBridge, Scope, until } from './harness.mjs';
import { isError, isOk, Merchant, PASSWORD, startStack } from './merchant.mjs';
import { sampleOrder, sendOrder } from './orders.mjs';

const scope = new Scope();
let stack;
let merchant;
let other;

before(async () => {
  stack = await startStack(scope);
  merchant = await Merchant.signUp(stack.bridge, 1);
  other = await Merchant.signUp(stack.bridge, 2);
});
after(() => scope.close());

async function admin(...words) {
  const done = await runBridge(['admin', ...words, '--data-dir', stack.bridge.dataDir]);
  return done.code === 0 ? JSON.parse(done.stdout) : done;
}
const DISABLED = /This account is disabled/;

test('a disabled account is refused everywhere, loses nothing, and goes on when it is enabled again', async () => {
  const store = await merchant.store('generic');
  const key = await merchant.key();
  const asKey = merchant.open.with({ 'x-api-key': key.secret });
  const before = await merchant.order(store, { username: 'before' });
  await merchant.reaches(before.deliveryId, 'completed');

  assert.deepEqual(await admin('disable-account', merchant.accountId, '--reason', 'a trial'), {
    id: merchant.accountId,
    disabled: true,
    changed: true,
  });
  assert.deepEqual(await admin('disable-account', merchant.accountId), {
    id: merchant.accountId,
    disabled: true,
    changed: false,
  });
  const listed = (await admin('list-accounts')).accounts.map(({ id, disabled }) => [id, disabled]);
  assert.deepEqual(
    new Map(listed),
    new Map([
      [merchant.accountId, true],
      [other.accountId, false],
    ]),
  );

  // People, old and new sign-ins; keys; a wrong password reveals nothing.
  const signIn = (password) => merchant.open.post('/api/auth/sign-in', { email: merchant.email, password });
  for (const answer of [
    await merchant.api.get('/api/deliveries'),
    await asKey.get('/api/deliveries'),
    await merchant.api.with({ 'x-api-key': key.secret }).get('/api/deliveries'),
    await signIn(PASSWORD),
  ]) {
    isError(answer, 403, 'FORBIDDEN');
    assert.match(answer.json.error.message, DISABLED);
  }
  isError(await signIn('not the pass phrase'), 401, 'INVALID_CREDENTIALS');
  isError(
    await asKey.post('/api/deliveries', { integrationId: store.id, ...sampleOrder('generic', { sku: 'A-1' }) }),
    403,
    'FORBIDDEN',
  );
  isOk(await other.api.get('/api/deliveries'));

  // Its stores are answered as inactive ones: the order is kept. A forged one is still refused.
  const order = sampleOrder('generic', { orderId: 'while-disabled', username: 'patient', sku: 'A-1' });
  const answer = await sendOrder(merchant.open, store, order);
  assert.deepEqual([answer.status, answer.json.status, answer.json.reason], [202, 'ignored', 'inactive'], answer.text);
  isError(
    await sendOrder(merchant.open, { ...store, secret: 'another secret of it' }, order),
    401,
    'INVALID_SIGNATURE',
  );
  const otherStore = await other.store('generic');
  await other.reaches((await other.order(otherStore, { username: 'elsewhere' })).deliveryId, 'completed');

  assert.deepEqual(await admin('enable-account', merchant.accountId), {
    id: merchant.accountId,
    disabled: false,
    changed: true,
  });
  // The session and the key of before, and what came meanwhile.
  isOk(await asKey.get('/api/deliveries'));
  isOk(await signIn(PASSWORD));
  const refreshed = isOk(await merchant.open.post('/api/auth/refresh', { refreshToken: merchant.tokens.refreshToken }));
  isOk(await merchant.open.with({ authorization: `Bearer ${refreshed.idToken}` }).get('/api/deliveries'));
  const [kept] = isOk(await merchant.api.get(`/api/orders?integrationId=${store.id}&outcome=inactive`)).data;
  assert.equal(kept.orderId, 'while-disabled');
  isOk(await merchant.api.post('/api/orders/reprocess', { integrationId: store.id, outcome: 'inactive' }), 202);
  const { id } = await until('it is delivered', async () => (await merchant.deliveriesOf(store, 'while-disabled'))[0]);
  await merchant.reaches(id, 'completed');
  const again = await merchant.order(store, { username: 'after' });
  await merchant.reaches(again.deliveryId, 'completed');
  const audit = isOk(await merchant.api.get('/api/account/audit')).data.filter(({ action }) =>
    /^account\.(dis|en)abled$/.test(action),
  );
  assert.deepEqual(
    audit.map(({ action, actor, detail }) => [action, actor, detail]),
    [
      ['account.enabled', 'operator', ''],
      ['account.disabled', 'operator', 'a trial'],
    ],
  );
  for (const { actorName } of audit) assert.match(actorName, / on /, 'who the operator was');
});

test('disabling outlives the service, and is done where none runs', async () => {
  assert.equal((await admin('disable-account', other.accountId)).changed, true);
  const { dataDir } = stack.bridge;
  const account = await runBridge(['admin', 'disable-account', 'acc_0a1b2c3d4e5f6', '--data-dir', dataDir]);
  assert.deepEqual([account.code, /There is no such account/.test(account.stderr)], [1, true], account.stderr);
  assert.equal((await runBridge(['admin', 'disable-account', 'nobody', '--data-dir', dataDir])).code, 1);
  isError(await other.api.get('/api/deliveries'), 403, 'FORBIDDEN');
  assert.equal((await admin('enable-account', other.accountId)).changed, true);
  isOk(await other.api.get('/api/deliveries'));
});

test('an order is found by all that people say of it, and tells nobody who bought', async () => {
  const store = await merchant.store('provider_a');
  const { deliveryId, orderId } = await merchant.order(store, {
    orderId: 74113,
    username: 'found_one',
    email: 'found@buyer.example',
  });
  await merchant.reaches(deliveryId, 'completed');
  const [row] = isOk(await merchant.api.get(`/api/orders?integrationId=${store.id}`)).data;
  const found = async (...words) => (await admin('find-order', ...words)).orders;
  const [one] = await found(deliveryId);
  assert.deepEqual(
    [one.id, one.account, one.integration, one.orderId, one.outcome, one.delivery.id, one.delivery.status],
    [row.id, merchant.accountId, store.id, orderId, 'delivery', deliveryId, 'completed'],
  );
  for (const words of [
    [row.id],
    [row.id, '--account', merchant.accountId],
    [orderId, '--account', merchant.accountId],
    [row.orderNumber, '--account', merchant.accountId],
    ['@found_one', '--account', merchant.accountId],
    ['found@buyer.example', '--account', merchant.accountId],
  ]) {
    assert.deepEqual(await found(...words), [one], `${words}`);
  }
  assert.ok(!JSON.stringify(one).includes('found_one') && !JSON.stringify(one).includes('buyer.example'));
  for (const [words, says] of [
    [[orderId], /--account/],
    [[row.id, '--account', other.accountId], /There is no order/],
    [['none', '--account', merchant.accountId], /There is no order none/],
    [['ord_0a1b2c3d4e5f6'], /There is no order/],
  ]) {
    const refused = await admin('find-order', ...words);
    assert.equal(refused.code, 1, `${words}`);
    assert.match(refused.stderr, says);
  }
});

test('the keys of an account are listed, without a secret', async () => {
  const key = await other.key({ name: 'listed', permissions: ['deliveries:read'] });
  isOk(await other.open.with({ 'x-api-key': key.secret }).get('/api/deliveries'));
  isOk(await other.api.patch(`/api/keys/${(await other.key({ name: 'off' })).id}`, { active: false }));
  const { keys } = await admin('list-keys', other.accountId);
  assert.deepEqual(
    keys.map(({ name, active, requests }) => [name, active, requests]),
    [
      ['off', false, 0],
      ['listed', true, 1],
    ],
  );
  assert.deepEqual(
    [keys[1].id, keys[1].permissions, keys[1].rateLimit, keys[1].usedThisHour],
    [key.id, ['deliveries:read'], 100, 1],
  );
  assert.ok(!JSON.stringify(keys).includes(key.secret));
  assert.equal((await admin('list-keys', 'acc_0a1b2c3d4e5f6')).code, 1);
});

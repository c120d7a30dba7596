// Each way in which a delivery can fail (spec 3.6), caused at the simulated platform: the delivery says what happened and offers a
// solution, which works. Deliveries that would need days are aged in the database file; src/services/delivery/view_test.cpp has it on virtual time.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { Scope, until } from './harness.mjs';
import { Merchant, grantCredits, isOk, startStack } from './merchant.mjs';
import { sampleOrder } from './orders.mjs';
import { startReceiver } from './receiver.mjs';

const scope = new Scope({ after });
let stack, sim, merchant, store, shopOfPlugin;
let lastOrder = 100;
const newOrderId = () => String(++lastOrder);

before(async () => {
  stack = await startStack(scope);
  sim = stack.sim;
  merchant = await Merchant.signUp(stack.bridge, 1);
  store = await merchant.store('generic');
  shopOfPlugin = await merchant.store('provider_b');
  await sim.post('/sim/customers', {
    customers: [
      { username: 'declines', userId: 'u-declines', answer: 'decline' },
      { username: 'blocks', userId: 'u-blocks', answer: 'block' },
      { username: 'patient', userId: 'u-patient', answer: 'never' },
    ],
  });
});

const act = (who, id, name, body) => who.api.post(`/api/deliveries/${id}/${name}`, body);
// The delivery has failed for `code`, says so everywhere, and offers `remedy`.
async function failedFor(who, id, code, remedy, { step = 'shared' } = {}) {
  const it = await until(`${id} has failed for ${code}`, async () => {
    const now = await who.delivery(id);
    if (now.status !== 'failed' || now.resolutionCode !== code) throw new Error(`${now.status}: ${now.message}`);
    return now;
  });
  assert.deepEqual([it.resolution.code, it.resolution.remedy], [code, remedy]);
  assert.ok(it.resolution.title && it.resolution.text && it.resolution.affectedCount >= 1);
  if (['retry', 'change_username', 'complete'].includes(remedy))
    assert.ok(it.allowedActions.includes(remedy), `${it.allowedActions}`);
  assert.equal(it.steps.find(({ state }) => state === 'stopped')?.key, step);
  const entry = it.timeline.find(({ type }) => type === 'failed');
  assert.deepEqual(
    [entry.resolutionCode, entry.status, entry.actorName],
    [code, 'failed', entry.actor === 'order' ? it.integrationName : null],
  );
  const listed = isOk(await who.api.get(`/api/deliveries?resolutionCode=${code}&needsAttention=true&count=true`));
  assert.ok(listed.countIsExact && listed.count >= 1);
  const row = listed.data.find((one) => one.id === id);
  assert.equal(row.resolution.fileName, it.resolution.fileName);
  assert.equal(row.resolution.fileName, it.items.find(({ status, former }) => status === 'owed' && !former).name);
  return it;
}
async function solved(who, id) {
  const it = await who.reaches(id, 'completed');
  assert.deepEqual([it.resolutionCode, it.resolution, it.steps.at(-1).state], [null, null, 'done']);
  return it;
}
// In the database file, beside the service that has it open.
const inFile = (sql) =>
  promisify(execFile)('sqlite3', ['-cmd', '.timeout 10000', path.join(stack.bridge.dataDir, 'presetbridge.db'), sql]);
const ordered = async (who, shop, fields) => (await who.order(shop, { orderId: newOrderId(), ...fields })).deliveryId;

test('username_missing: a name from the merchant delivers, and the timeline tells who gave it', async () => {
  const id = await ordered(merchant, shopOfPlugin, {});
  const failed = await failedFor(merchant, id, 'username_missing', 'change_username', { step: 'buyer_found' });
  assert.equal(failed.usernameSource, null);
  isOk(await act(merchant, id, 'retry', { targetUsername: 'given' }));
  const it = await solved(merchant, id);
  assert.equal(it.usernameSource, 'merchant');
  const change = it.timeline.find(({ data }) => data.to === 'given');
  assert.deepEqual([change.type, change.actorName], ['action', merchant.email]);
});

test('username_not_found: the right name delivers', async () => {
  await sim.put('/sim/unknown-users', { create: false });
  const id = await ordered(merchant, store, { username: 'misspelt' });
  await failedFor(merchant, id, 'username_not_found', 'change_username', { step: 'buyer_found' });
  await sim.put('/sim/unknown-users', { create: true });
  isOk(await act(merchant, id, 'retry', { targetUsername: 'spelt' }));
  await solved(merchant, id);
});

for (const [username, code, step] of [
  ['declines', 'friend_request_declined', 'accepted'],
  ['blocks', 'blocked_by_customer', 'friend_request'],
]) {
  test(`${code}: asking again delivers once the customer agrees`, async () => {
    const id = await ordered(merchant, store, { username });
    await failedFor(merchant, id, code, 'retry', { step });
    isOk(await sim.post('/sim/customers', { username, userId: `u-${username}`, answer: 'accept' }), 201);
    isOk(await sim.put('/sim/friendship', { merchant: 'm-1', customer: `u-${username}`, state: 'none' }));
    isOk(await act(merchant, id, 'retry', {}));
    await solved(merchant, id);
  });
}

test('preset_not_found: a mapping to another file delivers without a click', async () => {
  const shop = await merchant.store('generic');
  const map = (fileId) =>
    merchant.api.put(`/api/integrations/${shop.id}/mappings`, {
      mappings: [{ matchType: 'sku', matchValue: 'A-1', fileId, kind: 'preset', fileName: 'Lofi' }],
    });
  isOk(await map('no-such-file'));
  const id = await ordered(merchant, shop, { username: 'finder' });
  const failed = await failedFor(merchant, id, 'preset_not_found', 'save_mapping');
  assert.deepEqual([failed.resolution.fileName, failed.resolution.creditsNeeded], ['Lofi', 1]);
  isOk(await map(merchant.file(1)));
  await solved(merchant, id);
});

test('preset_not_shareable: a retry delivers once it may be shared', async () => {
  await sim.post('/sim/files', { merchant: 'm-1', files: [{ id: 'sealed', name: 'Sealed', shareable: false }] });
  const shop = await merchant.store('generic');
  isOk(
    await merchant.api.put(`/api/integrations/${shop.id}/mappings`, {
      mappings: [{ matchType: 'sku', matchValue: 'A-1', fileId: 'sealed' }],
    }),
  );
  const id = await ordered(merchant, shop, { username: 'finder' });
  await failedFor(merchant, id, 'preset_not_shareable', 'retry');
  await sim.post('/sim/files', { merchant: 'm-1', files: [{ id: 'sealed', name: 'Sealed', shareable: true }] });
  isOk(await act(merchant, id, 'retry', {}));
  await solved(merchant, id);
});

test('cloud_rejected: a retry delivers once the platform takes it', async () => {
  isOk(await sim.post('/sim/faults/script', { endpoint: 'share', steps: [{ fault: 'refused' }] }));
  const id = await ordered(merchant, store, { username: 'refused' });
  await failedFor(merchant, id, 'cloud_rejected', 'retry');
  isOk(await act(merchant, id, 'retry', {}));
  await solved(merchant, id);
});

// The first failure is three days old, and the next try is due: of the one customer whose calls fail, in milliseconds.
const THREE_DAYS = 72 * 3_600_000;
const threeDaysLater = () =>
  inFile(`UPDATE customers SET failing_since = failing_since - ${THREE_DAYS}, due_at = ${Date.now()} WHERE failing_since IS NOT NULL;
    UPDATE cloud_accounts SET ready_at = ${Date.now()} WHERE ready_at IS NOT NULL;`);
async function unanswered(username) {
  isOk(await sim.put('/sim/faults', { endpoint: 'findUser', server_error: 1 }));
  const id = await ordered(merchant, store, { username });
  await until('it is put off', async () => {
    const it = await merchant.delivery(id);
    if (it.status !== 'queued' || !it.timeline.some(({ type }) => type === 'put_off'))
      throw new Error(`${it.status}: ${it.message}`);
    return true;
  });
  await threeDaysLater();
  const failed = await failedFor(merchant, id, 'cloud_unavailable', 'wait', { step: 'buyer_found' });
  assert.ok(
    failed.allowedActions.includes('retry') && Date.parse(failed.resumableUntil) > Date.now() + 29 * 86_400_000,
  );
  isOk(await sim.delete('/sim/faults'));
  return id;
}

test('cloud_unavailable: it goes on by itself once the platform answers', async () => {
  const id = await unanswered('patiently');
  await inFile('UPDATE cloud_accounts SET probe_due_at = probe_due_at - 3600000 WHERE probe_due_at IS NOT NULL;');
  await solved(merchant, id);
});

test('cloud_unavailable: a retry does not wait for that', async () => {
  const id = await unanswered('impatiently');
  isOk(await act(merchant, id, 'retry', {}));
  await solved(merchant, id);
});

// No input causes it, and no answer of the platform: both are checked where they come in, and each failure of a call has a code of its own
// (src/domain/call_reaction.cpp). Work whose rows cannot be read fails nothing: it is left alone for some minutes, again and again, until
// they can be (src/services/worker/leasing_test.cpp). So it takes a row that somebody else has written.
test('internal_error: a retry delivers', async () => {
  isOk(await sim.post('/sim/faults/script', { endpoint: 'share', steps: [{ fault: 'refused' }] }));
  const id = await ordered(merchant, store, { username: 'damaged' });
  await failedFor(merchant, id, 'cloud_rejected', 'retry');
  await inFile(`UPDATE deliveries SET resolution_code = 'internal_error' WHERE resolution_code = 'cloud_rejected' AND status = 'failed';
    UPDATE delivery_timeline SET resolution_code = 'internal_error' WHERE resolution_code = 'cloud_rejected';`);
  await failedFor(merchant, id, 'internal_error', 'retry');
  isOk(await act(merchant, id, 'retry', {}));
  await solved(merchant, id);
});

test('order_too_large: it waits in review, cannot be approved, and is completed by hand', async () => {
  const order = sampleOrder('provider_b', { orderId: newOrderId(), username: 'bulk' });
  for (let id = 2; id <= 251; ++id) order.line_items.push({ ...order.line_items[0], id });
  const { deliveryId } = isOk(await merchant.send(shopOfPlugin, order), 202);
  const it = await merchant.reaches(deliveryId, 'in_review');
  assert.deepEqual(
    [it.resolutionCode, it.resolution.remedy, it.reviewReason],
    ['order_too_large', 'complete', 'too_large'],
  );
  assert.deepEqual(it.size, { products: 251, files: null, limit: 250 });
  assert.ok(it.allowedActions.includes('complete') && !it.allowedActions.includes('approve'), `${it.allowedActions}`);
  assert.equal(it.timeline.find(({ type }) => type === 'in_review').resolutionCode, 'order_too_large');
  isOk(await act(merchant, deliveryId, 'complete'));
  await solved(merchant, deliveryId);
});

test('credentials_missing, credentials_invalid and insufficient_credits: each goes on by itself', async () => {
  const late = await Merchant.signUp(stack.bridge, 2, { credits: 0, connected: false });
  const shop = await late.store('generic');
  const id = await ordered(late, shop, { username: 'early' });
  await failedFor(late, id, 'credentials_missing', 'save_credentials', { step: 'buyer_found' });
  await late.connect();
  const poor = await failedFor(late, id, 'insufficient_credits', 'add_credits', { step: 'buyer_found' });
  assert.equal(poor.resolution.creditsNeeded, 1);
  await grantCredits(stack.bridge, late.accountId, 5);
  await solved(late, id);

  await sim.post('/sim/merchants', { email: late.cloudLogin.email, password: 'another one', userId: 'm-2' });
  await sim.post('/sim/sessions/revoke', { merchant: 'm-2' });
  const next = await ordered(late, shop, { username: 'later' });
  await failedFor(late, next, 'credentials_invalid', 'save_credentials', { step: 'buyer_found' });
  isOk(await late.api.put('/api/credentials', { ...late.cloudLogin, password: 'another one' }));
  await solved(late, next);
});

test("a delivery tells its journey, what the store was told, and its buyer's link", async () => {
  const receiver = await startReceiver(scope);
  isOk(await merchant.api.post('/api/webhook-subscriptions', { url: receiver.url }), 201);
  const id = await ordered(merchant, store, { username: 'patient', email: 'patient@example.com' });
  const waiting = await merchant.reaches(id, 'waiting_for_friendship');
  assert.deepEqual(
    waiting.steps.map(({ state }) => state),
    ['done', 'done', 'done', 'current', 'ahead'],
  );
  assert.ok(waiting.firstRequestAt && waiting.givesUpAt > waiting.firstRequestAt && waiting.nextLookAt);
  isOk(await sim.put('/sim/friendship', { merchant: 'm-1', customer: 'u-patient', state: 'friends' }));
  const it = await solved(merchant, id);
  const types = it.timeline.map(({ type }) => type).filter((type) => type !== 'event_told');
  assert.deepEqual(types, [
    'completed',
    'item_shared',
    'accepted',
    'request_sent',
    'looked_up',
    'matched',
    'order_received',
  ]);
  const shared = it.timeline.find(({ type }) => type === 'item_shared');
  // The attempt that asked, those that only looked, and the last one, which shared.
  assert.deepEqual(
    [shared.itemId, shared.data.fileName, shared.attempt],
    [it.items[0].id, 'Preset 1', it.attemptCount],
  );
  assert.ok(it.attemptCount >= 2, `${it.attemptCount} attempts`);
  assert.ok(shared.durationMs >= 0);
  assert.equal(it.items[0].credits, 1);
  assert.deepEqual(it.events.map(({ type }) => type).sort(), [
    'delivery.completed',
    'delivery.queued',
    'delivery.waiting_for_friendship',
  ]);
  const entries = await merchant.all(`/api/deliveries/${id}/timeline`);
  assert.deepEqual(
    entries.map((entry) => entry.id),
    it.timeline.map((entry) => entry.id),
  );

  assert.match(it.buyerUrl, /\/p#[\w-]{20,}$/);
  const renewed = isOk(await act(merchant, id, 'buyer-link'));
  assert.notEqual(renewed.buyerUrl, it.buyerUrl);
  assert.equal((await merchant.delivery(id)).buyerUrl, renewed.buyerUrl);
});

test('what people know of an order finds it, and a table of all cannot be a formula', async () => {
  const orderId = newOrderId();
  const { deliveryId } = await merchant.order(store, { orderId, username: 'Searchable', email: '=cmd@Example.com' });
  await merchant.reaches(deliveryId, 'completed');
  for (const q of [orderId, 'search', 'SEARCHABLE', '=CMD@ex']) {
    const { data } = isOk(await merchant.api.get(`/api/deliveries?q=${encodeURIComponent(q)}`));
    assert.ok(
      data.some(({ id }) => id === deliveryId),
      q,
    );
  }
  const [row] = isOk(
    await merchant.api.get(
      `/api/deliveries?q=searchable&fileId=${merchant.file(1)}&status=completed,failed&sort=createdAt`,
    ),
  ).data;
  assert.deepEqual(
    [row.id, row.itemCount, row.sharedCount, row.firstItemName, row.integrationName],
    [deliveryId, 1, 1, 'Preset 1', 'A store of generic'],
  );
  assert.deepEqual(isOk(await merchant.api.get('/api/deliveries?q=nobody-of-that-name&count=true')), {
    data: [],
    nextCursor: null,
    count: 0,
    countIsExact: true,
  });
  const csv = await merchant.api.with({ accept: 'text/csv' }).get('/api/deliveries?q=searchable');
  assert.equal(csv.headers['content-type'], 'text/csv; charset=utf-8');
  const lines = csv.text.split('\r\n');
  assert.ok(lines[0].startsWith('id,order_number') && lines[1].includes(`,'=cmd@`), csv.text);
});

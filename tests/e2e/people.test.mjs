// The people of an account: invitations, what members may not, who leaves; and customers who are exported and erased.
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { ENGINE, Scope, runBridge, scratch, startBridge, startCloudsim, until } from './harness.mjs';
import { sampleOrder, signatureHeaders } from './orders.mjs';
import { startReceiver } from './receiver.mjs';
import { Merchant, PASSWORD, contract, filled, isError, isOk, isPublic, operations, startStack } from './merchant.mjs';
import { resolve } from './schema_values.mjs';

const scope = new Scope({ after });
const { document } = contract;
const run = promisify(execFile);
const tokenOf = ({ url }) => new URL(url).hash.slice(1);

let stack, owner, store, ids;
before(async () => {
  stack = await startStack(scope, { args: ['--identity-signups-per-hour', '1000'] });
  owner = await Merchant.signUp(stack.bridge, 1);
  store = await owner.store('generic');
  ({ ids } = await owner.oneOfEach(store, { orderId: 'o-1', username: 'buyer' }, { url: 'https://shop.example/hook' }));
});
const invite = async (body = { role: 'member' }) => isOk(await owner.api.post('/api/invitations', body), 201);
const join = (invitation, email, more = {}) =>
  owner.open.post('/api/auth/sign-up', { email, password: PASSWORD, invitation, ...more });

describe('an invitation', () => {
  test('is a link whose secret stands after #, and is shown once', async () => {
    const made = await invite({ role: 'owner', note: 'for Ann' });
    assert.match(made.url, new RegExp(`^${stack.bridge.url}/invite#pdb_invite_[A-Za-z0-9_-]{43}$`));
    const listed = isOk(await owner.api.get('/api/invitations')).data.find((one) => one.id === made.id);
    assert.deepEqual(
      [listed.role, listed.note, listed.createdBy, 'url' in listed],
      ['owner', 'for Ann', owner.tokens.user.id, false],
    );
    assert.ok(Date.parse(listed.expiresAt) - Date.parse(listed.createdAt) === 7 * 86_400_000);
  });

  test('tells what it opens, and is used once', async () => {
    const token = tokenOf(await invite());
    assert.deepEqual(Object.keys(isOk(await owner.open.post('/api/auth/invitation', { invitation: token }))), [
      'accountName',
      'role',
      'expiresAt',
    ]);
    // Of four at once one joins.
    const answers = await Promise.all(
      Array.from({ length: 4 }, (_, number) => join(token, `racer-${number}@shop.example`)),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, ...Array(3).fill(404)]);
    const [joined] = answers.filter(({ status }) => status === 201);
    assert.equal(joined.json.accountId, owner.accountId);
    isError(await join(token, 'late@shop.example'), 404, 'INVITATION_INVALID');
    isError(await owner.open.post('/api/auth/invitation', { invitation: token }), 404, 'INVITATION_INVALID');
    // A person who was refused has no user.
    isError(
      await owner.open.post('/api/auth/sign-in', { email: 'late@shop.example', password: PASSWORD }),
      401,
      'INVALID_CREDENTIALS',
    );
  });

  test('ends when it expires, and when it is revoked', async () => {
    const brief = await invite({ role: 'member', expiresAt: new Date(Date.now() + 5000).toISOString() });
    await until(
      'it has expired',
      async () => (await owner.open.post('/api/auth/invitation', { invitation: tokenOf(brief) })).status === 404,
    );
    isError(await join(tokenOf(brief), 'expired@shop.example'), 404, 'INVITATION_INVALID');
    const revoked = await invite();
    isOk(await owner.api.delete(`/api/invitations/${revoked.id}`), 204);
    isError(await owner.api.delete(`/api/invitations/${revoked.id}`), 404, 'NOT_FOUND');
    isError(await join(tokenOf(revoked), 'revoked@shop.example'), 404, 'INVITATION_INVALID');
    for (const nonsense of ['x', `pdb_invite_${'A'.repeat(43)}`, `${tokenOf(brief)}A`])
      isError(await join(nonsense, 'no@shop.example'), 404, 'INVITATION_INVALID');
  });

  test('ends when who made it is an owner no more, or is removed', async () => {
    const second = await owner.invite('owner');
    const made = async () => tokenOf(isOk(await second.api.post('/api/invitations', { role: 'owner' }), 201));
    const kept = tokenOf(await invite());
    const demoted = await made();
    isOk(await owner.api.patch(`/api/people/${second.tokens.user.id}`, { role: 'member' }));
    isError(await join(demoted, 'by-a-demoted@shop.example'), 404, 'INVITATION_INVALID');
    isOk(await owner.api.patch(`/api/people/${second.tokens.user.id}`, { role: 'owner' }));
    const removed = await made();
    isOk(await owner.api.delete(`/api/people/${second.tokens.user.id}`), 204);
    isError(await join(removed, 'by-a-removed@shop.example'), 404, 'INVITATION_INVALID');
    isOk(await join(kept, 'by-who-stays@shop.example'), 201);
  });

  test('of an address that is taken is not used up', async () => {
    const token = tokenOf(await invite());
    isError(await join(token, owner.email), 409, 'EMAIL_TAKEN');
    isOk(await join(token, 'after-all@shop.example'), 201);
  });
});

test('what a person set for their screens is theirs alone, and of two tabs the later one is told', async () => {
  const at = '/api/me/preferences';
  assert.deepEqual(isOk(await owner.api.get(at)), {
    version: 0,
    views: [],
    shortcutsOff: false,
    guideDismissedAt: null,
  });
  const views = [
    { name: 'Tone Club <b>failed</b>', query: 'status=failed,in_review&created=7d' },
    { name: 'All', query: '' },
  ];
  const set = isOk(
    await owner.api.put(at, { version: 0, views, shortcutsOff: true, guideDismissedAt: '2026-11-21T10:06:23.000Z' }),
  );
  assert.deepEqual(set, { version: 1, views, shortcutsOff: true, guideDismissedAt: '2026-11-21T10:06:23.000Z' });
  assert.deepEqual(isOk(await owner.api.get(at)), set);
  isError(await owner.api.put(at, { version: 0, views: [] }), 409, 'CONFLICT');
  // Of many tabs at once one alone is the next.
  const tabs = await Promise.all(
    Array.from({ length: 6 }, (_, tab) => owner.api.put(at, { version: 1, views: [{ name: `${tab}`, query: '' }] })),
  );
  assert.deepEqual(tabs.map(({ status }) => status).sort(), [200, ...Array(5).fill(409)]);
  assert.deepEqual(isOk(await owner.api.put(at, { views: [] })), {
    version: 3,
    views: [],
    shortcutsOff: false,
    guideDismissedAt: null,
  });
  // A buyer's name would outlive its erasure there.
  for (const query of [
    'q=jonas',
    'status=failed&q=jonas',
    '%71=jonas',
    'status',
    'status=failed&',
    'status=a b',
    '=x',
  ]) {
    const refused = await owner.api.put(at, { views: [{ name: 'x', query }] });
    isError(refused, 422, 'VALIDATION_FAILED');
    const [problem] = refused.json.error.details;
    assert.deepEqual([problem.field, /search text/.test(problem.problem)], ['views[0].query', true], query);
  }
  isError(await owner.api.put(at, { views: Array(21).fill({ name: 'x', query: '' }) }), 422, 'VALIDATION_FAILED');
  const member = await owner.invite();
  assert.deepEqual(isOk(await member.api.get(at)).version, 0);
  isOk(await member.api.put(at, { views }));
  assert.deepEqual(isOk(await owner.api.get(at)).views, []);
  isError(await owner.open.get(at, { headers: { 'x-api-key': (await owner.key()).secret } }), 403, 'FORBIDDEN');
});

describe('sign-up by invitation alone', () => {
  let bridge, first;
  before(async () => {
    const dataDir = await scratch(scope);
    bridge = await startBridge(scope, { cloudUrl: stack.cloud.url, dataDir, args: ['--identity-signup', 'invite'] });
    const made = await runBridge(['admin', 'create-account', 'first@shop.example', '--data-dir', dataDir], {
      input: `${PASSWORD}\n`,
    });
    assert.equal(made.code, 0, made.stdout + made.stderr);
    const open = new Merchant(bridge, owner.open, { user: {} }, 9);
    open.moveTo(bridge);
    first = new Merchant(
      bridge,
      open.open,
      isOk(await open.open.post('/api/auth/sign-in', { email: 'first@shop.example', password: PASSWORD })),
      9,
    );
  });
  test('nobody makes an account, and whoever is invited joins one', async () => {
    assert.equal(isOk(await first.open.get('/api/auth/config')).signup, 'invite');
    isError(
      await first.open.post('/api/auth/sign-up', { email: 'x@shop.example', password: PASSWORD }),
      403,
      'SIGNUP_CLOSED',
    );
    const member = await first.invite();
    assert.equal(member.accountId, first.accountId);
  });
});

test('where sign-up is closed there are no invitations', async (t) => {
  const dataDir = await scratch(t);
  const bridge = await startBridge(t, { cloudUrl: stack.cloud.url, dataDir, args: ['--identity-signup', 'closed'] });
  const made = await runBridge(['admin', 'create-account', 'first@shop.example', '--data-dir', dataDir], {
    input: `${PASSWORD}\n`,
  });
  assert.equal(made.code, 0, made.stdout + made.stderr);
  const it = new Merchant(bridge, owner.open, { user: {} }, 9);
  it.moveTo(bridge);
  const { idToken } = isOk(
    await it.open.post('/api/auth/sign-in', { email: 'first@shop.example', password: PASSWORD }),
  );
  isError(
    await it.open.with({ authorization: `Bearer ${idToken}` }).post('/api/invitations', { role: 'member' }),
    403,
    'SIGNUP_CLOSED',
  );
});

// Over the whole contract: a member is refused exactly what `x-permission: owner` says, and an owner is refused nothing of the kind.
describe('a member', () => {
  let member, second;
  before(async () => {
    member = await owner.invite();
    second = await owner.invite('owner');
  });
  const closed = operations.filter((one) => !isPublic(one));
  const OWNERS = [
    'changeAccount',
    'listAudit',
    'changePerson',
    'removePerson',
    'listInvitations',
    'createInvitation',
    'revokeInvitation',
    'createKey',
    'changeKey',
    'rotateKey',
    'saveCredentials',
    'deleteCredentials',
    'changeCredits',
    'openCheckout',
    'refreshPurchase',
    'deleteAccount',
    'exportCustomer',
    'eraseCustomer',
  ];
  const READ = [
    'getAccount',
    'listPeople',
    'listKeys',
    'getKey',
    'getKeyUsage',
    'getUsage',
    'getCredentials',
    'validateCredentials',
    'getCredits',
    'listLedger',
    'listPacks',
    'listPurchases',
    'getOverview',
    'followChanges',
    'listSessions',
  ];
  const call = (operation, by, at) => {
    const body = operation.requestBody && resolve(document, operation.requestBody).content['application/json'];
    const json = body && (body.example ?? resolve(document, body.schema).examples?.[0]);
    return by.request(operation.method, filled(operation.path, at), json === undefined ? {} : { json });
  };
  const isOwners = (answer) => answer.status === 403 && answer.json.error.code === 'FORBIDDEN';

  test('the contract has the operations that these tests know', () => {
    const names = closed.map(({ operationId }) => operationId);
    for (const name of OWNERS)
      assert.equal(closed.find(({ operationId }) => operationId === name)?.['x-permission'], 'owner', name);
    for (const name of READ.filter((one) => names.includes(one)))
      assert.notEqual(closed.find(({ operationId }) => operationId === name)['x-permission'], 'owner', name);
    assert.ok(READ.filter((one) => names.includes(one)).length > 10);
  });
  for (const operation of closed.filter((one) => one['x-permission'] === 'owner')) {
    test(`may not ${operation.operationId}`, async () => {
      const before = isOk(await owner.api.get('/api/account/audit?limit=1')).data[0].id;
      const answer = await call(operation, member.api, ids);
      isError(answer, 403, 'FORBIDDEN');
      assert.match(answer.json.error.message, /owners/);
      assert.equal(isOk(await owner.api.get('/api/account/audit?limit=1')).data[0].id, before, 'nothing was done');
      // With ids that nobody has an owner gets past that.
      assert.ok(!isOwners(await call(operation, second.api, {})), 'an owner is refused');
    });
  }
  for (const operation of closed.filter((one) => one['x-permission'] !== 'owner')) {
    if (
      [
        'leaveAccount',
        'endSessions',
        'changePassword',
        'changeEmail',
        'stepUp',
        'cloudLogin',
        'followChanges',
        'followAccount',
        'followEvents',
      ].includes(operation.operationId) ||
      operation.path === '/api/events'
    )
      continue;
    test(`may ${operation.operationId}`, async () => {
      const answer = await call(operation, member.api, {});
      assert.ok(!isOwners(answer), answer.text);
    });
  }
  test('becomes an owner, and one again, at once', async () => {
    const path = `/api/people/${member.tokens.user.id}`;
    const person = isOk(await owner.api.patch(path, { role: 'owner' }));
    assert.deepEqual([person.role, person.email, person.current], ['owner', member.tokens.user.email, false]);
    isOk(await member.api.get('/api/account/audit'));
    isOk(await owner.api.patch(path, { role: 'member' }));
    isError(await member.api.get('/api/account/audit'), 403, 'FORBIDDEN');
  });
});

describe('people', () => {
  test('the last owner stays, and so two at once cannot both go', async () => {
    const one = await Merchant.signUp(stack.bridge, 3, { credits: 0, connected: false });
    isError(await one.api.post('/api/account/leave'), 409, 'LAST_OWNER');
    isError(await one.api.patch(`/api/people/${one.tokens.user.id}`, { role: 'member' }), 409, 'LAST_OWNER');
    isError(await one.api.delete(`/api/people/${one.tokens.user.id}`), 409, 'LAST_OWNER');
    const two = await one.invite('owner');
    const left = await Promise.all([one, two].map((person) => person.api.post('/api/account/leave')));
    assert.deepEqual(left.map(({ status }) => status).sort(), [204, 409]);
  });

  test('who is removed is out at once, and their address is free', async () => {
    const person = await owner.invite();
    isOk(await person.api.get('/api/people'));
    isOk(await owner.api.delete(`/api/people/${person.tokens.user.id}`), 204);
    isError(await person.api.get('/api/account'), 401, 'UNAUTHORIZED');
    isError(
      await person.open.post('/api/auth/refresh', { refreshToken: person.tokens.refreshToken }),
      401,
      'UNAUTHORIZED',
    );
    isError(
      await person.open.post('/api/auth/sign-in', { email: person.email, password: PASSWORD }),
      401,
      'INVALID_CREDENTIALS',
    );
    const again = isOk(await join(tokenOf(await invite()), person.email), 201);
    assert.notEqual(again.user.id, person.tokens.user.id);
  });

  test('another e-mail address: the password is asked, and all other sessions end', async () => {
    const person = await owner.invite();
    const email = 'moved@shop.example';
    isError(
      await person.api.post('/api/auth/email', { password: 'not the pass phrase', email }),
      401,
      'INVALID_CREDENTIALS',
    );
    isError(await person.api.post('/api/auth/email', { password: PASSWORD, email: owner.email }), 409, 'EMAIL_TAKEN');
    isError(
      await person.api.post('/api/auth/email', { password: PASSWORD, email: person.email }),
      422,
      'VALIDATION_FAILED',
    );
    const other = isOk(await person.open.post('/api/auth/sign-in', { email: person.email, password: PASSWORD }));
    const changed = isOk(
      await person.api.post('/api/auth/email', { password: PASSWORD, email: ' Moved@Shop.example ' }),
    );
    assert.deepEqual([changed.user.email, Array.isArray(changed.keys)], [email, true]);
    isError(await person.open.post('/api/auth/refresh', { refreshToken: other.refreshToken }), 401, 'UNAUTHORIZED');
    isError(
      await person.open.post('/api/auth/sign-in', { email: person.email, password: PASSWORD }),
      401,
      'INVALID_CREDENTIALS',
    );
    isOk(await person.open.post('/api/auth/sign-in', { email, password: PASSWORD }));
  });
});

// The rows of all tables of a service's database, as statements that insert them.
async function rowsOf({ dataDir, databaseUrl }) {
  const [program, ...args] = databaseUrl
    ? ['/usr/lib/postgresql/15/bin/pg_dump', '--data-only', '--inserts', '-d', databaseUrl]
    : ['sqlite3', '-readonly', path.join(dataDir, 'presetbridge.db'), '.dump'];
  const { stdout } = await run(program, args, { maxBuffer: 1 << 28 });
  return stdout.split(/^INSERT INTO /m).slice(1); // a row may have several lines
}
// Every table, with what its blobs hold: where the text is found.
const ZSTD = Buffer.from('28b52ffd', 'hex');
async function tablesWith(bridge, text) {
  const found = new Set();
  for (const row of await rowsOf(bridge)) {
    const table = row.match(/^(?:public\.)?"?(\w+)/)[1];
    const blobs = [...row.matchAll(/(?:X'|'\\x)([0-9a-f]+)'/g)].map(([, hex]) => Buffer.from(hex, 'hex'));
    const texts = blobs.map((blob) =>
      (blob.subarray(0, 4).equals(ZSTD) ? execFileSync('zstd', ['-dcq'], { input: blob }) : blob).toString('latin1'),
    );
    if ([row, ...texts].some((one) => one.toLowerCase().includes(text))) found.add(table);
  }
  return [...found].sort();
}

describe('a customer', () => {
  const email = 'Zyxplanted@buyer.example';
  let merchant, shop, hooks, orders;
  // The answers of receivers are stored for a while, too.
  const echo = ({ body }) => ({ status: 200, body: String(body) });
  const page = async (by, who) => {
    const rows = [];
    for (let cursor; cursor !== null;) {
      const answer = isOk(
        await by.api.post('/api/customers/export', { ...who, limit: 2, ...(cursor ? { cursor } : {}) }),
      );
      rows.push(...answer.data);
      cursor = answer.nextCursor;
    }
    return rows;
  };
  const erased = async (who) => {
    const { id, action } = isOk(await merchant.api.post('/api/customers/erase', who), 202);
    assert.equal(action, 'customers.erase');
    return until(
      'it is erased',
      async () => {
        const job = isOk(await merchant.api.get(`/api/bulk/${id}`));
        return job.finishedAt !== null && job;
      },
      20_000,
    );
  };

  before(async () => {
    merchant = await Merchant.signUp(stack.bridge, 2);
    hooks = await startReceiver(scope, { answer: echo });
    isOk(await merchant.api.post('/api/webhook-subscriptions', { url: hooks.url }), 201);
    shop = await merchant.store('provider_a');
    const own = await merchant.store('generic');
    const planted = (fields) => ({
      ...sampleOrder('provider_a', { sku: 'A-1', email, username: 'zyxplanted-user', ...fields }),
      customer: { first_name: 'Zyxplanted', email },
      note: 'for zyxplanted',
    });
    const send = async (order) => isOk(await merchant.send(shop, order), 202);
    const done = await send(planted({ orderId: '1' }));
    const unmapped = await send(planted({ orderId: '2', sku: 'nothing' }));
    const unpaid = await send({ ...planted({ orderId: '3' }), financial_status: 'pending' });
    const nameless = await send({ ...planted({ orderId: '4', username: undefined }), note: '' });
    const other = await send(
      sampleOrder('provider_a', { orderId: '5', sku: 'A-1', email: 'kept@buyer.example', username: 'kept-user' }),
    );
    const direct = isOk(
      await merchant.send(own, { orderId: 'direct-6', targetUsername: 'zyxplanted-direct', items: [{ sku: 'A-2' }] }),
      202,
    );
    await merchant.reaches(done.deliveryId, 'completed');
    await merchant.reaches(other.deliveryId, 'completed');
    await merchant.reaches(direct.deliveryId, 'completed');
    // Another username from now on; the records of the former one stay.
    isOk(await merchant.api.post(`/api/deliveries/${direct.deliveryId}/reopen`));
    isOk(await merchant.api.post(`/api/deliveries/${direct.deliveryId}/retry`, { targetUsername: 'zyxplanted-later' }));
    isOk(await merchant.api.post(`/api/deliveries/${direct.deliveryId}/approve`));
    await merchant.reaches(direct.deliveryId, 'completed');
    await until('receivers were told', () => hooks.requests.length >= 4);
    orders = { done, unmapped, unpaid, nameless, other, direct };
  });

  test('of whose name nothing is left is nobody, and not everybody', async () => {
    for (const name of ['\u00a0', '&nbsp;', '\u3000', '&#32;', '@\u00a0']) {
      for (const who of [{ email: name }, { username: name }]) {
        if (name.startsWith('@') && who.email) continue;
        for (const asked of [who, { ...who, dryRun: true }])
          isError(await merchant.api.post('/api/customers/erase', asked), 422, 'VALIDATION_FAILED');
        isError(await merchant.api.post('/api/customers/export', who), 422, 'VALIDATION_FAILED');
      }
    }
  });

  test('is exported whole, and nobody else with them', async () => {
    const rows = await page(merchant, { email: email.toUpperCase() });
    assert.deepEqual(
      rows.map(({ order }) => order.orderId),
      ['1', '2', '3', '4'],
    );
    const [done, unmapped] = rows;
    assert.equal(JSON.parse(done.payload).customer.first_name, 'Zyxplanted');
    assert.deepEqual(
      [done.delivery.customerEmail, done.delivery.targetUsername, done.delivery.items[0].username],
      [email, 'zyxplanted-user', 'zyxplanted-user'],
    );
    assert.ok(done.delivery.timeline.some(({ type }) => type === 'item_shared'));
    assert.deepEqual([unmapped.delivery, unmapped.order.outcome], [null, 'no_mapped_items']);
    assert.ok(!JSON.stringify(rows).includes('kept'));
    // By a name that a delivery has, and by one that it had.
    for (const username of ['@Zyxplanted-Later', 'zyxplanted-direct'])
      assert.deepEqual(
        (await page(merchant, { username })).map(({ order }) => order.orderId),
        ['direct-6'],
      );
    assert.deepEqual(await page(merchant, { email: 'zyxplanted@buyer.exampl' }), [], 'a beginning is not the whole');
    assert.deepEqual(await page(owner, { email }), [], 'of another account');
    isError(await merchant.api.post('/api/customers/export', {}), 422, 'VALIDATION_FAILED');
    isError(await merchant.api.post('/api/customers/export', { email, username: 'x' }), 422, 'VALIDATION_FAILED');
  });

  test('who is erased is found nowhere', async () => {
    const planted = await tablesWith(stack.bridge, 'zyxplanted');
    for (const table of [
      'customers',
      'deliveries',
      'delivery_items',
      'delivery_keys',
      'order_payloads',
      'orders',
      'outbound_events',
      'webhook_attempts',
    ])
      assert.ok(planted.includes(table), `${table} is looked through: ${planted}`);
    assert.deepEqual(isOk(await merchant.api.post('/api/customers/erase', { email, dryRun: true })), {
      total: 4,
      totalIsExact: true,
    });
    const job = await erased({ email });
    assert.deepEqual([job.done, job.failedCount, job.fault], [4, 0, null]);
    for (const username of ['zyxplanted-later', 'zyxplanted-direct']) await erased({ username });
    assert.deepEqual(await page(merchant, { email }), []);
    assert.equal((await merchant.delivery(orders.nameless.deliveryId)).status, 'invalidated');
    assert.equal((await merchant.delivery(orders.nameless.deliveryId)).reason, 'erased');
    assert.equal((await merchant.delivery(orders.done.deliveryId)).status, 'completed');
    assert.deepEqual(await tablesWith(stack.bridge, 'zyxplanted'), []);
    assert.ok(!stack.bridge.log.some((line) => line.toLowerCase().includes('zyxplanted')), 'in the log');
    // A repeat of the store's does not bring them back.
    isOk(
      await merchant.send(shop, {
        ...sampleOrder('provider_a', { orderId: '1', sku: 'A-1', email, username: 'zyxplanted-user' }),
        updated_at: new Date().toISOString(),
      }),
      202,
    );
    assert.deepEqual(await tablesWith(stack.bridge, 'zyxplanted'), []);
    // Others stay, and the books.
    const kept = await merchant.delivery(orders.other.deliveryId);
    assert.deepEqual([kept.customerEmail, kept.targetUsername], ['kept@buyer.example', 'kept-user']);
    assert.equal((await merchant.balance()).spent, 4);
  });
});

describe('the audit log', () => {
  test('tells who, from where, and from what to what; and is searched', async () => {
    const it = await Merchant.signUp(stack.bridge, 4, { credits: 7, connected: false });
    isError(
      await it.open.post('/api/auth/sign-in', { email: it.email, password: 'not the pass phrase' }),
      401,
      'INVALID_CREDENTIALS',
    );
    const tokens = isOk(await it.open.post('/api/auth/sign-in', { email: it.email, password: PASSWORD }));
    isOk(await it.open.post('/api/auth/refresh', { refreshToken: tokens.refreshToken }));
    isError(await it.open.post('/api/auth/refresh', { refreshToken: tokens.refreshToken }), 401, 'UNAUTHORIZED');
    const { refreshToken } = isOk(await it.open.post('/api/auth/sign-in', { email: it.email, password: PASSWORD }));
    assert.equal((await it.open.post('/api/auth/sign-out', { refreshToken })).status, 204);
    const changed = await it.api.patch('/api/account', { name: 'Another name' });
    isOk(changed);
    const key = await it.key({ name: 'first' });
    isOk(await it.api.patch(`/api/keys/${key.id}`, { name: 'second', permissions: ['presets:read'] }));
    const log = async (query = '') => isOk(await it.api.get(`/api/account/audit${query}`)).data;
    const all = await log('?limit=100');
    const actions = all.map(({ action }) => action).reverse();
    assert.deepEqual(actions, [
      'account.created',
      'session.started',
      'credits.granted',
      'sign_in.failed',
      'session.started',
      'refresh_token.reused',
      'session.started',
      'session.signed_out',
      'account.changed',
      'api_key.created',
      'api_key.renamed',
      'api_key.permissions_changed',
    ]);
    const of = (action) => all.find((entry) => entry.action === action);
    assert.deepEqual(of('account.changed').changes, [{ field: 'name', from: 'Shop 4', to: 'Another name' }]);
    assert.deepEqual(
      [of('account.changed').requestId, of('account.changed').network, of('account.changed').actorName],
      [changed.headers['x-request-id'], '127.0.0.1', it.email],
    );
    assert.deepEqual(of('api_key.renamed').changes, [{ field: 'name', from: 'first', to: 'second' }]);
    assert.match(of('credits.granted').actorName, / on /, 'who the operator was');
    for (const entry of all)
      assert.ok(!JSON.stringify(entry).match(/pdb_(live|refresh)_|pass phrase/), JSON.stringify(entry));
    assert.deepEqual(
      (await log('?action=session.')).map(({ action }) => action),
      ['session.signed_out', 'session.started', 'session.started', 'session.started'],
    );
    assert.deepEqual(
      (await log('?actor=operator')).map(({ action }) => action),
      ['credits.granted'],
    );
    assert.equal((await log(`?target=${key.id}`)).length, 3);
    assert.equal((await log(`?to=${of('account.changed').at}`)).length, 8);
    assert.equal((await log(`?from=${of('account.changed').at}&action=account.changed`)).length, 1);
    // Pages of a filter join without a gap.
    const paged = [];
    for (let cursor = ''; cursor !== null;) {
      const answer = isOk(
        await it.api.get(`/api/account/audit?limit=1&action=session.${cursor && `&cursor=${cursor}`}`),
      );
      paged.push(...answer.data);
      cursor = answer.nextCursor;
    }
    assert.equal(paged.length, 4);
  });
});

describe('an account', () => {
  test('is deleted with all that is known of its people and customers', async () => {
    const it = await Merchant.signUp(stack.bridge, 5, { credits: 10, connected: false });
    it.number = 4; // who has a login at the platform
    await it.connect();
    // Nothing of another test is called so.
    isOk(await it.api.patch('/api/account', { name: 'Qwvgone Shop', supportEmail: 'qwvgone@shop.example' }));
    isOk(await it.api.post('/api/auth/email', { password: PASSWORD, email: 'qwvgone-owner@shop.example' }));
    const me = isOk(
      await it.open.post('/api/auth/sign-in', { email: 'qwvgone-owner@shop.example', password: PASSWORD }),
    );
    const api = it.open.with({ authorization: `Bearer ${me.idToken}` });
    it.api = api;
    const shop = await it.store('provider_a');
    const key = await it.key();
    const { deliveryId } = await it.order(shop, {
      orderId: '1',
      username: 'qwvgone-buyer',
      email: 'qwvgone@buyer.example',
    });
    await it.reaches(deliveryId, 'completed');
    const member = await it.invite();
    isError(await api.post('/api/account/delete', { name: 'Another Shop' }), 422, 'VALIDATION_FAILED');
    isError(await member.api.post('/api/account/delete', { name: 'Qwvgone Shop' }), 403, 'FORBIDDEN');
    assert.equal((await api.post('/api/account/delete', { name: 'Qwvgone Shop' })).status, 204);
    for (const person of [api, member.api]) isError(await person.get('/api/account'), 401, 'UNAUTHORIZED');
    isError(await it.open.with({ 'x-api-key': key.secret }).get('/api/account'), 403, 'FORBIDDEN');
    isError(
      await it.open.post('/api/auth/sign-in', { email: 'qwvgone-owner@shop.example', password: PASSWORD }),
      401,
      'INVALID_CREDENTIALS',
    );
    assert.equal(
      (await it.send(shop, sampleOrder('provider_a', { orderId: '2', sku: 'A-1', username: 'qwvgone-late' }))).status,
      404,
    );
    await until(
      'customers are erased',
      async () => {
        const left = (await tablesWith(stack.bridge, 'qwvgone')).filter((table) => table !== 'audit_log');
        if (left.length > 0) throw new Error(`still in ${left}`);
        return true;
      },
      20_000,
    );
  });
});

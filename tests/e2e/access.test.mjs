// Who gets what: over every operation of the contract, with no credentials, another tenant's, keys without the permission, of another store,
// inactive and expired. Each is refused as the contract says, and no refusal holds anything of the merchant's.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Scope, until } from './harness.mjs';
import { Merchant, contract, isError, isOk, operations, startStack } from './merchant.mjs';
import { resolve } from './schema_values.mjs';

const scope = new Scope({ after });
const { document } = contract;
const PERMISSIONS = document.components.schemas.Permission.enum;
// What is of one of the merchant's things.
const PATH_IDS = /\{(?!preset\})[^}]+\}/;
const closed = operations.filter(({ security, operationId }) => security?.length !== 0 && !['receiveOrder', 'deleteKey'].includes(operationId));
const named = ({ method, path }) => `${method} ${path}`;

let merchant, other, store, ids, planted;
before(async () => {
  const stack = await startStack(scope);
  merchant = await Merchant.signUp(stack.bridge, 1);
  other = await Merchant.signUp(stack.bridge, 2);
  store = await merchant.store('generic');
  const made = await merchant.oneOfEach(store, { orderId: 'planted-order', username: 'planted-buyer', email: 'planted@shop.example' }, { url: 'https://planted.example/hook', integrationIds: [store.id] });
  ids = made.ids;
  const { preset, ...own } = ids;
  planted = ['planted', ...Object.values(own), made.asking.id, merchant.accountId, ...made.secrets, merchant.cloudLogin.email];
});

// The operation with the merchant's ids and the contract's own example of a body.
function call(operation, by, options = {}) {
  const body = operation.requestBody && resolve(document, operation.requestBody).content['application/json'];
  const json = body && (body.example ?? resolve(document, body.schema).examples[0]);
  return by.request(operation.method, operation.path.replace(/\{([^}]+)\}/g, (_, name) => ids[name]), { ...(json === undefined ? {} : { json }), ...options });
}
function holdsNothing(operation, answer) {
  // The path itself is what the caller has sent.
  for (const text of planted) assert.ok(!answer.text.includes(text), `${named(operation)} shows ${text}: ${answer.text.slice(0, 300)}`);
}
const withKey = (key) => merchant.open.with({ 'x-api-key': key.secret });

test('every operation that is not open says who may call it', () => {
  assert.ok(closed.length > 35, String(closed.length));
  for (const operation of closed) {
    const needed = operation['x-permission'];
    assert.ok(operation.operationId === 'getAccount' || needed === 'account' || PERMISSIONS.includes(needed), named(operation));
    const keys = !operation.security || operation.security.some((one) => one.apiKey);
    assert.equal(keys, needed !== 'account', `${named(operation)}: x-permission and security say the same`);
  }
});

describe('nobody', () => {
  for (const operation of closed) {
    test(named(operation), async () => {
      for (const headers of [{}, { authorization: 'Bearer x.y.z' }, { 'x-api-key': 'pdb_live_x' }]) {
        const answer = await call(operation, merchant.open, { headers });
        isError(answer, 401, 'UNAUTHORIZED');
        holdsNothing(operation, answer);
      }
    });
  }
});

describe('a key that may do everything but this', () => {
  const keys = new Map();
  const keyWithout = async (permission) => {
    if (!keys.has(permission)) keys.set(permission, withKey(await other.key({ permissions: PERMISSIONS.filter((one) => one !== permission) })));
    return keys.get(permission);
  };
  for (const operation of closed.filter((one) => one['x-permission'])) {
    test(named(operation), async () => {
      const key = await keyWithout(operation['x-permission']);
      const answer = await call(operation, key);
      isError(answer, 403, 'FORBIDDEN');
      holdsNothing(operation, answer);
      // A person's token beside it gives it no more.
      isError(await call(operation, key.with({ authorization: other.api.headers.authorization })), 403, 'FORBIDDEN');
    });
  }
});

describe('a key that may do this alone', () => {
  for (const permission of PERMISSIONS) {
    test(permission, async () => {
      const key = withKey(await other.key({ permissions: [permission] }));
      for (const operation of closed.filter((one) => one['x-permission'] === permission)) {
        const answer = await call(operation, key);
        if (PATH_IDS.test(operation.path)) isError(answer, 404, 'NOT_FOUND');
        assert.ok(![401, 403].includes(answer.status) || answer.json.error.code === 'INVALID_CREDENTIALS', `${named(operation)}: ${answer.text}`);
      }
    });
  }
});

describe('an inactive and an expired key', () => {
  let refused;
  before(async () => {
    const inactive = await merchant.key({ permissions: PERMISSIONS });
    isOk(await merchant.api.patch(`/api/keys/${inactive.id}`, { active: false }));
    const expired = await merchant.key({ permissions: PERMISSIONS, expiresAt: new Date(Date.now() + 1500).toISOString() });
    await until('the key has expired', async () => (await withKey(expired).get('/api/account')).status === 403);
    refused = [inactive, expired].map(withKey);
  });
  for (const operation of closed) {
    test(named(operation), async () => {
      for (const key of refused) {
        const answer = await call(operation, key);
        isError(answer, 403, 'FORBIDDEN');
        holdsNothing(operation, answer);
      }
    });
  }
});

describe("another tenant's ids", () => {
  for (const operation of closed.filter((one) => PATH_IDS.test(one.path))) {
    test(named(operation), async () => {
      const answer = await call(operation, other.api);
      isError(answer, 404, 'NOT_FOUND');
      holdsNothing(operation, answer);
    });
  }
  for (const operation of closed.filter((one) => one.method === 'GET' && !PATH_IDS.test(one.path))) {
    test(named(operation), async () => holdsNothing(operation, await call(operation, other.api)));
  }
});

describe('a key of another store of the same merchant', () => {
  let key;
  before(async () => {
    const second = await merchant.store('provider_a');
    key = withKey(await merchant.key({ permissions: PERMISSIONS, integrationIds: [second.id] }));
  });
  const open = closed.filter((one) => one['x-permission'] && one['x-permission'] !== 'account');
  for (const operation of open.filter((one) => PATH_IDS.test(one.path))) {
    test(named(operation), async () => {
      const answer = await call(operation, key);
      isError(answer, 404, 'NOT_FOUND');
      holdsNothing(operation, answer);
    });
  }
  // The files of the cloud user are of no store.
  for (const operation of open.filter((one) => one.method === 'GET' && !PATH_IDS.test(one.path) && one['x-permission'] !== 'presets:read')) {
    test(named(operation), async () => {
      const answer = await call(operation, key);
      isOk(answer);
      holdsNothing(operation, answer);
    });
  }
});

test('and nothing of it happened', async () => {
  assert.equal(isOk(await merchant.api.get(`/api/integrations/${store.id}/mappings`)).mappings.length, 5);
  assert.deepEqual((await merchant.delivery(ids.delivery)).timeline.filter(({ actor }) => /^(usr|key)_/.test(actor)), []);
  assert.equal(isOk(await merchant.api.get(`/api/webhook-subscriptions/${ids.subscription}`)).active, true);
  assert.equal(isOk(await merchant.api.get(`/api/keys/${ids.key}`)).name, 'planted key');
  assert.equal(isOk(await merchant.api.get('/api/credentials')).status, 'valid');
});

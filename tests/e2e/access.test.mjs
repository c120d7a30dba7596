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
const PERSONS = ['account', 'owner'];
// Paths with the id of one of the merchant's objects.
const PATH_IDS = /\{(?!preset\})[^}]+\}/;
const closed = operations.filter(
  ({ security, operationId }) => security?.length !== 0 && !['receiveOrder', 'deleteKey'].includes(operationId),
);
const named = ({ method, path }) => `${method} ${path}`;

let merchant, other, store, ids, item, planted;
before(async () => {
  const stack = await startStack(scope);
  merchant = await Merchant.signUp(stack.bridge, 1);
  other = await Merchant.signUp(stack.bridge, 2);
  store = await merchant.store('generic');
  const made = await merchant.oneOfEach(
    store,
    { orderId: 'planted-order', username: 'planted-buyer', email: 'planted@shop.example' },
    { url: 'https://planted.example/hook', integrationIds: [store.id] },
  );
  ids = made.ids;
  item = (await merchant.delivery(ids.delivery)).items[0].id;
  const { preset, ...own } = ids;
  planted = [
    'planted',
    ...Object.values(own),
    made.asking.id,
    merchant.accountId,
    ...made.secrets,
    merchant.cloudLogin.email,
  ];
});

// The operation with the merchant's ids and the contract's own example of a body.
function call(operation, by, options = {}) {
  const body = operation.requestBody && resolve(document, operation.requestBody).content['application/json'];
  const json = body && (body.example ?? resolve(document, body.schema).examples[0]);
  return by.request(
    operation.method,
    operation.path.replace(/\{([^}]+)\}/g, (_, name) => ids[name]),
    { ...(json === undefined ? {} : { json }), ...options },
  );
}
function holdsNothing(operation, answer, sent = []) {
  for (const text of planted.filter((one) => !sent.includes(one)))
    assert.ok(!answer.text.includes(text), `${named(operation)} shows ${text}: ${answer.text.slice(0, 300)}`);
}
const withKey = (key) => merchant.open.with({ 'x-api-key': key.secret });

test('every operation that is not open says who may call it', () => {
  assert.ok(closed.length > 35, String(closed.length));
  for (const operation of closed) {
    const needed = operation['x-permission'];
    assert.ok(
      operation.operationId === 'getAccount' || PERSONS.includes(needed) || PERMISSIONS.includes(needed),
      named(operation),
    );
    const keys = !operation.security || operation.security.some((one) => one.apiKey);
    assert.equal(keys, !PERSONS.includes(needed), `${named(operation)}: x-permission and security say the same`);
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
    if (!keys.has(permission))
      keys.set(permission, withKey(await other.key({ permissions: PERMISSIONS.filter((one) => one !== permission) })));
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
        assert.ok(
          ![401, 403].includes(answer.status) || answer.json.error.code === 'INVALID_CREDENTIALS',
          `${named(operation)}: ${answer.text}`,
        );
      }
    });
  }
});

describe('an inactive and an expired key', () => {
  let refused;
  before(async () => {
    const inactive = await merchant.key({ permissions: PERMISSIONS });
    isOk(await merchant.api.patch(`/api/keys/${inactive.id}`, { active: false }));
    const expired = await merchant.key({
      permissions: PERMISSIONS,
      expiresAt: new Date(Date.now() + 5000).toISOString(),
    });
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
  const open = closed.filter((one) => one['x-permission'] && !PERSONS.includes(one['x-permission']));
  for (const operation of open.filter((one) => PATH_IDS.test(one.path))) {
    test(named(operation), async () => {
      const answer = await call(operation, key);
      isError(answer, 404, 'NOT_FOUND');
      holdsNothing(operation, answer);
    });
  }
  // The files of the cloud user are of no store.
  for (const operation of open.filter(
    (one) => one.method === 'GET' && !PATH_IDS.test(one.path) && one['x-permission'] !== 'presets:read',
  )) {
    test(named(operation), async () => {
      const answer = await call(operation, key);
      isOk(answer);
      holdsNothing(operation, answer);
    });
  }
});

// Parameters of queries and bodies that name an object of a merchant, by the contract's names, with the ids of this merchant's.
const NAMES = {
  integrationId: () => ids.integration,
  integrationIds: () => [ids.integration],
  owningKeyId: () => ids.key,
  deliveryId: () => ids.delivery,
  itemIds: () => [item],
  orderId: () => 'planted-order',
  order: () => 'planted-order',
  q: () => 'planted-buyer',
  username: () => 'planted-buyer',
  fileId: () => ids.preset,
};
const NOBODYS = { integrationId: 'int_0a1b2c3d4e5f6', deliveryId: 'del_0a1b2c3d4e5f6' };
const FIGURES = /^\/api\/(stats|usage|search)/;
const unseen = ({ json: { asOf, ...rest } }) => rest;
const parametersOf = ({ path, parameters = [] }) =>
  [...(document.paths[path].parameters ?? []), ...parameters].map((one) => resolve(document, one));

describe("another tenant's ids in queries and bodies", () => {
  let key, own;
  before(async () => {
    const shop = await other.store('generic');
    const made = await other.oneOfEach(
      shop,
      { orderId: 'own-order', username: 'own-buyer' },
      { url: 'https://own.example/hook' },
    );
    own = made.ids;
    const second = await merchant.store('provider_b');
    key = withKey(await merchant.key({ permissions: PERMISSIONS, integrationIds: [second.id] }));
  });
  const asks = closed.flatMap((operation) =>
    parametersOf(operation)
      .filter(({ in: where, name }) => where === 'query' && name in NAMES)
      .map(({ name }) => [operation, name]),
  );
  test('there are such parameters', () =>
    assert.deepEqual([...new Set(asks.map(([, name]) => name))].sort(), [
      'deliveryId',
      'fileId',
      'integrationId',
      'order',
      'orderId',
      'q',
    ]));
  for (const [operation, name] of asks) {
    test(`${named(operation)}?${name}`, async () => {
      const query = `?${new URLSearchParams({ [name]: [NAMES[name]()].flat().join() })}`;
      const path = operation.path.replace(/\{([^}]+)\}/g, (_, one) => own[one]);
      for (const by of [
        other.api,
        ...(PATH_IDS.test(operation.path) || name === 'fileId' || PERSONS.includes(operation['x-permission'])
          ? []
          : [key]),
      ]) {
        const answer = await by.request(operation.method, path + query);
        // As of an id that nobody has.
        const nothing = await by.request(
          operation.method,
          `${path}?${new URLSearchParams({ [name]: NOBODYS[name] ?? 'nobody-at-all' })}`,
        );
        assert.deepEqual(
          [answer.status, unseen(answer)],
          [nothing.status, unseen(nothing)],
          `${named(operation)} finds ${answer.text.slice(0, 300)}`,
        );
        assert.ok(
          answer.status === 404 || FIGURES.test(operation.path) || isOk(answer).data.length === 0,
          answer.text.slice(0, 300),
        );
      }
    });
  }
  for (const operation of closed.filter((one) => one.requestBody)) {
    const body = resolve(document, operation.requestBody).content['application/json'];
    const schema = body && resolve(document, body.schema);
    for (const name of Object.keys(schema?.properties ?? {}).filter(
      (one) => one in NAMES && !resolve(document, schema.properties[one]).readOnly,
    )) {
      test(`${named(operation)} {${name}}`, async () => {
        const example = body.example ?? schema.examples[0];
        const { itemIds, username, order, ...rest } = example;
        const path = operation.path.replace(/\{([^}]+)\}/g, (_, one) => own[one]);
        const answer = await other.api.request(operation.method, path, { json: { ...rest, [name]: NAMES[name]() } });
        holdsNothing(operation, answer, [NAMES[name]()].flat());
        assert.ok(
          [404, 409, 422].includes(answer.status) || answer.json.total === 0,
          `${named(operation)}: ${answer.status} ${answer.text.slice(0, 300)}`,
        );
      });
    }
  }
});

describe('a key of another store, where the path names none', () => {
  let key;
  before(async () => {
    const third = await merchant.store('provider_b');
    key = withKey(await merchant.key({ permissions: PERMISSIONS, integrationIds: [third.id] }));
  });
  for (const operation of closed.filter(
    (one) =>
      one.method === 'POST' &&
      !/\{/.test(one.path) &&
      PERMISSIONS.includes(one['x-permission']) &&
      one.operationId !== 'cloudLogin',
  )) {
    test(named(operation), async () => {
      const body = resolve(document, operation.requestBody).content['application/json'];
      const { integrationIds, integrationId, ...rest } = body.example ?? resolve(document, body.schema).examples[0];
      for (const json of [
        rest,
        { ...rest, integrationId: ids.integration },
        { ...rest, integrationIds: [ids.integration] },
      ]) {
        const answer = await key.request('POST', operation.path, { json });
        holdsNothing(operation, answer);
        assert.ok(
          [403, 404, 422].includes(answer.status) ||
            answer.json.total === 0 ||
            !answer.json.integrationIds?.includes(ids.integration),
          `${named(operation)}: ${answer.text}`,
        );
        // An object that it makes is limited to its own stores.
        if (answer.json.integrationIds) assert.notDeepEqual(answer.json.integrationIds, []);
      }
    });
  }
});

describe("a buyer's link", () => {
  const links = operations.filter(({ path }) => path.startsWith('/api/buyer'));
  let dead, others;
  before(async () => {
    const linkOf = async (by, id) => new URL((await by.delivery(id)).buyerUrl).hash.slice(1);
    dead = await linkOf(merchant, ids.delivery);
    isOk(await merchant.api.post(`/api/deliveries/${ids.delivery}/buyer-link`));
    const shop = await other.store('generic');
    others = await linkOf(
      other,
      (await other.order(shop, { orderId: 'other-order', username: 'other-buyer' })).deliveryId,
    );
  });
  test('there are operations', () => assert.equal(links.length, 4));
  for (const operation of links) {
    test(named(operation), async () => {
      for (const headers of [
        {},
        { 'x-buyer-token': '' },
        { 'x-buyer-token': dead },
        { 'x-buyer-token': 'A'.repeat(32) },
        { authorization: merchant.api.headers.authorization },
      ]) {
        const answer = await call(operation, merchant.open, { headers });
        isError(answer, 404, 'NOT_FOUND');
        holdsNothing(operation, answer);
      }
      const answer = await call(operation, merchant.open, { headers: { 'x-buyer-token': others } });
      assert.notEqual(answer.status, 404);
      holdsNothing(operation, answer);
    });
  }
});

test('and nothing of it happened', async () => {
  assert.equal(isOk(await merchant.api.get(`/api/integrations/${store.id}/mappings`)).mappings.length, 5);
  const acts = (await merchant.delivery(ids.delivery)).timeline.filter(({ actor }) =>
    /^(usr|key)_|^buyer$/.test(actor),
  );
  assert.deepEqual(
    acts.map(({ actor }) => actor).filter((actor) => actor !== merchant.tokens.user.id),
    [],
  );
  assert.equal(isOk(await merchant.api.get(`/api/webhook-subscriptions/${ids.subscription}`)).active, true);
  assert.equal(isOk(await merchant.api.get(`/api/keys/${ids.key}`)).name, 'planted key');
  assert.equal(isOk(await merchant.api.get('/api/credentials')).status, 'valid');
});

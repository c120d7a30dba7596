// The contract, held against the service by thousands of requests that a seed draws from it: valid ones, and such that are a little off. The
// service never fails, never answers outside the contract and never waits beyond its deadline. It refuses what a schema refuses, and takes what a
// schema takes, except for rules that no schema can state.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { Scope, until } from './harness.mjs';
import { Merchant, PASSWORD, contract, isOk, operations, startStack } from './merchant.mjs';
import { sendOrder } from './orders.mjs';
import { alterations, fromText, memberNames, oddTexts, resolve, undeclared, values } from './schema_values.mjs';

const SEED = Number(process.env.PRESETBRIDGE_E2E_SEED ?? 20261121);
const { document, ajv } = contract;
const scope = new Scope({ after });
const sample = (arbitrary, count, seed) => fc.sample(arbitrary, { numRuns: count, seed: SEED + seed });

// Stored data, time or another system decide these, and no schema does.
const BEYOND = [
  /^cannot be changed/,
  /^is not one of your /,
  /^is in the past$/,
  /^is not a username$/,
  /^says the same as mappings/,
  /^has more than \d+ mappings$/,
  /^is empty, and would match nothing$/,
  /; the URL's host is (an address that may not be called|neither an address nor a name of the public internet|empty or too long)$/,
  /is not the id of one of your /,
  /is no item of this delivery$/,
  /^nobody of that name got a file of this delivery$/,
  /^is longer than (255|320|1000) bytes$/,
  /^is not of provider generic$/,
  /^names no user$/,
  /^is not a pack that is sold$/,
  /^must be the name of a time zone, /,
  /^must be before `to`$/,
  /^must be \d+ days at most before `to`/,
  /^must be of the last 90 days: /,
  /^must be in the next 30 days$/,
  /^is the address that you sign in with$/,
  /^is not the name of the account$/,
];
// Each of these costs a hash of a password, or a login at the platform.
const SLOW = new Set([
  'signUp',
  'signIn',
  'changePassword',
  'changeEmail',
  'stepUp',
  'saveCredentials',
  'cloudLogin',
  'validateCredentials',
]);
// An account's logins at the platform are few, and what the last ones take away is missing to all later requests.
const TURN = { validateCredentials: -1, deleteCredentials: 1 };
// So much of what is asked may be put off (429).
const MOST_PUT_OFF = 0.4;

let stack, merchant, other, leaving, ids, key, store, shop;
// A link takes one act a minute: enough links that some acts are taken, turn by turn.
const BUYERS = 40;
const buyers = { correctBuyerUsername: [], retryBuyerDelivery: [], getBuyerDelivery: [], followBuyerDelivery: [] };
before(async () => {
  stack = await startStack(scope, {
    args: [
      '--identity-signups-per-address',
      '2000',
      '--identity-signups-per-hour',
      '2000',
      '--identity-failures-per-address',
      '5000',
      '--http-failures-per-address',
      '5000',
      '--api-key-requests-per-hour',
      '100000',
    ],
  });
  merchant = await Merchant.signUp(stack.bridge, 1);
  other = await Merchant.signUp(stack.bridge, 2);
  store = await other.store('generic');
  shop = await merchant.store('generic');
  ({ ids } = await merchant.oneOfEach(
    shop,
    { orderId: 'A-1', username: 'buyer' },
    { url: 'https://shop.example/hook' },
  ));
  key = await merchant.key({ name: 'kept', permissions: ['login', 'presets:read', 'deliveries:read'] });
  await merchant.reaches(ids.delivery, 'completed');
  // From now on nobody exists but these.
  await stack.sim.put('/sim/unknown-users', { create: false });
  await stack.sim.post('/sim/customers', {
    customers: [
      { username: 'somebody', answer: 'accept' },
      ...[1, 2, 3, 4, 5].map((one) => ({ username: `decliner-${one}`, answer: 'decline' })),
    ],
  });
  const linkOf = async (username) => {
    const { deliveryId } = await other.order(store, { orderId: `link-${username}`, username });
    const { buyerUrl } = await other.reaches(deliveryId, 'failed');
    return other.open.with({ 'x-buyer-token': new URL(buyerUrl).hash.slice(1) });
  };
  buyers.correctBuyerUsername = await Promise.all(
    Array.from({ length: BUYERS }, (_, number) => linkOf(`nobody-${number}`)),
  );
  buyers.retryBuyerDelivery = await Promise.all([1, 2, 3, 4, 5].map((number) => linkOf(`decliner-${number}`)));
  buyers.getBuyerDelivery = buyers.followBuyerDelivery = buyers.correctBuyerUsername;
});

// The objects that operations act on, by the parameter of the path. A new one is made before the first request, and a few times after one
// that used it up.
let lastOrder = 0;
const ordered = async (username, status) => {
  const { deliveryId } = await merchant.order(shop, { orderId: `fresh-${++lastOrder}`, username });
  return merchant.reaches(deliveryId, status);
};
const failed = async () => ({ delivery: (await ordered('nobody', 'failed')).id });
const inReview = async () => {
  const { delivery } = await failed();
  isOk(await merchant.api.post(`/api/deliveries/${delivery}/reopen`));
  return { delivery };
};
const withKeys = async () => {
  for (const one of await merchant.all('/api/keys'))
    if (one.active && one.id !== key.id) isOk(await merchant.api.patch(`/api/keys/${one.id}`, { active: false }));
  return { key: (await merchant.key()).id };
};
const withSubscription = async () => {
  for (const one of await merchant.all('/api/webhook-subscriptions'))
    if (one.id !== ids.subscription) isOk(await merchant.api.delete(`/api/webhook-subscriptions/${one.id}`), 204);
  const { id } = isOk(await merchant.api.post('/api/webhook-subscriptions', { url: 'https://shop.example/hook' }), 201);
  return { subscription: id };
};
const withEvent = async () => {
  const { subscription } = await withSubscription();
  const event = isOk(await merchant.api.post(`/api/webhook-subscriptions/${subscription}/test`), 202).eventId;
  await until(
    'it was tried',
    async () =>
      isOk(await merchant.api.get(`/api/webhook-subscriptions/${subscription}/events/${event}`)).attempts.length > 0,
  );
  return { subscription, event };
};
const withStore = async () => ({ integration: (await merchant.store('generic')).id });
const withRequest = async () => {
  await merchant.dataRequest(await merchant.store('provider_a'));
  return { privacyRequest: isOk(await merchant.api.get('/api/privacy-requests?open=true')).data[0].id };
};
const withOrder = async () => {
  const { delivery } = await failed();
  return { order: isOk(await merchant.api.get(`/api/orders?q=${delivery}`)).data[0].id };
};
const FRESH = {
  createKey: withKeys,
  changeKey: withKeys,
  rotateKey: withKeys,
  createSubscription: withSubscription,
  changeSubscription: withSubscription,
  deleteSubscription: withSubscription,
  rotateSubscriptionSecret: withSubscription,
  testSubscription: withSubscription,
  recoverWebhookEvents: withSubscription,
  getWebhookEvent: withEvent,
  resendWebhookEvent: withEvent,
  changeIntegration: withStore,
  archiveIntegration: withStore,
  rotateIntegrationSecret: withStore,
  replaceMappings: withStore,
  importMappings: withStore,
  sendTestOrder: withStore,
  retryDelivery: failed,
  reopenDelivery: failed,
  invalidateDelivery: failed,
  completeDelivery: failed,
  approveDelivery: inReview,
  revokeDelivery: async () => ({ delivery: (await ordered('somebody', 'completed')).id }),
  reprocessOrder: withOrder,
  closePrivacyRequest: withRequest,
};
// A session that may end.
let people = 2;
FRESH.endSessions =
  FRESH.changePassword =
  FRESH.changeEmail =
  FRESH.deleteAccount =
    async () => {
      leaving = await Merchant.signUp(stack.bridge, ++people, { credits: 0, connected: false });
    };
// Somebody besides the owner; the others have gone.
const withPerson = async () => {
  for (const one of await merchant.all('/api/people'))
    if (!one.current) isOk(await merchant.api.delete(`/api/people/${one.id}`), 204);
  leaving = await merchant.invite();
  return { person: leaving.tokens.user.id };
};
let invitation;
const withInvitation = async () => {
  for (const one of await merchant.all('/api/invitations'))
    isOk(await merchant.api.delete(`/api/invitations/${one.id}`), 204);
  const { id, url } = isOk(await merchant.api.post('/api/invitations', { role: 'member' }), 201);
  invitation = new URL(url).hash.slice(1);
  return { invitation: id };
};
Object.assign(FRESH, {
  changePerson: withPerson,
  removePerson: withPerson,
  leaveAccount: withPerson,
  createInvitation: withInvitation,
  revokeInvitation: withInvitation,
  readInvitation: withInvitation,
});
const RENEWED = 6;
// Bodies that no schema can draw: they name what there is.
const RIGHT = {
  signIn: () => ({ email: other.email, password: PASSWORD }),
  refreshTokens: () => ({ refreshToken: other.tokens.refreshToken }),
  createDelivery: () => ({
    integrationId: ids.integration,
    orderId: 'direct-1',
    targetUsername: 'somebody',
    items: [{ sku: 'A-1' }],
  }),
  openCheckout: () => ({ packId: 'small' }),
  changeEmail: () => ({ password: PASSWORD, email: `moved-${++people}@shop.example` }),
  deleteAccount: () => ({ name: `Shop ${people}` }),
  readInvitation: () => ({ invitation }),
  changePassword: () => ({ currentPassword: PASSWORD, newPassword: 'another pass phrase' }),
  saveCredentials: () => other.cloudLogin,
  cloudLogin: () => ({ credentials: merchant.cloudLogin }),
};

const validators = new Map();
const takes = (schema, value) => {
  if (!validators.has(schema))
    validators.set(
      schema,
      ajv.compile({ ...schema, $id: `https://contract.example/${validators.size}`, components: document.components }),
    );
  return validators.get(schema)(value);
};
const bodyOf = (operation) => {
  const body = operation.requestBody && resolve(document, operation.requestBody);
  const described = body?.content['application/json'];
  return described && { schema: described.schema, required: body.required ?? false };
};
// Body and headers of a request whose body is a table.
const tableOf = (operation) => {
  const described = operation.requestBody && resolve(document, operation.requestBody).content['text/csv'];
  return described && { body: described.example, headers: { 'content-type': 'text/csv' } };
};
const parametersOf = ({ path, parameters = [] }) =>
  [...(document.paths[path].parameters ?? []), ...parameters].map((one) => resolve(document, one));
const queryOf = (operation) => parametersOf(operation).filter((one) => one.in === 'query');
// The members that an operation's good answer shows: somebody may send them back.
const shownBy = (operation) =>
  Object.entries(operation.responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([, given]) =>
      memberNames(document, resolve(document, given).content?.['application/json']?.schema ?? {}),
    );
const byOf = ({ operationId, security }) => {
  const links = buyers[operationId];
  if (links) return (links.push(links.shift()), links[0]);
  // Failed logins at the platform are counted by account.
  if (operationId === 'saveCredentials') return other.api;
  if (['endSessions', 'changePassword', 'changeEmail', 'leaveAccount', 'deleteAccount'].includes(operationId))
    return leaving.api;
  return security?.length === 0
    ? merchant.open
    : security?.every((one) => !one.idToken)
      ? merchant.open.with({ 'x-api-key': key.secret })
      : merchant.api;
};

// Every answer, whatever was asked.
function soundly(operation, answer, asked) {
  const said = `${asked}\n  -> ${answer.status} ${answer.text.slice(0, 400)}`;
  assert.ok(answer.status < 500 || (answer.status === 503 && operation.operationId === 'ready'), said);
  const found = operation.responses[answer.status] ?? operation.responses.default;
  assert.ok(found, `not in the contract: ${said}`);
  const schema = resolve(document, found).content?.['application/json']?.schema;
  if (schema && answer.json !== undefined)
    assert.deepEqual(undeclared(document, schema, answer.json), [], `members that the contract does not have: ${said}`);
}
const details = (answer) => answer.json?.error?.details ?? [];
const beyond = (answer) =>
  details(answer).length > 0 && details(answer).every(({ problem }) => BEYOND.some((one) => one.test(problem)));

// Other tests send these: operations of external issuers answer browsers or take their tokens (external.test.mjs, people.test.mjs), and operations
// of mail need a mail server (mail.test.mjs).
const APART = [
  'receiveOrder',
  'receivePaymentNotice',
  'deleteKey',
  'metrics',
  'beginExternalSignIn',
  'beginInvitedSignIn',
  'finishExternalSignIn',
  'acceptInvitation',
  'askPasswordReset',
  'resetPassword',
  'verifyEmail',
  'askVerification',
];
const walked = operations
  .filter(({ operationId }) => !APART.includes(operationId))
  .sort((a, b) => (TURN[a.operationId] ?? 0) - (TURN[b.operationId] ?? 0));
let requests = 0;

for (const operation of walked) {
  const { operationId, method, path } = operation;
  const template = path;
  test(`${method} ${template}`, async () => {
    let renewed = 0;
    let at = ids;
    const renew = async () => {
      at = { ...ids, ...(await FRESH[operationId]?.()) };
    };
    await renew();
    const target = (given = at) => template.replace(/\{([^}]+)\}/g, (_, name) => given[name]);
    const ask = async (query, body, options, given) => {
      ++requests;
      const asked = `${method} ${target(given)}${query} ${body === undefined ? '' : JSON.stringify(body)}`;
      const answer = await byOf(operation).request(method, `${target(given)}${query}`, {
        ...(body === undefined ? tableOf(operation) : { json: body }),
        ...options,
      });
      soundly(operation, answer, asked);
      return [answer, `${asked}\n  -> ${answer.status} ${answer.text.slice(0, 400)}`];
    };
    const body = bodyOf(operation);
    // `taken`: done. `decided`: the contract takes it, and what is stored refused it. `putOff`: 429, so nothing was judged.
    const tally = { taken: 0, decided: 0, refused: 0, putOff: 0 };
    const judge = async (valid, answer, said) => {
      if (answer.status === 429) return void ++tally.putOff;
      if (!valid) {
        assert.ok(answer.status === 422, `the contract refuses it: ${said}`);
        return void ++tally.refused;
      }
      if (answer.status < 300 || operationId === 'ready') {
        ++tally.taken;
        if (operationId in FRESH && method !== 'GET' && ++renewed < RENEWED) await renew();
        return;
      }
      assert.ok(
        [401, 403, 404, 409].includes(answer.status) || (answer.status === 422 && beyond(answer)),
        `the contract takes it: ${said}`,
      );
      ++tally.decided;
    };

    if (body) {
      const count = SLOW.has(operationId) ? 15 : 60;
      const drawn = sample(values(document, body.schema), count, 1);
      const odd = sample(alterations(document, body.schema), SLOW.has(operationId) ? 40 : 140, 2);
      // The smallest, so that nothing else is wrong with it.
      const [whole] = drawn
        .filter((one) => takes(body.schema, one))
        .sort((a, b) => Object.keys(a).length - Object.keys(b).length);
      for (const name of SLOW.has(operationId) ? [] : shownBy(operation))
        for (const other of ['bogus', null, 9]) odd.push({ ...whole, [name]: other });
      if (operationId in RIGHT) await judge(true, ...(await ask('', RIGHT[operationId]())));
      for (const value of [...drawn, ...odd]) await judge(takes(body.schema, value), ...(await ask('', value)));
      for (const text of ['', '[]', '"x"', 'null', '{', '{"a":1}x', '\u0000', '['.repeat(100)]) {
        await judge(
          text === '' && !body.required,
          ...(await ask('', undefined, { body: text, headers: { 'content-type': 'application/json' } })),
        );
      }
      const [plain] = await ask('', undefined, { body: '{}', headers: { 'content-type': 'text/plain' } });
      assert.equal(plain.status, 415);
      const good = drawn.filter((one) => takes(body.schema, one)).length;
      assert.ok(good > count / 4, `only ${good} good bodies`);
      assert.ok(
        tally.refused > 20 && tally.taken + tally.decided > (SLOW.has(operationId) ? 3 : 15),
        JSON.stringify(tally),
      );
    } else if (!operation['x-any-query'] && method !== 'GET' && !operation.requestBody) {
      for (const value of [{ x: 1 }, { reason: 'x' }, [], 'x', null]) await judge(false, ...(await ask('', value)));
    }

    for (const { name, schema: given } of queryOf(operation)) {
      const schema = resolve(document, given);
      const drawn = sample(values(document, given), 15, 3)
        .filter((one) => one !== null)
        .map(String);
      for (const text of new Set([...drawn, ...oddTexts])) {
        await judge(takes(given, fromText(text, schema)), ...(await ask(`?${new URLSearchParams({ [name]: text })}`)));
      }
      assert.equal((await ask(`?${name}=1&${name}=1`))[0].status, 422);
      if (name.length > 3) {
        const [answer] = await ask(`?${name}x=1`);
        assert.ok(
          details(answer).some(({ problem }) => problem.includes(`is ${name} meant?`)),
          answer.text,
        );
      }
    }
    if (!operation['x-any-query']) {
      for (const text of ['?zzzzzzzz=1', '?=', '?%ff=1', '?__proto__=1', '?a=%09'])
        await judge(false, ...(await ask(text)));
    }
    // An id that is none is that of nothing.
    for (const [, name] of template.matchAll(/\{([^}]+)\}/g)) {
      for (const text of [
        'x',
        `${at[name]}x`,
        'nil_0a1b2c3d4e5f6',
        '%20',
        '%C3%A4',
        "'",
        '..%2f',
        '%zz',
        '%00',
        'a'.repeat(300),
      ]) {
        const [answer, said] = await ask(
          '',
          body && (RIGHT[operationId]?.() ?? resolve(document, body.schema).examples?.[0] ?? {}),
          {},
          { ...at, [name]: text },
        );
        assert.ok(answer.status === 404 || answer.status === 422, said);
      }
    }
    if (!body) for (let i = 0; i < 3; ++i) await judge(true, ...(await ask('')));

    const all = Object.values(tally).reduce((sum, one) => sum + one, 0);
    // For `stepUp` a browser's session is needed: sessions.test.mjs.
    assert.ok(tally.taken > 0 || operationId === 'stepUp', `nothing was taken: ${JSON.stringify(tally)}`);
    assert.ok(tally.putOff <= all * MOST_PUT_OFF, `too much was put off: ${JSON.stringify(tally)}`);
  });
}

test('orders of the generic store', async () => {
  const operation = operations.find((one) => one.operationId === 'receiveOrder');
  const schema = { $ref: '#/components/schemas/GenericOrder' };
  const bytes = (value) => Buffer.byteLength(String(value ?? ''));
  let taken = 0,
    refused = 0;
  for (const order of [...sample(values(document, schema), 120, 4), ...sample(alterations(document, schema), 280, 5)]) {
    ++requests;
    const answer = await sendOrder(merchant.open, store, order);
    const said = `${JSON.stringify(order)}\n  -> ${answer.status} ${answer.text.slice(0, 400)}`;
    soundly(operation, answer, said);
    // Sizes are in bytes there, and what names a user is more than a pattern.
    const long =
      bytes(order?.orderId) > 255 ||
      order?.items?.some?.((one) => bytes(one?.sku) > 255 || bytes(one?.productId) > 255 || bytes(one?.title) > 1000) ||
      bytes(order?.customerEmail) > 320;
    const unnamed =
      details(answer).length > 0 && details(answer).every(({ problem }) => /^names no user$/.test(problem));
    if (takes(schema, order) && !long && !unnamed) {
      assert.equal(answer.status, 202, `the contract takes it: ${said}`);
      ++taken;
    } else if (!takes(schema, order)) {
      assert.equal(answer.status, 400, `the contract refuses it: ${said}`);
      ++refused;
    }
  }
  assert.ok(taken > 60 && refused > 60, `${taken} ${refused}`);
});

test('tables of mappings', async () => {
  const operation = operations.find((one) => one.operationId === 'importMappings');
  const schema = { $ref: '#/components/schemas/NewMapping' };
  const quoted = (text) => `"${text.replaceAll('"', '""')}"`;
  const guarded = (text) => (/^'*[=+\-@\t\r]/.test(text) ? `'${text}` : text);
  const path = `${operation.path.replace('{integration}', ids.integration)}?dryRun=true`;
  let taken = 0,
    refused = 0;
  for (const drawn of [...sample(values(document, schema), 100, 6), ...sample(alterations(document, schema), 300, 7)]) {
    // A table holds texts; one that is empty is left out. It has no column for what is stale.
    const fields = Object.entries(drawn ?? {}).filter(
      ([name, one]) => one !== null && one !== '' && !(name === 'stale' && typeof one === 'boolean'),
    );
    if (fields.length === 0 || fields.some(([, one]) => typeof one !== 'string')) continue;
    const table = `${fields.map(([name]) => quoted(name)).join()}\r\n${fields.map(([, one]) => quoted(guarded(one))).join()}\r\n`;
    ++requests;
    const answer = await merchant.api.request('POST', path, { body: table, headers: { 'content-type': 'text/csv' } });
    const said = `${JSON.stringify(table)}\n  -> ${answer.status} ${answer.text.slice(0, 400)}`;
    soundly(operation, answer, said);
    assert.equal(answer.status, 200, said);
    const { errors, errorCount } = answer.json;
    const open = errors.filter(({ problem }) => !BEYOND.some((one) => one.test(problem)));
    if (takes(schema, Object.fromEntries(fields))) {
      assert.deepEqual(open, [], `the contract takes it: ${said}`);
      ++taken;
    } else {
      assert.ok(errorCount > 0, `the contract refuses it: ${said}`);
      ++refused;
    }
  }
  assert.ok(taken > 60 && refused > 60, `${taken} ${refused}`);
  for (const body of [
    '',
    '\u0000',
    '"',
    'matchType',
    Buffer.from([0xff, 0xfe]),
    'a,b\r\n1,2',
    `${'x,'.repeat(3000)}`,
  ]) {
    const answer = await merchant.api.request('POST', path.replace('true', 'false'), {
      body,
      headers: { 'content-type': 'text/csv' },
    });
    soundly(operation, answer, String(body));
    assert.equal(answer.status, 422, answer.text);
  }
});

test('were thousands', () => assert.ok(requests > 4000, String(requests)));

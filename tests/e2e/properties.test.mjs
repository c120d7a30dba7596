// The contract, held against the service by thousands of requests that a seed draws from it: valid ones, and such that are a little off. No
// failure of the service's own, no answer outside the contract, no wait beyond its deadline; what a schema refuses is refused, and what it
// takes is taken, as far as a schema can tell.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { Scope } from './harness.mjs';
import { Merchant, contract, operations, startStack } from './merchant.mjs';
import { sendOrder } from './orders.mjs';
import { alterations, fromText, oddTexts, resolve, undeclared, values } from './schema_values.mjs';

const SEED = Number(process.env.PRESETBRIDGE_E2E_SEED ?? 20261121);
const { document, ajv } = contract;
const scope = new Scope({ after });
const sample = (arbitrary, count, seed) => fc.sample(arbitrary, { numRuns: count, seed: SEED + seed });

// What stored data, time or another system decide, and no schema.
const BEYOND = [
  /^is not one of your /, /^is in the past$/, /^is not a username$/, /^says the same as mappings/, /^has more than \d+ mappings$/, /^is empty, and would match nothing$/,
  /^must be an https URL of a host/, /is not the id of one of your /, /is no item of this delivery$/, /^nobody of that name got a file of this delivery$/,
  /^is longer than 255 bytes$/,
];
// One at a time costs a hash of a password, or a login at the platform.
const SLOW = new Set(['signUp', 'signIn', 'changePassword', 'saveCredentials', 'cloudLogin', 'validateCredentials']);
// What it took away is missing to all later requests.
const LAST = new Set(['deleteCredentials', 'archiveIntegration', 'deleteSubscription', 'changePassword']);

let stack, merchant, other, ids, key, store;
// A link takes one act a minute: enough of them that some are taken, turn by turn.
const BUYERS = 20;
let buyers = [];
before(async () => {
  stack = await startStack(scope, { args: ['--identity-signups-per-address', '2000', '--identity-signups-per-hour', '2000', '--identity-failures-per-address', '5000', '--http-failures-per-address', '5000', '--api-key-requests-per-hour', '100000'] });
  merchant = await Merchant.signUp(stack.bridge, 1);
  other = await Merchant.signUp(stack.bridge, 2);
  store = await other.store('generic');
  const shop = await merchant.store('generic');
  ({ ids } = await merchant.oneOfEach(shop, { orderId: 'A-1', username: 'buyer' }, { url: 'https://shop.example/hook' }));
  key = await merchant.key({ permissions: ['login', 'presets:read', 'deliveries:read'] });
  for (let number = 0; number < BUYERS; ++number) {
    const { deliveryId } = await other.order(store, { orderId: `buyer-${number}`, username: `buyer-${number}` });
    const { buyerUrl } = await other.delivery(deliveryId);
    buyers.push(other.open.with({ 'x-buyer-token': new URL(buyerUrl).hash.slice(1) }));
  }
});

const validators = new Map();
const takes = (schema, value) => {
  if (!validators.has(schema)) validators.set(schema, ajv.compile({ ...schema, $id: `https://contract.example/${validators.size}`, components: document.components }));
  return validators.get(schema)(value);
};
const bodyOf = (operation) => {
  const body = operation.requestBody && resolve(document, operation.requestBody);
  const described = body?.content['application/json'];
  return described && { schema: described.schema, required: body.required ?? false };
};
// What goes with a request whose body is a table.
const tableOf = (operation) => {
  const described = operation.requestBody && resolve(document, operation.requestBody).content['text/csv'];
  return described && { body: described.example, headers: { 'content-type': 'text/csv' } };
};
const parametersOf = ({ path, parameters = [] }) => [...(document.paths[path].parameters ?? []), ...parameters].map((one) => resolve(document, one));
const queryOf = (operation) => parametersOf(operation).filter((one) => one.in === 'query');
// Failed logins at the platform are counted by account.
const nextBuyer = () => (buyers.push(buyers.shift()), buyers[0]);
const byOf = ({ operationId, path, security }) => path.startsWith('/api/buyer') ? nextBuyer() : operationId === 'saveCredentials' ? other.api : (security?.length === 0 ? merchant.open : security?.every((one) => !one.idToken) ? merchant.open.with({ 'x-api-key': key.secret }) : merchant.api);

// Every answer, whatever was asked.
function soundly(operation, answer, asked) {
  const said = `${asked}\n  -> ${answer.status} ${answer.text.slice(0, 400)}`;
  assert.ok(answer.status < 500 || (answer.status === 503 && operation.operationId === 'ready'), said);
  const found = operation.responses[answer.status] ?? operation.responses.default;
  assert.ok(found, `not in the contract: ${said}`);
  const schema = resolve(document, found).content?.['application/json']?.schema;
  if (schema && answer.json !== undefined) assert.deepEqual(undeclared(document, schema, answer.json), [], `members that the contract does not have: ${said}`);
}
const details = (answer) => answer.json?.error?.details ?? [];
const beyond = (answer) => details(answer).length > 0 && details(answer).every(({ problem }) => BEYOND.some((one) => one.test(problem)));

const walked = operations.filter(({ operationId }) => !['receiveOrder', 'deleteKey', 'metrics'].includes(operationId)).sort((a, b) => LAST.has(a.operationId) - LAST.has(b.operationId));
let requests = 0;

for (const operation of walked) {
  const { operationId, method, path } = operation;
  const template = path;
  test(`${method} ${template}`, async () => {
    const target = template.replace(/\{([^}]+)\}/g, (_, name) => ids[name]);
    const ask = async (query, body, options) => {
      ++requests;
      const asked = `${method} ${target}${query} ${body === undefined ? '' : JSON.stringify(body)}`;
      const answer = await byOf(operation).request(method, `${target}${query}`, { ...(body === undefined ? tableOf(operation) : { json: body }), ...options });
      soundly(operation, answer, asked);
      return [answer, `${asked}\n  -> ${answer.status} ${answer.text.slice(0, 400)}`];
    };
    const body = bodyOf(operation);
    const tally = { taken: 0, refused: 0, unjudged: 0 };
    const judge = (valid, answer, said) => {
      if (answer.status === 429) return void ++tally.unjudged;
      if (valid) {
        assert.ok(![400, 413, 415].includes(answer.status) && (answer.status !== 422 || beyond(answer)), `the contract takes it: ${said}`);
        ++tally.taken;
      } else {
        assert.ok(answer.status === 422, `the contract refuses it: ${said}`);
        ++tally.refused;
      }
    };

    if (body) {
      const count = SLOW.has(operationId) ? 15 : 60;
      const good = sample(values(document, body.schema), count, 1).filter((one) => takes(body.schema, one));
      const odd = sample(alterations(document, body.schema), SLOW.has(operationId) ? 40 : 140, 2);
      for (const value of [...good, ...odd]) {
        const [answer, said] = await ask('', value);
        judge(takes(body.schema, value), answer, said);
      }
      for (const text of ['', '[]', '"x"', 'null', '{', '{"a":1}x', '\u0000', '['.repeat(100)]) {
        const [answer, said] = await ask('', undefined, { body: text, headers: { 'content-type': 'application/json' } });
        judge(text === '' && !body.required, answer, said);
      }
      const [plain] = await ask('', undefined, { body: '{}', headers: { 'content-type': 'text/plain' } });
      assert.equal(plain.status, 415);
      assert.ok(good.length > count / 4, `only ${good.length} good bodies`);
      assert.ok(tally.refused > 20 && tally.taken > (SLOW.has(operationId) ? 3 : 15), JSON.stringify(tally));
    } else if (!operation['x-any-query'] && method !== 'GET' && !operation.requestBody) {
      for (const value of [{ x: 1 }, { reason: 'x' }, [], 'x', null]) judge(false, ...(await ask('', value)));
    }

    const query = queryOf(operation);
    for (const { name, schema: given } of query) {
      const schema = resolve(document, given);
      const drawn = sample(values(document, given), 15, 3).filter((one) => one !== null).map(String);
      for (const text of [...drawn, ...oddTexts]) {
        judge(takes(given, fromText(text, schema)), ...(await ask(`?${new URLSearchParams({ [name]: text })}`)));
      }
      assert.equal((await ask(`?${name}=1&${name}=1`))[0].status, 422);
      if (name.length > 3) {
        const [answer] = await ask(`?${name}x=1`);
        assert.ok(details(answer).some(({ problem }) => problem.includes(`is ${name} meant?`)), answer.text);
      }
    }
    if (!operation['x-any-query']) {
      for (const text of ['?zzzzzzzz=1', '?=', '?%ff=1', '?__proto__=1']) judge(false, ...(await ask(text)));
    }
    if (!body && method !== 'DELETE') for (let i = 0; i < 3; ++i) judge(true, ...(await ask('')));
  });
}

test('orders of the generic store', async () => {
  const operation = operations.find((one) => one.operationId === 'receiveOrder');
  const schema = { $ref: '#/components/schemas/GenericOrder' };
  const bytes = (value) => Buffer.byteLength(String(value ?? ''));
  let taken = 0, refused = 0;
  for (const order of [...sample(values(document, schema), 120, 4), ...sample(alterations(document, schema), 280, 5)]) {
    ++requests;
    const answer = await sendOrder(merchant.open, store, order);
    const said = `${JSON.stringify(order)}\n  -> ${answer.status} ${answer.text.slice(0, 400)}`;
    soundly(operation, answer, said);
    // Sizes are in bytes there, and what names a user is more than a pattern.
    const long = bytes(order?.orderId) > 255 || order?.items?.some?.((one) => bytes(one?.sku) > 255 || bytes(one?.productId) > 255 || bytes(one?.title) > 1000) || bytes(order?.customerEmail) > 320;
    const unnamed = details(answer).length > 0 && details(answer).every(({ problem }) => /^names no user$/.test(problem));
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
  let taken = 0, refused = 0;
  for (const drawn of [...sample(values(document, schema), 100, 6), ...sample(alterations(document, schema), 300, 7)]) {
    // A table holds texts; one that is empty is left out.
    const fields = Object.entries(drawn ?? {}).filter(([, one]) => one !== null && one !== '');
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
  for (const body of ['', '\u0000', '"', 'matchType', Buffer.from([0xff, 0xfe]), 'a,b\r\n1,2', `${'x,'.repeat(3000)}`]) {
    const answer = await merchant.api.request('POST', path.replace('true', 'false'), { body, headers: { 'content-type': 'text/csv' } });
    soundly(operation, answer, String(body));
    assert.equal(answer.status, 422, answer.text);
  }
});

test('were thousands', () => assert.ok(requests > 4000, String(requests)));

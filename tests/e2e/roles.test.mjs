// Nodes that connect as roles of their own (docs/decisions/0016-database-roles.md): what each needs it can do, what opens a
// merchant's user at the cloud platform the API's cannot read, and neither can change the schema.
import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import {
  Client,
  Scope,
  dataDirBeside,
  runBridge,
  scratch,
  startBridge,
  startCloudsim,
  until,
  useDatabase,
} from './harness.mjs';
import { Merchant, filled, isError, isOk, operations } from './merchant.mjs';
import { cluster } from './postgres.mjs';
import { startReceiver } from './receiver.mjs';

const PROTECTED = [
  ['credentials', 'sealed'],
  ['cloud_sessions', 'encrypted_session'],
];
const RATES = ['--delivery-jobs-per-minute', '0', '--delivery-poll-ms', '50', '--delivery-first-sweep-seconds', '1'];
const codeOf = ({ stderr }) => JSON.parse(stderr.trim().split('\n').at(-1)).code;

// An empty database with its roles, and folders with the same keys for a node of each: {database, roles, folders}.
async function prepare(scope) {
  const database = await cluster();
  const roles = await database.databaseWithRoles();
  const folders = { api: await scratch(scope) };
  const made = await runBridge(['vault', 'init', '--data-dir', folders.api]);
  assert.equal(made.code, 0, made.stderr);
  useDatabase(folders.api, roles.as('api'));
  folders.worker = await dataDirBeside(scope, folders.api);
  useDatabase(folders.worker, roles.as('worker'));
  // Who opens no login needs no key for that.
  await rm(path.join(folders.api, 'vault.key'));
  return { database, roles, folders };
}
const migrate = (roles) => runBridge(['migrate', '--database-url', roles.as('owner')]);
const grant = (roles, ...more) =>
  runBridge([
    'database',
    'grant',
    '--database-url',
    roles.as('owner'),
    '--api-role',
    roles.role('api'),
    '--worker-role',
    roles.role('worker'),
    ...more,
  ]);
// The error of a statement, run as that role.
async function refusal(database, roles, which, statement) {
  const error = await database.sql(statement, roles.as(which)).then(
    () => undefined,
    (refused) => refused,
  );
  assert.ok(error, `${which} may: ${statement}`);
  return error.stderr.trim();
}
async function apiIsKeptOut(database, roles) {
  for (const [table, column] of PROTECTED) {
    for (const statement of [
      `SELECT ${column} FROM ${table}`,
      `SELECT * FROM ${table}`,
      `SELECT length(${column}) FROM ${table}`,
      `SELECT t FROM ${table} t`,
      `UPDATE ${table} SET ${column} = ${column}`,
      `UPDATE ${table} SET ${column} = '' RETURNING ${column}`,
      `DELETE FROM ${table} WHERE ${column} = ''`,
      `COPY ${table} TO STDOUT`,
    ]) {
      assert.match(
        await refusal(database, roles, 'api', statement),
        new RegExp(`permission denied for table ${table}`),
        statement,
      );
    }
  }
}

test('before the schema and the rights are there, a node says what to do', async (t) => {
  const scope = new Scope(t);
  const { database, roles, folders } = await prepare(scope);
  const serve = (which, ...more) =>
    runBridge(['serve', '--sandbox', '--listen', '127.0.0.1:0', '--data-dir', folders[which], ...more]);
  const says = (ended, code, ...words) => {
    assert.deepEqual([ended.code, codeOf(ended)], [1, code], ended.stderr);
    for (const word of words) assert.ok(ended.stderr.includes(word), `${word}: ${ended.stderr}`);
  };
  for (const which of ['api', 'worker'])
    says(await serve(which, '--roles', which), 'SCHEMA_OLDER', 'presetbridge migrate');
  const early = await grant(roles);
  assert.deepEqual([early.code, early.stdout], [1, '']);
  assert.match(early.stderr, /SCHEMA_/);
  const migrated = await migrate(roles);
  assert.equal(migrated.code, 0, migrated.stderr);
  for (const which of ['api', 'worker'])
    says(
      await serve(which, '--roles', which),
      'ROLE_WITHOUT_RIGHTS',
      'presetbridge database grant',
      'schema_migrations',
    );
  assert.equal((await grant(roles)).code, 0);
  // Neither the role nor the keys are those of a node that opens logins.
  says(await serve('api'), 'ROLE_WITHOUT_RIGHTS', 'credentials.sealed');
  useDatabase(folders.api, roles.as('worker'));
  says(await serve('api'), 'KEY_FILE_MISSING', 'vault.key');
  useDatabase(folders.api, roles.as('api'));
  // A later migration has made a table, and nobody has granted anew.
  await database.sql('CREATE TABLE added_later (id BIGINT PRIMARY KEY)', roles.as('owner'));
  says(await serve('worker'), 'ROLE_WITHOUT_RIGHTS', 'added_later');
  // Nor may a node make up for a migration that nobody has run.
  await database.sql(
    'DELETE FROM schema_migrations WHERE number = (SELECT max(number) FROM schema_migrations)',
    roles.as('owner'),
  );
  assert.equal(await database.sql('GRANT SELECT ON added_later TO PUBLIC', roles.as('owner')), '');
  says(await serve('worker'), 'SCHEMA_OLDER', 'presetbridge migrate');
});

test('the rights are exactly those, however often they are granted, and a role that has more is refused', async (t) => {
  const scope = new Scope(t);
  const { database, roles } = await prepare(scope);
  assert.equal((await migrate(roles)).code, 0);
  const rights = () =>
    database.sql(
      `SELECT relname, relacl, (SELECT string_agg(attname || attacl::text, ',' ORDER BY attnum) FROM pg_attribute WHERE attrelid = pg_class.oid)
     FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1`,
      roles.as('owner'),
    );
  const before = await rights();
  const printed = await grant(roles, '--print');
  assert.equal(printed.code, 0, printed.stderr);
  assert.equal(await rights(), before, 'printing changes nothing');
  const first = await grant(roles);
  assert.equal(first.code, 0, first.stderr);
  assert.ok(first.stdout.startsWith(printed.stdout) && printed.stdout.includes('GRANT SELECT'), first.stdout);
  const granted = await rights();
  assert.notEqual(granted, before);
  await apiIsKeptOut(database, roles);
  assert.equal((await grant(roles)).code, 0);
  assert.equal(await rights(), granted);
  // A right that somebody gave it besides is taken back.
  for (const [table, column] of PROTECTED) {
    await database.sql(`GRANT SELECT (${column}) ON ${table} TO "${roles.role('api')}"`, roles.as('owner'));
    await database.sql(`SELECT ${column} FROM ${table}`, roles.as('api'));
  }
  assert.equal((await grant(roles)).code, 0);
  await apiIsKeptOut(database, roles);
  assert.equal(await rights(), granted);

  // A right that comes another way cannot be taken back here.
  const refused = async (give, take, words) => {
    await database.sql(give);
    const ended = await grant(roles);
    assert.deepEqual([ended.code, ended.stdout], [1, ''], give);
    assert.match(ended.stderr, words);
    assert.match(ended.stderr, /ROLE_TOO_STRONG/);
    await database.sql(take);
    assert.equal(await rights(), granted);
  };
  const [owner, api, worker] = ['owner', 'api', 'worker'].map((which) => `"${roles.role(which)}"`);
  await refused(`GRANT ${worker} TO ${api}`, `REVOKE ${worker} FROM ${api}`, /read credentials\.sealed/);
  await refused(
    `ALTER ROLE ${api} NOINHERIT; GRANT ${worker} TO ${api}`,
    `REVOKE ${worker} FROM ${api}; ALTER ROLE ${api} INHERIT`,
    /read credentials\.sealed/,
  );
  await refused(`GRANT pg_read_all_data TO ${api}`, `REVOKE pg_read_all_data FROM ${api}`, /read credentials\.sealed/);
  await refused(`GRANT ${owner} TO ${worker}`, `REVOKE ${owner} FROM ${worker}`, /change the schema/);
  await refused(`ALTER ROLE ${worker} SUPERUSER`, `ALTER ROLE ${worker} NOSUPERUSER`, /change the schema/);
  // Nor may anybody else grant, or one role be both.
  const [asWorker, missing, both, odd, none] = await Promise.all(
    [
      ['--database-url', roles.as('worker'), '--api-role', roles.role('api')],
      ['--database-url', roles.as('owner'), '--api-role', 'nobody'],
      ['--database-url', roles.as('owner'), '--api-role', 'one', '--worker-role', 'one'],
      ['--database-url', roles.as('owner'), '--api-role', 'a"; DROP TABLE users; --'],
      ['--database-url', roles.as('owner')],
    ].map((args) => runBridge(['database', 'grant', ...args])),
  );
  assert.deepEqual(
    [asWorker, missing, both, odd, none].map(({ code }) => code),
    [1, 1, 1, 1, 2],
  );
  for (const [ended, words] of [
    [asWorker, /owner/],
    [missing, /ROLE_MISSING/],
    [both, /different/],
    [odd, /VALIDATION_FAILED/],
    [none, /--api-role/],
  ])
    assert.match(ended.stderr, words);
  assert.equal(await rights(), granted);
});

test('a node for the API and one for the work do all of it under their roles', async (t) => {
  const scope = new Scope(t);
  const { database, roles, folders } = await prepare(scope);
  assert.equal((await migrate(roles)).code, 0);
  assert.equal((await grant(roles)).code, 0);
  const cloud = await startCloudsim(scope, { args: ['--users', '2', '--files', '5', '--create-unknown-users'] });
  const sim = new Client(cloud.url);
  const api = await startBridge(scope, {
    cloudUrl: cloud.url,
    dataDir: folders.api,
    args: ['--roles', 'api', ...RATES],
  });
  const startWorker = () =>
    startBridge(scope, {
      cloudUrl: cloud.url,
      dataDir: folders.worker,
      args: ['--roles', 'worker,dispatcher', ...RATES],
    });
  let worker = await startWorker();

  const receiver = await startReceiver(scope);
  const merchant = await Merchant.signUp(api, 1);
  isOk(await merchant.open.post('/api/auth/sign-in', { email: merchant.email, password: 'a long pass phrase' }));
  const { id: subscription } = isOk(await merchant.api.post('/api/webhook-subscriptions', { url: receiver.url }), 201);
  const store = await merchant.store('generic');

  // Requests that need the login, and requests that need a session.
  assert.equal(isOk(await merchant.api.get('/api/presets')).data.length, 5);
  assert.equal(isOk(await merchant.api.get(`/api/presets/${merchant.file(2)}`)).id, merchant.file(2));
  assert.equal(isOk(await merchant.api.post('/api/credentials/validate')).status, 'valid');
  const key = await merchant.key({ permissions: ['login', 'presets:read', 'deliveries:read'] });
  const by = merchant.open.with({ 'x-api-key': key.secret });
  const { session } = isOk(
    await by.post('/api/auth/login', { credentials: { email: 'merchant-2@cloudsim.test', password: 'password-2' } }),
  );
  const files = isOk(await by.get('/api/presets', { headers: { 'x-session-token': session.token } })).data;
  assert.deepEqual([files.length, files.every(({ id }) => id.startsWith('m-2-'))], [5, true]);
  // Saved again, over the one that is there.
  await merchant.connect();
  assert.equal(isOk(await merchant.api.post('/api/credentials/validate')).version, 2);

  const { deliveryId } = await merchant.order(store, { orderId: '1', username: 'buyer' });
  await merchant.reaches(deliveryId, 'completed');
  await receiver.waitFor('its event', ({ type, deliveryId: id }) => type === 'delivery.completed' && id === deliveryId);
  // One that waits for a name, and what can be done with it.
  const { deliveryId: second } = await merchant.order(await merchant.store('provider_b'), { orderId: '2', sku: 'A-2' });
  assert.equal((await merchant.delivery(second)).resolutionCode, 'username_missing');
  isOk(await merchant.api.post(`/api/deliveries/${second}/retry`, { targetUsername: 'buyer-2' }));
  await merchant.reaches(second, 'completed');
  isOk(await merchant.api.post(`/api/deliveries/${second}/revoke`), 202);
  await until('it is taken back', async () =>
    (await merchant.delivery(second)).items.every(({ status }) => status === 'revoked'),
  );

  // The rest of the contract, each operation once: nothing is beyond the role.
  const ids = {
    integration: store.id,
    provider: 'generic',
    key: key.id,
    subscription,
    delivery: deliveryId,
    preset: merchant.file(1),
  };
  const bodies = {
    createKey: { name: 'one more' },
    createIntegration: { name: 'one more', provider: 'generic' },
    createSubscription: { url: `${receiver.url}/more` },
  };
  const walked = operations.filter(
    ({ method, operationId }) =>
      method === 'GET' || (method !== 'DELETE' && !['validateCredentials', 'endSessions'].includes(operationId)),
  );
  for (const { path, method, operationId } of [
    ...walked,
    ...operations.filter(({ method, operationId }) => method === 'DELETE' && operationId !== 'endSessions'),
  ]) {
    const json = method === 'GET' || method === 'DELETE' ? undefined : (bodies[operationId] ?? {});
    const answer = await merchant.api.request(method, filled(path, ids), { json });
    assert.ok(answer.status < 500, `${method} ${path}: ${answer.status} ${answer.text}`);
  }
  const leaving = await Merchant.signUp(api, 2, { connected: false });
  isOk(await leaving.api.delete('/api/account/sessions'), 204);
  for (const path of ['/readyz', '/metrics', '/healthz'])
    assert.equal((await merchant.open.get(path)).status, 200, path);

  await merchant.connect();
  await apiIsKeptOut(database, roles);
  // There is something to be kept from, and the worker's role is not.
  assert.equal(
    await database.sql('SELECT count(*) FROM credentials WHERE length(sealed) > 100', roles.as('worker')),
    '1',
  );
  for (const which of ['api', 'worker']) {
    for (const statement of [
      'CREATE TABLE mine (id BIGINT)',
      'ALTER TABLE accounts ADD COLUMN mine BIGINT',
      'DROP TABLE worker_calls',
      'CREATE INDEX mine ON accounts (name)',
      'TRUNCATE accounts',
      "INSERT INTO schema_migrations VALUES (99, '', '', 0)",
    ]) {
      assert.match(await refusal(database, roles, which, statement), /permission denied|must be owner/, statement);
    }
  }
  assert.equal(await database.sql('SELECT count(*) FROM worker_calls', roles.as('api')), '0', 'answers do not stay');
  for (const which of ['api', 'worker'])
    assert.equal(
      await database.sql('SELECT count(encrypted_key) FROM link_keys', roles.as(which)),
      '1',
      'both make links, and the API opens them',
    );

  // A login that the platform refuses by now.
  await sim.post('/sim/merchants', { userId: 'm-1', email: merchant.cloudLogin.email, password: 'changed meanwhile' });
  assert.equal(isOk(await merchant.api.post('/api/credentials/validate')).status, 'invalid');
  isError(await merchant.api.get('/api/presets?refresh=true'), 409, 'CREDENTIALS_MISSING');
  await sim.post('/sim/merchants', { userId: 'm-1', ...merchant.cloudLogin });
  await merchant.connect();

  // Nobody is there who could open it.
  await worker.stop();
  const asked = performance.now();
  const unanswered = await merchant.api.get('/api/presets', { deadlineMs: 40_000 });
  isError(unanswered, 503, 'WORKER_UNAVAILABLE');
  assert.match(unanswered.json.error.message, /no worker node has answered/);
  assert.ok(Number(unanswered.headers['retry-after']) > 0);
  assert.ok(performance.now() - asked < 25_000, 'it gives up after twenty seconds');
  worker = await startWorker();
  assert.equal(isOk(await merchant.api.get('/api/presets')).data.length, 5);

  for (const node of [api, worker]) {
    const faults = node.log.filter((line) => /permission denied|"level":"error"/.test(line));
    assert.deepEqual(faults, []);
  }
});

// Several nodes over one PostgreSQL (docs/operations.md, docs/decisions/0014-nodes.md): how they begin, what each does, how they
// are replaced, and what they count together.
import assert from 'node:assert/strict';
import { copyFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Scope, dataDirBeside, runBridge, scratch, startBridge, startCloudsim, until } from './harness.mjs';
import { Merchant, PASSWORD, filled, isError, isOk, operations, startStack } from './merchant.mjs';
import { sampleOrder } from './orders.mjs';
import { cluster } from './postgres.mjs';
import { startReceiver } from './receiver.mjs';

const CLOUD = { cloudUrl: 'http://127.0.0.1:9' }; // nobody is there: the test needs no platform
const RATES = ['--delivery-jobs-per-minute', '0', '--delivery-poll-ms', '50'];
const serve = (dataDir) => runBridge(['serve', '--sandbox', '--listen', '127.0.0.1:0', '--data-dir', dataDir]);
const codeOf = ({ stderr }) => JSON.parse(stderr.trim().split('\n').at(-1)).code;

// A platform and two nodes: {..., nodes}.
async function startPair(scope, options = {}) {
  const stack = await startStack(scope, options);
  const { args = [], jobsPerMinute = 0 } = options;
  const other = await startBridge(scope, {
    cloudUrl: stack.cloud.url,
    dataDir: await dataDirBeside(scope, stack.bridge.dataDir),
    args: ['--delivery-jobs-per-minute', String(jobsPerMinute), ...args],
  });
  return { ...stack, nodes: [stack.bridge, other] };
}
// Both in turn, as behind a load balancer.
function balanced([first, second]) {
  let turn = 0;
  return { url: () => [first, second][turn++ % 2].url, dataDir: first.dataDir };
}

// Makes each call again and again until stop(); which did not go well is in `failures`.
function keepCalling(calls) {
  const failures = [];
  let wanted = true;
  const ended = Promise.all(
    calls.map(async (call) => {
      while (wanted) {
        const answer = await call().catch((error) => ({ error }));
        if (answer.error || answer.status >= 300)
          failures.push(answer.error ?? `${answer.method} ${answer.path}: ${answer.status} ${answer.text}`);
        await delay(10);
      }
    }),
  );
  const stop = () => {
    wanted = false;
    return ended;
  };
  return { failures, stop };
}
// Orders of twenty buyers, one a call; `accepted` has their deliveries.
function ordering(merchant, store, accepted) {
  let sent = 0;
  return async () => {
    const n = ++sent;
    const answer = await merchant.send(
      store,
      sampleOrder('generic', { orderId: `o-${n}`, username: `buyer-${n % 20}`, sku: 'A-1' }),
    );
    if (answer.status === 202) accepted.push(answer.json.deliveryId);
    return answer;
  };
}
async function allDelivered(merchant, accepted) {
  await until(
    'all is delivered',
    async () => {
      const open = (await merchant.all('/api/deliveries')).filter(({ status }) => status !== 'completed');
      if (open.length > 0) throw new Error(`${open.length}, such as ${JSON.stringify(open[0])}`);
      return true;
    },
    60_000,
  );
  const known = new Set((await merchant.all('/api/deliveries')).map(({ id }) => id));
  assert.deepEqual(
    accepted.filter((id) => !known.has(id)),
    [],
  );
}

test('two nodes that start at one moment on an empty database both come up, and are one service', async (t) => {
  for (let round = 1; round <= 3; ++round) {
    const scope = new Scope(t);
    const first = await scratch(scope);
    assert.equal((await runBridge(['vault', 'init', '--data-dir', first])).code, 0);
    const folders = [first, await dataDirBeside(scope, first)];
    const [one, other] = await Promise.all(folders.map((dataDir) => startBridge(scope, { ...CLOUD, dataDir })));
    const made = isOk(
      await new Client(one.url).post('/api/auth/sign-up', {
        email: 'owner@shop.example',
        password: PASSWORD,
        accountName: 'A shop',
      }),
      201,
    );
    const session = isOk(
      await new Client(other.url).post('/api/auth/sign-in', { email: 'owner@shop.example', password: PASSWORD }),
    );
    // Each believes the other's tokens.
    for (const [node, { idToken }] of [
      [one, session],
      [other, made],
    ]) {
      assert.equal(
        isOk(await new Client(node.url).get('/api/account', { headers: { authorization: `Bearer ${idToken}` } })).id,
        made.accountId,
      );
    }
    await scope.close();
  }
});

test('a node with the keys of another deployment, or with none, refuses to start', async (t) => {
  const scope = new Scope(t);
  const node = await startBridge(scope, CLOUD);
  const stranger = await dataDirBeside(scope, node.dataDir, { keys: false });
  const without = await serve(stranger);
  assert.deepEqual([without.code, codeOf(without)], [1, 'KEY_FILE_MISSING']);
  // Nor does the database of others get new keys by mistake.
  assert.deepEqual(
    [(await runBridge(['vault', 'init', '--data-dir', stranger])).code, await readdir(stranger)],
    [1, ['presetbridge.lock']],
  );
  const elsewhere = await scratch(t);
  assert.equal((await runBridge(['vault', 'init', '--data-dir', elsewhere])).code, 0);
  for (const name of await readdir(elsewhere)) await copyFile(path.join(elsewhere, name), path.join(stranger, name));
  const refused = await serve(stranger);
  assert.deepEqual([refused.code, codeOf(refused)], [1, 'KEY_MISMATCH']);
  // It has left nothing behind that would keep a node of ours from starting.
  await startBridge(scope, { ...CLOUD, dataDir: await dataDirBeside(scope, node.dataDir) });
  assert.equal((await new Client(node.url).get('/readyz')).status, 200);
});

test('a node that is older than the schema refuses to start, and those that run go on', async (t) => {
  const scope = new Scope(t);
  const node = await startBridge(scope, CLOUD);
  const other = await dataDirBeside(scope, node.dataDir);
  const database = await cluster();
  await database.sql(
    "INSERT INTO schema_migrations (number, name, checksum, applied_at) VALUES (9999, 'of a later version', '', 0)",
    node.databaseUrl,
  );
  const refused = await serve(other);
  assert.deepEqual([refused.code, codeOf(refused)], [1, 'SCHEMA_NEWER']);
  // One sentence, and nothing else.
  const [line, ...more] = refused.stderr.trim().split('\n');
  assert.match(
    JSON.parse(line).message,
    /^The database's schema is number 9999 and this program knows \d+: start a newer version of it\.$/,
  );
  assert.deepEqual([more, refused.stdout], [[], '']);
  const migrated = await runBridge(['migrate', '--data-dir', other]);
  assert.equal(migrated.code, 1);
  assert.match(migrated.stderr, /start a newer version/);
  assert.equal((await new Client(node.url).get('/readyz')).status, 200);
  await database.sql('DELETE FROM schema_migrations WHERE number = 9999', node.databaseUrl);
  await startBridge(scope, { ...CLOUD, dataDir: other });
});

test('nodes that run go on while a later version adds to the schema, and work on what they do not know', async (t) => {
  const scope = new Scope(t);
  const { nodes } = await startPair(scope, { args: ['--delivery-poll-ms', '50'] });
  const both = balanced(nodes);
  const receiver = await startReceiver(scope);
  const merchant = await Merchant.signUp(both, 1);
  isOk(await merchant.api.post('/api/webhook-subscriptions', { url: receiver.url }), 201);
  const store = await merchant.store('generic');
  const database = await cluster();
  const sql = (text) => database.sql(text, nodes[0].databaseUrl);

  // As `presetbridge migrate` does: it waits two seconds for a table, and then attempts it again.
  const migrate = async (text) => {
    for (let attempt = 1; ; ++attempt) {
      const fault = await sql(`SET lock_timeout = 2000; ${text}`).then(
        () => null,
        (error) => error,
      );
      if (!fault) return;
      if (attempt === 20 || !String(fault).includes('lock timeout')) throw fault;
      await delay(2_000);
    }
  };

  const accepted = [];
  const order = ordering(merchant, store, accepted);
  const { failures, stop } = keepCalling([
    order,
    order,
    () => merchant.api.get('/api/deliveries?limit=5'),
    () => merchant.api.put('/api/credentials', merchant.cloudLogin),
  ]);
  const some = async (what) => {
    const before = accepted.length;
    await until(`orders ${what}`, () => accepted.length >= before + 20 || failures.length > 0, 30_000);
  };
  try {
    await some('before');
    // A column in every table, as migrations add them (docs/development.md), a table and an index.
    for (const table of (await sql("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")).split(
      '\n',
    )) {
      await migrate(
        `ALTER TABLE ${table} ADD COLUMN added_later BIGINT NOT NULL DEFAULT 7, ADD COLUMN also_added TEXT`,
      );
    }
    await migrate('CREATE TABLE made_later (id BIGINT PRIMARY KEY, delivery_id BIGINT REFERENCES deliveries (id))');
    await migrate('CREATE INDEX deliveries_by_change ON deliveries (account_id, updated_at)');
    await sql(
      "INSERT INTO schema_migrations (number, name, checksum, applied_at) VALUES (9999, 'of a later version', '', 0)",
    );
    await some('after');
  } finally {
    await stop();
  }
  assert.deepEqual(failures, []);

  // Deliveries that began before, and ones that begin now.
  isOk(await merchant.api.get('/api/presets'));
  const other = await Merchant.signUp(both, 2);
  const { deliveryId } = await other.order(await other.store('provider_a'), { orderId: '1', username: 'buyer' });
  await other.reaches(deliveryId, 'completed');
  await allDelivered(merchant, accepted);
  const last = accepted.at(-1);
  await receiver.waitFor(
    'the event of the last one',
    ({ type, deliveryId: id }) => type === 'delivery.completed' && id === last,
  );
  assert.equal(await sql('SELECT count(*) FROM deliveries WHERE added_later <> 7 OR also_added IS NOT NULL'), '0');
  for (const node of nodes) {
    assert.equal((await new Client(node.url).get('/readyz')).status, 200);
    assert.deepEqual(
      node.log.filter((line) => line.includes('"level":"error"')),
      [],
    );
  }
  // But one of them that has stopped does not come back.
  await nodes[1].stop();
  assert.equal(codeOf(await serve(nodes[1].dataDir)), 'SCHEMA_NEWER');
});

test('each node does what its roles say, and together they deliver', async (t) => {
  const scope = new Scope(t);
  const cloud = await startCloudsim(scope, { args: ['--users', '1', '--files', '5', '--create-unknown-users'] });
  const nodes = {};
  for (const role of ['api', 'worker', 'dispatcher']) {
    const dataDir = nodes.api && (await dataDirBeside(scope, nodes.api.dataDir));
    nodes[role] = await startBridge(scope, { cloudUrl: cloud.url, dataDir, args: ['--roles', role, ...RATES] });
  }
  for (const role of ['worker', 'dispatcher']) {
    const client = new Client(nodes[role].url);
    for (const path of ['/healthz', '/readyz', '/metrics'])
      assert.equal((await client.get(path)).status, 200, `${role} ${path}`);
    for (const { path, method } of operations.filter((one) => one.path.startsWith('/api/'))) {
      isError(await client.request(method, filled(path, {})), 404, 'NOT_FOUND');
    }
  }
  const receiver = await startReceiver(scope);
  const merchant = await Merchant.signUp(nodes.api, 1);
  isOk(await merchant.api.post('/api/webhook-subscriptions', { url: receiver.url }), 201);
  const { deliveryId } = await merchant.order(await merchant.store('generic'), { orderId: '1', username: 'buyer' });
  await merchant.reaches(deliveryId, 'completed');
  await receiver.waitFor('its event', ({ type, deliveryId: id }) => type === 'delivery.completed' && id === deliveryId);
});

test('nodes are replaced one by one, and no request of the other one fails', async (t) => {
  const scope = new Scope(t);
  const { nodes, cloud } = await startPair(scope, { args: ['--delivery-poll-ms', '50'] });
  const merchant = await Merchant.signUp(nodes[0], 1);
  const store = await merchant.store('generic');
  const accepted = [];
  const order = ordering(merchant, store, accepted);
  for (const leaving of [0, 1]) {
    merchant.moveTo(nodes[1 - leaving]);
    const { failures, stop } = keepCalling([
      order,
      () => merchant.api.get('/api/deliveries?limit=5'),
      () => merchant.open.get('/readyz'),
    ]);
    const some = async (what) => {
      const before = accepted.length;
      await until(`orders ${what}`, () => accepted.length >= before + 10 || failures.length > 0, 30_000);
    };
    try {
      await some('before');
      const { dataDir } = nodes[leaving];
      await nodes[leaving].stop();
      await some('while it is away');
      const migrated = await runBridge(['migrate', '--data-dir', dataDir]);
      assert.deepEqual(
        [migrated.code, migrated.stdout],
        [0, '0 migrations applied to the PostgreSQL database\n'],
        migrated.stderr,
      );
      nodes[leaving] = await startBridge(scope, { cloudUrl: cloud.url, dataDir, args: RATES });
      await some('when it is back');
    } finally {
      await stop();
    }
    assert.deepEqual(failures, []);
  }
  await allDelivered(merchant, accepted);
});

// The second node dies and comes back, and so does the database.
async function disturb(scope, { nodes, cloud }, args = []) {
  const { dataDir } = nodes[1];
  await nodes[1].kill();
  await (await cluster()).restart();
  nodes[1] = await startBridge(scope, { cloudUrl: cloud.url, dataDir, args });
  for (const { url } of nodes)
    await until('the node has its database', async () => (await new Client(url).get('/readyz')).status === 200, 30_000);
}

test('a key has its requests an hour once for all nodes, not once for each, whatever dies', async (t) => {
  const scope = new Scope(t);
  const stack = await startPair(scope);
  const { nodes } = stack;
  const merchant = await Merchant.signUp(balanced(nodes), 1, { credits: 0, connected: false });
  const key = await merchant.key();
  const limited = await runBridge(['admin', 'set-rate-limit', key.id, '10', '--data-dir', nodes[0].dataDir]);
  assert.equal(limited.code, 0, limited.stderr);
  const ask = (count) =>
    Promise.all(
      Array.from({ length: count }, (_, i) =>
        new Client(nodes[i % 2].url, { headers: { 'x-api-key': key.secret } }).get('/api/account'),
      ),
    );
  for (const answer of await ask(4)) isOk(answer, 200);
  await disturb(scope, stack);
  const answers = await ask(30);
  const refused = answers.filter(({ status }) => status !== 200);
  assert.equal(answers.length - refused.length, 6);
  for (const answer of refused) {
    isError(answer, 429, 'RATE_LIMIT_EXCEEDED');
    assert.ok(Number(answer.headers['retry-after']) > 0, answer.headers['retry-after']);
  }
});

test('an account has its integrations and subscriptions once for all nodes, not once for each', async (t) => {
  const scope = new Scope(t);
  const { nodes } = await startPair(scope);
  const merchant = await Merchant.signUp(balanced(nodes), 1, { credits: 0, connected: false });
  for (const [path, most, body] of [
    ['/api/webhook-subscriptions', 100, { url: 'http://127.0.0.1:9/' }],
    ['/api/integrations', 500, { name: 'Store', provider: 'generic' }],
  ]) {
    const answers = [];
    while (answers.length < most + 20)
      answers.push(...(await Promise.all(Array.from({ length: 40 }, () => merchant.api.post(path, body)))));
    const refused = answers.filter(({ status }) => status !== 201);
    assert.equal(answers.length - refused.length, most, path);
    for (const answer of refused) isError(answer, 409, 'LIMIT_REACHED');
  }
});

test('a cloud account has its jobs a minute once for all nodes, not once for each, whatever dies', async (t) => {
  const scope = new Scope(t);
  const args = ['--delivery-poll-ms', '50'];
  // The first sweep, a minute after a friend request: an earlier one would take the place of a job.
  const stack = await startPair(scope, { jobsPerMinute: 5, firstSweepSeconds: 60, args });
  const { nodes, sim } = stack;
  const merchant = await Merchant.signUp(balanced(nodes), 1);
  const store = await merchant.store('generic');
  // Nobody accepts: but for a sweep a minute every job is a first request, and begins with this call.
  const buyers = Array.from({ length: 12 }, (_, i) => `buyer-${i}`);
  await sim.post('/sim/customers', { customers: buyers.map((username) => ({ username, answer: 'never' })) });
  await Promise.all(buyers.map((username) => merchant.order(store, { orderId: username, username })));
  const started = async () =>
    (await sim.get('/sim/calls')).json.calls.filter(({ endpoint }) => endpoint === 'findUser');
  await until('the first jobs', async () => (await started()).length >= 5, 20_000);
  await disturb(scope, stack, ['--delivery-jobs-per-minute', '5', ...args]);
  // Over the edge of the first minute.
  await until('more jobs', async () => (await started()).length >= 8, 90_000);
  await delay(5_000);
  const at = (await started()).map(({ atMs }) => atMs).sort((a, b) => a - b);
  const spans = at.slice(5).map((later, i) => later - at[i]);
  // From a start to its call it takes some milliseconds, and the first ones log in.
  assert.ok(
    spans.every((span) => span > 55_000),
    JSON.stringify(at),
  );
});

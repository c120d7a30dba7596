// The service says how it is (spec 12.3): its metrics from the first scrape on, a line for each end, trouble of the platform,
// and a database that is not there.
import assert from 'node:assert/strict';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { readExposition, valueOf } from './exposition.mjs';
import { Client, ENGINE, Scope, dataDirBeside, runBridge, startBridge, until, useDatabase } from './harness.mjs';
import { Merchant, startStack } from './merchant.mjs';
import { newDatabase } from './postgres.mjs';

const NOWHERE = 'http://127.0.0.1:9';
const metricsOf = async (bridge) => readExposition((await new Client(bridge.url).get('/metrics')).text);
const linesOf = (bridge) => bridge.log.filter((line) => line.startsWith('{"time"')).map((line) => JSON.parse(line));
const linesWith = (bridge, text) => bridge.log.filter((line) => line.includes(text)).map((line) => JSON.parse(line));

// docs/operations.md has a row for each.
async function documentedMetrics() {
  const text = await readFile(new URL('../../docs/operations.md', import.meta.url), 'utf8');
  return [...text.matchAll(/^\| `(presetbridge_\w+)` \|/gm)].map(([, name]) => name).sort();
}

test('the reader of metrics refuses what Prometheus would', () => {
  const good = '# HELP a_total A.\n# TYPE a_total counter\na_total{x="1"} 2\n';
  assert.equal(valueOf(readExposition(good), 'a_total', { x: '1' }), 2);
  for (const bad of [
    good.trimEnd(),
    good.replace('# HELP a_total A.\n', ''),
    good.replace('A.', ''),
    good.replaceAll('a_total', 'a'),
    good.replace('counter', 'gauge'),
    good.replace('"1"', '1'),
    good.replace(' 2\n', ' two\n'),
    `${good}a_total{x="1"} 3\n`,
    `${good}b_total 3\n`,
    good.replace('a_total{x="1"} 2\n', ''),
    good.replaceAll('a_total', 'a_milliseconds_total'),
    '# HELP h_seconds H.\n# TYPE h_seconds histogram\nh_seconds_bucket{le="1"} 2\nh_seconds_bucket{le="+Inf"} 1\nh_seconds_sum 1\nh_seconds_count 1\n',
    '# HELP h_seconds H.\n# TYPE h_seconds histogram\nh_seconds_bucket{le="1"} 1\nh_seconds_sum 1\nh_seconds_count 1\n',
  ]) {
    assert.throws(() => readExposition(bad), undefined, bad);
  }
});

test('all families of metrics are in the first scrape, and documented', async (t) => {
  const bridge = await startBridge(new Scope(t), { cloudUrl: NOWHERE });
  const families = await metricsOf(bridge);
  assert.deepEqual([...families.keys()].sort(), await documentedMetrics());
  const version = (await new Client(bridge.url).get('/api/version')).json;
  assert.equal(valueOf(families, 'presetbridge_build_info', { version: version.version, commit: version.commit }), 1);
  for (const code of ['username_missing', 'credentials_missing', 'internal_error']) {
    assert.equal(valueOf(families, 'presetbridge_deliveries_ended_total', { outcome: 'failed', code }), 0);
  }
  assert.equal(valueOf(families, 'presetbridge_cloud_platform_up'), 1);
  assert.equal(valueOf(families, 'presetbridge_credential_agent_up'), 1);
  for (const what of ['writes', 'reads'])
    assert.equal(valueOf(families, 'presetbridge_storage_in_trouble', { what }), 0);
  await until(
    'the node is seen',
    async () => {
      const now = await metricsOf(bridge);
      return ['api', 'worker', 'dispatcher'].every((role) => valueOf(now, 'presetbridge_nodes_seen', { role }) === 1);
    },
    20_000,
  );
});

test("an order's id finds its acceptance and its end in the log, and nothing of the buyer", async (t) => {
  const { bridge } = await startStack(new Scope(t));
  const merchant = await Merchant.signUp(bridge, 1);
  const store = await merchant.store('generic');
  const ids = { account: merchant.accountId, integration: store.id };
  const endOf = (key) =>
    until(`the end of ${key}`, () =>
      linesWith(bridge, `"${key}"`).find(({ message }) => message === 'a delivery ended'),
    );
  const firstOf = (key, message) =>
    until(`${message}: ${key}`, () => linesWith(bridge, `"${key}"`).find((line) => line.message === message));

  const good = await merchant.order(store, { orderId: 'GREP-1', username: 'secret-buyer' });
  await merchant.reaches(good.deliveryId, 'completed');
  const order = good.deliveryId.replace('del_', 'ord_');
  for (const id of ['GREP-1', good.deliveryId, order]) {
    const accepted = await firstOf(id, 'an order was accepted');
    assert.deepEqual(
      [
        accepted.level,
        accepted.orderId,
        accepted.order,
        accepted.delivery,
        accepted.account,
        accepted.integration,
        accepted.status,
      ],
      ['info', 'GREP-1', order, good.deliveryId, ids.account, ids.integration, 'queued'],
    );
    const ended = await endOf(id);
    assert.deepEqual(
      [
        ended.level,
        ended.orderId,
        ended.order,
        ended.delivery,
        ended.account,
        ended.integration,
        ended.status,
        ended.code,
        ended.cause,
      ],
      [
        'info',
        'GREP-1',
        order,
        good.deliveryId,
        ids.account,
        ids.integration,
        'completed',
        'none',
        'nothing_left_owed',
      ],
    );
  }
  assert.equal(linesWith(bridge, '"GREP-1"').filter(({ message }) => message === 'a delivery ended').length, 1);

  await merchant.order(store, { orderId: 'GREP-1', username: 'secret-buyer' });
  const again = await firstOf('GREP-1', 'an order came again');
  assert.deepEqual([again.delivery ?? '', again.order, again.outcome], ['', order, 'completed']);

  const unmapped = await merchant.order(store, { orderId: 'GREP-2', username: 'secret-buyer', sku: 'NOTHING' });
  assert.equal(unmapped.status, 'ignored');
  const ignored = await firstOf('GREP-2', 'an order was ignored');
  assert.deepEqual(
    [ignored.reason, ignored.account, ignored.integration, ignored.order.slice(0, 4)],
    ['no_mapped_items', ids.account, ids.integration, 'ord_'],
  );

  const nobody = await merchant.store('provider_a');
  const failed = await merchant.order(nobody, { orderId: '4711' });
  assert.equal(failed.resolutionCode, 'username_missing');
  assert.deepEqual(await endOf('4711').then(({ status, code }) => [status, code]), ['failed', 'username_missing']);
  await merchant.api.post(`/api/deliveries/${failed.deliveryId}/invalidate`, { reason: 'told by secret-buyer' });
  await until('it is invalidated', () => linesWith(bridge, '"4711"').find(({ status }) => status === 'invalidated'));

  const held = await merchant.store('generic', { settings: { hold: 'all' } });
  await merchant.order(held, { orderId: 'GREP-3', username: 'secret-buyer' });
  assert.equal((await endOf('GREP-3')).status, 'in_review');

  for (const planted of ['secret-buyer', 'buyer@example.com', store.secret, merchant.cloudLogin.password]) {
    assert.deepEqual(
      bridge.log.filter((line) => line.includes(planted)),
      [],
      planted,
    );
  }
  const metrics = await metricsOf(bridge);
  const ended = (outcome, code) => valueOf(metrics, 'presetbridge_deliveries_ended_total', { outcome, code });
  assert.deepEqual(
    [
      ended('completed', 'none'),
      ended('failed', 'username_missing'),
      ended('invalidated', 'none'),
      ended('in_review', 'none'),
    ],
    [1, 1, 1, 1],
  );
  await until(
    'the backlog is counted',
    async () => {
      const now = await metricsOf(bridge);
      return (
        valueOf(now, 'presetbridge_backlog', { stage: 'in_review' }) === 1 &&
        valueOf(now, 'presetbridge_backlog_oldest_age_seconds', { stage: 'in_review' }) > 0
      );
    },
    30_000,
  );
});

test('the platform goes away: a line for the account whose work is paused, and a gauge', async (t) => {
  const { bridge, sim } = await startStack(new Scope(t), {
    args: ['--cloud-timeout-seconds', '1', '--delivery-lease-seconds', '15'],
  });
  const merchant = await Merchant.signUp(bridge, 1);
  const store = await merchant.store('generic');
  await sim.put('/sim/faults', { drop_before: 1 });
  for (const n of [1, 2, 3, 4]) await merchant.order(store, { orderId: `AWAY-${n}`, username: `buyer-${n}` });
  const paused = await until(
    'the account is paused',
    () => linesOf(bridge).find(({ message }) => message.startsWith('work of a cloud account is paused')),
    30_000,
  );
  assert.deepEqual([paused.trouble, paused.cloudAccount.length > 4], ['outage', true]);
  await until(
    'the metrics say so',
    async () => valueOf(await metricsOf(bridge), 'presetbridge_cloud_accounts_paused', { reason: 'outage' }) === 1,
    30_000,
  );
});

// The database of a data directory goes, or another one without anything stands in its place.
const replaceDatabase = {
  sqlite: async (dataDir) => {
    for (const name of ['presetbridge.db', 'presetbridge.db-wal', 'presetbridge.db-shm'])
      await rm(path.join(dataDir, name), { force: true });
  },
  postgres: async (dataDir) => useDatabase(dataDir, newDatabase()),
}[ENGINE];

test('keys that were used beside a database that is not there start no empty service', async (t) => {
  const scope = new Scope(t);
  const bridge = await startBridge(scope, { cloudUrl: NOWHERE });
  const { dataDir } = bridge;
  await Merchant.signUp(bridge, 1, { credits: 0, connected: false });
  await bridge.stop();
  const serve = (...words) =>
    runBridge([
      'serve',
      '--sandbox',
      '--listen',
      '127.0.0.1:0',
      '--data-dir',
      dataDir,
      '--cloud-url',
      NOWHERE,
      ...words,
    ]);
  const isRefused = async (says) => {
    const refused = await serve();
    const lines = refused.stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual(
      [refused.code, lines.length, lines[0].level, lines[0].code],
      [1, 1, 'error', 'DATABASE_MISSING'],
      refused.stderr,
    );
    assert.match(lines[0].message, says);
    assert.match(lines[0].message, /restore it from the backup.*serve --replace-lost-database/);
  };
  await replaceDatabase(dataDir);
  await isRefused(ENGINE === 'sqlite' ? /presetbridge\.db is not there/ : /database_url is empty/);
  if (ENGINE === 'sqlite') {
    await assert.rejects(
      stat(path.join(dataDir, 'presetbridge.db')),
      { code: 'ENOENT' },
      'nothing was made in its place',
    );
    await writeFile(path.join(dataDir, 'presetbridge.db'), '', { mode: 0o600 });
    await isRefused(/presetbridge\.db is not there/);
  }
  assert.equal((await runBridge(['migrate', '--data-dir', dataDir])).code, 0);
  await isRefused(/is empty/); // it has tables now

  const anew = await startBridge(scope, { cloudUrl: NOWHERE, dataDir, args: ['--replace-lost-database'] });
  await until('it says so', () => anew.log.some((line) => line.includes('a new deployment begins')));
  await anew.stop();
  const after = await startBridge(scope, { cloudUrl: NOWHERE, dataDir });
  await after.stop();
});

test('a deployment from before the mark, other nodes and new keys are served as ever', async (t) => {
  const scope = new Scope(t);
  const bridge = await startBridge(scope, { cloudUrl: NOWHERE });
  const { dataDir } = bridge;
  await bridge.stop();
  const mark = path.join(dataDir, 'keys.used');
  assert.equal(((await stat(mark)).mode & 0o777).toString(8), '600');
  await rm(mark);
  await (await startBridge(scope, { cloudUrl: NOWHERE, dataDir })).stop();
  await stat(mark);
  if (ENGINE === 'postgres') {
    const beside = await dataDirBeside(scope, dataDir);
    await (await startBridge(scope, { cloudUrl: NOWHERE, dataDir: beside })).stop();
    await stat(path.join(beside, 'keys.used'));
  }
  // All that is left is the mark: what it names is not there any more.
  for (const name of ['service.key', 'vault.key', 'vault.pub']) await rm(path.join(dataDir, name));
  await replaceDatabase(dataDir);
  await (await startBridge(scope, { cloudUrl: NOWHERE, dataDir })).stop();
});

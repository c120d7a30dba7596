// How long the list of deliveries takes in an account with a hundred thousand of them: each filter, search and count, the least of some
// runs, in milliseconds, and the mean of the service's processor time. By hand, with nothing beside it:
//   node tests/e2e/measure_deliveries.mjs [--deliveries 100000] [--only NAME]
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Client, Scope, startBridge } from './harness.mjs';
import { Merchant, isOk, startStack } from './merchant.mjs';

const { values } = parseArgs({
  options: { deliveries: { type: 'string', default: '100000' }, only: { type: 'string' } },
});
const total = Number(values.deliveries);
const scope = new Scope();

function fill(file, sql) {
  const done = spawnSync('sqlite3', [file], { input: sql, encoding: 'utf8', maxBuffer: 1 << 26 });
  if (done.status !== 0 || done.stderr) throw new Error(done.stderr);
  return done.stdout.trim();
}

try {
  const stack = await startStack(scope);
  const merchant = await Merchant.signUp(stack.bridge, 1);
  const stores = [await merchant.store('generic'), await merchant.store('provider_b')];
  await stack.bridge.stop();
  const file = join(stack.bridge.dataDir, 'presetbridge.db');
  const day = 86_400_000;
  const now = Date.now();
  // Ids as the service makes them, one a period over ninety days; one of a hundred failed, one of fifty waits, one of two hundred is in review.
  fill(
    file,
    `
    CREATE TEMP TABLE n AS WITH RECURSIVE c(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c WHERE i + 1 < ${total}) SELECT i,
      ${now - 90 * day} + i * ${Math.floor((90 * day) / total)} AS at FROM c;
    CREATE TEMP TABLE s AS SELECT row_number() OVER (ORDER BY id) - 1 AS k, id, account_id FROM integrations;
    CREATE TEMP TABLE d AS SELECT ((at - 1704067200000) << 22) + 5 AS id, i, at, s.id AS store, s.account_id AS account, 'order-' || i AS order_key,
      'buyer' || (i % 20000) AS username, 'buyer' || (i % 20000) || '@example.com' AS email, 'file-' || (i % 10) AS file,
      CASE WHEN i % 100 = 0 THEN 'failed' WHEN i % 50 = 1 THEN 'waiting_for_friendship' WHEN i % 200 = 3 THEN 'in_review' ELSE 'completed' END AS status
      FROM n JOIN s ON s.k = n.i % 2;
    INSERT INTO orders (id, account_id, integration_id, order_key, outcome, state, received_at, updated_at, listed_at, order_number, number_key)
      SELECT id, account, store, order_key, 'delivery', '{}', at, at, at, '#' || i, i FROM d;
    INSERT INTO deliveries (id, account_id, integration_id, order_key, status, resolution_code, message, target_username, raw_username, customer_email, customer_id,
        refunded, open, attempt_count, sequence, version, counted_version, created_at, updated_at, completed_at, ended_at)
      SELECT id, account, store, order_key, status, CASE status WHEN 'failed' THEN 'username_not_found' END, 'All files were shared with the customer.', username, username, email, 1,
        i % 500 = 7, status = 'waiting_for_friendship', 1, 2, 3, 3, at, at + 300 + (i % 1000) * 60000, CASE status WHEN 'completed' THEN at + 300 END, CASE status WHEN 'completed' THEN at + 300 END FROM d;
    INSERT INTO delivery_items (delivery_id, file_id, id, account_id, kind, name, matched_by, quantity, lines, status, shared_at)
      SELECT id, file, id + 1, account, 'preset', 'Preset', 'sku A-1', 1, '["1"]', 'shared', at FROM d;
    INSERT INTO delivery_keys (account_id, key, delivery_id) SELECT account, 'u' || username, id FROM d UNION ALL SELECT account, 'e' || email, id FROM d
      UNION ALL SELECT account, 'f' || file, id FROM d UNION ALL SELECT account, 'n' || i, id FROM d ORDER BY 1, 2, 3;
  `,
  );
  const bridge = await startBridge(scope, { cloudUrl: stack.cloud.url, dataDir: stack.bridge.dataDir });
  merchant.moveTo(bridge);
  const reader = new Client(bridge.url, { headers: { authorization: `Bearer ${merchant.tokens.idToken}` } });
  const iso = (back) => new Date(now - back * day).toISOString();
  const asked = {
    all: '',
    status: 'status=failed',
    'common status': 'status=completed',
    'two statuses': 'status=failed,in_review',
    code: 'resolutionCode=username_not_found',
    store: `integrationId=${stores[0].id}`,
    attention: 'needsAttention=true',
    'no attention': 'needsAttention=false',
    file: 'fileId=file-3',
    'no such file': 'fileId=none',
    'created, new': `createdFrom=${iso(10)}&createdTo=${iso(9)}`,
    'created, old': `createdFrom=${iso(80)}&createdTo=${iso(70)}`,
    'created, none': `createdFrom=${iso(200)}&createdTo=${iso(190)}`,
    'updated, new': `updatedFrom=${iso(1)}`,
    'updated, old': `updatedFrom=${iso(80)}&updatedTo=${iso(70)}`,
    'updated, none': `updatedFrom=${iso(-1)}`,
    refunded: 'refunded=true',
    'not refunded': 'refunded=false',
    'dry runs': 'dryRun=true',
    'no dry runs': 'dryRun=false',
    'q, one': 'q=buyer777@',
    'q, some': 'q=buyer12',
    'q, many': 'q=buyer',
    'q, none': 'q=zzz',
    'q, number': 'q=%23777',
    'q, order': 'q=order-77',
    'q, all orders': 'q=order',
    'q, many, failed': 'q=buyer&status=failed',
    'failed, old': `status=failed&createdTo=${iso(80)}`,
    'completed, refunded': 'status=completed&refunded=true',
    'file, failed': 'fileId=file-3&status=failed',
    'order id': 'orderId=order-777',
    oldest: 'sort=createdAt',
  };
  // The processor time of all threads of the service.
  const processorMs = () =>
    readdirSync(`/proc/${bridge.pid}/task`).reduce(
      (sum, task) => sum + Number(readFileSync(`/proc/${bridge.pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]),
      0,
    ) / 1e6;
  const least = async (path, runs = 7) => {
    let best = Infinity;
    const before = processorMs();
    for (let i = 0; i < runs; ++i) {
      const begin = performance.now();
      isOk(await reader.get(path));
      best = Math.min(best, performance.now() - begin);
    }
    return { wall: best.toFixed(1), processor: ((processorMs() - before) / runs).toFixed(1) };
  };
  const rows = [];
  for (const [name, query] of Object.entries(asked)) {
    if (values.only && name !== values.only) continue;
    const page = await least(`/api/deliveries?limit=50&${query}`);
    const counted = await least(`/api/deliveries?limit=1&count=true&${query}`);
    rows.push({
      name,
      page: page.wall,
      'page, processor': page.processor,
      counted: counted.wall,
      'counted, processor': counted.processor,
    });
  }
  for (const path of [
    '/api/overview',
    '/api/overview?tz=Europe/Berlin',
    '/api/stats/deliveries',
    '/api/search?q=buyer',
    '/api/search?q=buyer12',
  ]) {
    const { wall, processor } = await least(path);
    rows.push({ name: path, page: wall, 'page, processor': processor });
  }
  console.table(rows);
  const over = rows.filter((row) => row['page, processor'] > 50 || row['counted, processor'] > 50);
  console.log(
    over.length === 0 ? 'all within 50 ms of processor time' : `over 50 ms: ${over.map(({ name }) => name).join(', ')}`,
  );
} finally {
  await scope.close();
}

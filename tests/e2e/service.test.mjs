// The program itself (spec 5.3, 8.4, 12): its health, its files, its verbs, its beginning and its end.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod, chown, copyFile, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { Client, Program, Scope, runBridge, scratch, startBridge, until } from './harness.mjs';
import { Merchant, PASSWORD, startStack } from './merchant.mjs';

const CLOUD = { cloudUrl: 'http://127.0.0.1:9' }; // nobody is there: none of this needs the platform
// The one child of the service: its credential agent.
const agentOf = (bridge) =>
  Number(execFileSync('pgrep', ['-P', String(bridge.pid)], { encoding: 'utf8' }).match(/^(\d+)\n$/)[1]);
const mode = async (file) => ((await stat(file)).mode & 0o777).toString(8);

test('it says that it lives, that it is ready, what it is and what it counts', async (t) => {
  const bridge = await startBridge(new Scope(t), CLOUD);
  const client = new Client(bridge.url);
  assert.deepEqual((await client.get('/healthz')).json, { status: 'ok' });
  assert.deepEqual((await client.get('/readyz')).json, { status: 'ready', waitingFor: [] });
  const version = (await client.get('/api/version')).json;
  assert.equal(version.sandbox, true);
  assert.equal((await runBridge(['--version'])).stdout.trim(), `presetbridge ${version.version} (${version.commit})`);
  const metrics = await client.get('/metrics');
  assert.match(metrics.headers['content-type'], /^text\/plain; version=0\.0\.4/);
  for (const [, name] of metrics.text.matchAll(/^# TYPE (\S+) /gm))
    assert.match(metrics.text, new RegExp(`^# HELP ${name} .`, 'm'));
  assert.match(metrics.text, /^presetbridge_http_requests_total\{route="\/healthz",status="200"\} 1$/m);
});

test('metrics are kept back where the configuration says so', async (t) => {
  const bridge = await startBridge(new Scope(t), { ...CLOUD, env: { PRESETBRIDGE_HTTP_METRICS: 'false' } });
  assert.equal((await new Client(bridge.url).get('/metrics')).status, 404);
});

test('SIGTERM and SIGINT end it cleanly, and its log is JSON to the last line', async (t) => {
  for (const signal of ['SIGTERM', 'SIGINT']) {
    const bridge = await startBridge(new Scope(t), CLOUD);
    const began = performance.now();
    bridge.child.kill(signal);
    assert.deepEqual(await bridge.ended, { code: 0, signal: null });
    assert.ok(performance.now() - began < 10_000);
    const lines = bridge.log.filter((line) => !line.startsWith('{"listening"')).map((line) => JSON.parse(line));
    assert.equal(lines.at(-1).message, 'stopped');
    assert.ok(lines.every(({ time, level, message }) => time && level && message));
    assert.ok(!(await readdir(bridge.dataDir)).includes('admin.channel'));
  }
});

test('a platform that does not answer does not hold the end up', async (t) => {
  const stack = await startStack(new Scope(t), { args: ['--shutdown-drain-seconds', '1'] });
  const merchant = await Merchant.signUp(stack.bridge, 1);
  const store = await merchant.store('generic');
  await stack.sim.put('/sim/faults', { latencyMinMs: 60_000, latencyMaxMs: 60_000 });
  const { deliveryId } = await merchant.order(store, { orderId: '1', username: 'buyer' });
  await merchant.reaches(deliveryId, 'processing');
  const began = performance.now();
  await stack.bridge.stop(); // throws unless the exit code is 0
  assert.ok(performance.now() - began < 5_000);
});

// Its own copy, because an ordinary user may not be let into the folder where it was built.
test('an ordinary user can run it, only that user can read what it keeps, and not even that user can look inside', async (t) => {
  const folder = await scratch(t);
  const binary = path.join(folder, 'presetbridge');
  await copyFile(process.env.PRESETBRIDGE_BIN, binary);
  const root = process.getuid() === 0;
  const nobody = ['--reuid', '65534', '--regid', '65534', '--clear-groups', '--'];
  if (root) await chown(folder, 65534, 65534);
  const dataDir = path.join(folder, 'new', 'data');
  const args = ['serve', '--sandbox', '--listen', '127.0.0.1:0', '--data-dir', dataDir];
  const bridge = new Program('presetbridge', root ? 'setpriv' : binary, root ? [...nobody, binary, ...args] : args);
  t.after(() => bridge.stop());
  await bridge.listening();

  assert.equal(await mode(dataDir), '700');
  for (const file of await readdir(dataDir)) {
    assert.equal(await mode(path.join(dataDir, file)), file === 'vault.pub' ? '644' : '600', file);
  }
  const limits = await readFile(`/proc/${bridge.pid}/limits`, 'utf8');
  assert.match(limits, /^Max core file size +0 +0 /m);
  // A process that the kernel lets nobody inspect belongs to root in /proc, whoever runs it.
  assert.notEqual((await stat(dataDir)).uid, 0);
  for (const pid of [bridge.pid, agentOf(bridge)]) assert.equal((await stat(`/proc/${pid}/environ`)).uid, 0);
});

test('it is not ready while its credential agent is away, and gets another', async (t) => {
  const bridge = await startBridge(new Scope(t), CLOUD);
  const client = new Client(bridge.url);
  const first = agentOf(bridge);
  process.kill(first, 'SIGKILL');
  await until('another agent', async () => agentOf(bridge) !== first && (await client.get('/readyz')).status === 200);
});

test('a second service on the same data directory is refused, and the first goes on', async (t) => {
  const bridge = await startBridge(new Scope(t), CLOUD);
  const second = await runBridge(['serve', '--sandbox', '--listen', '127.0.0.1:0', '--data-dir', bridge.dataDir]);
  assert.equal(second.code, 1);
  assert.equal(JSON.parse(second.stderr).code, 'STORAGE_LOCKED');
  assert.equal((await new Client(bridge.url).get('/readyz')).status, 200);
});

test('a taken port is told in one line', async (t) => {
  const bridge = await startBridge(new Scope(t), CLOUD);
  const second = await runBridge([
    'serve',
    '--sandbox',
    '--listen',
    new URL(bridge.url).host,
    '--data-dir',
    await scratch(t),
  ]);
  assert.equal(second.code, 1);
  assert.equal(JSON.parse(second.stderr).code, 'LISTEN_FAILED');
});

test('the operator administers through the running service, and without one', async (t) => {
  const scope = new Scope(t);
  const bridge = await startBridge(scope, CLOUD);
  const admin = (args, input) => runBridge(['admin', ...args, '--data-dir', bridge.dataDir], { input });
  const answerOf = async (...args) => {
    const done = await admin(...args);
    assert.equal(done.code, 0, done.stderr);
    return JSON.parse(done.stdout);
  };
  const signIn = (url, password) =>
    new Client(url).post('/api/auth/sign-in', { email: 'owner@shop.example', password });

  const made = await answerOf(['create-account', 'Owner@Shop.example', '--name', 'A shop'], `${PASSWORD}\n`);
  assert.equal(made.email, 'owner@shop.example');
  const tokens = await signIn(bridge.url, PASSWORD);
  assert.equal(tokens.json.accountId, made.accountId);
  assert.deepEqual(await answerOf(['grant-credits', made.accountId, '5', '--note', 'a start']), { available: 5 });
  const person = new Client(bridge.url, { headers: { authorization: `Bearer ${tokens.json.idToken}` } });
  assert.equal((await person.get('/api/credits')).json.available, 5);
  const granted = (await person.get('/api/account/audit')).json.data.find(({ action }) => action === 'credits.granted');
  assert.equal(granted.detail, '5: a start');
  const key = (await person.post('/api/keys', { name: 'k' })).json;
  assert.deepEqual(await answerOf(['set-rate-limit', key.id, '7']), { id: key.id, rateLimit: 7 });

  await bridge.stop();
  assert.deepEqual(await answerOf(['grant-credits', made.accountId, '2']), { available: 7 });
  await answerOf(['reset-password', 'owner@shop.example'], 'another long phrase');
  const { accounts } = await answerOf(['list-accounts']);
  assert.deepEqual(
    accounts.map(({ id, name, credits }) => ({ id, name, credits })),
    [{ id: made.accountId, name: 'A shop', credits: 7 }],
  );

  for (const [args, input, says] of [
    [['create-account', 'owner@shop.example'], PASSWORD, /has an account already/],
    [['create-account', 'other@shop.example'], 'short', /password/],
    [['grant-credits', made.accountId, '1', '--note', 'x'.repeat(501)], '', /at most 500 bytes/],
    [['grant-credits', 'acc_0000000000001', '1'], '', /no/i],
    [['grant-credits', 'del_0000000000001', '1'], '', /There is no account/],
    [['reset-password', 'nobody@shop.example'], PASSWORD, /no/i],
  ]) {
    const refused = await admin(args, input);
    assert.equal(refused.code, 1, `${args}: ${refused.stdout}`);
    assert.match(refused.stderr, says);
    assert.doesNotMatch(refused.stderr, new RegExp(PASSWORD));
  }

  for (const credits of ['0', '-1', '1000000000001', '1.5']) {
    const refused = await admin(['grant-credits', made.accountId, credits]);
    assert.equal(refused.code, 2, `${credits}: ${refused.stdout}`);
    assert.match(refused.stderr, new RegExp(`credits: Value ${credits} not in range 1 to 1000000000000$`, 'm'));
  }

  const again = await startBridge(scope, { ...CLOUD, dataDir: bridge.dataDir });
  const begins = (one) => one.log.some((line) => line.includes('a new deployment begins'));
  assert.deepEqual([begins(bridge), begins(again)], [true, false]);
  assert.equal((await signIn(again.url, PASSWORD)).status, 401);
  assert.equal((await signIn(again.url, 'another long phrase')).json.accountId, made.accountId);
});

test('a folder without a deployment is not made one by the operator', async (t) => {
  const folder = path.join(await scratch(t), 'mistyped');
  for (const args of [['list-accounts'], ['create-account', 'a@shop.example']]) {
    const refused = await runBridge(['admin', ...args, '--data-dir', folder], { input: PASSWORD });
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /There is no database .*mistyped\/presetbridge\.db: check --data-dir/);
  }
  await assert.rejects(stat(folder), { code: 'ENOENT' });
});

test('the admin channel opens to its token alone', async (t) => {
  const bridge = await startBridge(new Scope(t), CLOUD);
  const client = new Client(bridge.url);
  const [, url, token] = (await readFile(path.join(bridge.dataDir, 'admin.channel'), 'utf8')).trim().split(' ');
  assert.equal(url, bridge.url);
  const ask = (headers, body = { command: 'list-accounts' }) => client.post('/internal/admin', body, { headers });
  assert.equal((await ask({ authorization: `Bearer ${token}` })).status, 200);
  for (const headers of [
    {},
    { authorization: token },
    { authorization: 'Bearer ' },
    { authorization: `Bearer ${token}x` },
    { authorization: `Bearer ${token.slice(0, -2)}AA` },
  ]) {
    assert.equal((await ask(headers)).status, 401, JSON.stringify(headers));
  }
  assert.equal((await ask({ authorization: `Bearer ${token}` }, { command: 'drop-everything' })).status, 422);
  assert.equal((await ask({ authorization: `Bearer ${token}` }, [])).status, 422);
});

test('the configuration is printed with every problem, and a wrong one starts nothing', async (t) => {
  const file = path.join(await scratch(t), 'presetbridge.toml');
  await writeFile(file, 'threds = 1\n[delivery]\njobs_per_minute = 1\n[cloud]\nurl = "https://cloud.example"\n');
  const check = await runBridge(['config', 'check', '--config', file, '--listen', 'here'], {
    env: { PRESETBRIDGE_DELIVERY_JOBS_PER_MINUTE: '2' },
  });
  assert.equal(check.code, 2);
  assert.match(check.stdout, /^jobs_per_minute = 2$/m);
  assert.deepEqual(
    check.stderr
      .trim()
      .split('\n')
      .map((line) => line.split(' ')[1]),
    ['threds', 'listen'],
  );
  const serve = await runBridge(['serve', '--config', file]);
  assert.equal(serve.code, 2);
  assert.match(serve.stderr, /threds is not a setting/);
});

test('wrong words on the command line are told with what is known', async () => {
  for (const [args, says] of [
    [[], /A verb is needed: serve, migrate, config, doctor, vault, admin, copy, database, demo, listen, send-order$/m],
    [['sing'], /There is no sing; the verbs are: serve, /],
    [['admin'], /A verb is needed: create-account, /],
    [['admin', 'give'], /There is no give; the verbs are: create-account, .*grant-credits/],
    [['vault', 'open'], /There is no open; the verbs are: init, rotate, drop, keys$/m],
    [['serve', '--no-such-flag'], /There is no flag --no-such-flag here$/m],
    [['serve', '--databse-url=postgresql://x'], /no flag --databse-url here; is --database-url meant\?$/m],
    [
      ['copy', '--from', 'sqlite:x', '--to', 'postgresql://x', '--peice', '1'],
      /no flag --peice here; is --piece meant\?$/m,
    ],
    [
      ['serve', '--roles', 'api,workers'],
      /roles must be one or more of: api, worker, dispatcher; not workers \(--roles\)$/m,
    ],
    [['admin', 'grant-credits'], /account is required/],
  ]) {
    const done = await runBridge(args);
    assert.equal(done.code, 2);
    assert.match(done.stderr, says);
  }
});

test('a settings file that is not there is the one thing told', async () => {
  for (const verb of [['config', 'check'], ['serve']]) {
    const done = await runBridge([...verb, '--config', 'none.toml']);
    assert.deepEqual([done.code, done.stdout, done.stderr], [2, '', 'presetbridge: none.toml cannot be read\n']);
  }
});

test('wrong words on the command line are told with exit code 2', async () => {
  for (const args of [
    [],
    ['sing'],
    ['serve', '--no-such-flag'],
    ['admin'],
    ['admin', 'grant-credits', 'acc_1', 'many'],
  ]) {
    const done = await runBridge(args);
    assert.equal(done.code, 2, `${args}`);
    assert.notEqual(done.stderr, '');
  }
});

test('migrations are applied once, and only in a folder', async (t) => {
  const folder = await scratch(t);
  const migrated = await runBridge(['migrate', '--data-dir', folder]);
  assert.match(migrated.stdout, /^[1-9]\d* migrations? applied/);
  assert.match((await runBridge(['migrate', '--data-dir', folder])).stdout, /^0 migrations applied/);
  const file = path.join(folder, 'not-a-folder');
  await writeFile(file, '');
  const refused = await runBridge(['migrate', '--data-dir', file]);
  assert.deepEqual([refused.code, /is not a folder/.test(refused.stderr)], [1, true]);
});

test('half a pair of vault keys is never made whole with a new one', async (t) => {
  const folder = await scratch(t);
  assert.equal((await runBridge(['vault', 'init', '--data-dir', folder])).code, 0);
  await rm(path.join(folder, 'vault.key'));
  const refused = await runBridge(['serve', '--sandbox', '--listen', '127.0.0.1:0', '--data-dir', folder]);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /vault\.key is missing/);
  assert.ok(!(await readdir(folder)).includes('vault.key'));
});

test('vault keys that the agent could not use stop the start', async (t) => {
  const folder = await scratch(t);
  assert.equal((await runBridge(['vault', 'init', '--data-dir', folder])).code, 0);
  const other = await scratch(t);
  assert.equal((await runBridge(['vault', 'init', '--data-dir', other])).code, 0);
  const key = path.join(folder, 'vault.key');
  const good = await readFile(key, 'utf8');
  const refusedAs = async (code, sentence) => {
    const refused = await runBridge(['serve', '--sandbox', '--listen', '127.0.0.1:0', '--data-dir', folder]);
    assert.equal(refused.code, 1);
    const lines = refused.stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual([lines.length, lines[0].level, lines[0].code], [1, 'error', code]);
    assert.match(lines[0].message, sentence);
    assert.ok(!refused.stderr.includes(good.split(' ')[1].slice(0, 20)));
  };
  for (const open of [0o640, 0o604]) {
    await chmod(key, open);
    await refusedAs('KEY_FILE_EXPOSED', /vault\.key can be read or changed by others: chmod 600 it/);
  }
  await chmod(key, 0o600);
  await writeFile(key, good.slice(0, 40));
  await refusedAs('KEY_FILE_INVALID', /vault\.key is not a key file/);
  await copyFile(path.join(other, 'vault.key'), key);
  await refusedAs('KEY_FILE_FOREIGN', /vault\.key does not hold the private key of .*vault\.pub/);
  await writeFile(key, good);
  await rm(path.join(folder, 'presetbridge.db'), { force: true }); // those were without PostgreSQL
  const bridge = await startBridge(new Scope(t), { ...CLOUD, dataDir: folder });
  assert.equal((await new Client(bridge.url).get('/readyz')).status, 200);
});

test('keys that are lost, or of another deployment, are not taken behind the back of what the right ones sealed', async (t) => {
  const scope = new Scope(t);
  const folder = await scratch(t);
  const stack = await startStack(scope, { dataDir: folder });
  await Merchant.signUp(stack.bridge, 1);
  stack.bridge.child.kill('SIGTERM');
  await stack.bridge.ended;
  const verb = (...words) => runBridge([...words, '--data-dir', folder]);
  const serve = () => verb('serve', '--sandbox', '--listen', '127.0.0.1:0', '--cloud-url', stack.cloud.url);
  const keys = ['vault.key', 'vault.pub', 'service.key'];
  const good = await scratch(t);
  for (const name of keys) await copyFile(path.join(folder, name), path.join(good, name));
  const restore = async (from, names = keys) => {
    for (const name of names) await copyFile(path.join(from, name), path.join(folder, name));
  };
  for (const [lost, sentence] of [
    [['vault.key', 'vault.pub'], /vault's keys .*vault\.key.* are missing.*vault init --replace-lost/],
    [['service.key'], /service key .*service\.key is missing/],
  ]) {
    for (const name of lost) await rm(path.join(folder, name));
    for (const refused of [await serve(), await verb('vault', 'init')]) {
      assert.equal(refused.code, 1, refused.stderr);
      assert.match(refused.stderr, /are missing|is missing/);
      const left = await readdir(folder);
      for (const name of keys) assert.equal(left.includes(name), !lost.includes(name), name);
    }
    assert.match((await serve()).stderr, sentence);
    await restore(good);
  }
  const stranger = await scratch(t);
  assert.equal((await runBridge(['vault', 'init', '--data-dir', stranger])).code, 0);
  for (const names of [['vault.key', 'vault.pub'], ['service.key']]) {
    await restore(stranger, names);
    const refused = await serve();
    assert.deepEqual([refused.code, JSON.parse(refused.stderr.trim().split('\n').at(-1)).code], [1, 'KEY_MISMATCH']);
    await restore(good);
  }
  for (const name of ['vault.key', 'vault.pub']) await rm(path.join(folder, name));
  const replaced = await verb('vault', 'init', '--replace-lost');
  assert.deepEqual([replaced.code, replaced.stderr], [0, '']);
  const again = await startBridge(scope, { cloudUrl: stack.cloud.url, dataDir: folder });
  assert.equal((await new Client(again.url).get('/readyz')).status, 200);
});

test('people who are known by another name of the issuer are not locked out in silence', async (t) => {
  const scope = new Scope(t);
  const issuer = (name) => ({ ...CLOUD, env: { PRESETBRIDGE_IDENTITY_ISSUER: name } });
  const bridge = await startBridge(scope, issuer('https://one.example'));
  await Merchant.signUp(bridge, 1, { credits: 0, connected: false });
  await bridge.stop();
  const refused = await runBridge([
    'serve',
    '--sandbox',
    '--listen',
    '127.0.0.1:0',
    '--data-dir',
    bridge.dataDir,
    '--identity-issuer',
    'https://two.example',
  ]);
  const last = JSON.parse(refused.stderr.trim().split('\n').at(-1));
  assert.deepEqual([refused.code, last.code], [1, 'ISSUER_CHANGED']);
  assert.match(last.message, /https:\/\/one\.example.*https:\/\/two\.example.*identity\.issuer/);
  const again = await startBridge(scope, { ...issuer('https://one.example'), dataDir: bridge.dataDir });
  assert.equal(
    (await new Client(again.url).post('/api/auth/sign-in', { email: 'merchant-1@shop.example', password: PASSWORD }))
      .status,
    200,
  );
});

test('a flag says yes or no, and nothing else', async () => {
  const check = (...words) =>
    runBridge(['config', 'check', '--cloud-url', 'http://127.0.0.1:9', ...words], {
      env: { PRESETBRIDGE_SANDBOX: 'true' },
    });
  for (const [words, sandbox] of [
    [[], true],
    [['--sandbox=false'], false],
    [['--sandbox'], true],
    [['--sandbox=true'], true],
  ]) {
    assert.match((await check(...words)).stdout, new RegExp(`^sandbox = ${sandbox}$`, 'm'), words.join());
  }
  const wrong = await check('--sandbox=banana');
  assert.deepEqual([wrong.code, /sandbox must be true or false/.test(wrong.stderr)], [2, true], wrong.stderr);
});

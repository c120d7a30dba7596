// Keys at rest are rotated while the service works (spec 5.4): under load, with the command and the service killed between, and over
// nodes of which one has not the new keys yet. Nothing fails, nothing is left on the old keys, and an old backup opens with them.
import assert from 'node:assert/strict';
import { copyFile, cp, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import {
  ENGINE,
  Client,
  Program,
  Scope,
  dataDirBeside,
  runBridge,
  scratch,
  startBridge,
  until,
  useDatabase,
  within,
} from './harness.mjs';
import { Merchant, PASSWORD, contract, isOk, startStack } from './merchant.mjs';
import { sampleOrder } from './orders.mjs';
import { cluster } from './postgres.mjs';
import { Random } from './random.mjs';
import { startReceiver, verifiedEvent } from './receiver.mjs';

const KEY_FILES = ['service.key', 'vault.key', 'vault.pub'];
const RATES = ['--delivery-poll-ms', '50', '--shutdown-drain-seconds', '1', '--delivery-lease-seconds', '40'];
const STORES = 130; // more than one piece of rows that are sealed anew
const ROTATED_MS = 240_000; // a node that was killed counts for two minutes more
const OPENERS = 3; // merchants with a stored login
const BASE_URL = 'http://127.0.0.1:9'; // of links, which nobody follows

const scope = new Scope({ after });
const random = new Random(20);
let stack, dataDir, issuer, merchants, store, receiver, subscription;
let old; // of before the first rotation: key files, backup, tokens, links

const words = (verb, args = []) => [
  'vault',
  verb,
  '--data-dir',
  dataDir,
  '--identity-issuer',
  issuer,
  '--base-url',
  BASE_URL,
  ...args,
];
const vault = (verb, args) => runBridge(words(verb, args), { deadlineMs: ROTATED_MS });
// One that is to be killed.
const begun = (verb, args) =>
  new Program('presetbridge', process.env.PRESETBRIDGE_BIN, words(verb, args), {
    env: stack.bridge.databaseUrl ? { PRESETBRIDGE_DATABASE_URL: stack.bridge.databaseUrl } : {},
  });
const keysIn = async (folder) =>
  Object.fromEntries(
    await Promise.all(
      KEY_FILES.map(async (name) => [name, (await readFile(path.join(folder, name), 'utf8')).trim().split('\n')]),
    ),
  );
const say = ({ stdout, stderr }) => `${stdout}\n${stderr}`;
const rotated = async (args = []) => {
  let done;
  await until('no node lacks the keys', async () => (done = await vault('rotate', args)).code !== 3, ROTATED_MS);
  assert.equal(done.code, 0, say(done));
  assert.match(done.stdout, /^0 records left on an old key, 0 that no key opens$/m);
  return done;
};
const metric = async (name) => {
  const { text } = await new Client(stack.bridge.url).get('/metrics');
  return Object.fromEntries(
    text
      .split('\n')
      .filter((line) => line.startsWith(`${name}{`))
      .map((line) => [/key="(\w+)"/.exec(line)[1], Number(line.split(' ').at(-1))]),
  );
};
// The keys that the rows name: what stands behind the first byte of each.
const COLUMNS = {
  credentials: 'sealed',
  integrations: 'encrypted_secret',
  webhook_subscriptions: 'encrypted_secret',
  issuer_keys: 'encrypted_private_jwk',
  link_keys: 'encrypted_key',
};
async function namedKeys() {
  const named = {};
  for (const [table, column] of Object.entries(COLUMNS)) {
    const rows = await sql(
      `SELECT DISTINCT ${ENGINE === 'postgres' ? `encode(substr(${column}, 2, 8), 'hex')` : `lower(hex(substr(${column}, 2, 8)))`} FROM ${table}`,
    );
    named[table] = rows.split('\n').filter(Boolean).sort();
  }
  return named;
}
async function sql(text) {
  if (ENGINE === 'postgres') return (await cluster()).sql(text, stack.bridge.databaseUrl);
  const child = new Program('sqlite3', 'sqlite3', ['-readonly', path.join(dataDir, 'presetbridge.db'), text]);
  const lines = [];
  child.stdout.on('line', (line) => lines.push(line));
  const { code } = await within('sqlite3', child.ended, 20_000);
  assert.equal(code, 0, child.tail());
  return lines.join('\n');
}
const startAgain = async (folder = dataDir, args = []) => {
  const bridge = await startBridge(scope, {
    cloudUrl: stack.cloud.url,
    dataDir: folder,
    args: ['--delivery-jobs-per-minute', '0', '--identity-issuer', issuer, ...RATES, ...args],
  });
  return bridge;
};
const move = (bridge) => {
  stack.bridge = bridge;
  for (const merchant of merchants) merchant.moveTo(bridge);
};
const idToken = (merchant) =>
  new Client(() => stack.bridge.url, {
    check: contract.check,
    headers: { authorization: `Bearer ${merchant.tokens.idToken}` },
  });
const buyer = (token) =>
  new Client(() => stack.bridge.url, { check: contract.check, headers: { 'x-buyer-token': token } });
const linkOf = async (merchant, id) => new URL((await merchant.delivery(id)).buyerUrl).hash.slice(1);

// Orders, logins, presets, changed secrets, all the time. A request that is refused, or not answered while the service was there, is a fault.
class Load {
  faults = [];
  deliveries = [];
  #wanted = true;
  #away = false;
  constructor(merchant) {
    this.merchant = merchant;
    // Each with its pace, and how often at most: of a person's sessions the oldest give way.
    const calls = [
      [() => this.#order(), 60],
      [() => this.#order(), 60],
      [() => this.#account(), 100],
      [() => this.#saveLogin(), 300],
      [() => this.#signIn(), 500, 60],
    ];
    this.ended = Promise.all(
      calls.map(async ([call, pace, most = Infinity]) => {
        for (let n = 0; this.#wanted && n < most; ++n) {
          if (!this.#away) await this.#one(call);
          await delay(pace);
        }
      }),
    );
  }
  async #one(call) {
    const bridge = stack.bridge;
    try {
      await call();
    } catch (error) {
      // The service was killed under it: shops send again.
      if (bridge === stack.bridge && !this.#away && bridge.running) this.faults.push(error.stack ?? String(error));
    }
  }
  async #order() {
    const answer = await this.merchant.send(
      store,
      sampleOrder('generic', {
        orderId: `r-${(this.sent = (this.sent ?? 0) + 1)}`,
        username: `buyer-${this.sent % 40}`,
        sku: 'A-1',
      }),
    );
    assert.equal(answer.status, 202, answer.text);
    this.deliveries.push(answer.json.deliveryId);
  }
  async #account() {
    isOk(await this.merchant.api.get('/api/account'));
    const presets = await this.merchant.api.get('/api/presets?refresh=true');
    assert.equal(presets.status, 200, `${presets.text}\n${stack.bridge.log.slice(-8).join('\n')}`);
  }
  async #saveLogin() {
    const answer = await this.merchant.api.put('/api/credentials', this.merchant.cloudLogin);
    assert.deepEqual([answer.status, answer.json?.status], [200, 'valid'], answer.text);
  }
  async #signIn() {
    const answer = await merchants[1].open.post('/api/auth/sign-in', { email: merchants[1].email, password: PASSWORD });
    assert.equal(answer.status, 200, answer.text);
    const mine = await new Client(stack.bridge.url).get('/api/account', {
      headers: { authorization: `Bearer ${answer.json.idToken}` },
    });
    assert.equal(mine.status, 200, mine.text);
  }
  // Does `change`, which ends the service and starts it again.
  async during(change) {
    this.#away = true;
    await change();
    this.#away = false;
  }
  async stop() {
    this.#wanted = false;
    await this.ended;
    assert.deepEqual(this.faults.slice(0, 3), [], `${this.faults.length} faults`);
  }
}

before(async () => {
  issuer = 'http://127.0.0.1';
  stack = await startStack(scope, { args: ['--identity-issuer', issuer, '--base-url', BASE_URL, ...RATES] });
  ({ dataDir } = stack.bridge);
  merchants = [];
  for (let number = 1; number <= OPENERS; ++number)
    merchants.push(await Merchant.signUp(stack.bridge, number, { credits: 100_000 }));
  const [merchant] = merchants;
  store = await merchant.store('generic');
  for (let n = 1; n < STORES; ++n)
    isOk(await merchant.api.post('/api/integrations', { name: `store ${n}`, provider: 'generic' }), 201);
  receiver = await startReceiver(scope);
  subscription = isOk(await merchant.api.post('/api/webhook-subscriptions', { url: receiver.url }), 201);
  const { deliveryId } = await merchant.order(store, { orderId: 'before', username: 'first' });
  await merchant.reaches(deliveryId, 'completed');
  old = {
    keys: await keysIn(dataDir),
    delivery: deliveryId,
    link: await linkOf(merchant, deliveryId),
    folder: path.join(await scratch(scope), 'old'),
  };
  await cp(dataDir, old.folder, {
    recursive: true,
    filter: (name) => KEY_FILES.includes(path.basename(name)) || name === dataDir,
  });
  if (ENGINE === 'postgres') {
    old.database = await (await cluster()).database();
    await within(
      'the backup',
      new Program(
        'pg_dump',
        'sh',
        [
          '-c',
          'pg_dump -d "$1" | psql -q -v ON_ERROR_STOP=1 -d "$2" > /dev/null',
          'sh',
          stack.bridge.databaseUrl,
          old.database,
        ],
        { env: { PATH: `/usr/lib/postgresql/15/bin:${process.env.PATH}` } },
      ).ended,
      60_000,
    );
  } else {
    await within(
      'the backup',
      new Program('sqlite3', 'sqlite3', [
        '-readonly',
        path.join(dataDir, 'presetbridge.db'),
        `.backup '${path.join(old.folder, 'presetbridge.db')}'`,
      ]).ended,
      60_000,
    );
  }
});

test('without a running service nothing is turned, and the command says what to do', async () => {
  const folder = await scratch(scope);
  if (ENGINE === 'postgres') useDatabase(folder, (await cluster()).database());
  const made = await runBridge(['vault', 'init', '--data-dir', folder, '--base-url', BASE_URL]);
  assert.equal(made.code, 0, say(made));
  const before = await keysIn(folder);
  const refused = await runBridge(['vault', 'rotate', '--data-dir', folder, '--base-url', BASE_URL]);
  assert.equal(refused.code, 1, say(refused));
  assert.match(
    refused.stderr,
    ENGINE === 'postgres' ? /No service is at work in .*start it/ : /There is no database .*`presetbridge serve` makes/,
  );
  assert.deepEqual(await keysIn(folder), before);
});

describe('all keys, under load, with the command and the service killed', () => {
  let load;
  before(() => {
    load = new Load(merchants[0]);
  });
  after(() => load.stop().catch(() => {}));

  test('are turned', { timeout: 300_000 }, async () => {
    const used = () => sql("SELECT id FROM used_keys WHERE purpose = 'service'").then((ids) => ids.split('\n').length);
    // The command alone, at moments of which the first come before it has written a file, the last amid the records.
    for (const wait of [15, 40, 90, 150, 250, 400]) {
      const command = begun('rotate');
      await delay(wait + random.whole(0, 20));
      await command.kill();
      assert.ok((await keysIn(dataDir))['service.key'].length <= 2, 'one new key however often it is begun');
    }
    // And the service, while the command is at work.
    for (let kill = 0; kill < 3; ++kill) {
      const command = vault('rotate');
      await delay(random.whole(100, 500));
      await load.during(async () => {
        await stack.bridge.kill();
        move(await startAgain(dataDir, ['--base-url', BASE_URL]));
      });
      const { code, stderr } = await command;
      assert.ok([0, 1, 3].includes(code), stderr);
    }
    await rotated();
    assert.equal(await used(), 2);
    await rotated(); // again changes nothing
    assert.equal((await keysIn(dataDir))['service.key'].length, 2);
  });

  test('are nowhere in the rows any more, and the metrics say so', async () => {
    const files = await keysIn(dataDir);
    const service = files['service.key'].map((line) => line.split(' ')[1]);
    const named = await namedKeys();
    for (const [table, ids] of Object.entries(named)) {
      if (table !== 'credentials') assert.deepEqual(ids, [service[0]], table);
    }
    assert.equal(named.credentials.length, 1);
    const shown = await vault('keys');
    assert.match(shown.stdout, new RegExp(`^vault: ${named.credentials[0]}, old: [0-9a-f]{16}$`, 'm'));
    assert.match(shown.stdout, new RegExp(`^service: ${service[0]}, old: ${service[1]}$`, 'm'));
    await until('the metrics tell', async () => {
      assert.deepEqual(await metric('presetbridge_keys_in_use'), { vault: 2, service: 2, issuer: 2, links: 2 });
      assert.deepEqual(await metric('presetbridge_keys_left'), { vault: 0, service: 0 });
      return true;
    });
  });

  test('leave what was made with the old ones as it was', async () => {
    isOk(await idToken(merchants[0]).get('/api/account'));
    isOk(await buyer(old.link).get('/api/buyer'));
    const link = await linkOf(merchants[0], old.delivery);
    assert.notEqual(link, old.link, 'new links are made with the new key');
    isOk(await buyer(link).get('/api/buyer'));
    const { keys } = isOk(await new Client(stack.bridge.url).get('/.well-known/jwks.json'));
    assert.equal(keys.length, 2);
    const signed = isOk(
      await merchants[1].open.post('/api/auth/sign-in', { email: merchants[1].email, password: PASSWORD }),
    ).idToken;
    const kid = (token) => JSON.parse(Buffer.from(token.split('.')[0], 'base64url')).kid;
    assert.notEqual(kid(signed), kid(merchants[1].tokens.idToken));
  });

  test(
    'and then the old ones are dropped, but those in whose life something still opens',
    { timeout: 300_000 },
    async () => {
      const dropped = await until(
        'the old keys are dropped',
        async () => {
          const done = await vault('drop');
          if (done.code !== 0) throw new Error(say(done));
          return done;
        },
        ROTATED_MS,
      );
      assert.match(
        dropped.stdout,
        /^issuer: the old key is retained: ID tokens that it signed are valid until 20\S+Z$/m,
      );
      assert.match(dropped.stdout, /^links: the old key is retained: links that it made open until 20\S+Z$/m);
      const files = await keysIn(dataDir);
      for (const name of KEY_FILES) {
        assert.equal(files[name].length, 1, name);
        assert.notDeepEqual(files[name], old.keys[name], name);
      }
      isOk(await idToken(merchants[0]).get('/api/account'));
      isOk(await buyer(old.link).get('/api/buyer'));
      assert.match((await vault('drop')).stdout, /^vault: [0-9a-f]{16}$/m);
    },
  );

  test('and all that came meanwhile is delivered, and every event verifies', { timeout: 240_000 }, async () => {
    await load.stop();
    const [merchant] = merchants;
    assert.ok(load.deliveries.length > 50, String(load.deliveries.length));
    // The work of a killed service is taken over when its lease has ended.
    await until(
      'all is delivered',
      async () => {
        const open = (await merchant.all('/api/deliveries')).filter(({ status }) => status !== 'completed');
        if (open.length > 0) throw new Error(`${open.length}, such as ${JSON.stringify(open[0])}`);
        return true;
      },
      100_000,
    );
    const known = new Set((await merchant.all('/api/deliveries')).map(({ id }) => id));
    assert.deepEqual(
      load.deliveries.filter((id) => !known.has(id)),
      [],
    );
    await until(
      'the events of the last one',
      () => receiver.requests.some(({ body }) => body.includes(load.deliveries.at(-1))),
      60_000,
    );
    for (const request of receiver.requests) await verifiedEvent(request, subscription.secret);
    for (const one of merchants.slice(1))
      assert.equal(isOk(await one.api.post('/api/credentials/validate')).status, 'valid');
    const faults = stack.bridge.log.filter((line) => /cannot be opened|UNKNOWN_SERVICE_KEY|RECORD_CORRUPT/.test(line));
    assert.deepEqual(faults, []);
  });
});

test('what is under an old key keeps it from being dropped', { timeout: 300_000 }, async () => {
  const files = await keysIn(dataDir);
  // A second one, in front of the files alone: nothing is sealed anew yet but what is written from now on.
  const rotating = begun('rotate', ['--keys', 'service']);
  await until(
    'the new key is used',
    async () => (await sql("SELECT id FROM used_keys WHERE purpose = 'service'")).split('\n').length === 2,
  );
  await rotating.kill();
  const refused = await vault('drop', ['--keys', 'service']);
  assert.equal(refused.code, 1, say(refused));
  assert.match(refused.stderr, /vault rotate.*No key was dropped/);
  assert.equal((await keysIn(dataDir))['service.key'].length, 2);
  assert.deepEqual((await keysIn(dataDir))['vault.key'], files['vault.key']);
  // Such a restart is not the end of it either.
  await stack.bridge.stop();
  move(await startAgain(dataDir, ['--base-url', BASE_URL]));
  await rotated(['--keys', 'service']);
  const [merchant] = merchants;
  await merchant.reaches(
    (await merchant.order(store, { orderId: 'between', username: 'between' })).deliveryId,
    'completed',
  );
});

test('a compromised issuer or link key is dropped at once, and what it made opens nothing', async () => {
  const dropped = await vault('drop', ['--keys', 'issuer,links', '--now']);
  assert.equal(dropped.code, 0, say(dropped));
  assert.equal((await buyer(old.link).get('/api/buyer')).status, 404);
  await until('the old tokens end', async () => (await idToken(merchants[2]).get('/api/account')).status === 401);
  isOk(await merchants[2].open.post('/api/auth/sign-in', { email: merchants[2].email, password: PASSWORD }));
});

test('a backup of before opens with the keys of before, and with no others', async () => {
  const useOld = (folder) => ENGINE === 'postgres' && useDatabase(folder, old.database);
  const mixed = path.join(await scratch(scope), 'mixed');
  await cp(old.folder, mixed, { recursive: true });
  for (const name of KEY_FILES) await copyFile(path.join(dataDir, name), path.join(mixed, name));
  useOld(mixed);
  const refused = await runBridge([
    'serve',
    '--sandbox',
    '--listen',
    '127.0.0.1:0',
    '--data-dir',
    mixed,
    '--identity-issuer',
    issuer,
  ]);
  assert.equal(JSON.parse(refused.stderr.trim().split('\n').at(-1)).code, 'KEY_MISMATCH', say(refused));

  useOld(old.folder);
  const restored = await startAgain(old.folder, ['--base-url', BASE_URL]);
  const open = new Client(restored.url);
  const { idToken: token } = isOk(
    await open.post('/api/auth/sign-in', { email: merchants[0].email, password: PASSWORD }),
  );
  const api = open.with({ authorization: `Bearer ${token}` });
  assert.equal(isOk(await api.post('/api/credentials/validate')).status, 'valid');
  assert.equal(
    (
      await merchants[0].send.call(
        { open },
        store,
        sampleOrder('generic', { orderId: 'restored', username: 'x', sku: 'A-1' }),
      )
    ).status,
    202,
  );
  isOk(await open.get('/api/buyer', { headers: { 'x-buyer-token': old.link } }));
  await restored.stop();
});

if (ENGINE === 'postgres') {
  test(
    'over nodes: none is left behind, and one that lacks the new keys ends and destroys nothing',
    { timeout: 600_000 },
    async () => {
      const args = ['--base-url', BASE_URL];
      const beside = await dataDirBeside(scope, dataDir);
      const other = await startAgain(beside, args);
      const api = await dataDirBeside(scope, dataDir);
      const front = await startAgain(api, [...args, '--roles', 'api']);
      const [merchant] = merchants;
      await until(
        'the first rotation of the service key is dropped',
        async () => (await vault('drop', ['--keys', 'service'])).code === 0,
        ROTATED_MS,
      );
      for (const folder of [beside, api])
        for (const name of KEY_FILES) await copyFile(path.join(dataDir, name), path.join(folder, name));

      const waiting = await vault('rotate');
      assert.equal(waiting.code, 3, say(waiting));
      for (const folder of [beside, api])
        assert.match(waiting.stderr, new RegExp(`:${folder} lacks vault:[0-9a-f]{16}, service:[0-9a-f]{16}$`, 'm'));
      assert.doesNotMatch(waiting.stderr, new RegExp(`:${dataDir} lacks`));
      assert.equal((await sql('SELECT id FROM used_keys')).split('\n').length, 2, 'nobody seals with them yet');
      // One gets all, the other its share.
      for (const name of KEY_FILES) await copyFile(path.join(dataDir, name), path.join(beside, name));
      for (const name of ['service.key', 'vault.pub']) await copyFile(path.join(dataDir, name), path.join(api, name));
      await until('they have taken them up', async () => (await vault('rotate')).code !== 3, ROTATED_MS);
      await rotated();
      for (const node of [other, front]) {
        const open = new Client(node.url);
        const signed = isOk(await open.post('/api/auth/sign-in', { email: merchant.email, password: PASSWORD }));
        assert.equal(
          isOk(await open.get('/api/account', { headers: { authorization: `Bearer ${signed.idToken}` } })).id,
          merchant.accountId,
        );
        const answer = await merchant.send.call(
          { open },
          store,
          sampleOrder('generic', { orderId: `at ${node.url}`, username: 'nodes', sku: 'A-1' }),
        );
        assert.equal(answer.status, 202, answer.text);
      }
      const signed = isOk(
        await new Client(front.url).post('/api/auth/sign-in', { email: merchant.email, password: PASSWORD }),
      );
      const saved = await new Client(front.url).put('/api/credentials', merchant.cloudLogin, {
        headers: { authorization: `Bearer ${signed.idToken}` },
      });
      assert.equal(saved.status, 200, saved.text);
      const [vaultKey] = (await namedKeys()).credentials;
      assert.match(
        (await vault('keys')).stdout,
        new RegExp(`^vault: ${vaultKey}, old`, 'm'),
        'the API node seals with the new one too',
      );

      // One whose files are those of before is not started, and one that loses the new keys while it runs ends.
      const late = await dataDirBeside(scope, old.folder, { keys: false });
      useDatabase(late, stack.bridge.databaseUrl);
      for (const name of KEY_FILES) await copyFile(path.join(old.folder, name), path.join(late, name));
      const refused = await runBridge([
        'serve',
        '--sandbox',
        '--listen',
        '127.0.0.1:0',
        '--data-dir',
        late,
        '--identity-issuer',
        issuer,
      ]);
      assert.equal(JSON.parse(refused.stderr.trim().split('\n').at(-1)).code, 'KEY_MISMATCH', say(refused));
      await writeFile(path.join(beside, 'service.key'), `${(await keysIn(beside))['service.key'][1]}\n`, {
        mode: 0o600,
      });
      const { code } = await within('the node ends', other.ended, 30_000);
      other.killed = true;
      assert.equal(code, 1);
      assert.match(
        other.log.join('\n'),
        /this node lacks service:[0-9a-f]{16}: copy service\.key, vault\.key and vault\.pub/,
      );
      assert.equal(
        isOk(
          await new Client(front.url).get('/api/credentials', {
            headers: { authorization: `Bearer ${signed.idToken}` },
          }),
        ).status,
        'valid',
      );
    },
  );
}

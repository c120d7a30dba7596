// Secrets are nowhere (spec 5): planted ones are searched for in the database's files, logs, metrics, answers and, after a restart,
// in the memory of the process that faces the network while it delivers with them.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { cluster } from './postgres.mjs';
import { ENGINE, Program, Scope, startBridge, until } from './harness.mjs';
import { Merchant, startStack } from './merchant.mjs';
import { childrenOf, findInFiles, findInMemory, findInText } from './process_memory.mjs';
import { startReceiver } from './receiver.mjs';

// Another process's memory is read as root. Without root the test runs itself as root of a user namespace, with the programs inside it.
if (process.getuid() !== 0) {
  test('as root of a user namespace', { timeout: 120_000 }, async () => {
    const child = spawn(
      'unshare',
      ['--user', '--map-root-user', process.execPath, '--test-reporter=spec', fileURLToPath(import.meta.url)],
      { stdio: 'inherit' },
    );
    const [code] = await once(child, 'exit');
    assert.equal(code, 0);
  });
} else {
  const CANARY = 'canary-4b1f0e5d97c2';
  const PLANTED = 'Planted-Passw0rd-8c5e1a77';
  const REFUSED = 'Refused-Passw0rd-0d9b3f21';
  const email = 'merchant-1@cloudsim.test';

  const scope = new Scope({ after });
  let stack, merchant, store, subscription, key, receiver, bridge;
  const answers = [];
  const secrets = {};

  before(async () => {
    stack = await startStack(scope, { args: ['--log-level', 'debug'] });
    await stack.sim.post('/sim/merchants', { userId: 'm-1', email, password: PLANTED });
    merchant = await Merchant.signUp(stack.bridge, 1, { connected: false });
    const check = merchant.api.check;
    merchant.api.check = merchant.open.check = (answer) => {
      answers.push(answer);
      check(answer);
    };
    const refused = await merchant.api.put('/api/credentials', { email, password: REFUSED });
    assert.equal(refused.status, 401, refused.text);
    const saved = await merchant.api.put('/api/credentials', { email, password: PLANTED });
    assert.equal(saved.json.status, 'valid', saved.text);
    receiver = await startReceiver(scope);
    key = await merchant.key({ permissions: ['login', 'deliveries:read', 'presets:read'] });
    store = await merchant.store('generic');
    subscription = (await merchant.api.post('/api/webhook-subscriptions', { url: receiver.url })).json;
    const by = merchant.open.with({ 'x-api-key': key.secret });
    const login = await by.post('/api/auth/login', { credentials: { email, password: PLANTED } });
    assert.equal(login.status, 200, login.text);
    Object.assign(secrets, {
      'the cloud password': PLANTED,
      'a refused cloud password': REFUSED,
      'the API key': key.secret,
      'the session token': login.json.session.token,
      "the store's signing secret": store.secret,
      "the subscription's signing secret": subscription.secret,
      'the ID token': merchant.tokens.idToken,
      'the refresh token': merchant.tokens.refreshToken,
    });
    const { deliveryId } = await merchant.order(store, { orderId: '1', username: 'buyer' });
    await merchant.reaches(deliveryId, 'completed');
    await until('its events arrive', () => receiver.requests.length >= 2);
  });

  const databaseFolder = () => stack.bridge.databaseFolder ?? stack.bridge.dataDir;
  const folders = () => new Set([stack.bridge.dataDir, databaseFolder()]);
  const logOf = (program) => program.log.join('\n');

  describe('the search itself', () => {
    test('finds what is planted in the memory of a process', async (t) => {
      // In the environment of this one: the stack of every program holds its own.
      const canary = await startBridge(scope, { cloudUrl: stack.cloud.url, env: { E2E_CANARY: CANARY } });
      t.after(() => canary.stop());
      const { found, scanned } = findInMemory(canary.pid, { canary: CANARY, absent: 'not-there-21f0c9d4' + 'a7' });
      assert.ok(found.length > 0 && found.every(({ name }) => name === 'canary'), JSON.stringify(found));
      assert.ok(scanned > 1024 * 1024);
    });
    test('finds what is on the heap of a process', async (t) => {
      const source = `const kept = Buffer.alloc(9 * 1024 * 1024); for (let i = 0; i < kept.length - 32; i += 4093) kept.write(process.argv[1].split('').reverse().join(''), i);
        console.log(JSON.stringify({ listening: 'x' })); setInterval(() => kept[0], 1000);`;
      const planted = await new Program('planted', process.execPath, [
        '-e',
        source,
        CANARY.split('').reverse().join(''),
      ]).listening();
      t.after(() => planted.kill());
      const { found } = findInMemory(planted.pid, { canary: CANARY });
      assert.ok(
        found.some(({ where }) => where === 'anonymous memory' || where === '[heap]'),
        JSON.stringify(found),
      );
    });
    test('finds what is in the database, in its log and in an answer', () => {
      const { found, files } = findInFiles(databaseFolder(), { order: 'buyer@example.com' });
      assert.ok(found.length > 0, files.join(' '));
      if (ENGINE === 'sqlite')
        assert.ok(
          files.some((file) => file.endsWith('-wal')),
          files.join(' '),
        );
      assert.deepEqual(findInText(logOf(stack.bridge), { word: 'listening' }), ['word']);
      assert.ok(answers.some(({ text }) => findInText(text, { secret: key.secret }).length > 0));
    });
  });

  test('no file of the data directory or the database holds a password, a key or a token', () => {
    for (const folder of folders()) assert.deepEqual(findInFiles(folder, secrets).found, []);
    const encoded = Object.fromEntries(
      Object.entries(secrets).flatMap(([name, text]) => [
        [`${name} in base64`, Buffer.from(text).toString('base64').replace(/=*$/, '').slice(0, -2)],
        [`${name} in hex`, Buffer.from(text).toString('hex')],
      ]),
    );
    for (const folder of folders()) assert.deepEqual(findInFiles(folder, encoded).found, []);
  });
  test('only their owner may read the files', () => {
    const { files } = findInFiles(stack.bridge.dataDir, { nothing: '\u0000nothing\u0000' });
    for (const file of files.filter((name) => !name.endsWith('.pub')))
      assert.equal(statSync(path.join(stack.bridge.dataDir, file)).mode & 0o077, 0, file);
    assert.equal(statSync(stack.bridge.dataDir).mode & 0o077, 0);
  });
  test('neither the log nor the metrics do', async () => {
    assert.deepEqual(findInText(logOf(stack.bridge), secrets), []);
    assert.deepEqual(findInText((await merchant.open.get('/metrics')).text, secrets), []);
  });
  test('no answer does, but the one that makes it', async () => {
    for (const target of [
      '/api/credentials',
      '/api/keys',
      `/api/keys/${key.id}`,
      '/api/integrations',
      `/api/integrations/${store.id}`,
      '/api/webhook-subscriptions',
      `/api/webhook-subscriptions/${subscription.id}/attempts`,
      '/api/account',
      '/api/account/audit?limit=100',
      '/api/deliveries',
      '/api/version',
      '/readyz',
    ]) {
      await merchant.api.get(target);
    }
    await merchant.api.put('/api/credentials', { email: PLANTED, password: '' }); // a refusal that could repeat what it was given
    const makes = [/^\/api\/auth\//, /^\/api\/keys$/, /^\/api\/integrations$/, /^\/api\/webhook-subscriptions$/];
    for (const { method, path: target, text } of answers) {
      const told = findInText(text, secrets);
      if (told.length > 0)
        assert.ok(
          method === 'POST' && makes.some((pattern) => pattern.test(target)),
          `${method} ${target} tells ${told}`,
        );
      assert.deepEqual(
        told.filter((name) => name.includes('password')),
        [],
        `${method} ${target}`,
      );
    }
    for (const { body, headers } of receiver.requests)
      assert.deepEqual(findInText(body + JSON.stringify(headers), secrets), []);
  });

  const startAgain = async () => {
    bridge = await startBridge(scope, {
      cloudUrl: stack.cloud.url,
      dataDir: stack.bridge.dataDir,
      args: ['--delivery-jobs-per-minute', '0', '--log-level', 'debug'],
    });
    merchant.moveTo(bridge);
  };

  describe('the running processes', () => {
    before(async () => {
      await stack.bridge.stop();
      await startAgain();
    });

    test('the process that faces the network delivers with the password, and never has it in its memory', async () => {
      const { deliveryId } = await merchant.order(store, { orderId: '2', username: 'another' });
      await merchant.reaches(deliveryId, 'completed');
      assert.equal((await merchant.api.post('/api/credentials/validate')).json.status, 'valid');
      const { logins } = (await stack.sim.get('/sim/counts')).json;
      assert.ok(logins.accepted >= 3, 'the password was used since the restart');

      await stack.sim.put('/sim/faults', { endpoint: 'share', latencyMinMs: 3000, latencyMaxMs: 3000 });
      const slow = await merchant.order(store, { orderId: '3', username: 'a third' });
      await merchant.reaches(slow.deliveryId, 'processing');
      const { found } = findInMemory(bridge.pid, { password: PLANTED, refused: REFUSED });
      assert.deepEqual(found, []);
      await stack.sim.delete('/sim/faults');
      await merchant.reaches(slow.deliveryId, 'completed');
      assert.deepEqual(findInMemory(bridge.pid, { password: PLANTED }).found, []);
      // The search reads the right process: what it has to know of this merchant is there.
      assert.notDeepEqual(findInMemory(bridge.pid, { known: bridge.dataDir }).found, []);
    });
    test('the private key of the vault is not in its memory, nor may anybody but the agent have it', () => {
      const file = findInFiles(bridge.dataDir, { nothing: '\u0000nothing\u0000' }).files.find(
        (name) => /vault.*(private|key)/.test(name) && !/pub/.test(name),
      );
      assert.ok(file, 'the key file');
      const key = readFileSync(path.join(bridge.dataDir, file), 'utf8')
        .split('\n')
        .flatMap((line) => line.split(/\s+/))
        .filter((word) => word.length >= 40);
      assert.ok(key.length > 0, 'the key in it');
      assert.deepEqual(
        findInMemory(bridge.pid, Object.fromEntries(key.map((word) => [word.slice(0, 4), word]))).found,
        [],
      );
    });
    test('the agent is another process, with an empty environment', () => {
      const agents = childrenOf(bridge.pid);
      assert.equal(agents.length, 1);
      assert.equal(readFileSync(`/proc/${agents[0]}/environ`, 'utf8'), '');
      assert.equal(readFileSync(`/proc/${agents[0]}/cmdline`, 'utf8').includes(PLANTED), false);
    });
    test('neither leaves a core file, or can be traced by its equal', async (t) => {
      for (const pid of [bridge.pid, ...childrenOf(bridge.pid)]) {
        assert.match(readFileSync(`/proc/${pid}/limits`, 'utf8'), /^Max core file size\s+0\s+0\s/m);
        assert.match(readFileSync(`/proc/${pid}/status`, 'utf8'), /^CoreDumping:\s+0$/m);
      }
      // The rights of one process of a user over another, without those of root: whether it may read its memory.
      const plain = ['--bounding-set', '-all', '--inh-caps', '-all', '--'];
      const mayRead = async (pid) => {
        const reader = spawn('setpriv', [...plain, 'head', '-c', '1', `/proc/${pid}/environ`], { stdio: 'ignore' });
        return (await once(reader, 'exit'))[0] === 0;
      };
      const control = await new Program(
        'control',
        'setpriv',
        [...plain, process.execPath, '-e', `console.log('{"listening":"x"}'); setInterval(() => {}, 1000)`],
        { env: { A: 'b' } },
      ).listening();
      t.after(() => control.kill());
      assert.equal(await mayRead(control.pid), true, 'a process without protection can be read');
      const guarded = await new Program(
        'presetbridge',
        'setpriv',
        [
          ...plain,
          process.env.PRESETBRIDGE_BIN,
          'serve',
          '--sandbox',
          '--data-dir',
          path.join(bridge.dataDir, 'guarded'),
          '--listen',
          '127.0.0.1:0',
          '--cloud-url',
          stack.cloud.url,
        ],
        { env: { A: 'b' } },
      ).listening();
      t.after(() => guarded.kill());
      assert.equal(await mayRead(guarded.pid), false);
      for (const pid of childrenOf(guarded.pid)) assert.equal(await mayRead(pid), false);
    });
  });

  describe('a stored login in which a bit has changed', () => {
    // The last one of the sealed record; the address comes next in its row.
    const flipABit = async () => {
      if (ENGINE === 'postgres') {
        const last = 'length(sealed) - 1';
        await (
          await cluster()
        ).sql(
          `UPDATE credentials SET sealed = set_byte(sealed, ${last}, get_byte(sealed, ${last}) # 1)`,
          bridge.databaseUrl,
        );
        return;
      }
      const file = path.join(bridge.dataDir, 'presetbridge.db');
      const bytes = readFileSync(file);
      const address = 'm…@cloudsim.test';
      assert.ok(bytes.includes(address));
      for (let at = bytes.indexOf(address); at > 0; at = bytes.indexOf(address, at + 1)) bytes[at - 1] ^= 1;
      writeFileSync(file, bytes);
    };
    const restartWithABitFlipped = async () => {
      await bridge.stop();
      await flipABit();
      await startAgain(); // without cached sessions
    };
    const MESSAGE =
      'The stored cloud login cannot be opened any more. Save it again: on the Cloud account page of the dashboard, or with PUT /api/credentials.';
    let stopped;

    before(restartWithABitFlipped);

    test('fails deliveries as a login that is missing, in words of its own', async () => {
      const { deliveryId } = await merchant.order(store, { orderId: '10', username: 'a fourth' });
      stopped = deliveryId;
      for (const id of [deliveryId, (await merchant.order(store, { orderId: '11', username: 'a fifth' })).deliveryId]) {
        const failed = await merchant.reaches(id, 'failed');
        assert.deepEqual([failed.resolutionCode, failed.message], ['credentials_missing', MESSAGE]);
      }
    });
    test('is told to the merchant', async () => {
      const { json } = await merchant.api.get('/api/credentials');
      assert.deepEqual([json.status, json.unreadable, json.maskedEmail], ['invalid', true, 'm…@cloudsim.test']);
      const checked = await merchant.api.post('/api/credentials/validate');
      assert.deepEqual([checked.status, checked.json.error.code], [409, 'CONFLICT'], checked.text);
      assert.equal((await merchant.api.get('/api/presets')).json.error.code, 'CREDENTIALS_MISSING');
    });
    test('is told to the operator by account and version, without what is in it', async () => {
      const { version } = (await merchant.api.get('/api/credentials')).json;
      const lines = bridge.log
        .filter((line) => line.includes('a stored login cannot be opened'))
        .map((line) => JSON.parse(line));
      assert.ok(lines.length > 0, logOf(bridge));
      for (const { level, account, version: told } of lines)
        assert.deepEqual([level, account, told], ['error', merchant.accountId, version]);
      assert.deepEqual(findInText(logOf(bridge), secrets), []);
      assert.doesNotMatch(logOf(bridge), /cloud platform (failed|is away|cannot be reached)/);
    });
    test('opens again when it is as it was, and what it stopped is delivered', async () => {
      await restartWithABitFlipped();
      assert.equal((await merchant.delivery(stopped)).status, 'failed');
      const checked = await merchant.api.post('/api/credentials/validate');
      assert.deepEqual([checked.json.status, checked.json.unreadable], ['valid', false], checked.text);
      await merchant.reaches(stopped, 'completed');
    });
  });

  test('deleting the login leaves nothing to deliver with', async () => {
    assert.equal((await merchant.api.delete('/api/credentials')).status, 204);
    const { resolutionCode } = await merchant.order(store, { orderId: '4', username: 'buyer' });
    assert.equal(resolutionCode, 'credentials_missing');
    assert.deepEqual(findInFiles(bridge.dataDir, secrets).found, []);
    assert.deepEqual(findInText(logOf(bridge), secrets), []);
  });
}

// The examples of receivers take what the service sends, and nothing else: events of the real service as they came, forged, late,
// twice, out of order, and while the secret is rotated.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { sign as signHex } from '@octokit/webhooks-methods';
import { Client, Program, Scope, scratch, until } from './harness.mjs';
import { isOk, Merchant, startStack } from './merchant.mjs';
import { startReceiver } from './receiver.mjs';

const EXAMPLES = fileURLToPath(new URL('../../examples/receivers/', import.meta.url));
const run = promisify(execFile);
const SECRET = `whsec_${Buffer.alloc(32, 11).toString('base64')}`;
const OTHER = `whsec_${Buffer.alloc(32, 12).toString('base64')}`;
const NEWEST = `whsec_${Buffer.alloc(32, 13).toString('base64')}`;
const FIVE_MINUTES_S = 300;

const scope = new Scope();
let built; // a folder with the programs of languages that are compiled
let stack;
let merchant;
let events; // of one delivery, as the real service sent them: {headers, body}
let rotated; // one that both secrets sign, SECRET the older
let rotatedTwice; // one that the newest secret signs too

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

async function subscribe(url, secret) {
  return isOk(
    await merchant.api.post('/api/webhook-subscriptions', {
      url,
      secret,
      eventTypes: ['delivery.queued', 'delivery.waiting_for_friendship', 'delivery.completed'],
    }),
    201,
  );
}

before(async () => {
  // First: what the service sends is taken for five minutes.
  built = await scratch(scope);
  for (const { build } of Object.values(EXAMPLE_OF)) await build?.(built);
  stack = await startStack(scope);
  await stack.sim.post('/sim/customers', { username: 'recorded', userId: 'u-recorded', answer: 'never' });
  merchant = await Merchant.signUp(stack.bridge, 1);
  const store = await merchant.store('generic');
  const recorder = await startReceiver(scope);
  const subscription = await subscribe(recorder.url, SECRET);
  const { deliveryId } = await merchant.order(store, { username: 'recorded', title: 'Ümlaut ✓' });
  await merchant.reaches(deliveryId, 'waiting_for_friendship');
  isOk(await stack.sim.put('/sim/friendship', { merchant: 'm-1', customer: 'u-recorded', state: 'friends' }));
  await merchant.reaches(deliveryId, 'completed');
  const ofDelivery = () => recorder.requests.filter(({ body }) => JSON.parse(body).deliveryId === deliveryId);
  await until('three events came', () => ofDelivery().length === 3);
  events = ofDelivery().sort((a, b) => JSON.parse(a.body).delivery.sequence - JSON.parse(b.body).delivery.sequence);
  assert.deepEqual(
    events.map(({ body }) => JSON.parse(body).type),
    ['delivery.queued', 'delivery.waiting_for_friendship', 'delivery.completed'],
  );

  const rotate = async (secret) => {
    isOk(await merchant.api.post(`/api/webhook-subscriptions/${subscription.id}/rotate-secret`, { secret }));
    const before = recorder.requests.length;
    isOk(await merchant.api.post(`/api/webhook-subscriptions/${subscription.id}/test`), 202);
    await until('an event of the rotation came', () => recorder.requests.length > before);
    return recorder.requests.at(-1);
  };
  rotated = await rotate(OTHER);
  assert.ok(rotated.headers['x-vendor-signature-previous']);
  rotatedTwice = await rotate(NEWEST);
  assert.ok(rotatedTwice.headers['x-vendor-signature-older']);
});
after(() => scope.close());

const sent = ({ headers, body }) => ({
  body,
  headers: Object.fromEntries(
    Object.entries(headers).filter(([name]) => name === 'content-type' || /^(webhook|x-vendor)-/.test(name)),
  ),
});
// The same event as the service would sign it at that moment, by code of others.
async function signedAt(event, seconds, changes = {}) {
  const body = JSON.stringify({ ...JSON.parse(event.body), ...changes });
  const id = JSON.parse(body).id;
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'x-vendor-signature': await signHex(SECRET, body),
      'webhook-id': id,
      'webhook-timestamp': String(seconds),
      'webhook-signature': new Webhook(SECRET).sign(id, new Date(seconds * 1000), body),
    },
  };
}
const without = (request, name) => ({
  ...request,
  headers: Object.fromEntries(Object.entries(request.headers).filter(([header]) => header !== name)),
});
const withHeader = (request, name, value) => ({ ...request, headers: { ...request.headers, [name]: value } });
const now = () => Math.floor(Date.now() / 1000);

// Everything that is not to be taken, by name.
async function forgeries(event) {
  const good = sent(event);
  const changed = good.body.replace('"completed"', '"complete_"');
  assert.notEqual(changed, good.body);
  return {
    'another body': { ...good, body: changed },
    'a byte more': { ...good, body: `${good.body} ` },
    'another secret': {
      body: good.body,
      headers: {
        ...good.headers,
        'x-vendor-signature': await signHex(OTHER, good.body),
        'webhook-signature': new Webhook(OTHER).sign(
          good.headers['webhook-id'],
          new Date(Number(good.headers['webhook-timestamp']) * 1000),
          good.body,
        ),
      },
    },
    'only the simple signature': without(good, 'webhook-signature'),
    'only the standard signature': without(good, 'x-vendor-signature'),
    'a wrong simple signature': withHeader(good, 'x-vendor-signature', `sha256=${'0'.repeat(64)}`),
    'a wrong standard signature': withHeader(good, 'webhook-signature', `v1,${Buffer.alloc(32).toString('base64')}`),
    'a standard signature with a byte of another alphabet': withHeader(
      good,
      'webhook-signature',
      `${good.headers['webhook-signature'].slice(0, -1)}\u00e9`,
    ),
    'an empty standard signature': withHeader(good, 'webhook-signature', ' '),
    'no id': without(good, 'webhook-id'),
    'another id': withHeader(good, 'webhook-id', '5b7c9a52-6d0e-4c0e-9a53-5f2d6f0f3a11'),
    'an id that leads elsewhere': withHeader(good, 'webhook-id', '../../etc/passwd'),
    'no time': without(good, 'webhook-timestamp'),
    'another time': withHeader(good, 'webhook-timestamp', String(Number(good.headers['webhook-timestamp']) + 1)),
    'no number as time': withHeader(good, 'webhook-timestamp', 'soon'),
    'a late event': await signedAt(event, now() - FIVE_MINUTES_S - 30),
    'one of the future': await signedAt(event, now() + FIVE_MINUTES_S + 30),
  };
}

// The reasons that some examples give, where the fault is not in the standard signature.
const [ID, TIME, FAR, VENDOR] = [
  'webhook-id is missing or has another form',
  'webhook-timestamp is missing or has another form',
  'webhook-timestamp is more than 300 seconds away',
  'x-vendor-signature is not of this secret and body',
];
const REFUSALS = {
  'only the standard signature': VENDOR,
  'a wrong simple signature': VENDOR,
  'no id': ID,
  'an id that leads elsewhere': ID,
  'no time': TIME,
  'no number as time': TIME,
  'a late event': FAR,
  'one of the future': FAR,
};

const EXAMPLE_OF = {
  node: { command: [process.execPath, 'receiver.mjs'], saysWhy: true },
  python: { command: ['python3', 'receiver.py'], saysWhy: true },
  php: { command: ['php'], args: (port) => ['-S', `127.0.0.1:${port}`, path.join(EXAMPLES, 'receiver.php')] },
  ruby: { command: ['ruby', 'receiver.rb'] },
  go: {
    command: ['./receiver'],
    build: async (folder) => {
      const cache = fileURLToPath(new URL('../../build/go', import.meta.url));
      await mkdir(cache, { recursive: true });
      await run('go', ['build', '-o', path.join(folder, 'receiver'), path.join(EXAMPLES, 'receiver.go')], {
        env: {
          PATH: process.env.PATH,
          HOME: folder,
          GOCACHE: cache,
          GOTOOLCHAIN: 'local',
          GOFLAGS: '-mod=mod',
          GOPROXY: 'off',
          CGO_ENABLED: '0',
        },
      });
    },
  },
  csharp: {
    command: ['mono', './Receiver.exe'],
    build: (folder) =>
      run('mcs', [
        '-r:System.Runtime.Serialization',
        `-out:${path.join(folder, 'Receiver.exe')}`,
        path.join(EXAMPLES, 'Receiver.cs'),
      ]),
  },
};

async function startExample(own, name, secret = SECRET, chosen = undefined) {
  const folder = await scratch(own);
  const { command, args } = EXAMPLE_OF[name];
  const port = chosen ?? (await freePort());
  const [binary, ...words] = command;
  const resolve = (word) =>
    word.startsWith('./') ? path.join(built, word) : /^receiver\./.test(word) ? path.join(EXAMPLES, word) : word;
  const program = new Program(name, resolve(binary), [...words.map(resolve), ...(args?.(port) ?? [])], {
    env: { WEBHOOK_SECRET: secret, PORT: String(port), INBOX: path.join(folder, 'inbox'), HOME: folder },
  });
  own.after(() => program.running && program.kill());
  await until(
    `${name} listens`,
    () => {
      if (!program.running) throw new Error(program.tail());
      return new Promise((ready) =>
        connect(port, '127.0.0.1')
          .on('connect', function () {
            this.destroy();
            ready(true);
          })
          .on('error', () => ready(false)),
      );
    },
    30_000,
  );
  const client = new Client(`http://127.0.0.1:${port}`);
  return {
    url: client.url,
    inbox: path.join(folder, 'inbox'),
    program,
    post: ({ body, headers }) => client.request('POST', '/hook', { body, headers }),
    get: () => client.get('/hook'),
    told: (line) =>
      until(`${name} tells: ${line}`, () => program.log.includes(line)).catch((error) =>
        assert.fail(`${error.message}\n${program.tail()}`),
      ),
    count: (line) => program.log.filter((one) => one === line).length,
  };
}

test('node: takes what listen forwards, with the secret that it prints once', async (t) => {
  const own = new Scope(t);
  const port = await freePort();
  const { secret: key } = await merchant.key({ name: 'of listen' });
  const forward = `http://127.0.0.1:${port}/hook`;
  const listen = new Program(
    'presetbridge',
    process.env.PRESETBRIDGE_BIN,
    ['listen', '--service', stack.bridge.url, '--forward', forward, '--event-type', 'delivery.queued'],
    { env: { PRESETBRIDGE_API_KEY: key } },
  );
  own.after(() => listen.running && listen.kill());
  const secret = await until(
    'it prints the secret',
    () => listen.log.join('\n').match(/^Signing secret, for a receiver's WEBHOOK_SECRET: (whsec_\S+)$/m)?.[1],
  );
  const example = await startExample(own, 'node', secret, port);
  const { deliveryId } = await merchant.order(await merchant.store('generic'), { username: 'forwarded' });
  await until('it is taken', () =>
    listen.log.some((line) => line.includes(deliveryId) && /verified {2}forwarded: 2\d\d$/.test(line)),
  );
  assert.equal((await readdir(example.inbox)).filter((file) => file.endsWith('.json')).length, 1);
  assert.equal(listen.log.filter((line) => line.includes(secret)).length, 1);
});

for (const name of Object.keys(EXAMPLE_OF)) {
  test(`${name}: takes what is true, once and in order, and nothing else`, async (t) => {
    const own = new Scope(t);
    const example = await startExample(own, name);
    const [queued, waiting, completed] = events;
    const { deliveryId } = JSON.parse(completed.body);
    if (name === 'php')
      await until('its server tells where it listens', () =>
        example.program.log.some((line) => line.includes(`(${example.url}) started`)),
      );
    else await example.told(`listening on ${example.url}`);

    const forged = Object.entries(await forgeries(completed));
    for (const [what, request] of forged) assert.equal((await example.post(request)).status, 401, what);
    if (EXAMPLE_OF[name].saysWhy) {
      const refusals = () => example.program.log.filter((line) => line.startsWith('refused 401: '));
      await until('each refusal is told', () => refusals().length === forged.length);
      assert.deepEqual(
        refusals(),
        forged.map(([what]) => `refused 401: ${REFUSALS[what] ?? 'webhook-signature is not of this secret and body'}`),
      );
      for (const secret of [SECRET, OTHER])
        assert.ok(!example.program.log.join('\n').includes(secret.slice('whsec_'.length)));
    }
    assert.equal((await example.get()).status, 405);
    assert.equal((await example.post({ body: 'x'.repeat(1024 * 1024 + 1), headers: {} })).status, 413);
    assert.deepEqual(
      (await readdir(example.inbox)).filter((file) => file.endsWith('.json')),
      [],
      'nothing of them is kept',
    );

    // The order of arrival is not the order of events: what is older than the newest known changes nothing.
    assert.equal((await example.post(sent(queued))).status, 200);
    await example.told(`delivery.queued ${deliveryId} queued`);
    assert.equal((await example.post(sent(completed))).status, 200);
    await example.told(`delivery.completed ${deliveryId} completed`);
    assert.equal((await example.post(sent(waiting))).status, 200);
    await example.told(`old ${JSON.parse(waiting.body).id}`);
    // A retry and a replay are the same event, at whatever moment it is signed anew.
    assert.equal((await example.post(sent(completed))).status, 200);
    assert.equal((await example.post(await signedAt(completed, now() - FIVE_MINUTES_S + 60))).status, 200);
    await until('both are told as duplicates', () => example.count(`duplicate ${JSON.parse(completed.body).id}`) === 2);
    assert.equal(example.count(`delivery.completed ${deliveryId} completed`), 1);
    // Ten at once are one.
    const fresh = await signedAt(completed, now(), {
      id: '7e7c9a52-6d0e-4c0e-9a53-5f2d6f0f3a11',
      deliveryId: 'del_another',
    });
    const answers = await Promise.all(Array.from({ length: 10 }, () => example.post(fresh)));
    assert.deepEqual(
      answers.map(({ status }) => status),
      Array(10).fill(200),
    );
    await until('nine are duplicates', () => example.count('duplicate 7e7c9a52-6d0e-4c0e-9a53-5f2d6f0f3a11') === 9);
    assert.equal(example.count('delivery.completed del_another completed'), 1);

    // Its secret is the old one while it is rotated.
    assert.equal((await example.post(sent(rotated))).status, 200);
    await example.told('webhook.test - -');
    assert.equal((await example.post(sent(rotatedTwice))).status, 200);
    // The stored event is the one that came, byte for byte.
    assert.equal(
      await readFile(path.join(example.inbox, `${JSON.parse(completed.body).id}.json`), 'utf8'),
      completed.body,
    );

    // And from the service itself.
    const { id } = await subscribe(`${example.url}/hook`, SECRET);
    isOk(await merchant.api.post(`/api/webhook-subscriptions/${id}/test`), 202);
    await until('the service was answered 2xx', async () =>
      isOk(await merchant.api.get(`/api/webhook-subscriptions/${id}/attempts`)).data.some(
        ({ statusCode }) => statusCode === 200,
      ),
    );
    await until('it is told', () => example.count('webhook.test - -') === 3);
    isOk(await merchant.api.delete(`/api/webhook-subscriptions/${id}`), 204);
  });
}

test('curl and openssl: verify.sh and send.sh', async (t) => {
  const folder = await scratch(new Scope(t));
  const files = [path.join(folder, 'headers'), path.join(folder, 'body')];
  const verify = async ({ headers, body }, secret = SECRET) => {
    await writeFile(
      files[0],
      Object.entries(headers)
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join(''),
    );
    await writeFile(files[1], body);
    return run(path.join(EXAMPLES, 'verify.sh'), files, {
      env: { PATH: process.env.PATH, WEBHOOK_SECRET: secret },
    }).then(
      () => 0,
      ({ code, stdout, stderr }) => (stderr ? stderr : assert.match(stdout, /^not verified: /), code),
    );
  };
  for (const event of [...events, rotated, rotatedTwice]) assert.equal(await verify(sent(event)), 0);
  assert.equal(await verify(sent(rotated), OTHER), 0);
  for (const secret of [OTHER, NEWEST]) assert.equal(await verify(sent(rotatedTwice), secret), 0);
  for (const [what, request] of Object.entries(await forgeries(events[2])))
    assert.equal(await verify(request), 1, what);

  const { post: _, url, told } = await startExample(new Scope(t), 'node');
  const send = async (secret, ...more) =>
    (
      await run(path.join(EXAMPLES, 'send.sh'), [`${url}/hook`, files[1], ...more], {
        env: { PATH: process.env.PATH, WEBHOOK_SECRET: secret },
      })
    ).stdout;
  await writeFile(files[1], '{"id": "of-mine", "type":"webhook.test"}');
  assert.equal(await send(OTHER), '401\n');
  assert.equal(await send(SECRET, String(now() - FIVE_MINUTES_S - 30)), '401\n');
  assert.equal(await send(SECRET), '200\n');
  await told('webhook.test - -');
});

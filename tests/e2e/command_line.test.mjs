// Each verb as a new user calls it: for help, with wrong words, in a pipe and on a terminal.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { Program, runBridge, Scope, scratch, until, within } from './harness.mjs';
import { isOk, Merchant, PASSWORD, startStack } from './merchant.mjs';
import { startReceiver, verifiedEvent } from './receiver.mjs';

const BRIDGE = process.env.PRESETBRIDGE_BIN;
const scope = new Scope();
let stack;
let merchant;

before(async () => {
  stack = await startStack(scope);
  merchant = await Merchant.signUp(stack.bridge, 1);
});
after(() => scope.close());

const quoted = (words) => words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');

// The program on a terminal of its own (script, of util-linux), where `answers` are typed, each once its question stands there:
// {code, shown}, what stood on the terminal.
async function onTerminal(args, answers = []) {
  const child = spawn(
    'script',
    ['--quiet', '--return', '--echo', 'always', '--command', quoted([BRIDGE, ...args]), '/dev/null'],
    {
      env: { PATH: process.env.PATH, TERM: 'dumb', SHELL: '/bin/sh' },
      stdio: ['pipe', 'pipe', 'inherit'],
      timeout: 20_000,
    },
  );
  let shown = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (shown += text));
  const ended = once(child, 'close');
  let from = 0;
  for (const [question, answer] of answers) {
    await until(`it asks ${question}`, () => shown.indexOf(question, from) >= 0, 10_000);
    from = shown.indexOf(question, from) + question.length;
    child.stdin.write(answer);
  }
  const [code] = await ended;
  return { code, shown };
}

// Every verb, sub-verbs too, as lists of words.
async function verbs(words = []) {
  const { stdout } = await runBridge([...words, '--help']);
  const [, listed = ''] = stdout.split('Subcommands:\n');
  const found = listed.split('\n\n')[0].match(/(?<=^ {2})[a-z][a-z-]*/gm) ?? [];
  const deeper = await Promise.all(found.map((verb) => verbs([...words, verb])));
  return [words, ...deeper.flat()];
}

test('every verb and sub-verb tells help and version, however it is asked', async () => {
  const all = await verbs();
  const version = await runBridge(['--version']);
  assert.match(version.stdout, /^presetbridge \d+\.\d+\.\d+ \([0-9a-f]+\)\n$/);
  assert.ok(all.length > 20, `${all.length} verbs`);
  for (const words of all) {
    const help = await runBridge([...words, '--help']);
    assert.deepEqual([help.code, help.stderr], [0, ''], `${words}`);
    assert.match(help.stdout, new RegExp(`Usage: presetbridge ${words.join(' ')}`), `${words}`);
    for (const asked of [
      ['help', ...words],
      [...words, 'help'],
      [...words.slice(0, 1), 'help', ...words.slice(1)],
    ]) {
      assert.deepEqual(await runBridge(asked), help, `${asked}`);
    }
    assert.deepEqual(await runBridge([...words, '--version']), version, `${words}`);
  }
});

test('the simulators tell the version that they were built with', async () => {
  const { stdout } = await runBridge(['--version']);
  for (const [name, program] of [
    ['cloudsim', process.env.CLOUDSIM_BIN],
    ['paysim', process.env.PAYSIM_BIN],
  ]) {
    const told = await promisify(execFile)(program, ['--version'], { timeout: 10_000 });
    assert.equal(told.stdout, stdout.replace('presetbridge', name));
  }
});

test('wrong words are told with the flag that is meant, and exit code 2', async (t) => {
  const folder = await scratch(new Scope(t));
  const order = ['send-order', '--url', 'http://127.0.0.1:9/api/webhooks/generic/int_1', '--secret', 's'];
  const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
  for (const [args, says] of [
    [['serve'], /cloud\.url is needed: the address of the cloud platform; .*--sandbox.*\(--cloud-url\)$/m],
    [['serve', '--sandbox', '--listen', 'here'], /listen must be .*\(--listen\)$/m],
    [
      ['serve', '--sandbox', '--delivery-lease-seconds', '5'],
      /delivery\.lease_seconds must be .*\(--delivery-lease-seconds\)$/m,
    ],
    [['config', 'check', '--data-dir', folder], /\(--cloud-url\)$/m],
    [['migrate', '--databse-url', 'x'], /--databse-url.* is --database-url meant\?$/m],
    [['send-order'], /--url is required$/m],
    [['send-order', '--url', 'x'], /--secret is required$/m],
    [['send-order', '--url', 'http://127.0.0.1:9/hook', '--secret', 's'], /--provider is needed, as --url names none/],
    [[...order, '--provider', 'shop'], /--provider must be one of: provider_a, shopify, .*generic$/m],
    [[...order, '--topic', 'orders/paid'], /--topic is not for generic/],
    [[...order, '--quantity', '0'], /--quantity must be/],
    [[...order, '--repeat', '0'], /--repeat must be/],
    [[...order, '--payload', 'none.json'], /--payload none\.json cannot be read/],
    [[...order, '--payload', '-', '--sku', 'A'], /--sku excludes --payload|--payload excludes --sku/],
    [[...order, '--titel', 'A'], /--titel.* is --title meant\?$/m],
    [['send-order', '--foo=secret'], /^presetbridge: There is no flag --foo here$/m],
    [['help', 'nosuch'], /There is no nosuch; the verbs are: serve, migrate, /],
    [['admin', 'help', 'nosuch'], /There is no nosuch; the verbs are: create-account, /],
    [
      ['admin', 'purchases', '--state', 'bogus', '--data-dir', folder],
      /--state: bogus not in \{.*pending.*disputed.*\}/,
    ],
    [['admin', 'grant-credits', 'acc_0a1b2c3d4e5f6', '-5', '--data-dir', folder], /credits: .*-5.* 1000000000000/],
    [['admin', 'refund', 'pur_0a1b2c3d4e5f6', '--total', '0', '--data-dir', folder], /--total: /],
    [['admin', 'refund', 'pur_0a1b2c3d4e5f6', '--amount', '1', '--data-dir', folder], /no flag --amount here/],
    [['listen'], /give --secret .* or --service/],
    [['listen', '--secret', 'x'], /--secret must be a webhook secret/],
    [['listen', '--service', 'http://127.0.0.1:9'], /--service needs one of --api-key and --email/],
    [['listen', '--service', 'http://127.0.0.1:9', '--secret', secret], /--secret .* not with --service/],
    [['listen', '--secret', secret, '--email', 'a@b.example'], /--api-key and --email are for --service/],
    [['listen', '--secret', secret, '--forward', 'localhost'], /--forward must be an address/],
    [['listen', '--secret', secret, '--event-type', 'x'], /--event-type is for --service/],
    [['listen', '--secret', secret, '--answer-status', '99'], /--answer-status must be 200 to 599/],
    [['demo', '--prot', '1'], /--prot.* is --port meant\?$/m],
    [['admin', 'reset-password', 'a@b.example', '--data-dir', folder], /a password is needed/],
  ]) {
    const done = await runBridge(args);
    assert.deepEqual([done.code, done.stdout.includes('\npresetbridge')], [2, false], `${args}: ${done.stderr}`);
    assert.match(done.stderr, says, `${args}`);
  }
  // A word that is not UTF-8 comes from a shell alone.
  for (const flag of ['--username', '--sku']) {
    const done = await runBridge(order, { under: ['/bin/sh', '-c', `exec "$@" ${flag} "$(printf 'a\\377')"`, 'sh'] });
    assert.deepEqual([done.code, done.stderr], [2, `send-order: ${flag} must be UTF-8\n`]);
  }
  const nowhere = path.join(folder, 'nowhere');
  const keys = await runBridge(['vault', 'keys', '--data-dir', nowhere]);
  assert.equal(keys.code, 1);
  assert.match(keys.stderr, /There is no .*: check --data-dir/);
});

test('send-order finds lines by every key of a mapping, and tells what delivers nothing', async (t) => {
  const integration = await merchant.store('provider_a');
  const mapping = (matchType, matchValue, file) => ({
    matchType,
    matchValue,
    fileId: merchant.file(file),
    kind: 'preset',
    fileName: `Preset ${file}`,
  });
  isOk(
    await merchant.api.put(`/api/integrations/${integration.id}/mappings`, {
      mappings: [
        mapping('variant_id', '901', 1),
        mapping('sku', 'S-1', 2),
        mapping('product_id', '902', 3),
        mapping('title', 'Lofi Pack', 4),
      ],
    }),
  );
  const send = (...args) =>
    runBridge([
      'send-order',
      '--url',
      `${stack.bridge.url}/api/webhooks/provider_a/${integration.id}`,
      '--secret',
      integration.secret,
      '--username',
      'keyed',
      ...args,
    ]);
  for (const [flag, value, file] of [
    ['--variant-id', '901', 1],
    ['--sku', 'S-1', 2],
    ['--product-id', '902', 3],
    ['--title', 'lofi  pack', 4],
  ]) {
    const sent = await send(flag, value, '--quantity', '2', '--order-id', String(7000 + file));
    assert.equal(sent.code, 0, sent.stdout + sent.stderr);
    const [{ id }] = await merchant.deliveriesOf(integration, 7000 + file);
    assert.deepEqual(
      (await merchant.delivery(id)).items.map(({ fileId, quantity }) => [fileId, quantity]),
      [[merchant.file(file), 2]],
      flag,
    );
  }
  const all = await send(
    '--variant-id',
    '901',
    '--sku',
    'S-1',
    '--product-id',
    '902',
    '--title',
    'Lofi Pack',
    '--order-id',
    '7009',
  );
  assert.equal(all.code, 0, all.stdout);
  const [{ id }] = await merchant.deliveriesOf(integration, 7009);
  assert.equal((await merchant.reaches(id, 'completed')).items.length, 4);

  const unmapped = await send('--sku', 'NO-SUCH');
  assert.equal(unmapped.code, 3, unmapped.stdout);
  assert.match(unmapped.stdout, /^202 .*"status":"ignored"/);

  // Another event of the same order, and bytes of one's own, from a file and from a pipe.
  const cancelled = await send('--sku', 'NO-SUCH', '--order-id', '7009', '--topic', 'orders/cancelled');
  assert.equal(cancelled.code, 0, cancelled.stdout);
  assert.ok((await merchant.delivery(id)).flags.includes('cancelled'));
  const payload = JSON.stringify({
    id: 7010,
    financial_status: 'paid',
    note: 'vendor username: piped',
    line_items: [{ id: 1, sku: 'S-1', quantity: 1 }],
  });
  const file = path.join(await scratch(new Scope(t)), 'order.json');
  await writeFile(file, payload);
  const plain = [
    'send-order',
    '--url',
    `${stack.bridge.url}/api/webhooks/provider_a/${integration.id}`,
    '--secret',
    integration.secret,
  ];
  const ofFile = await runBridge([...plain, '--payload', file]);
  assert.match(ofFile.stdout, /^202 .*"orderId":"7010"/, ofFile.stderr);
  assert.equal((await merchant.deliveriesOf(integration, 7010))[0].targetUsername, 'piped');
  const piped = await runBridge([...plain, '--payload', '-'], { input: payload });
  assert.match(piped.stdout, /"orderId":"7010".*"duplicate":true/, piped.stderr);
  const refused = await runBridge([...plain.slice(0, -1), 'another secret of it', '--payload', file]);
  assert.equal(refused.code, 1);
  assert.match(refused.stdout, /^401 /);
});

// `listen` with these words, once it listens, and the lines that it prints.
async function startListen(t, args, env) {
  const own = new Scope(t);
  const program = await new Program('presetbridge', BRIDGE, ['listen', '--json', ...args], { env }).listening();
  own.after(() => program.running && program.kill());
  const lines = [];
  program.stdout.on('line', (line) => lines.push(JSON.parse(line)));
  return { program, lines };
}
const subscriptionsOf = async (who) => isOk(await who.api.get('/api/webhook-subscriptions')).data;

test('listen makes a subscription of its own with an API key, hands events on as they came, and takes it away again', async (t) => {
  const { secret } = await merchant.key({ name: 'of listen' });
  const shop = await startReceiver(new Scope(t), {
    answer: (_, number) => ({ status: number === 1 ? 503 : 200, body: 'taken' }),
  });
  const { program, lines } = await startListen(
    t,
    ['--service', `${stack.bridge.url}/`, '--forward', shop.url, '--event-type', 'delivery.queued'],
    { PRESETBRIDGE_API_KEY: secret },
  );
  const [made, ...others] = await subscriptionsOf(merchant);
  assert.deepEqual([made.name, made.eventTypes, others], ['presetbridge listen', ['delivery.queued'], []]);

  isOk(await merchant.api.post(`/api/webhook-subscriptions/${made.id}/test`), 202);
  const first = await until('the event is handed on', () => lines.find(({ type }) => type === 'webhook.test'));
  assert.deepEqual([first.verified, first.forwarded], [true, 503]);
  const store = await merchant.store('generic');
  await merchant.order(store, { username: 'listened' });
  const second = await until('the second is handed on', () => lines.find(({ type }) => type === 'delivery.queued'));
  assert.deepEqual([second.verified, second.forwarded], [true, 200]);
  // The service was answered what the shop answered, and the shop got what the service sent.
  const attempts = await until('both attempts are recorded', async () => {
    const { data } = isOk(await merchant.api.get(`/api/webhook-subscriptions/${made.id}/attempts`));
    return data.length >= 2 && data;
  });
  assert.deepEqual(attempts.map(({ statusCode }) => statusCode).sort(), [200, 503]);
  const request = shop.requests[1];
  const event = isOk(
    await merchant.api.get(`/api/webhook-subscriptions/${made.id}/events/${JSON.parse(request.body).id}`),
  );
  assert.equal(request.body, event.body);
  for (const name of [
    'x-vendor-signature',
    'webhook-id',
    'webhook-timestamp',
    'webhook-signature',
    'x-vendor-event',
    'content-type',
  ])
    assert.ok(request.headers[name], name);
  await assert.rejects(verifiedEvent(request, `whsec_${Buffer.alloc(32).toString('base64')}`), 'the secret is its own');

  program.child.kill('SIGINT');
  const { code } = await within('listen ends', program.ended, 10_000);
  assert.equal(code, 1, 'an event was not taken');
  assert.deepEqual(await subscriptionsOf(merchant), []);
});

test('listen tells where nobody takes what it hands on, and whom the service refuses', async (t) => {
  const { secret } = await merchant.key({ name: 'of listen, too' });
  const { program, lines } = await startListen(t, [
    '--service',
    stack.bridge.url,
    '--api-key',
    secret,
    '--forward',
    'http://127.0.0.1:9/',
    '--once',
    '1',
  ]);
  const [made] = await subscriptionsOf(merchant);
  isOk(await merchant.api.post(`/api/webhook-subscriptions/${made.id}/test`), 202);
  assert.equal((await within('listen ends', program.ended, 10_000)).code, 1);
  assert.deepEqual([lines.at(-1).forwarded, typeof lines.at(-1).forwardProblem], [0, 'string']);
  assert.deepEqual(await subscriptionsOf(merchant), []);

  const stranger = await runBridge(['listen', '--service', stack.bridge.url, '--api-key', 'pdb_live_nobody']);
  assert.deepEqual([stranger.code, stranger.stdout], [1, '']);
  assert.match(stranger.stderr, /^listen: .+/);
  const nowhere = await runBridge(['listen', '--service', 'http://127.0.0.1:9', '--api-key', secret]);
  assert.equal(nowhere.code, 1);
  assert.match(nowhere.stderr, /listen: The service at http:\/\/127\.0\.0\.1:9 does not answer/);
});

test('listen signs in as a person, by a password that no terminal shows, and signs out', async () => {
  const args = ['listen', '--service', stack.bridge.url, '--email', merchant.email, '--once', '1'];
  const wrong = await runBridge(args, { input: 'not the pass phrase\n' });
  assert.deepEqual([wrong.code, wrong.stdout], [1, '']);
  const sessions = async () => isOk(await merchant.api.get('/api/account/sessions')).data.length;
  const before = await sessions();
  const listened = onTerminal(args, [['Password of ', `${PASSWORD}\n`]]);
  const [made] = await until('it has subscribed', async () => {
    const found = await subscriptionsOf(merchant);
    return found.length > 0 && found;
  });
  isOk(await merchant.api.post(`/api/webhook-subscriptions/${made.id}/test`), 202);
  const { code, shown } = await listened;
  assert.equal(code, 0, shown);
  assert.match(shown, /webhook\.test .* verified/);
  assert.ok(!shown.includes(PASSWORD), shown);
  assert.deepEqual(await subscriptionsOf(merchant), []);
  assert.equal(await sessions(), before);
});

test('a new password is asked twice on a terminal, shown nowhere, and read once from a pipe', async () => {
  const admin = (verb, email) => ['admin', verb, email, '--data-dir', stack.bridge.dataDir];
  const signIn = (email, password) => merchant.open.post('/api/auth/sign-in', { email, password });
  const typed = 'typed where nobody looks';
  const made = await onTerminal(admin('create-account', 'typed@shop.example'), [
    ['New password: ', `${typed}\n`],
    ['New password, again: ', `${typed}\n`],
  ]);
  assert.equal(made.code, 0, made.shown);
  assert.match(made.shown, /"email":"typed@shop\.example"/);
  assert.ok(!made.shown.includes(typed), made.shown);
  isOk(await signIn('typed@shop.example', typed));

  const differs = await onTerminal(admin('reset-password', 'typed@shop.example'), [
    ['New password: ', 'one long enough\n'],
    ['again: ', 'another long one\n'],
  ]);
  assert.equal(differs.code, 2, differs.shown);
  assert.match(differs.shown, /the two are not the same; nothing was done/);
  isOk(await signIn('typed@shop.example', typed));

  // Ctrl-C: the process is gone as by any Ctrl-C, and nothing was done.
  const broken = await onTerminal(admin('reset-password', 'typed@shop.example'), [['New password: ', '\x03']]);
  assert.equal(broken.code, 130, broken.shown);

  const piped = await runBridge(admin('reset-password', 'typed@shop.example'), {
    input: 'piped and long enough\nmore\n',
  });
  assert.equal(piped.code, 0, piped.stderr);
  isOk(await signIn('typed@shop.example', 'piped and long enough'));
});

// ./dev run [--once]: the bridge in sandbox mode beside a simulated cloud platform, with a demo merchant; one signed order of each kind
// of store goes through it, and each delivery's way is told as it happens. With --once the programs are stopped then, and the exit
// code tells whether all arrived; without it they keep serving.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import readline from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { spawnTied } from './tied.mjs';

const DEADLINE_MS = 120_000;
const START_MS = 20_000;
const STOP_MS = 12_000;
const LOCKED = 75;
const FOLDER = path.resolve('build/demo');
const BRIDGE = process.env.PRESETBRIDGE_BIN;
const CLOUDSIM = process.env.CLOUDSIM_BIN;
const EMAIL = 'demo@shop.example';
const PASSWORD = `demo-${randomBytes(6).toString('hex')}`;
const ACCEPT_MS = 4_000;

const once = process.argv[2] === '--once';
const began = performance.now();
const running = [];
let stopping = false;

const say = (text = '') => console.log(text);
const step = (text) => say(`${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s  ${text}`);

// A program of ours. Its environment is clean: settings come from flags alone. It dies with this process.
function start(name, binary, args, env = {}) {
  const child = spawnTied('TERM', binary, args, {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true, // Ctrl-C is for this script, which stops the programs in order
  });
  const program = { name, child, errors: [], lines: readline.createInterface({ input: child.stdout }) };
  readline.createInterface({ input: child.stderr }).on('line', (line) => {
    program.errors.push(line);
    if (program.errors.length > 30) program.errors.shift();
  });
  program.ended = new Promise((resolve) => {
    child.once('error', (error) => resolve(String(error)));
    child.once('close', (code, signal) => resolve(signal ?? `exit ${code}`));
  });
  program.ended.then((how) => {
    if (!stopping) fail(`${name} ended by itself (${how}):\n${program.errors.join('\n')}`);
  });
  running.push(program);
  return program;
}

// Holds the folder until this process is gone, however it ends: the end of `cat`'s input ends it, and with it the lock. Another
// demonstration at work there is left alone.
async function lockFolder() {
  await mkdir(path.dirname(FOLDER), { recursive: true });
  const child = spawn('flock', ['--timeout', '3', '--conflict-exit-code', String(LOCKED), `${FOLDER}.lock`, 'cat'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true, // as the programs
  });
  child.stdin.on('error', () => {});
  const ended = new Promise((resolve) => {
    child.once('error', (error) => resolve(String(error)));
    child.once('close', resolve);
  });
  const held = new Promise((resolve) => child.stdout.once('data', () => resolve('held')));
  child.stdin.write('held\n');
  const outcome = await limited('the lock of the folder', START_MS, Promise.race([held, ended]));
  if (outcome === LOCKED) {
    console.error(`demo: another ./dev run is at work in ${path.relative('.', FOLDER)}; stop it first (Ctrl-C where it runs).`);
    process.exit(1);
  }
  if (outcome !== 'held') throw new Error(`${FOLDER}.lock cannot be locked (${outcome})`);
  child.unref();
}

function listening(program) {
  return limited(`${program.name} listens`, START_MS, new Promise((resolve) => {
    program.lines.on('line', (line) => {
      if (line.startsWith('{"listening"')) resolve(JSON.parse(line).listening);
    });
  }));
}

async function limited(what, ms, promise) {
  const abort = new AbortController();
  const late = delay(ms, undefined, { signal: abort.signal }).then(() => {
    throw new Error(`${what}: not within ${ms / 1000} s`);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    abort.abort();
    late.catch(() => {});
  }
}

// A verb to its end: its standard output.
async function run(args, env = {}) {
  const child = spawn(BRIDGE, args, { env: { PATH: process.env.PATH, ...env }, stdio: ['ignore', 'pipe', 'pipe'], timeout: 30_000 });
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (errors += text));
  const code = await new Promise((resolve) => {
    child.once('error', (error) => resolve(String(error)));
    child.once('close', resolve);
  });
  if (code !== 0) throw new Error(`presetbridge ${args.slice(0, 2).join(' ')} failed (${code}): ${errors}${output}`);
  return output;
}

async function stopAll() {
  stopping = true;
  for (const program of running.reverse()) {
    if (program.child.exitCode !== null || program.child.signalCode !== null) continue;
    program.child.kill('SIGTERM');
    try {
      await limited(`${program.name} stops`, STOP_MS, program.ended);
    } catch (error) {
      program.child.kill('SIGKILL');
      console.error(`demo: ${error.message}`);
      process.exitCode = 1;
    }
  }
}

let failing = false;
async function fail(message) {
  if (failing) return;
  failing = true;
  console.error(`\ndemo: ${message}`);
  process.exitCode = 1;
  await stopAll();
  process.exit(1);
}

class Api {
  constructor(url) {
    this.url = url;
    this.headers = { 'content-type': 'application/json' };
  }
  async call(method, target, body) {
    const response = await fetch(this.url + target, {
      method,
      headers: this.headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      redirect: 'error',
      signal: AbortSignal.timeout(15_000),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${target} was answered ${response.status}: ${text}`);
    return text ? JSON.parse(text) : undefined;
  }
}

// What `listen` has received and verified, by delivery; each newcomer is told, once its delivery has a name.
class Listener {
  events = new Map();
  names = new Map();
  untold = [];

  constructor(program) {
    program.lines.on('line', (line) => {
      const event = JSON.parse(line);
      if (!event.type) return;
      this.events.set(event.delivery, [...(this.events.get(event.delivery) ?? []), event]);
      this.untold.push(event);
      this.tell();
    });
  }
  name(delivery, name) {
    this.names.set(delivery, name);
    this.tell();
  }
  tell() {
    for (const { delivery, type, verified, problem } of this.untold.filter(({ delivery }) => this.names.has(delivery))) {
      step(`${this.names.get(delivery).padEnd(11)} webhook ${type}: ${verified ? 'both signatures verified' : `NOT verified: ${problem}`}`);
    }
    this.untold = this.untold.filter(({ delivery }) => !this.names.has(delivery));
  }
  get all() {
    return [...this.events.values()].flat();
  }
  told(delivery, type) {
    return this.all.some((event) => event.delivery === delivery && event.type === type && event.verified);
  }
}

const WORDS = {
  queued: 'queued',
  processing: 'a job works on it',
  waiting_for_friendship: 'friend request sent; waiting until the buyer accepts',
  completed: 'completed',
};

async function demo() {
  await lockFolder();
  await rm(FOLDER, { recursive: true, force: true, maxRetries: 5 });
  await mkdir(FOLDER, { recursive: true });
  // Not a name of before: the programs of one that was killed may still be ending.
  const dataDir = path.join(FOLDER, `data-${process.pid}`);

  say('Preset Delivery Bridge: a demonstration. The cloud platform here is a SIMULATOR; nothing leaves this machine.\n');
  const cloudsim = start('cloudsim', CLOUDSIM, ['--port', '0', '--users', '1', '--files', '5', '--create-unknown-users', '--accept-delay-ms', String(ACCEPT_MS)]);
  const cloudUrl = await listening(cloudsim);
  step(`simulated cloud platform at ${cloudUrl}; buyers accept friend requests after ${ACCEPT_MS / 1000} s`);

  const bridge = start('presetbridge', BRIDGE, [
    'serve', '--sandbox', '--data-dir', dataDir, '--listen', '127.0.0.1:0', '--cloud-url', cloudUrl,
    // Outside a demonstration: 5 jobs a minute, and a minute until the first look for an acceptance (spec 3.4, 3.5).
    '--delivery-jobs-per-minute', '120', '--delivery-first-sweep-seconds', '5',
  ]);
  const url = await listening(bridge);
  step(`presetbridge at ${url}, in sandbox mode, with its data in ${path.relative('.', dataDir)}`);

  const api = new Api(url);
  const account = await api.call('POST', '/api/auth/sign-up', { email: EMAIL, password: PASSWORD, accountName: 'Demo Presets' });
  api.headers.authorization = `Bearer ${account.idToken}`;
  step(`merchant ${account.accountId} signed up as ${EMAIL}`);
  const credentials = await api.call('PUT', '/api/credentials', { email: 'merchant-1@cloudsim.test', password: 'password-1' });
  step(`cloud login ${credentials.maskedEmail} saved: ${credentials.status}`);
  await run(['admin', 'grant-credits', account.accountId, '100', '--note', 'demo', '--data-dir', dataDir]);
  const before = await api.call('GET', '/api/credits');
  step(`${before.available} credits granted by the operator`);

  const subscriptionSecret = `whsec_${randomBytes(24).toString('base64')}`;
  const listener = start('presetbridge listen', BRIDGE, ['listen', '--json'], { PRESETBRIDGE_LISTEN_SECRET: subscriptionSecret });
  const listenUrl = await listening(listener);
  await api.call('POST', '/api/webhook-subscriptions', { url: `${listenUrl}/`, secret: subscriptionSecret });
  step(`outbound webhooks go to presetbridge listen at ${listenUrl}`);

  const stores = [];
  for (const [number, provider] of ['provider_a', 'provider_b', 'generic'].entries()) {
    const store = await api.call('POST', '/api/integrations', { provider, name: `Demo store (${provider})` });
    await api.call('PUT', `/api/integrations/${store.id}/mappings`, {
      mappings: [{ matchType: 'sku', matchValue: `TONE-${number + 1}`, fileId: `m-1-f${number + 1}`, kind: 'preset', fileName: `Preset ${number + 1}` }],
    });
    stores.push({ ...store, sku: `TONE-${number + 1}`, username: `buyer_of_${provider}` });
  }
  step('three stores connected, one item of each mapped to a preset\n');

  const events = new Listener(listener);
  const deliveries = [];
  for (const store of stores) {
    const output = await run(['send-order', '--provider', store.provider, '--url', store.webhookUrl, '--username', store.username, '--sku', store.sku], { PRESETBRIDGE_ORDER_SECRET: store.secret });
    const [, status, body] = output.match(/^(\d{3}) (\{.*\})$/m) ?? [];
    if (status !== '202') throw new Error(`an order of ${store.provider} was answered: ${output}`);
    const answer = JSON.parse(body);
    deliveries.push({ id: answer.deliveryId, store, status: undefined });
    step(`${store.provider.padEnd(11)} signed order ${answer.orderId} answered 202: delivery ${answer.deliveryId}, ${answer.status}`);
    events.name(answer.deliveryId, store.provider);
  }

  const end = performance.now() + DEADLINE_MS;
  while (!deliveries.every(({ id, status }) => status === 'completed' && events.told(id, 'delivery.completed'))) {
    for (const delivery of deliveries) {
      const now = await api.call('GET', `/api/deliveries/${delivery.id}`);
      if (now.status !== delivery.status) {
        delivery.status = now.status;
        const shared = now.items.filter((item) => item.status === 'shared').map((item) => item.fileId);
        const what = now.status === 'completed' ? `accepted; ${shared.join(', ')} shared with ${now.targetUsername}; completed` : (WORDS[now.status] ?? now.status);
        step(`${delivery.store.provider.padEnd(11)} ${what}`);
      }
      if (['failed', 'invalidated', 'in_review'].includes(now.status)) throw new Error(`delivery ${delivery.id} is ${now.status}: ${now.message}`);
    }
    if (performance.now() > end) throw new Error(`not every delivery was completed and told within ${DEADLINE_MS / 1000} s`);
    await delay(100);
  }

  const forged = events.all.filter((event) => !event.verified);
  if (forged.length > 0) throw new Error(`${forged.length} outbound webhooks could not be verified`);
  const after = await api.call('GET', '/api/credits');
  const spent = before.available - after.available;
  const effects = await new Api(cloudUrl).call('GET', '/sim/counts');
  if (spent !== deliveries.length) throw new Error(`${spent} credits were spent on ${deliveries.length} files`);
  say();
  step(`${deliveries.length} deliveries completed, ${events.all.length} outbound webhooks verified, ${spent} credits spent, ${after.available} left`);
  if (effects.shares.standing !== deliveries.length) throw new Error(`the simulated platform has ${effects.shares.standing} shares`);
  step(`the simulated platform counts ${effects.shares.made} shares made, ${effects.shares.standing} standing`);
  return { url, cloudUrl, stores };
}

function tellWhatToTry({ url, cloudUrl, stores }) {
  const shop = stores[2];
  const hosted = stores[0]; // the generic kind refuses an order without a username
  const bridge = path.relative('.', BRIDGE);
  say(`
Still serving; Ctrl-C stops everything.

  The bridge              ${url}   (its contract: ${url}/api/openapi.json)
  The SIMULATED platform  ${cloudUrl}   (what it did: ${cloudUrl}/sim/effects)
  Sign in                 curl -s ${url}/api/auth/sign-in -H 'content-type: application/json' \\
                            -d '{"email":"${EMAIL}","password":"${PASSWORD}"}'
  Another order           ${bridge} send-order --provider ${shop.provider} --url ${shop.webhookUrl} \\
                            --secret ${shop.secret} --username another_buyer --sku ${shop.sku}
  One for a buyer whose
  username is missing     ${bridge} send-order --provider ${hosted.provider} --url ${hosted.webhookUrl} \\
                            --secret ${hosted.secret} --sku ${hosted.sku}
                          It is accepted, fails as username_missing, and says what to do.
`);
}

async function main() {
  if (process.argv.length > 3 || (process.argv[2] && !once)) {
    console.error('usage: ./dev run [--once]');
    process.exit(2);
  }
  if (!BRIDGE || !CLOUDSIM) {
    console.error('demo: run it as ./dev run, which builds the programs first');
    process.exit(2);
  }
  let interrupted;
  const interruption = new Promise((resolve) => (interrupted = resolve));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, interrupted);
  const done = await Promise.race([limited('the demonstration', DEADLINE_MS + START_MS, demo()), interruption.then(() => undefined)]);
  if (done && !once) {
    tellWhatToTry(done);
    await interruption;
    say('\nStopping.');
  } else if (!done) {
    process.exitCode = 1;
  }
  await stopAll();
  process.exit(process.exitCode ?? 0);
}

main().catch((error) => fail(error.message));

// The short demonstration (./dev run --once): one signed order of each kind of store goes through the bridge, a pack of credits is
// bought, and each delivery's events are printed as they arrive. It fails unless all of it arrives.
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { listening, run, say, start, startBank, step } from './programs.mjs';

export const DEADLINE_MS = 120_000;
const BRIDGE = process.env.PRESETBRIDGE_BIN;
const CLOUDSIM = process.env.CLOUDSIM_BIN;
const PAYSIM = process.env.PAYSIM_BIN;
const PACK = { id: 'small', credits: 100, text: 'small 100 1900 eur 100 credits' };
const EMAIL = 'demo@shop.example';
const PASSWORD = `demo-${randomBytes(6).toString('hex')}`;
const ACCEPT_MS = 4_000;

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

// The events that `listen` has received and verified, by delivery. Each new event is passed on once its delivery has a name.
class Listener {
  events = new Map();
  names = new Map();
  unnamed = [];

  constructor(program) {
    program.lines.on('line', (line) => {
      const event = JSON.parse(line);
      if (!event.type) return;
      this.events.set(event.delivery, [...(this.events.get(event.delivery) ?? []), event]);
      this.unnamed.push(event);
      this.print();
    });
  }
  name(delivery, name) {
    this.names.set(delivery, name);
    this.print();
  }
  print() {
    for (const { delivery, type, verified, problem } of this.unnamed.filter(({ delivery }) =>
      this.names.has(delivery),
    )) {
      step(
        `${this.names.get(delivery).padEnd(11)} webhook ${type}: ${verified ? 'both signatures verified' : `NOT verified: ${problem}`}`,
      );
    }
    this.unnamed = this.unnamed.filter(({ delivery }) => !this.names.has(delivery));
  }
  get all() {
    return [...this.events.values()].flat();
  }
  hasEvent(delivery, type) {
    return this.all.some((event) => event.delivery === delivery && event.type === type && event.verified);
  }
}

const WORDS = {
  queued: 'queued',
  processing: 'a job works on it',
  waiting_for_friendship: 'friend request sent; waiting until the buyer accepts',
  completed: 'completed',
};

export async function check(dataDir) {
  const cloudsim = start('cloudsim', CLOUDSIM, [
    '--port',
    '0',
    '--users',
    '1',
    '--files',
    '5',
    '--create-unknown-users',
    '--accept-delay-ms',
    String(ACCEPT_MS),
  ]);
  const cloudUrl = await listening(cloudsim);
  step(`simulated cloud platform at ${cloudUrl}; buyers accept friend requests after ${ACCEPT_MS / 1000} s`);

  const bank = await startBank(PAYSIM, dataDir);
  step(`simulated payment processor at ${bank.url}`);

  const bridge = start('presetbridge', BRIDGE, [
    'serve',
    '--sandbox',
    '--data-dir',
    dataDir,
    '--listen',
    '127.0.0.1:0',
    '--cloud-url',
    cloudUrl,
    '--payments-url',
    bank.url,
    '--credits-packs',
    PACK.text,
    // Outside a demonstration: 5 jobs a minute, and a minute until the first sweep for an acceptance (spec 3.4, 3.5).
    '--delivery-jobs-per-minute',
    '120',
    '--delivery-first-sweep-seconds',
    '5',
  ]);
  const url = await listening(bridge);
  step(`presetbridge at ${url}, in sandbox mode, with its data in ${path.relative('.', dataDir)}`);

  await bank.sendTo(url);

  const api = new Api(url);
  const account = await api.call('POST', '/api/auth/sign-up', {
    email: EMAIL,
    password: PASSWORD,
    accountName: 'Demo Presets',
  });
  api.headers.authorization = `Bearer ${account.idToken}`;
  step(`merchant ${account.accountId} signed up as ${EMAIL}`);
  const credentials = await api.call('PUT', '/api/credentials', {
    email: 'merchant-1@cloudsim.test',
    password: 'password-1',
  });
  step(`cloud login ${credentials.maskedEmail} saved: ${credentials.status}`);
  await run(BRIDGE, ['admin', 'grant-credits', account.accountId, '100', '--note', 'demo', '--data-dir', dataDir]);
  const before = await api.call('GET', '/api/credits');
  step(`${before.available} credits granted by the operator`);

  const subscriptionSecret = `whsec_${randomBytes(24).toString('base64')}`;
  const listener = start('presetbridge listen', BRIDGE, ['listen', '--json'], {
    PRESETBRIDGE_LISTEN_SECRET: subscriptionSecret,
  });
  const listenUrl = await listening(listener);
  await api.call('POST', '/api/webhook-subscriptions', { url: `${listenUrl}/`, secret: subscriptionSecret });
  step(`outbound webhooks go to presetbridge listen at ${listenUrl}`);

  const stores = [];
  for (const [number, provider] of ['provider_a', 'provider_b', 'generic'].entries()) {
    const store = await api.call('POST', '/api/integrations', { provider, name: `Demo store (${provider})` });
    await api.call('PUT', `/api/integrations/${store.id}/mappings`, {
      mappings: [
        {
          matchType: 'sku',
          matchValue: `TONE-${number + 1}`,
          fileId: `m-1-f${number + 1}`,
          kind: 'preset',
          fileName: `Preset ${number + 1}`,
        },
      ],
    });
    stores.push({ ...store, sku: `TONE-${number + 1}`, username: `buyer_of_${provider}` });
  }
  step('three stores connected, one item of each mapped to a preset\n');

  const events = new Listener(listener);
  const deliveries = [];
  for (const store of stores) {
    const output = await run(
      BRIDGE,
      [
        'send-order',
        '--provider',
        store.provider,
        '--url',
        store.webhookUrl,
        '--username',
        store.username,
        '--sku',
        store.sku,
      ],
      { PRESETBRIDGE_ORDER_SECRET: store.secret },
    );
    const [, status, body] = output.match(/^(\d{3}) (\{.*\})$/m) ?? [];
    if (status !== '202') throw new Error(`an order of ${store.provider} was answered: ${output}`);
    const answer = JSON.parse(body);
    deliveries.push({ id: answer.deliveryId, store, status: undefined });
    step(
      `${store.provider.padEnd(11)} signed order ${answer.orderId} answered 202: delivery ${answer.deliveryId}, ${answer.status}`,
    );
    events.name(answer.deliveryId, store.provider);
  }

  const end = performance.now() + DEADLINE_MS;
  while (!deliveries.every(({ id, status }) => status === 'completed' && events.hasEvent(id, 'delivery.completed'))) {
    for (const delivery of deliveries) {
      const now = await api.call('GET', `/api/deliveries/${delivery.id}`);
      if (now.status !== delivery.status) {
        delivery.status = now.status;
        const shared = now.items.filter((item) => item.status === 'shared').map((item) => item.fileId);
        const what =
          now.status === 'completed'
            ? `accepted; ${shared.join(', ')} shared with ${now.targetUsername}; completed`
            : (WORDS[now.status] ?? now.status);
        step(`${delivery.store.provider.padEnd(11)} ${what}`);
      }
      if (['failed', 'invalidated', 'in_review'].includes(now.status))
        throw new Error(`delivery ${delivery.id} is ${now.status}: ${now.message}`);
    }
    if (performance.now() > end)
      throw new Error(`not every delivery was completed and reported within ${DEADLINE_MS / 1000} s`);
    await delay(100);
  }

  const forged = events.all.filter((event) => !event.verified);
  if (forged.length > 0) throw new Error(`${forged.length} outbound webhooks could not be verified`);
  const after = await api.call('GET', '/api/credits');
  const spent = before.available - after.available;
  const effects = await new Api(cloudUrl).call('GET', '/sim/counts');
  if (spent !== deliveries.length) throw new Error(`${spent} credits were spent on ${deliveries.length} files`);
  say();
  step(
    `${deliveries.length} deliveries completed, ${events.all.length} outbound webhooks verified, ${spent} credits spent, ${after.available} left`,
  );
  if (effects.shares.standing !== deliveries.length)
    throw new Error(`the simulated platform has ${effects.shares.standing} shares`);
  step(`the simulated platform counts ${effects.shares.made} shares made, ${effects.shares.standing} standing`);

  const purchase = await api.call('POST', '/api/credits/checkout', { packId: PACK.id });
  await new Api(bank.url).call('POST', '/sim/pay', { session: purchase.url.split('/').at(-1) });
  while ((await api.call('GET', `/api/credits/purchases/${purchase.id}`)).state !== 'paid') {
    if (performance.now() > end) throw new Error(`the purchase was not reported within ${DEADLINE_MS / 1000} s`);
    await delay(100);
  }
  const bought = (await api.call('GET', '/api/credits')).available - after.available;
  if (bought !== PACK.credits) throw new Error(`${bought} credits came of a pack of ${PACK.credits}`);
  step(`a pack was paid on the simulated bank's page: ${bought} credits bought`);
}

// Does something bad to the service (torture_troubles.mjs: kills it again and again) while orders stream in and the cloud platform
// misbehaves, and then counts what was lost or done twice. `./dev torture --kills N [--seed S]`: prints a summary as JSON; exits 1
// when anything is wrong. The same seed draws the same orders, faults and moments; what the machine makes of them is its own.
import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { Client, ENGINE, Scope, dataDirBeside, scratch, startBridge, startCloudsim, until } from './harness.mjs';
import { Merchant, PASSWORD } from './merchant.mjs';
import { cluster } from './postgres.mjs';
import { Random } from './random.mjs';
import { startReceiver } from './receiver.mjs';
import { judge } from './torture_judge.mjs';
import { Money } from './torture_money.mjs';
import { BULK_STORES, HISTORY_STORES, Stores } from './torture_stores.mjs';
import { disconnects, kills } from './torture_troubles.mjs';

const MERCHANTS = 3;
const POOR = 1; // further ones, who live on the credits that they buy
const POOR_CREDITS = 20;
const OPERATION_MS = 80; // between two of one sender
const ARGS = [
  '--delivery-jobs-per-minute',
  '0',
  '--cloud-timeout-seconds',
  '1',
  '--delivery-lease-seconds',
  '11',
  '--delivery-poll-ms',
  '50',
  '--delivery-maintenance-ms',
  '250',
  '--delivery-first-sweep-seconds',
  '1',
];
const FAULTS = {
  latencyMaxMs: 40,
  too_many_requests: 0.005,
  server_error: 0.01,
  server_error_after: 0.015,
  drop_before: 0.01,
  drop_after: 0.015,
  malformed: 0.005,
  retryAfterS: 1,
};
const INSIST_MS = 60_000; // longer than any outage of a run
const TOKEN_MS = 30 * 60_000;
const BULK_REASON = 'torture of many';
const OPEN = ['queued', 'processing', 'waiting_for_friendship'];

const STORY = `SELECT row_to_json(customers), row_to_json(cloud_accounts), now() FROM customers
  JOIN cloud_accounts ON cloud_accounts.id = customers.cloud_account_id WHERE username_key = $1`;

// Since the server's last crash.
// Transactions lock rows in one order (docs/decisions/0018-order-of-locks.md): two that wait for each other are a rare meeting.
const MOST_DEADLOCKS = (orders) => Math.max(3, orders / 100);
const DEADLOCKS = 'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()';

// A list leaves the items out.
async function withItems(merchant, given) {
  const ids = given ?? (await merchant.all('/api/deliveries')).map(({ id }) => id);
  const rows = [];
  while (rows.length < ids.length)
    rows.push(...(await Promise.all(ids.slice(rows.length, rows.length + 16).map((id) => merchant.delivery(id)))));
  return rows;
}
const unsettled = ({ items }) => items.some(({ status }) => status === 'sharing' || status === 'revoking');

class Torture {
  constructor({ seed, trouble, nodes, orders, senders, percent, upgradeFrom, say }) {
    Object.assign(this, { seed, trouble, orders, senders, percent, say });
    this.nodes = Array.from({ length: nodes }, () => ({ program: upgradeFrom })); // {dataDir, bridge, program}
    this.scope = new Scope();
    this.accepted = [];
    this.jobs = []; // on many: {merchant, id, action, orders: as they were asked for, attempts}, and then as the API returns them
    this.changes = []; // what was answered with success of later events: {kind, deliveryId, file}
    this.problems = [];
    this.counts = {
      orders: 0,
      refunds: 0,
      cancellations: 0,
      edits: 0,
      logins: 0,
      invalidations: 0,
      mappings: 0,
      direct: 0,
      reprocessed: 0,
      jobs: 0,
      sentAgain: 0,
      steps: {},
      ...trouble.counts,
    };
    this.chaos = true;
    this.money = new Money(this);
    this.counts.money = this.money.counts;
    this.calmFrom = Infinity; // the moment from which nothing is an excuse any more
  }

  async run() {
    const began = performance.now();
    try {
      await this.setUp();
      const senders = [this.money.run(), ...Array.from({ length: this.senders }, () => this.sendOrders())];
      await this.trouble.happen(this);
      await this.reached(1);
      this.sending = false;
      await Promise.all(senders);
      await this.settle();
      const facts = await this.facts();
      this.problems.push(...judge(facts));
      for (const { deliveries } of facts.merchants) {
        for (const row of deliveries.filter(({ status }) => OPEN.includes(status)))
          this.problems.push(await this.storyOf(row, facts));
      }
      for (const { bridge } of this.nodes) {
        await bridge.stop();
        this.readLog(bridge);
      }
      return this.summary(facts, performance.now() - began);
    } finally {
      await this.scope.close();
    }
  }

  async setUp() {
    this.cloud = await startCloudsim(this.scope, {
      args: [
        '--users',
        String(MERCHANTS + POOR),
        '--files',
        '10',
        '--create-unknown-users',
        '--seed',
        String(this.seed),
      ],
    });
    this.sim = new Client(this.cloud.url);
    if (this.trouble.standby) await cluster({ standby: true });
    await this.money.setUp(this.scope);
    const [first, ...others] = this.nodes;
    first.dataDir = await scratch(this.scope);
    await this.money.sandbox.sellIn(first.dataDir);
    await this.start(first);
    for (const node of others) {
      node.dataDir = await dataDirBeside(this.scope, first.dataDir);
      await this.money.sandbox.sellIn(node.dataDir);
      await this.start(node);
    }
    const flaky = new Random(this.seed, 'receiver');
    this.receiver = await startReceiver(this.scope, {
      answer: () => ({ status: this.chaos && flaky.chance(0.03) ? 503 : 204 }),
    });
    this.merchants = [];
    const [bulk, eventful] = [[], []];
    for (let number = 1; number <= MERCHANTS + POOR; ++number) {
      const poor = number > MERCHANTS;
      const merchant = await Merchant.signUp(this.balanced, number, { credits: poor ? POOR_CREDITS : 1_000_000 });
      this.merchants.push(merchant);
      const made = await merchant.api.post('/api/webhook-subscriptions', { url: this.receiver.url });
      if (made.status !== 201) throw new Error(made.text);
      // The end of a history is known for merchants who can pay.
      for (const [shops, stores] of [
        [bulk, BULK_STORES],
        [eventful, poor ? [] : HISTORY_STORES],
      ]) {
        for (const { provider, settings = {} } of stores)
          shops.push({ merchant, store: await merchant.store(provider, { settings }), settings, epochs: [] });
      }
    }
    this.poor = this.merchants.slice(MERCHANTS);
    this.signedInAt = performance.now();
    this.stores = new Stores(this.seed, bulk, eventful, this.percent);
    this.pools = new Random(this.seed, 'customers');
    await this.addCustomers();
    await this.sim.put('/sim/faults', FAULTS);
    await this.money.beginTrouble();
    this.sending = true;
  }

  // Until that share of all orders has been sent.
  async reached(share) {
    const orders = Math.floor(share * this.orders);
    const sent = async () => {
      await this.enoughCustomers();
      return this.counts.orders >= orders;
    };
    await until(`${orders} orders`, sent, 1_000 + orders * 100);
  }

  // Enough for what the stores send meanwhile.
  async enoughCustomers() {
    if (this.stores.buyers + 200 > this.known) await this.addCustomers();
  }
  // Most accept at once, some after a while, a few not at all. Known before their first order, so that the seed decides.
  async addCustomers() {
    this.known ??= 0;
    const customers = Array.from({ length: 400 }, () => {
      const username = `buyer-${++this.known}`;
      const draw = this.pools.real();
      if (draw < 0.05) return { username, answer: 'decline' };
      return { username, answer: 'accept', delayMs: draw < 0.35 ? this.pools.whole(50, 800) : 0 };
    });
    const made = await this.sim.post('/sim/customers', { customers });
    if (made.status !== 201) throw new Error(made.text);
  }

  // The address for stores and merchants: the nodes that run, in turn, as behind a load balancer.
  get balanced() {
    let turn = 0;
    const url = () => this.nodes[turn++ % this.nodes.length].bridge.url;
    return { url: this.nodes.length === 1 ? this.nodes[0].bridge.url : url, dataDir: this.nodes[0].dataDir };
  }

  async start(node) {
    node.bridge = await startBridge(this.scope, {
      cloudUrl: this.cloud.url,
      dataDir: node.dataDir,
      program: node.program,
      args: [...ARGS, ...this.money.sandbox.args],
    });
    await this.money.sandbox.tellTo(node.bridge);
    for (const merchant of this.merchants ?? []) merchant.moveTo(this.balanced);
    if (performance.now() - this.signedInAt > TOKEN_MS) {
      for (const merchant of this.merchants) {
        const { json } = await merchant.open.post('/api/auth/sign-in', { email: merchant.email, password: PASSWORD });
        merchant.tokens = json;
        merchant.moveTo(this.balanced);
      }
      this.signedInAt = performance.now();
    }
  }

  // All nodes have their database.
  async ready() {
    for (const { bridge } of this.nodes) {
      await until(
        'the service has its database again',
        async () => (await new Client(bridge.url).get('/readyz')).status === 200,
        30_000,
      );
    }
  }

  // The service calls nothing an error that it expects to meet. A database that goes away is none of that.
  readLog(bridge) {
    const away = /connection to PostgreSQL|connecting to PostgreSQL|PostgreSQL 57P0|storage is not available/;
    const expected = (line) => this.trouble.takesDatabase && away.test(line);
    for (const line of bridge.log.filter((text) => text.includes('"level":"error"') && !expected(text)))
      this.problems.push(`the service logged: ${line}`);
  }

  async sendOrders() {
    while (this.sending) {
      const operation = this.stores.next();
      await this.perform(operation);
      await delay(OPERATION_MS);
    }
  }

  async perform({ kind, order, copies = 1, number, action, orders }) {
    const { merchant, store } = order.shop;
    const send = (body, headers = {}) => this.insist(() => merchant.send(store, body, headers), order);
    switch (kind) {
      case 'order':
        this.counts.orders += 1;
        await Promise.all(Array.from({ length: copies }, () => (order.direct ? this.ask(order) : send(order.body))));
        return;
      case 'reprocess': {
        const known = this.deliveryOf(order);
        if (!known) return;
        this.counts.reprocessed += 1;
        return this.insist(() => merchant.api.post(`/api/orders/${known.replace('del_', 'ord_')}/reprocess`));
      }
      case 'edit':
        this.counts.edits += 1;
        return this.note(
          'edit',
          await send(order.body, { 'x-hosted-topic': 'orders/updated' }),
          merchant.file(Number(order.body.line_items.at(-1).sku.slice(2))),
        );
      case 'refund':
        this.counts.refunds += 1;
        return send(
          {
            id: Number(order.orderId) + 1,
            order_id: Number(order.orderId),
            refund_line_items: [{ line_item_id: 1, quantity: 1 }],
          },
          { 'x-hosted-topic': 'refunds/create' },
        );
      case 'cancel':
        this.counts.cancellations += 1;
        return this.note(
          'cancel',
          await send(
            { ...order.body, cancelled_at: '2026-01-01T12:00:00Z', updated_at: '2026-01-01T12:00:00Z' },
            { 'x-hosted-topic': 'orders/cancelled' },
          ),
        );
      case 'history':
        return order.step(this);
      case 'mapping':
        this.counts.mappings += 1;
        return this.map(order.shop, number);
      case 'login':
        this.counts.logins += 1;
        return this.insist(() => merchant.api.put('/api/credentials', merchant.cloudLogin));
      case 'invalidate': {
        const known = this.deliveryOf(order);
        if (!known) return;
        this.counts.invalidations += 1;
        const answer = await this.insist(() =>
          merchant.api.post(`/api/deliveries/${known}/invalidate`, { reason: 'torture' }),
        );
        if (answer && answer.status !== 409) this.changes.push({ kind: 'invalidate', deliveryId: known });
        return;
      }
      case 'bulk':
        return this.bulk(order.shop, action, orders);
    }
  }
  deliveryOf({ shop, orderId }) {
    return this.accepted.find((one) => one.store === shop.store.id && one.orderId === orderId && one.deliveryId)
      ?.deliveryId;
  }

  // As the merchant's own program does.
  async ask({ shop, orderId, body }) {
    this.counts.direct += 1;
    const answer = await this.insist(() =>
      shop.merchant.api.post('/api/deliveries', { integrationId: shop.store.id, ...body }),
    );
    if (answer?.json?.id) this.accepted.push({ store: shop.store.id, orderId, deliveryId: answer.json.id });
    else if (answer) this.problems.push(`direct delivery ${orderId}: ${answer.status} ${answer.text}`);
  }

  // A job on many; with five under way it is refused.
  async bulk(shop, action, orders) {
    const { merchant, store } = shop;
    const ids = orders
      .filter((one) => one.shop.merchant === merchant)
      .map((one) => this.deliveryOf(one))
      .filter(Boolean);
    const since = new Date(Date.now() - 3_000).toISOString();
    if (action === 'invalidate' && ids.length === 0) return;
    const asked = {
      retry: () =>
        merchant.api.post('/api/deliveries/bulk', {
          action,
          filter: { status: ['failed'], integrationId: [store.id] },
        }),
      invalidate: () => merchant.api.post('/api/deliveries/bulk', { action, ids, reason: BULK_REASON }),
      reprocess: () =>
        merchant.api.post('/api/orders/reprocess', { integrationId: store.id, unmapped: false, receivedFrom: since }),
    };
    const answer = await this.insist(asked[action]);
    if (answer?.status !== 202) return;
    this.counts.jobs += 1;
    if (action === 'invalidate') this.changes.push(...ids.map((deliveryId) => ({ kind: 'job', deliveryId })));
    this.jobs.push({
      merchant,
      store: store.id,
      action,
      ids: action === 'invalidate' ? ids : [],
      attempts: answer.attempts,
      id: answer.json.id,
    });
  }
  // All of them, as they have ended.
  async jobsEnd() {
    for (const job of this.jobs) {
      await until(
        `job ${job.id} has ended`,
        async () => {
          const { json } = await job.merchant.api.get(`/api/bulk/${job.id}`);
          return json.finishedAt && Object.assign(job, { result: json });
        },
        120_000,
      );
    }
  }
  note(kind, answer, file) {
    if (answer?.status === 202 && answer.json.deliveryId)
      this.changes.push({ kind, deliveryId: answer.json.deliveryId, file });
  }

  // The mappings of a store are one set: it is replaced by one of them at a time.
  map(shop, number) {
    const epoch = shop.epochs[number - 1];
    const put = async () => {
      epoch.began = performance.now();
      await this.insist(() => shop.merchant.map(shop.store, number));
      epoch.done = performance.now();
    };
    return (shop.mapping = (shop.mapping ?? Promise.resolve()).then(put));
  }

  // Orders of all stores at one moment, each accepted at the first try.
  async batch(count) {
    const answers = Array.from({ length: count }, async () => {
      const { order } = this.stores.newOrder();
      const { shop, orderId, body } = order;
      this.counts.orders += 1;
      const answer = await shop.merchant.send(shop.store, body);
      if (answer.status !== 202) throw new Error(`order ${orderId}: ${answer.status} ${answer.text}`);
      this.accepted.push({ store: shop.store.id, orderId, deliveryId: answer.json.deliveryId });
    });
    for (const { reason } of await Promise.allSettled(answers))
      if (reason) this.problems.push(`in a batch of orders: ${reason}`);
  }

  // As a store does: until there is an answer that is not "come again", which it returns, with `attempts`: how many it took.
  // `also`: refusals that are expected too.
  async insist(call, order, also = []) {
    const began = performance.now();
    for (let attempts = 1; ; ++attempts) {
      const calm = performance.now() > this.calmFrom;
      let answer;
      try {
        answer = await call();
      } catch (error) {
        const brokenOff = error.code !== undefined || error.name === 'AbortError' || error.cause?.message === 'aborted';
        if (!brokenOff || !this.trouble.takesNodes) {
          this.problems.push(String(error));
          return undefined;
        }
      }
      if (answer && (answer.status < 500 || also.includes(answer.status))) {
        if (order && answer.status === 202) {
          this.accepted.push({
            store: order.shop.store.id,
            orderId: order.orderId,
            deliveryId: answer.json.deliveryId,
          });
        } else if (order || ![200, 201, 202, 409, ...also].includes(answer.status)) {
          this.problems.push(`${answer.method} ${answer.path}: ${answer.status} ${answer.text}`);
        }
        return Object.assign(answer, { attempts });
      }
      if (answer && (answer.status !== 503 || !(Number(answer.headers['retry-after']) > 0) || calm)) {
        this.problems.push(
          `${answer.method} ${answer.path}: ${answer.status} ${answer.text}${calm ? ', when all was well again' : ''}`,
        );
      }
      if (calm) return undefined;
      if (performance.now() - began > INSIST_MS) {
        this.problems.push(
          answer
            ? `${answer.method} ${answer.path}: still ${answer.status} after ${attempts} attempts: ${answer.text}`
            : `no answer after ${attempts} attempts`,
        );
        return undefined;
      }
      this.counts.sentAgain += 1;
      await delay(50);
    }
  }

  // No more faults, and time for all that waits: leases and settlements (seconds), retries and probes (a minute, more after long runs), and a
  // login's check that a killed node had taken (two minutes).
  async settle() {
    this.chaos = false;
    await this.sim.delete('/sim/faults');
    const deadline = 240_000 + Math.min(this.counts.kills ?? 0, 1000) * 1000;
    this.say('faults are off; waiting for the end of every delivery');
    const began = performance.now();
    try {
      await this.money.end();
      await this.jobsEnd();
      for (const merchant of this.poor) {
        const stopped = async () =>
          (await merchant.api.get('/api/deliveries?status=failed&resolutionCode=insufficient_credits&limit=1')).json
            .data;
        await until(
          `no delivery of merchant ${merchant.number} wants credits`,
          async () => (await stopped()).length === 0,
          deadline,
        );
      }
      await this.ended(deadline);
      // A file that was paid again while its revocation was under way is owed again when that is done.
      for (const merchant of this.merchants) await this.settled(merchant);
      await this.ended(deadline);
      this.say(`no delivery is open after ${Math.round(performance.now() - began)} ms`);
      for (const merchant of this.merchants)
        await until('no credit is on hold', async () => (await merchant.balance()).held === 0, 60_000);
      const deliveries = (await Promise.all(this.merchants.map((merchant) => merchant.all('/api/deliveries')))).flat();
      const expected = deliveries.reduce((total, { sequence }) => total + sequence, 0);
      // A send that the receiver refused is made again after a minute.
      await until(
        'all events have come',
        () =>
          new Set(
            this.receiver.requests
              .filter(({ headers }) => headers['x-vendor-event'].startsWith('delivery.'))
              .map(({ headers }) => headers['webhook-id']),
          ).size >= expected,
        90_000,
      );
    } catch (error) {
      this.problems.push(String(error));
    }
    this.settledMs = Math.round(performance.now() - began);
  }

  async ended(deadline) {
    for (const merchant of this.merchants) {
      for (const status of OPEN) {
        await until(
          `no delivery of merchant ${merchant.number} is ${status}`,
          async () => {
            const { json } = await merchant.api.get(`/api/deliveries?status=${status}&limit=1`);
            if (json.data.length > 0) throw new Error(JSON.stringify(json.data[0]));
            return true;
          },
          deadline,
        );
      }
    }
  }
  async settled(merchant) {
    let ids;
    await until(
      `no share of merchant ${merchant.number} is unknown or being taken back`,
      async () => {
        ids = (await withItems(merchant, ids)).filter(unsettled).map(({ id }) => id);
        return ids.length === 0;
      },
      120_000,
    );
  }

  async facts() {
    const merchants = [];
    for (const merchant of this.merchants) {
      merchants.push({
        cloudId: `m-${merchant.number}`,
        deliveries: await withItems(merchant),
        balance: await merchant.balance(),
        ledger: await merchant.all('/api/credits/ledger'),
      });
    }
    const { json } = await this.sim.get('/sim/effects', { deadlineMs: 60_000 });
    const events = this.receiver.requests.map(({ headers, body }) => ({ id: headers['webhook-id'], body }));
    if (ENGINE === 'postgres') {
      const { orders } = this.counts;
      const deadlocks = Number(await (await cluster()).sql(DEADLOCKS, this.nodes[0].bridge.databaseUrl));
      this.counts.deadlocks = deadlocks;
      if (deadlocks > MOST_DEADLOCKS(orders)) this.problems.push(`${deadlocks} deadlocks with ${orders} orders`);
    }
    const { everOwed } = this.stores;
    const histories = this.stores.histories.map((history) => history.facts());
    const jobs = this.jobs.map(({ merchant, store, action, ids, attempts, result }) => ({
      merchant: `m-${merchant.number}`,
      store,
      action,
      ids,
      attempts,
      result,
    }));
    const money = await this.money.facts();
    return {
      accepted: this.accepted,
      changes: this.changes,
      jobs,
      everOwed,
      histories,
      merchants,
      money,
      shares: json.shares,
      friendships: json.friendships,
      events,
    };
  }

  // All that is known of a delivery that came to no end.
  async storyOf({ id, customerId, cloudAccountId, targetUsername, timeline }, { friendships }) {
    const lines = this.nodes.flatMap(({ bridge }, node) =>
      bridge.log
        .filter((line) => [id, customerId, cloudAccountId].some((one) => one && line.includes(one)))
        .map((line) => `node ${node}: ${line}`),
    );
    const known = friendships.filter(({ username }) => username === targetUsername);
    const rows =
      ENGINE === 'postgres'
        ? await (await cluster()).sql(STORY.replace('$1', `'${targetUsername}'`), this.nodes[0].bridge.databaseUrl)
        : '';
    return [id, JSON.stringify(timeline), JSON.stringify(known), rows, ...lines].join('\n');
  }

  summary({ merchants, money, shares, events, accepted }, elapsedMs) {
    const deliveries = merchants.flatMap((merchant) => merchant.deliveries);
    const byStatus = {};
    for (const { status, resolutionCode } of deliveries) {
      const name = resolutionCode ? `${status} ${resolutionCode}` : status;
      byStatus[name] = (byStatus[name] ?? 0) + 1;
    }
    return {
      seed: this.seed,
      ...this.counts,
      accepted: accepted.length,
      histories: this.stores.histories.length,
      deliveries: deliveries.length,
      byStatus,
      filesShared: shares.filter(({ made }) => made > 0).length,
      books: money.books,
      creditsPurchased: merchants.reduce((total, { balance }) => total + balance.purchased, 0),
      creditsReversed: merchants.reduce((total, { balance }) => total + balance.reversed, 0),
      creditsSpent: merchants.reduce((total, { balance }) => total + balance.spent, 0),
      eventsReceived: events.length,
      events: new Set(events.map(({ id }) => id)).size,
      settledMs: this.settledMs,
      elapsedMs: Math.round(elapsedMs),
      problems: this.problems,
    };
  }
}

// `trouble`: one of torture_troubles.mjs. `nodes`: more than one only on PostgreSQL. `orders`: so many at least, from so many senders at
// one time. `percent`: of the operations, those that are of histories (torture_history.mjs). `upgradeFrom`: an older program, which each
// node runs until it is first killed.
export function torture({
  seed,
  trouble,
  nodes = 1,
  orders = 0,
  senders = 4,
  percent = 25,
  upgradeFrom,
  say = () => {},
}) {
  return new Torture({ seed, trouble, nodes, orders, senders, percent, upgradeFrom, say }).run();
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { values } = parseArgs({
    options: {
      kills: { type: 'string', default: '100' },
      disconnects: { type: 'string' }, // seconds
      seed: { type: 'string' },
      nodes: { type: 'string', default: '1' },
      orders: { type: 'string', default: '0' },
      senders: { type: 'string', default: '4' },
      histories: { type: 'string', default: '25' }, // percent of the operations
      'upgrade-from': { type: 'string' }, // an older program
    },
  });
  const [number, nodes, orders, senders, percent] = [
    values.disconnects ?? values.kills,
    values.nodes,
    values.orders,
    values.senders,
    values.histories,
  ].map(Number);
  const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed);
  const within = (value, least, most) => Number.isInteger(value) && value >= least && value <= most;
  if (!within(number, 1, Infinity) || !within(seed, 0, Infinity)) {
    console.error('torture: --kills and --disconnects take a whole number from 1 on, --seed one from 0 on');
    process.exit(2);
  }
  if (!within(nodes, 1, 16) || !within(senders, 1, 256) || !within(orders, 0, Infinity) || !within(percent, 0, 100)) {
    console.error(
      'torture: --nodes takes 1 to 16, --senders 1 to 256, --orders a whole number from 0 on, --histories 0 to 100',
    );
    process.exit(2);
  }
  if ((nodes > 1 || values.disconnects) && ENGINE !== 'postgres') {
    console.error('torture: several nodes, and --disconnects, need PRESETBRIDGE_E2E_ENGINE=postgres');
    process.exit(2);
  }
  const upgradeFrom = values['upgrade-from'];
  if (upgradeFrom !== undefined && (values.disconnects || number < nodes)) {
    console.error('torture: --upgrade-from needs --kills, and one for each node at least');
    process.exit(2);
  }
  const trouble = values.disconnects ? disconnects(number) : kills(number);
  console.error(`torture: ${trouble.name}, seed ${seed}`);
  const summary = await torture({
    seed,
    trouble,
    nodes,
    orders,
    senders,
    percent,
    upgradeFrom,
    say: (text) => console.error(`torture: ${text}`),
  });
  console.log(JSON.stringify(summary, null, 2));
  if (summary.problems.length > 0) {
    console.error(`torture: ${summary.problems.length} problems; try again with --seed ${seed}`);
    process.exit(1);
  }
}

// Live changes (spec 13.1, 13.3): what a screen hears of its account, and nothing of others; each change once, also for who was away, was
// slow, or comes back at another node after its own was killed.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { EventReader } from './event_reader.mjs';
import { ENGINE, Client, Scope, dataDirBeside, startBridge, until } from './harness.mjs';
import { Merchant, contract, isError, isOk, startStack } from './merchant.mjs';
import { sampleOrder } from './orders.mjs';
import { cluster } from './postgres.mjs';

const ARGS = ['--live-write-seconds', '1', '--delivery-poll-ms', '50', '--api-key-requests-per-hour', '100000'];
const fits = contract.ajv.getSchema(`openapi#/components/schemas/LiveEvent`);
const check = (event) => assert.ok(fits(event), `${JSON.stringify(event)}: ${contract.ajv.errorsText(fits.errors)}`);

const scope = new Scope({ after });
let stack, merchant, other, store;
before(async () => {
  stack = await startStack(scope, { args: ARGS });
  merchant = await Merchant.signUp(stack.bridge, 1, { credits: 100_000 });
  other = await Merchant.signUp(stack.bridge, 2);
  store = await merchant.store('generic');
});

// Those of a test.
const readers = [];
afterEach(() => Promise.all(readers.splice(0).map((one) => one.cut())));
function readerOf(of) {
  const reader = new EventReader('/api/events', { authorization: of.api.headers.authorization }, { check });
  readers.push(reader);
  return reader;
}
async function follow(of, bridge = stack.bridge) {
  const reader = await readerOf(of).open(bridge.url);
  assert.equal(reader.status, 200);
  await until('hello', () => reader.of('hello').length > 0);
  return reader;
}
// So many orders of products that are not mapped: one change each.
async function plainOrders(of, shop, name, count) {
  const numbers = Array.from({ length: count }, (_, n) => `${name}-${n}`);
  await inParallel(16, numbers, async (orderId) =>
    isOk(await of.send(shop, sampleOrder('generic', { orderId, username: 'ann', sku: 'unknown' })), 202),
  );
}
async function inParallel(width, all, work) {
  const left = [...all];
  await Promise.all(
    Array.from({ length: width }, async () => {
      while (left.length > 0) await work(left.shift());
    }),
  );
}
const metric = async (bridge, series) =>
  Number(
    (await new Client(bridge.url).get('/metrics')).text
      .split('\n')
      .find((line) => line.startsWith(`${series} `))
      .split(' ')[1],
  );
const readersNow = () => metric(stack.bridge, 'presetbridge_live_readers{of="accounts"}');

test('a reader hears of all that happens to an order, as it happens, in its order', async () => {
  const reader = await follow(merchant);
  assert.deepEqual(reader.events[0].data, { resumed: false });
  const { deliveryId } = await merchant.order(store, { orderId: 'A-1', username: 'jonasek' });
  await until('it is told that it is completed', () =>
    reader.of('delivery').some(({ data }) => data.status === 'completed'),
  );
  await until('a credit was held, and spent', () => reader.of('credits').length >= 2);
  const told = reader.of('delivery').filter(({ data }) => data.id === deliveryId);
  assert.ok(told.length >= 3, JSON.stringify(told));
  assert.deepEqual(
    told.map(({ data }) => data.version),
    told.map(({ data }) => data.version).sort((a, b) => a - b),
  );
  const { status, resolutionCode, itemCount, sharedCount, updatedAt } = await merchant.delivery(deliveryId);
  const { version, ...last } = told.at(-1).data;
  assert.deepEqual(last, {
    id: deliveryId,
    status,
    resolutionCode,
    items: { shared: sharedCount, total: itemCount },
    updatedAt,
  });
  const [listed] = isOk(await merchant.api.get('/api/orders')).data;
  assert.deepEqual(
    reader.of('order').map(({ data }) => data),
    [{ id: listed.id, integrationId: store.id, outcome: 'delivery' }],
  );
  assert.deepEqual(reader.faults, []);
});

test('it hears of stores that are refused, of subscriptions, jobs, the cloud login and credits; another merchant hears nothing of it', async () => {
  const reader = await follow(merchant);
  const stranger = await follow(other);
  const body = sampleOrder('generic', { orderId: 'B-1', username: 'ann', sku: 'A-1' });
  isError(await merchant.send({ ...store, secret: 'not the secret, which is longer' }, body), 401, 'INVALID_SIGNATURE');
  const made = isOk(await merchant.api.post('/api/webhook-subscriptions', { url: 'https://shop.example/hook' }), 201);
  isOk(await merchant.api.patch(`/api/webhook-subscriptions/${made.id}`, { active: false }));
  isOk(await merchant.api.delete(`/api/webhook-subscriptions/${made.id}`), 204);
  const job = isOk(await merchant.api.post('/api/orders/reprocess', { integrationId: store.id }), 202);
  await merchant.connect();
  const heard = (kind, data) =>
    reader.of(kind).filter((one) => JSON.stringify(one.data) === JSON.stringify(data)).length;
  await until(
    'all is told',
    () =>
      heard('intake_refused', { integrationId: store.id, code: 'INVALID_SIGNATURE' }) > 0 &&
      heard('subscription', { id: made.id }) >= 3 &&
      heard('bulk', { id: job.id }) >= 2 &&
      heard('cloud', {}) > 0,
  );
  assert.deepEqual(
    stranger.events.map(({ event }) => event),
    ['hello'],
  );
  assert.deepEqual(reader.faults, []);
});

test('who was away goes on where it was; who was never there, or too long away, is told to fetch all', async () => {
  const [reader, present] = [await follow(merchant), await follow(merchant)];
  await plainOrders(merchant, store, 'before', 3);
  await until('they are told', () => reader.of('order').length === 3);
  await reader.cut();
  await plainOrders(merchant, store, 'away', 40);
  await reader.open(stack.bridge.url);
  await until('what was missed is told', () => reader.of('order').length === 43 && present.of('order').length === 43);
  assert.deepEqual(
    reader.of('hello').map(({ data }) => data.resumed),
    [false, true],
  );
  assert.deepEqual([reader.faults, reader.of('reset')], [[], []]);
  assert.deepEqual(
    reader.of('order').map(({ id, data }) => [id, data]),
    present.of('order').map(({ id, data }) => [id, data]),
  );
  const foreign = (await follow(other)).lastId;
  const [generation] = reader.lastId.split('-');
  for (const lastEventId of [foreign, `${generation}-99999999`, 'x', '-1', `${generation}-x`, '9'.repeat(60)]) {
    const lost = await readerOf(merchant).open(stack.bridge.url, { lastEventId });
    await until('it is told', () => lost.events.length === 2);
    assert.deepEqual(
      lost.events.map(({ event, id }) => [event, id]),
      [
        ['hello', undefined],
        ['reset', reader.lastId],
      ],
      lastEventId,
    );
  }
});

test('fifty readers of one account hear the same; the sixty-first has to wait for a place', async () => {
  const many = await Promise.all(Array.from({ length: 60 }, () => follow(merchant)));
  const refused = await readerOf(merchant).open(stack.bridge.url);
  assert.deepEqual([refused.status, refused.response.headers['retry-after']], [429, '5']);
  assert.equal(await readersNow(), 60);
  await Promise.all(many.splice(50).map((one) => one.cut()));
  await plainOrders(merchant, store, 'many', 50);
  await until('all have all', () => many.every((one) => one.of('order').length === 50), 20_000);
  for (const one of many)
    assert.deepEqual([one.faults, one.of('order').map(({ id }) => id)], [[], many[0].of('order').map(({ id }) => id)]);
  await Promise.all(many.map((one) => one.cut()));
  await until('their places are free', async () => (await readersNow()) === 0);
});

test('a reader that does not read is dropped, the others are not, and it catches up', async () => {
  const [slow, swift] = [await follow(merchant), await follow(merchant)];
  const dropped = await metric(stack.bridge, 'presetbridge_live_readers_dropped_total');
  slow.stopReading();
  let round = 0;
  await until(
    'it is dropped',
    async () => {
      await plainOrders(merchant, store, `slow-${++round}`, 400);
      return (await metric(stack.bridge, 'presetbridge_live_readers_dropped_total')) === dropped + 1;
    },
    120_000,
  );
  await until('the other has all', () => swift.of('order').length === round * 400, 20_000);
  assert.deepEqual(swift.faults, []);
  slow.readOn();
  assert.equal(await slow.ended, false, 'it was cut off');
  await slow.open(stack.bridge.url);
  await until('it has all', () => slow.of('order').length >= round * 400, 20_000);
  assert.deepEqual([slow.faults, slow.of('reset')], [[], []]);
  assert.deepEqual(
    slow.of('order').map(({ id }) => id),
    swift.of('order').map(({ id }) => id),
  );
});

test('a buyer hears when the delivery changes, until the link is another', async () => {
  const { deliveryId } = await merchant.order(await merchant.store('provider_a'), { orderId: 31 });
  const link = async () =>
    isOk(await merchant.api.post(`/api/deliveries/${deliveryId}/buyer-link`)).buyerUrl.split('#')[1];
  const token = await link();
  const buyer = new EventReader('/api/buyer/events', { 'x-buyer-token': token });
  readers.push(buyer);
  await buyer.open(stack.bridge.url);
  await until('hello', () => buyer.events.length === 1);
  isOk(
    await new Client(stack.bridge.url).post(
      '/api/buyer/username',
      { username: 'jonasek' },
      { headers: { 'x-buyer-token': token } },
    ),
  );
  const completed = async () =>
    isOk(await new Client(stack.bridge.url).get('/api/buyer', { headers: { 'x-buyer-token': token } })).state ===
    'delivered';
  await until('it is there', completed);
  const { updatedAt } = await merchant.delivery(deliveryId);
  await until('that is told', () => buyer.events.at(-1).data.updatedAt === updatedAt);
  assert.deepEqual([...new Set(buyer.events.map(({ event }) => event))], ['hello', 'delivery']);
  await buyer.cut();
  await buyer.open(stack.bridge.url);
  await until('hello', () => buyer.events.at(-1).event === 'hello');
  assert.deepEqual(buyer.events.at(-1).data, { resumed: true });
  const seen = buyer.events.length;
  await link();
  assert.equal(await buyer.ended, true, 'it ended as it should');
  assert.equal(buyer.events.length, seen);
  assert.equal((await buyer.open(stack.bridge.url)).status, 404);
});

test('a stop ends streams, and whoever comes back after it goes on', async (t) => {
  const here = new Scope(t);
  const { bridge, cloud } = await startStack(here, { args: ARGS });
  const owner = await Merchant.signUp(bridge, 3, { connected: false });
  const shop = await owner.store('generic');
  const reader = await follow(owner, bridge);
  await plainOrders(owner, shop, 'first', 5);
  await until('they are told', () => reader.of('order').length === 5);
  bridge.child.kill('SIGTERM');
  assert.equal(await reader.ended, true);
  await bridge.ended;
  const again = await startBridge(here, { cloudUrl: cloud.url, dataDir: bridge.dataDir, args: ARGS });
  owner.moveTo(again);
  await plainOrders(owner, shop, 'second', 5);
  await reader.open(again.url);
  await until('what was missed is told', () => reader.of('order').length === 10);
  assert.deepEqual([reader.faults, reader.of('reset')], [[], []]);
});

// The number that an id is.
const numberOf = (id) =>
  [...id.split('_')[1]]
    .reduce((number, digit) => number * 32n + BigInt('0123456789abcdefghjkmnpqrstvwxyz'.indexOf(digit)), 0n)
    .toString();

test(
  'three nodes, one of them killed: readers who go on at another miss nothing and hear nothing twice',
  { skip: ENGINE === 'postgres' ? false : 'one node has SQLite' },
  async (t) => {
    const here = new Scope(t);
    const first = await startStack(here, { args: ARGS });
    const beside = async () =>
      startBridge(here, {
        cloudUrl: first.cloud.url,
        dataDir: await dataDirBeside(here, first.bridge.dataDir),
        args: ['--delivery-jobs-per-minute', '0', ...ARGS],
      });
    const nodes = [first.bridge, await beside(), await beside()];
    const merchants = [];
    for (const number of [1, 2, 3]) merchants.push(await Merchant.signUp(first.bridge, number, { credits: 10_000 }));
    const shops = await Promise.all(merchants.map((one) => one.store('generic')));
    // Of each merchant a reader at each node, of whom the first will have to move.
    const followed = await Promise.all(merchants.map((one) => Promise.all(nodes.map((node) => follow(one, node)))));
    const all = followed.flat();
    merchants.forEach((one, at) => one.moveTo(nodes[1 + (at % 2)]));
    let sent = 0;
    let going = true;
    const senders = merchants.map(async (one, at) => {
      while (going) {
        const orderId = `o-${++sent}`;
        await one.order(shops[at], { orderId, username: `buyer-${sent % 30}` });
      }
    });
    await until('all is under way', () => all.every(({ numbers }) => numbers.length > 30), 30_000);
    const moved = followed.map(([one]) => one);
    await nodes[0].kill();
    const seen = moved.map(({ numbers }) => numbers.length);
    await Promise.all(
      moved.map(async (one, at) => {
        await one.ended;
        await one.open(nodes[1 + (at % 2)].url);
      }),
    );
    await until('they go on', () => moved.every(({ numbers }, at) => numbers.length > seen[at] + 30), 30_000);
    going = false;
    await Promise.all(senders);

    const sql = async (text) => (await cluster()).sql(text, first.bridge.databaseUrl);
    const toldOf = (reader) => {
      const told = new Map();
      for (const event of reader.of('delivery')) {
        const id = numberOf(event.data.id);
        told.set(id, [...(told.get(id) ?? []), event]);
      }
      return told;
    };
    for (const [at, one] of merchants.entries()) {
      const stored = async () =>
        new Map(
          (await sql(`SELECT id, version FROM deliveries WHERE account_id = ${numberOf(one.accountId)}`))
            .split('\n')
            .map((line) => line.split('|')),
        );
      for (const reader of followed[at]) {
        await until(
          'the newest version of each delivery is told',
          async () => {
            const told = toldOf(reader);
            const newest = new Map([...told].map(([id, events]) => [id, String(events.at(-1).data.version)]));
            assert.deepEqual(new Map([...newest].sort()), new Map([...(await stored())].sort()));
            return true;
          },
          30_000,
        );
        for (const events of toldOf(reader).values()) {
          const versions = events.map(({ data }) => data.version);
          assert.deepEqual(
            versions,
            [...versions].sort((a, b) => a - b),
          );
        }
        assert.deepEqual([reader.faults, reader.of('reset').length], [[], 0]);
      }
      const [same, ...others] = followed[at].map((reader) =>
        reader.events
          .filter(({ event }) => event !== 'hello')
          .map(({ event, id, data }) => JSON.stringify([event, id, data])),
      );
      const common = Math.min(same.length, ...others.map((one) => one.length));
      for (const one of others) assert.deepEqual(one.slice(0, common), same.slice(0, common));
    }
  },
);

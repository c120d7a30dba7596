// Live changes under load, by hand (docs/development.md): many accounts with a reader each, one of them with fifty, and so many changes a
// second in all; on PostgreSQL with several nodes, of which the first is killed half-way. Prints what it cost and how late events came, and
// fails where a reader missed something or heard it twice.
//   node changes_load.mjs [accounts=1000] [changes=1000] [seconds=20] [nodes=1]
import assert from 'node:assert/strict';
import http from 'node:http';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { EventReader } from './event_reader.mjs';
import { Scope, dataDirBeside, startBridge, until } from './harness.mjs';
import { Merchant, startStack } from './merchant.mjs';
import { sampleOrder, signatureHeaders } from './orders.mjs';

const given = Object.fromEntries(process.argv.slice(2).map((word) => word.split('=')));
const {
  accounts,
  changes,
  seconds,
  nodes: howMany,
} = {
  accounts: 1000,
  changes: 1000,
  seconds: 20,
  nodes: 1,
  ...Object.fromEntries(Object.entries(given).map(([name, value]) => [name, Number(value)])),
};
const ARGS = ['--identity-signups-per-address', '100000', '--identity-signups-per-hour', '100000'];
const CHANGES_OF_AN_ORDER = 2; // the order, and a delivery that fails for want of a login

async function inParallel(width, all, work) {
  const left = [...all];
  await Promise.all(
    Array.from({ length: width }, async () => {
      while (left.length > 0) await work(left.shift());
    }),
  );
}
// {rss (MiB), cpu (seconds)} of a process.
async function costOf(pid) {
  const [status, stat] = await Promise.all(['status', 'stat'].map((name) => readFile(`/proc/${pid}/${name}`, 'utf8')));
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { rss: Number(/VmRSS:\s+(\d+)/.exec(status)[1]) / 1024, cpu: (Number(fields[11]) + Number(fields[12])) / 100 };
}
const share = (sorted, part) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];

const scope = new Scope();
try {
  const stack = await startStack(scope, { args: ARGS });
  const nodes = [stack.bridge];
  while (nodes.length < howMany)
    nodes.push(
      await startBridge(scope, {
        cloudUrl: stack.cloud.url,
        dataDir: await dataDirBeside(scope, stack.bridge.dataDir),
        args: ARGS,
      }),
    );
  const shops = [];
  await inParallel(
    16,
    Array.from({ length: accounts }, (_, n) => n + 1),
    async (number) => {
      const merchant = await Merchant.signUp(stack.bridge, number, { credits: 0, connected: false });
      shops.push({ merchant, store: await merchant.store('generic'), accepted: 0 });
    },
  );
  console.log(`${accounts} accounts`);
  const measured = nodes.at(-1);
  const before = await costOf(measured.pid);

  const readers = [];
  // By delivery: when its order was sent, and when its first event came, which may be before the answer to the order.
  const sentAt = new Map();
  const seenAt = new Map();
  const late = [];
  const follow = async (shop, node) => {
    const reader = new EventReader(
      '/api/events',
      { authorization: shop.merchant.api.headers.authorization },
      {
        check: ({ event, data }) => {
          if (event !== 'delivery' || seenAt.has(data.id)) return;
          seenAt.set(data.id, performance.now());
        },
      },
    );
    await reader.open(node.url);
    await until('hello', () => reader.of('hello').length === 1, 60_000);
    readers.push({ reader, shop, node });
  };
  let began = performance.now();
  await inParallel(32, shops, (shop) => follow(shop, nodes[shops.indexOf(shop) % nodes.length]));
  await inParallel(8, Array.from({ length: 49 }), () => follow(shops[0], nodes.at(-1)));
  console.log(`${readers.length} readers after ${Math.round(performance.now() - began)} ms`);

  await delay(2_000);
  const idle = await costOf(measured.pid);
  await delay(15_000);
  const rested = await costOf(measured.pid);
  const here = readers.filter(({ node }) => node === measured).length;
  console.log(
    `idle: ${here} readers at this node: ${(idle.rss - before.rss).toFixed(1)} MiB, ${(((rested.cpu - idle.cpu) / 15) * 100).toFixed(1)} % of a core`,
  );

  const agent = new http.Agent({ keepAlive: true, maxSockets: 32 });
  const send = async (shop, orderId) => {
    const { store } = shop;
    const body = JSON.stringify(sampleOrder('generic', { orderId, username: `buyer-${orderId}`, sku: 'A-1' }));
    const at = performance.now();
    const request = http.request(new URL(`/api/webhooks/generic/${store.id}`, measured.url), {
      method: 'POST',
      agent,
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        ...signatureHeaders('generic', store.secret, body),
      },
    });
    request.end(body);
    const [response] = await once(request, 'response');
    const chunks = [];
    for await (const chunk of response) chunks.push(chunk);
    assert.equal(response.statusCode, 202, Buffer.concat(chunks).toString());
    ++shop.accepted;
    sentAt.set(JSON.parse(Buffer.concat(chunks)).deliveryId, at);
  };
  let sent = 0;
  began = performance.now();
  const underWay = new Set();
  let killed = nodes.length === 1;
  while (performance.now() - began < seconds * 1000) {
    const due = Math.floor((((performance.now() - began) / 1000) * changes) / CHANGES_OF_AN_ORDER);
    for (; sent < due; ++sent) {
      const one = send(shops[sent % shops.length], `o-${sent}`).finally(() => underWay.delete(one));
      underWay.add(one);
    }
    if (!killed && performance.now() - began > seconds * 500) {
      killed = true;
      await nodes[0].kill();
      const moved = readers.filter(({ node }) => node === nodes[0]);
      await inParallel(32, moved, async ({ reader }) => {
        await reader.ended;
        await reader.open(nodes[1].url);
      });
      console.log(`a node was killed; ${moved.length} readers went on at another`);
    }
    await delay(5);
  }
  await Promise.all(underWay);
  const took = (performance.now() - began) / 1000;
  const loaded = await costOf(measured.pid);
  const told = ({ reader }) => reader.numbers.length;
  await until('all is told', () => readers.every((one) => one.reader.of('order').length >= one.shop.accepted), 60_000);
  for (const one of readers) {
    assert.deepEqual(
      [one.reader.faults, one.reader.of('reset').length, one.reader.of('order').length],
      [[], 0, one.shop.accepted],
    );
  }
  for (const [id, at] of sentAt) late.push(seenAt.get(id) - at);
  late.sort((a, b) => a - b);
  console.log(
    `${sent} orders in ${took.toFixed(1)} s: ${Math.round(shops.reduce((sum, { accepted }) => sum + accepted * CHANGES_OF_AN_ORDER, 0) / took)} changes a second, ${Math.round(readers.reduce((sum, one) => sum + told(one), 0) / took)} events a second; none missed, none twice`,
  );
  console.log(
    `from the request to the event: p50 ${Math.round(share(late, 0.5))} ms, p99 ${Math.round(share(late, 0.99))} ms`,
  );
  console.log(
    `under load: ${loaded.rss.toFixed(0)} MiB (${before.rss.toFixed(0)} before), ${(((loaded.cpu - rested.cpu) / took) * 100).toFixed(0)} % of a core`,
  );
  await Promise.all(readers.map(({ reader }) => reader.cut()));
} finally {
  await scope.close();
}
process.exit(0);

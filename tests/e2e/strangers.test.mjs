// Load from strangers (spec 8.6): sign-ins that fail, requests without a valid key, connections that
// say nothing. Each beside somebody who is served meanwhile.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { runBridge, scratch, until } from './harness.mjs';
import { contract, Merchant, PASSWORD, startStack } from './merchant.mjs';
import { sampleOrder, sendOrder } from './orders.mjs';

const STRANGER = '127.0.0.2';
const random = () => randomBytes(8).toString('hex');

// A request from an address of this machine; the answer is held against the contract.
async function from(localAddress, bridge, method, target, { json, headers = {} } = {}) {
  const body = json === undefined ? '' : JSON.stringify(json);
  const request = http.request(new URL(target, bridge.url), {
    method,
    localAddress,
    agent: false,
    signal: AbortSignal.timeout(60_000),
    headers: {
      ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      'content-length': Buffer.byteLength(body),
      ...headers,
    },
  });
  request.end(body);
  const [response] = await once(request, 'response');
  const chunks = [];
  for await (const chunk of response) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  const answer = {
    method,
    path: target,
    status: response.statusCode,
    headers: response.headers,
    text,
    json: text ? JSON.parse(text) : undefined,
  };
  contract.check(answer);
  return answer;
}

// Signs in with addresses that nobody has, so many at one time, as long as `going` says. How often each status came.
async function junkSignIns(bridge, { atOnce, going, peer = STRANGER, headers }) {
  const statuses = {};
  const one = async () => {
    while (going(statuses)) {
      const answer = await from(peer, bridge, 'POST', '/api/auth/sign-in', {
        json: { email: `${random()}@stranger.example`, password: random() },
        headers,
      });
      statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
      if (answer.status !== 401) assert.ok(Number(answer.headers['retry-after']) >= 1, 'a Retry-After');
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  return statuses;
}

async function rowsOfTries(bridge) {
  const { stdout } = await promisify(execFile)('sqlite3', [
    '-readonly',
    path.join(bridge.dataDir, 'presetbridge.db'),
    'SELECT count(*) FROM sign_in_tries',
  ]);
  return Number(stdout);
}

async function idleConnections(scope, bridge, count) {
  const sockets = [];
  scope.after(() => sockets.forEach((socket) => socket.destroy()));
  for (let i = 0; i < count; ++i) {
    const socket = net.connect({ port: new URL(bridge.url).port, host: '127.0.0.1', localAddress: STRANGER });
    socket.on('error', () => {});
    sockets.push(socket);
    await once(socket, 'connect');
  }
  return sockets;
}

test('two hundred sign-ins of a stranger at once hold nobody up, and write a row only for what was hashed', async (t) => {
  const { bridge } = await startStack(t);
  const merchant = await Merchant.signUp(bridge, 1, { credits: 0, connected: false });
  let going = true;
  const latest = performance.now() + 60_000;
  const junk = junkSignIns(bridge, {
    atOnce: 200,
    going: (told) => going || (!(told[503] > 200) && performance.now() < latest),
  });
  await until('junk is answered', async () => (await rowsOfTries(bridge)) > 0);
  const statuses = [];
  for (let i = 0; i < 8; ++i) {
    const answer = await from('127.0.0.1', bridge, 'POST', '/api/auth/sign-in', {
      json: { email: merchant.email, password: PASSWORD },
    });
    statuses.push(answer.status);
  }
  going = false;
  const told = await junk;
  assert.deepEqual(statuses, Array(8).fill(200));
  assert.ok(told[503] > 200, `most were refused: ${JSON.stringify(told)}`);
  assert.equal(await rowsOfTries(bridge), 2 * told[401]); // one for the network, one for all
});

test('behind a proxy a network has an eighth of the places and a hundred failures, and the others theirs', async (t) => {
  const stack = await startStack(t, { args: ['--http-trusted-proxies', '127.0.0.1,127.0.0.2'] });
  const { bridge } = stack;
  const merchant = await Merchant.signUp(bridge, 1);
  const store = await merchant.store('generic');
  const stranger = { 'x-forwarded-for': '198.51.100.7' };
  const began = performance.now();
  let asked = 0;
  const junk = junkSignIns(bridge, { atOnce: 200, going: () => ++asked <= 3000, headers: stranger });
  for (let i = 0; i < 10; ++i) {
    const answer = await from('127.0.0.1', bridge, 'POST', '/api/auth/sign-in', {
      json: { email: merchant.email, password: PASSWORD },
      headers: { 'x-forwarded-for': '203.0.113.5' },
    });
    assert.equal(answer.status, 200, answer.text);
  }
  const told = await junk;
  assert.deepEqual(Object.keys(told).sort(), ['401', '429'], JSON.stringify(told));
  // A hundred, those that ran when the last of them failed, and one for each 36 s.
  const mostSignIns = 100 + 8 + Math.ceil((performance.now() - began) / 36_000);
  assert.ok(told[401] <= mostSignIns, `${told[401]} of at most ${mostSignIns}`);
  assert.equal(await rowsOfTries(bridge), 2 * told[401]);

  // Keys and invitations that nobody has: three hundred a minute, one more for each 200 ms, and those that ran when the last of them failed.
  const refusedAtLast = async (refusal, ask) => {
    const told = { [refusal]: 0, 429: 0 };
    const first = performance.now();
    const tries = async () => {
      while (told[429] === 0 && told[refusal] < 3000) {
        const { status, text } = await ask();
        assert.ok(status in told, text);
        told[status] += 1;
      }
    };
    await Promise.all(Array.from({ length: 4 }, tries));
    const most = 300 + 4 + Math.ceil((performance.now() - first) / 200);
    assert.ok(
      told[refusal] >= 300 && told[refusal] <= most && told[429] > 0,
      `${JSON.stringify(told)} of at most ${most}`,
    );
  };
  const key = `pdb_live_${random().repeat(2)}abcdef`;
  await refusedAtLast(401, () =>
    from('127.0.0.1', bridge, 'GET', '/api/account', { headers: { ...stranger, 'x-api-key': key } }),
  );
  await refusedAtLast(404, () =>
    from('127.0.0.1', bridge, 'POST', '/api/auth/sign-up', {
      json: { email: `${random()}@shop.example`, password: PASSWORD, invitation: `pdb_invite_${random()}` },
      headers: { 'x-forwarded-for': '198.51.100.8' },
    }),
  );
  assert.equal(
    (
      await from('127.0.0.1', bridge, 'GET', '/api/account', {
        headers: { ...merchant.api.headers, 'x-forwarded-for': '203.0.113.5' },
      })
    ).status,
    200,
  );

  // The network that this stranger shares with a store's platform: junk for stores that are made up and for one that is there
  // stops no order, neither of a store that was just made nor of one that was changed a moment ago.
  for (let i = 0; i < 400; ++i) {
    const made =
      i % 2 ? store.id : `int_0a1b2c3d4e5${'0123456789abcdefghjkmnpqrstvwxyz'[i % 32]}${'0123456789'[i % 10]}`;
    const answer = await from('127.0.0.1', bridge, 'POST', `/api/webhooks/generic/${made}`, {
      json: {},
      headers: stranger,
    });
    assert.equal(answer.status, i % 2 ? 401 : 404, answer.text);
  }
  const other = await merchant.store('generic');
  await merchant.api.patch(`/api/integrations/${store.id}`, { name: 'Changed' });
  for (let i = 0; i < 20; ++i) {
    for (const to of [store, other]) {
      const answer = await sendOrder(
        merchant.open,
        to,
        sampleOrder('generic', { orderId: `o-${i}`, username: 'buyer', sku: 'A-1' }),
        stranger,
      );
      assert.equal(answer.status, 202, answer.text);
    }
  }
});

test('six hundred idle connections at a soft limit of 256 files stop no order', async (t) => {
  const stack = await startStack(t, { under: ['prlimit', '--nofile=256:'] });
  const merchant = await Merchant.signUp(stack.bridge, 1);
  const store = await merchant.store('generic');
  const idle = await idleConnections(t, stack.bridge, 600);
  for (let i = 0; i < 50; ++i) await merchant.order(store, { orderId: `o-${i}`, username: 'buyer' });
  assert.equal(idle.filter((socket) => socket.closed).length, 0, 'there is room for all of them');
});

test('at a hard limit of 512 files the connections that are idle longest give way', async (t) => {
  const stack = await startStack(t, {
    under: ['prlimit', '--nofile=512:512'],
    args: ['--outbound-concurrency', '16', '--cloud-concurrency', '16'],
  });
  const merchant = await Merchant.signUp(stack.bridge, 1);
  const store = await merchant.store('generic');
  const idle = await idleConnections(t, stack.bridge, 600);
  for (let i = 0; i < 50; ++i) await merchant.order(store, { orderId: `o-${i}`, username: 'buyer' });
  await until('the oldest are closed', () => idle.slice(0, 300).every((socket) => socket.closed));
  assert.equal(idle.slice(-50).filter((socket) => socket.closed).length, 0, 'the newest are not');
  assert.ok(stack.bridge.log.some((line) => line.includes('the limit of open files allows fewer connections')));
});

test('a hard limit that is too low is told in one sentence', async (t) => {
  const dataDir = await scratch(t);
  const { code, stderr } = await runBridge(['serve', '--sandbox', '--data-dir', dataDir, '--listen', '127.0.0.1:0'], {
    under: ['prlimit', '--nofile=300:300'],
  });
  assert.equal(code, 1);
  const line = JSON.parse(stderr.trim().split('\n').at(-1));
  assert.equal(line.code, 'TOO_FEW_FILES');
  assert.match(line.message, /may have 300 files open, and needs \d+ with these settings: raise the hard limit/);
});

// A merchant of the bridge, set up through the API as a person would: account, cloud login, credits, stores.
import assert from 'node:assert/strict';
import { Contract } from './contract.mjs';
import { Client, runBridge, scratch, startBridge, startCloudsim, until } from './harness.mjs';
import { Processor } from './processor.mjs';
import { sampleOrder, sendOrder, signatureHeaders } from './orders.mjs';

export const contract = Contract.fromFile(new URL('../../api/openapi.yaml', import.meta.url));
// Every operation of the contract: {path, method, ...}.
const METHODS = ['get', 'put', 'post', 'patch', 'delete'];
export const operations = Object.entries(contract.document.paths).flatMap(([path, item]) =>
  METHODS.filter((method) => method in item).map((method) => ({ path, method: method.toUpperCase(), ...item[method] })),
);
export const isPublic = ({ security, operationId }) =>
  security?.length === 0 || ['receiveOrder', 'deleteKey'].includes(operationId);
// The path with these ids, or with some that nobody has.
export const filled = (path, ids) =>
  path.replace(/\{([^}]+)\}/g, (_, name) => ids[name] ?? `${name.slice(0, 3)}_0a1b2c3d4e5f6`);

export function isError(answer, status, code) {
  assert.deepEqual(
    [answer.status, answer.json?.error?.code],
    [status, code],
    `${answer.method} ${answer.path}: ${answer.text}`,
  );
  assert.ok(answer.headers['x-request-id'], 'an X-Request-Id');
}
export function isOk(answer, status = 200) {
  assert.equal(answer.status, status, `${answer.method} ${answer.path}: ${answer.text}`);
  return answer.json;
}

export const PASSWORD = 'a long pass phrase';

// The programs of a test file: a simulated cloud platform with merchants of its own, a payment processor in memory, and the bridge before them.
export async function startStack(
  scope,
  { cloudArgs = [], args = [], jobsPerMinute = 0, firstSweepSeconds = 1, ...options } = {},
) {
  const processor = await Processor.start(scope);
  const dataDir = options.dataDir ?? (await scratch(scope));
  await processor.sellIn(dataDir);
  const cloud = await startCloudsim(scope, {
    args: ['--users', '4', '--files', '10', '--create-unknown-users', ...cloudArgs],
  });
  const bridge = await startBridge(scope, {
    cloudUrl: cloud.url,
    args: [
      '--delivery-jobs-per-minute',
      String(jobsPerMinute),
      '--delivery-first-sweep-seconds',
      String(firstSweepSeconds),
      ...processor.args,
      ...args,
    ],
    ...options,
    dataDir,
  });
  return { scope, cloud, bridge, processor, sim: new Client(cloud.url) };
}

// Credits from the operator's command line.
export async function grantCredits(bridge, accountId, credits) {
  const done = await runBridge(['admin', 'grant-credits', accountId, String(credits), '--data-dir', bridge.dataDir]);
  assert.equal(done.code, 0, `${done.stdout}${done.stderr}`);
}

export class Merchant {
  // `number`: which of the simulator's merchants the cloud login is of.
  static async signUp(bridge, number, { credits = 1000, connected = true } = {}) {
    const open = new Client(bridge.url, { check: contract.check });
    const email = `merchant-${number}@shop.example`;
    const answer = await open.post('/api/auth/sign-up', { email, password: PASSWORD, accountName: `Shop ${number}` });
    assert.equal(answer.status, 201, answer.text);
    const it = new Merchant(bridge, open, answer.json, number);
    if (credits > 0) await grantCredits(bridge, it.accountId, credits);
    if (connected) await it.connect();
    return it;
  }

  constructor(bridge, open, tokens, number) {
    Object.assign(this, { bridge, open, number, email: tokens.user.email, accountId: tokens.accountId, tokens });
    this.api = open.with({ authorization: `Bearer ${tokens.idToken}` });
  }

  // Somebody of the same account, by an invitation.
  async invite(role = 'member') {
    const { url } = isOk(await this.api.post('/api/invitations', { role }), 201);
    const invitation = new URL(url).hash.slice(1);
    const tokens = isOk(
      await this.open.post('/api/auth/sign-up', {
        email: `person-${++this.people}-${this.email}`,
        password: PASSWORD,
        invitation,
      }),
      201,
    );
    return new Merchant(this.bridge, this.open, tokens, this.number);
  }
  people = 0;

  // The bridge has come back elsewhere.
  moveTo(bridge) {
    this.bridge = bridge;
    this.open = new Client(bridge.url, { check: contract.check });
    this.api = this.open.with({ authorization: `Bearer ${this.tokens.idToken}` });
  }

  file(number) {
    return `m-${this.number}-f${number}`;
  }
  get cloudLogin() {
    return { email: `merchant-${this.number}@cloudsim.test`, password: `password-${this.number}` };
  }

  async connect() {
    const answer = await this.api.put('/api/credentials', this.cloudLogin);
    assert.deepEqual([answer.status, answer.json?.status], [200, 'valid'], answer.text);
  }

  // A store in which the SKU A-1 is the merchant's first file, A-2 the second, and so on to A-5.
  async store(provider, { settings = {}, secret } = {}) {
    const made = await this.api.post('/api/integrations', {
      name: `A store of ${provider}`,
      provider,
      settings,
      ...(secret ? { secret } : {}),
    });
    assert.equal(made.status, 201, made.text);
    const mapped = await this.map(made.json);
    assert.equal(mapped.status, 200, mapped.text);
    return { id: made.json.id, provider, secret: made.json.secret };
  }

  // One of each thing that a path of the contract can name, by the names that it has there, and the store that asked for a buyer's data.
  // The delivery and its order are of the generic `store`, as `order` describes them; `subscription` is made as it says, and sends nothing.
  async oneOfEach(store, order, subscription) {
    const { deliveryId } = await this.order(store, order);
    const [listed] = isOk(await this.api.get('/api/orders')).data.filter((one) => one.deliveryId === deliveryId);
    const made = isOk(await this.api.post('/api/webhook-subscriptions', subscription), 201);
    const sent = isOk(await this.api.post(`/api/webhook-subscriptions/${made.id}/test`), 202);
    const job = isOk(await this.api.post('/api/orders/reprocess', { integrationId: store.id }), 202);
    const asking = await this.store('provider_a');
    await this.dataRequest(asking);
    const [request] = isOk(await this.api.get('/api/privacy-requests')).data;
    const key = await this.key({ name: 'planted key' });
    const { sessionId } = isOk(await this.open.post('/api/auth/sign-in', { email: this.email, password: PASSWORD }));
    const purchase = isOk(await this.api.post('/api/credits/checkout', { packId: 'small' }), 201);
    const invitation = isOk(await this.api.post('/api/invitations', { role: 'member', note: 'planted note' }), 201);
    return {
      ids: {
        integration: store.id,
        order: listed.id,
        delivery: deliveryId,
        subscription: made.id,
        event: sent.eventId,
        job: job.id,
        privacyRequest: request.id,
        key: key.id,
        session: sessionId,
        purchase: purchase.id,
        invitation: invitation.id,
        person: this.tokens.user.id,
        preset: this.file(1),
      },
      secrets: [store.secret, made.secret, asking.secret, key.secret, invitation.url.split('#')[1]],
      asking,
    };
  }

  // The platform of a provider_a store asks for a buyer's data.
  async dataRequest(store) {
    const body = JSON.stringify({
      shop_id: 1,
      shop_domain: 'x',
      orders_requested: [1],
      customer: { id: 1, email: 'planted@shop.example' },
      data_request: { id: 9 },
    });
    isOk(
      await sendOrder(this.open, store, body, {
        ...signatureHeaders('provider_a', store.secret, body),
        'x-hosted-topic': 'customers/data_request',
      }),
      202,
    );
  }

  // The store's mappings. `bundles`: so many of the SKUs, from A-1 on, are a further file each: the sixth, the seventh, and so on.
  map({ id }, bundles = 0) {
    const one = (sku, number) => ({
      matchType: 'sku',
      matchValue: `A-${sku}`,
      fileId: this.file(number),
      kind: 'preset',
      fileName: `Preset ${number}`,
    });
    const skus = [1, 2, 3, 4, 5];
    const mappings = [...skus.map((sku) => one(sku, sku)), ...skus.slice(0, bundles).map((sku) => one(sku, 5 + sku))];
    return this.api.put(`/api/integrations/${id}/mappings`, { mappings });
  }

  async key(body = {}) {
    const made = await this.api.post('/api/keys', { name: 'a key', ...body });
    assert.equal(made.status, 201, made.text);
    return made.json;
  }

  send(store, order, headers) {
    return sendOrder(this.open, store, order, headers);
  }

  // Sends a good order of one line and returns the accepted answer's body.
  async order(store, fields) {
    const answer = await this.send(store, sampleOrder(store.provider, { sku: 'A-1', ...fields }));
    assert.equal(answer.status, 202, answer.text);
    return answer.json;
  }

  async delivery(id) {
    const answer = await this.api.get(`/api/deliveries/${id}`);
    assert.equal(answer.status, 200, answer.text);
    return answer.json;
  }
  async deliveriesOf(store, orderId) {
    const query = new URLSearchParams({
      integrationId: store.id,
      ...(orderId === undefined ? {} : { orderId: String(orderId) }),
    });
    const answer = await this.api.get(`/api/deliveries?${query}`);
    assert.equal(answer.status, 200, answer.text);
    return answer.json.data;
  }
  // All of the account, through all pages.
  async all(path) {
    const rows = [];
    for (let cursor = ''; cursor !== null;) {
      const page = await this.api.get(`${path}?limit=100${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`);
      assert.equal(page.status, 200, page.text);
      rows.push(...page.json.data);
      cursor = page.json.nextCursor;
    }
    return rows;
  }
  reaches(id, status, deadlineMs = 15_000) {
    return until(
      `delivery ${id} is ${status}`,
      async () => {
        const it = await this.delivery(id);
        if (it.status !== status) throw new Error(`${it.status}: ${it.message}`);
        return it;
      },
      deadlineMs,
    );
  }
  async balance() {
    const answer = await this.api.get('/api/credits');
    assert.equal(answer.status, 200, answer.text);
    return answer.json;
  }

  // The cloud platform's records of this merchant: shares by "file customer", friendships by customer name.
  async effects(sim) {
    const { json } = await sim.get('/sim/effects');
    const merchant = `m-${this.number}`;
    return {
      shares: json.shares.filter((row) => row.merchant === merchant),
      friendships: json.friendships.filter((row) => row.merchant === merchant),
    };
  }
}

// Everything that strangers can write is hostile, in a real browser: orders, buyers, receivers, the cloud platform, identity providers. It is
// shown as text, and does nothing. Text that the service lets nobody write is put into its answers.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { Browser } from './chromium.mjs';
import { Dashboard } from './dashboard.mjs';
import { Scope, scratch, until } from './harness.mjs';
import { LyingIssuer } from './issuers.mjs';
import { Merchant, PASSWORD, isOk, startStack } from './merchant.mjs';
import { sampleOrder } from './orders.mjs';
import { startReceiver } from './receiver.mjs';

// Ends an attribute and an element, whichever it stands in; the name says whose text it is.
const hostile = (whose) => `${whose}"'></b><img src=x onerror=alert(1)>`;
const SCRIPT_ADDRESS = 'javascript:alert(1)//.x';
// Elements that no page makes by itself, and hostile text would.
const INJECTED =
  'img, iframe, object, embed, base, form[action], body script, script:not([src]), [onerror], [onload], [href^="javascript:" i], [src^="javascript:" i]';
const UNKNOWN_KIND = `<img src=x onerror=alert(1)>`;

const scope = new Scope({ after });
const opened = []; // dialogs of the browser
let stack, browser, issuer, merchant, store, hosted, receiver, me, delivered, subscription;

before(async () => {
  issuer = await LyingIssuer.start(scope);
  issuer.claims = (right) => ({ ...right, sub: hostile('subject'), email: `${hostile('claim')}@shop.example` });
  const dataDir = await scratch(scope);
  await writeFile(path.join(dataDir, 'liar.client-secret'), 'a secret of the client\n', { mode: 0o600 });
  stack = await startStack(scope, { dataDir, args: ['--identity-external', `liar open ${issuer.iss} bridge A liar`] });
  await makeTheAccount();
  await sendOrders();
  browser = await Browser.start(scope);
  me = await entered();
  await me.signIn({ email: merchant.email, password: PASSWORD });
});
// A merchant whose cloud user, files, receiver and people are hostile.
async function makeTheAccount() {
  merchant = await Merchant.signUp(stack.bridge, 1, { connected: false });
  const { api, open } = merchant;
  const login = { email: 'hostile@cloudsim.test', password: 'password' };
  const file = (number) => ({ id: merchant.file(number), name: hostile('file'), kind: UNKNOWN_KIND });
  const user = { ...login, userId: 'm-9', username: hostile('cloud'), files: [1, 2, 3, 4, 5].map(file) };
  isOk(await stack.sim.post('/sim/merchants', user), 201);
  isOk(await api.put('/api/credentials', login));
  isOk(await api.patch('/api/account', { name: hostile('account'), displayName: hostile('shown') }));
  const sign = { email: merchant.email, password: PASSWORD };
  isOk(await open.with({ 'user-agent': hostile('agent') }).post('/api/auth/sign-in', sign));
  receiver = await startReceiver(scope, {
    answer: () => ({
      status: 500,
      headers: { 'content-type': `text/html; ${hostile('type')}` },
      body: hostile('body'),
    }),
  });
  const told = { url: receiver.url, name: hostile('receiver') };
  subscription = isOk(await api.post('/api/webhook-subscriptions', told), 201);
  isOk(await api.post('/api/keys', { name: hostile('token') }), 201);
  isOk(await api.post('/api/invitations', { role: 'member', note: hostile('note') }), 201);
}
// Orders of its own website, and of a store of a platform, which says in headers where it is and of what it tells.
async function sendOrders() {
  const { api } = merchant;
  store = await merchant.store('generic');
  isOk(await api.patch(`/api/integrations/${store.id}`, { name: hostile('store') }));
  const key = { matchType: 'sku', matchValue: 'A-1' };
  const match = { ...key, fileId: merchant.file(1), kind: 'preset', fileName: hostile('file') };
  isOk(await api.put(`/api/integrations/${store.id}/mappings`, { mappings: [match] }));
  const order = (orderId, sku) => ({
    orderId: hostile(orderId),
    customerEmail: `${hostile('e-mail')}@mail.example`,
    targetUsername: hostile('username'),
    items: [{ sku, title: hostile('title'), quantity: 1 }],
  });
  delivered = isOk(await merchant.send(store, order('first', 'A-1')), 202).deliveryId;
  const unmatched = isOk(await merchant.send(store, order('second', hostile('sku'))), 202);
  assert.equal(unmatched.reason, 'no_mapped_items');
  await merchant.reaches(delivered, 'completed');
  await until('the receiver has answered', async () =>
    isOk(await api.get(`/api/webhook-subscriptions/${subscription.id}/events`)).data.some(
      ({ type, lastStatusCode }) => type === 'delivery.completed' && lastStatusCode === 500,
    ),
  );
  hosted = await merchant.store('provider_a');
  const headers = { 'x-hosted-topic': hostile('topic'), 'x-hosted-shop-domain': SCRIPT_ADDRESS };
  const sample = sampleOrder('provider_a', { sku: 'A-1', orderId: '17', username: 'somebody' });
  const paid = isOk(await merchant.send(hosted, sample, { ...headers, 'x-hosted-topic': 'orders/paid' }), 202);
  assert.equal((await merchant.delivery(paid.deliveryId)).storeOrderUrl, null);
  assert.ok((await merchant.send(hosted, { ...sample, id: 18 }, headers)).status < 500);
  const seen = isOk(await api.get(`/api/integrations/${hosted.id}`)).topicsSeen;
  assert.ok(
    seen.every((topic) => topic === 'orders/paid'),
    String(seen),
  );
}
afterEach(() => {
  browser.isClean(); // neither an error nor anything that the policy refuses, a request of `src=x` included
  assert.deepEqual(opened.splice(0), [], 'a dialog of the browser');
});

async function entered() {
  const expected = new RegExp(`status of 401|asks ${issuer.iss}/`);
  const it = await Dashboard.open(browser, stack.bridge.url, { expected });
  it.page.on('dialog', (dialog) => {
    opened.push(`${it.page.url()}: ${dialog.message()}`);
    return dialog.dismiss();
  });
  return it;
}
// Nothing that was written there is an element, and all of these are read as they were written.
async function isText(what, whose, it = me) {
  // A list cuts a long number, and has the whole in a title.
  const titled = (name) =>
    it.page.locator('[title]').evaluateAll((all, text) => all.some(({ title }) => title.includes(text)), hostile(name));
  for (const name of whose)
    await until(
      `${what} shows ${name}`,
      async () =>
        (await it.page.locator('body').innerText()).replaceAll('\n', ' ').includes(hostile(name)) ||
        (await titled(name)),
    );
  await until(`${what} is there`, async () => (await it.page.locator('[aria-busy=true]').count()) === 0);
  const found = await it.page.locator(INJECTED).evaluateAll((all) => all.map((one) => one.outerHTML.slice(0, 200)));
  assert.deepEqual(found, [], what);
}
const orderOf = async (orderId) =>
  isOk(await merchant.api.get('/api/orders')).data.find((one) => one.orderId === hostile(orderId)).id;

const PLACES = {
  overview: [() => '/', ['username']],
  deliveries: [() => '/deliveries', ['first', 'username', 'file']],
  'a delivery': [() => `/deliveries/${delivered}`, ['first', 'username', 'e-mail', 'file', 'store']],
  orders: [() => '/orders', ['first', 'second', 'store']],
  presets: [() => '/presets', ['file']],
  'a preset': [() => `/presets/${merchant.file(1)}`, ['file']],
  stores: [() => '/integrations/stores', ['store']],
  'products of a store': [() => `/integrations/stores/${store.id}/products`, ['store', 'title', 'file']],
  'deliveries of a store': [() => `/integrations/stores/${store.id}/deliveries`, ['first', 'username']],
  'settings of a store': [() => `/integrations/stores/${store.id}/settings`, ['store']],
  webhooks: [() => '/integrations/webhooks', ['receiver']],
  'the cloud account': [() => '/cloud', ['cloud']],
  tokens: [() => '/keys', ['token']],
  people: [() => '/account/people', ['note']],
  'the profile': [() => '/account/profile', ['account']],
  sessions: [() => '/account/sessions', []],
};
for (const [what, [at, whose]] of Object.entries(PLACES))
  test(`is text: ${what}`, async () => {
    await me.go(at());
    await isText(what, whose);
  });

test('is text: an order with what the shop sent', async () => {
  for (const name of ['first', 'second']) {
    await me.go(`/orders/${await orderOf(name)}`);
    await isText('an order', [name, 'title', 'username', 'e-mail']);
    await me.page.getByText('What your shop sent').click();
    // As JSON writes it: a quotation mark has a backslash before it.
    await me.page
      .locator('pre')
      .getByText(JSON.stringify(hostile('title')).slice(1, -1))
      .waitFor();
    await isText('what the shop sent', []);
  }
});

test('is text: the answer of a receiver, its content type, and the event', async () => {
  await me.go(`/integrations/webhooks/${subscription.id}`);
  await me.page.getByText('delivery.completed').first().click();
  await isText('an event', ['receiver', 'type', 'body']);
});

test('is text: what the palette finds, and the pages that were opened last', async () => {
  await me.go(`/deliveries/${delivered}`);
  await isText('a delivery', ['first']);
  await me.page.getByRole('link', { name: 'Presets' }).first().click();
  await me.heading('Presets');
  await me.page.keyboard.press('Control+k');
  await me.dialog.getByRole('combobox').waitFor();
  await isText('the palette', ['first']);
  await me.page.keyboard.type('username"');
  await isText('what it finds', ['first', 'username']);
  await me.page.keyboard.press('Escape');
});

test('is text: the audit log and its entries', async () => {
  await me.go('/account/audit');
  await isText('the audit log', ['token', 'store', 'receiver']);
  for (const name of ['store', 'account']) {
    await me.page
      .getByRole('row', { name: hostile(name) })
      .first()
      .getByRole('button')
      .click();
    await me.dialog.waitFor();
    await isText('an entry', [name]);
    await me.page.keyboard.press('Escape');
    await me.dialog.waitFor({ state: 'detached' });
  }
});

test("is text: the buyer's page", async () => {
  const { buyerUrl } = await merchant.delivery(delivered);
  const buyer = await entered();
  await buyer.page.goto(`${stack.bridge.url}/p${new URL(buyerUrl).hash}`);
  await isText("the buyer's page", ['shown', 'file'], buyer);
  await buyer.page.context().close();
});

test('is text: the e-mail address that a provider says', async () => {
  const it = await entered();
  await it.page.getByRole('link', { name: 'Continue with A liar' }).click();
  await it.page.waitForURL((url) => url.origin === stack.bridge.url && !url.pathname.startsWith('/sign-'));
  for (const [where, whose] of [
    ['/deliveries', ['claim']],
    ['/account/profile', []],
    ['/account/people', ['claim']],
    ['/account/audit', ['claim']],
  ]) {
    await it.go(where);
    await isText(where, whose, it);
  }
  await it.page.context().close();
});

// The service takes neither such a user agent nor such a topic or address of a shop; a page that gets one shows it as text.
test('is text also where the service lets nobody write it', async () => {
  const seen = isOk(await merchant.api.get('/api/account/sessions')).data;
  assert.ok(
    seen.every(({ userAgent }) => !/[<>"]/.test(userAgent ?? '')),
    JSON.stringify(seen),
  );
  const it = await entered();
  await it.signIn({ email: merchant.email, password: PASSWORD });
  const changed = (key, value) => {
    switch (key) {
      case 'storeOrderUrl':
        return SCRIPT_ADDRESS;
      case 'userAgent':
      case 'network':
      case 'requestId':
      case 'actorName':
        return hostile(key);
      case 'topicsSeen':
        return [hostile(key)];
      case 'kind':
        return value === 'preset' || value === 'capture' ? UNKNOWN_KIND : value;
      default:
        return value;
    }
  };
  await it.page.context().route('**/api/**', async (route) => {
    if (route.request().method() !== 'GET' || route.request().url().includes('/api/events')) return route.fallback();
    const response = await route.fetch();
    const body = await response.text();
    const json = response.headers()['content-type']?.includes('json');
    return route.fulfill({ response, body: json ? JSON.stringify(JSON.parse(body, changed)) : body });
  });
  for (const [where, whose] of [
    ['/account/sessions', ['userAgent', 'network']],
    ['/account/audit', ['actorName']],
    [`/deliveries/${delivered}`, ['first']],
    [`/integrations/stores/${hosted.id}/connection`, ['topicsSeen']],
    ['/presets', ['file']],
  ]) {
    await it.go(where);
    await isText(where, whose, it);
  }
  await it.page.context().unrouteAll({ behavior: 'ignoreErrors' });
  await it.page.context().close();
});

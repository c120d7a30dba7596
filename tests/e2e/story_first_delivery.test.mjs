// The first evening of a merchant, in a real browser: from the sign-up to the first delivery, and the shop that hears of it.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { Browser } from './chromium.mjs';
import { Dashboard } from './dashboard.mjs';
import { Client, Scope, until } from './harness.mjs';
import { PASSWORD, grantCredits, isOk, startStack } from './merchant.mjs';
import { sampleOrder, sendOrder } from './orders.mjs';
import { startReceiver, verifiedEvent } from './receiver.mjs';

const HOSTILE = '"><img src=x onerror=alert(1)>\u202e{{7*7}}';
const scope = new Scope({ after });
let stack, browser, me, open, receiver, store, secretOfReceiver;

before(async () => {
  // The first sweep for an acceptance is late enough for a person to see the waiting.
  stack = await startStack(scope, { firstSweepSeconds: 8 });
  browser = await Browser.start(scope);
  open = new Client(stack.bridge.url);
  receiver = await startReceiver(scope);
  me = await Dashboard.open(browser, stack.bridge.url);
});
afterEach(() => browser.isClean());

// As the shop sends it, with the secret that the screen showed.
const ordered = (fields, { secret = store.secret } = {}) =>
  sendOrder(open, { ...store, secret }, { ...sampleOrder('generic', { sku: 'TONE-1', ...fields }), ...fields.body });
const deliveryOf = async (fields) => isOk(await ordered(fields), 202).deliveryId;

test('somebody new signs up', async () => {
  await me.heading('Welcome back');
  await me.judge('the sign-in');
  await me.signUp({ shop: 'Marlow Tone Co.', email: 'sam@marlowtones.example', password: PASSWORD });
  await me.go('/deliveries');
  await me.heading('No deliveries yet');
  await me.judge('no deliveries');
});

test('the cloud login is refused, then saved', async () => {
  await me.go('/cloud');
  await me.heading('Cloud account');
  await me.judge('no cloud login');
  await me.field('E-mail at the cloud platform').fill('merchant-1@cloudsim.test');
  await me.field('Password at the cloud platform').fill('wrong');
  await me.button('Connect cloud account').click();
  await me.sees('The cloud platform did not accept this login. Nothing was saved.');
  await me.field('Password at the cloud platform').fill('password-1');
  await me.button('Connect cloud account').click();
  await me.sees('Signed in as merchant-1');
  assert.doesNotMatch(await me.page.content(), /password-1/);
  await me.judge('the cloud login');
});

test('a store is made, and the first order is heard live', async () => {
  await me.go('/integrations/stores');
  await me.heading('No store yet');
  await me.judge('no store');
  await me.page.getByRole('link', { name: 'Connect a store' }).first().click();
  await me.heading('Connect a store');
  await me.judge('a new store');
  await me.text('Your own website').click();
  await me.field('What do you call it?').fill('marlowtones.com');
  await me.button('Create store').click();
  await me.sees('Listening for your first order');
  // As a person copies them.
  const address = new URL(await me.shown('Webhook URL'));
  const [, , , provider, id] = address.pathname.split('/');
  store = { id, provider, secret: await me.shown('Signing secret') };
  await me.judge('connecting a store', { secret: true });
  await me.field('I have stored it in a safe place').check();
  await me.button('Done').click();
  assert.equal((await ordered({ orderId: 'first' }, { secret: 'not the secret at all' })).status, 401);
  await me.sees('An order came, but its signature is wrong');
  assert.equal(
    isOk(
      await ordered({
        orderId: 'first',
        username: 'lena',
        body: { items: [{ sku: 'TONE-1', title: HOSTILE, quantity: 1 }] },
      }),
      202,
    ).reason,
    'no_mapped_items',
  );
  await me.sees('An order arrived, its signature is right');
});

test('its product is matched, and the order that was skipped is on its way', async () => {
  await me.go(`/integrations/stores/${store.id}/products`);
  // A shop's title of a product is shown as text.
  await me.sees('"><img src=x onerror=alert(1)>');
  assert.equal(await me.page.locator('main img').count(), 0);
  await me.judge('products');
  isOk(await stack.sim.post('/sim/files', { merchant: 'm-1', files: [{ id: 'lead', name: `Lead ${HOSTILE}` }] }));
  await me.button('Choose presets').first().click();
  await me.page.keyboard.type('Preset 1');
  await me.page
    .getByRole('option', { name: /Preset 1\b/ })
    .first()
    .click();
  await me.page.keyboard.press('Escape');
  await me.sees('1 product changed.');
  await me.judge('a product that changed');
  await me.button('Save and deliver 1 order').click();
  await me.sees('Saved. 1 order is being processed. Without enough credits it waits for them.');
  await me.judge('products, matched');
});

test('a receiver is added, and answers the test', async () => {
  await me.go('/integrations/webhooks');
  await me.heading('No outbound webhook yet');
  await me.judge('no webhooks');
  await me.button('Add a webhook').first().click();
  await me.field('Webhook URL', me.dialog).fill(receiver.url);
  await me.judge('a new webhook');
  await me.button('Add webhook', me.dialog).click();
  secretOfReceiver = await me.takeSecret('Copy the signing secret now');
  // The test is sent once the secret is stored.
  await me.page.waitForURL('**/integrations/webhooks/sub_*');
  const tested = await receiver.waitFor('the test', (event) => event.type === 'webhook.test');
  await verifiedEvent(tested, secretOfReceiver);
  await me.sees('webhook.test');
  await me.sees('Your receiver accepted the test.');
  await me.judge('a webhook');
});

test('a test order shows the way without sharing anything', async () => {
  await me.go(`/integrations/stores/${store.id}/settings`);
  await me.judge('settings of a store');
  await me.button('Send a test order').click();
  await me.judge('a test order');
  await me.button('Send test order', me.dialog).click();
  await me.page.waitForURL('**/deliveries/del_*');
  await me.sees(/^Rehearsed .*Nothing was shared/);
  assert.ok(await me.page.getByText('Test', { exact: true }).count(), 'it is told to be a test');
  assert.equal((await stack.sim.get('/sim/counts')).json.shares.made, 0);
});

test('the first delivery is followed live, and the shop hears of it', async () => {
  const { accountId } = isOk(
    await open.post('/api/auth/sign-in', { email: 'sam@marlowtones.example', password: PASSWORD }),
  );
  // The order of before waits for credits, which are all that is missing.
  await grantCredits(stack.bridge, accountId, 50);
  isOk(await stack.sim.post('/sim/customers', { username: 'mira', userId: 'u-mira', answer: 'never' }), 201);
  const id = await deliveryOf({ orderId: 'second', username: 'mira', email: `${HOSTILE}@mail.example` });
  await me.go('/deliveries');
  await me.page
    .getByRole('row', { name: /second/ })
    .getByRole('link')
    .first()
    .click();
  await me.page.waitForURL(`**/deliveries/${id}*`);
  await me.heading(/^Waiting for @mira/);
  isOk(await stack.sim.put('/sim/friendship', { merchant: 'm-1', customer: 'u-mira', state: 'friends' }));
  // The page is not reloaded. Where the first sweep was too early, the next one is a minute later.
  await me.text(/^Delivered /).waitFor({ timeout: 90_000 });
  await me.judge('a delivery that is done');
  const told = await receiver.waitFor(
    'delivery.completed',
    (event) => event.type === 'delivery.completed' && event.deliveryId === id,
  );
  assert.equal((await verifiedEvent(told, secretOfReceiver)).type, 'delivery.completed');
  await until(
    'the first order is delivered too',
    async () => (await stack.sim.get('/sim/counts')).json.shares.made === 2,
  );
});

test('what strangers wrote is text everywhere', async () => {
  isOk(await stack.sim.put('/sim/unknown-users', { create: false }));
  const id = await deliveryOf({ orderId: `third ${HOSTILE}`, username: HOSTILE });
  await me.go(`/deliveries/${id}`);
  await me.heading('Username not found');
  await me.judge('a hostile order');
  for (const path of ['/deliveries', '/integrations/stores', '/integrations/webhooks']) {
    await me.go(path);
    await me.judge(path);
  }
  assert.equal(await me.page.evaluate(() => document.querySelectorAll('img, iframe, object').length), 0);
  isOk(await stack.sim.put('/sim/unknown-users', { create: true }));
});

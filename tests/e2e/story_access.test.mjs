// Tokens, receivers and sessions, as a merchant handles them in a real browser.
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Browser } from './chromium.mjs';
import { Dashboard } from './dashboard.mjs';
import { Client, Scope, until } from './harness.mjs';
import { Merchant, PASSWORD, isOk, startStack } from './merchant.mjs';
import { startReceiver, verifiedEvent } from './receiver.mjs';

const LIMIT = 5; // requests of a token in an hour
const scope = new Scope({ after });
let stack,
  browser,
  merchant,
  store,
  me,
  lastOrder = 0;

before(async () => {
  stack = await startStack(scope, { args: ['--api-key-requests-per-hour', String(LIMIT)] });
  merchant = await Merchant.signUp(stack.bridge, 1);
  store = await merchant.store('generic');
  browser = await Browser.start(scope);
  me = await Dashboard.open(browser, stack.bridge.url);
  await me.signIn({ email: merchant.email, password: PASSWORD });
});
afterEach(() => browser.isClean());

describe('a token', () => {
  let token;
  const asks = () => new Client(stack.bridge.url, { headers: { 'x-api-key': token } }).get('/api/deliveries?limit=1');
  const row = () => me.page.getByRole('row', { name: /Print-on-demand sync/ });

  test('is made, shown once, and used', async () => {
    await me.go('/keys');
    await me.heading('No tokens yet');
    await me.judge('no tokens');
    await me.button('Create token').first().click();
    await me.field('Name', me.dialog).fill('Print-on-demand sync');
    await me.judge('a new token');
    await me.button('Create token', me.dialog).click();
    token = await me.takeSecret('Copy your new token now');
    assert.equal((await asks()).status, 200);
    await me.go('/keys');
    await row().waitFor();
    await me.judge('tokens');
  });
  test('is limited, and the page says what was asked', async () => {
    for (let i = 1; i < LIMIT; ++i) assert.equal((await asks()).status, 200);
    assert.equal((await asks()).status, 429);
    await me.go('/keys');
    await row().getByText(String(LIMIT), { exact: true }).first().waitFor();
  });
  test('is deactivated at once, and reactivated', async () => {
    await me.choose('Actions of Print-on-demand sync', 'Deactivate…');
    await me.judge('deactivate?');
    await me.button('Deactivate', me.dialog).click();
    await row().getByText('Inactive').waitFor();
    assert.equal((await asks()).status, 403);
    await me.choose('Actions of Print-on-demand sync', 'Reactivate');
    await row().getByText('Inactive').waitFor({ state: 'detached' });
    assert.equal((await asks()).status, 429, 'its hour goes on');
  });
});

describe('a receiver', () => {
  let receiver,
    secret,
    ill = false;
  const delivered = async () => {
    const { deliveryId } = await merchant.order(store, { orderId: `r-${++lastOrder}`, username: `buyer-${lastOrder}` });
    await merchant.reaches(deliveryId, 'completed');
    return deliveryId;
  };
  const heard = (id) =>
    receiver.requests.filter(
      ({ body }) => JSON.parse(body).type === 'delivery.completed' && JSON.parse(body).deliveryId === id,
    );

  test('is added, and fails', async () => {
    receiver = await startReceiver(scope, {
      answer: () =>
        ill
          ? { status: 503, headers: { 'content-type': 'text/html' }, body: '<b>upstream</b>' }
          : { status: 200, body: 'ok' },
    });
    await me.go('/integrations/webhooks');
    await me.button('Add a webhook').first().click();
    await me.field('Webhook URL', me.dialog).fill(receiver.url);
    await me.field('Name', me.dialog).fill('Order tracker');
    await me.button('Add webhook', me.dialog).click();
    secret = await me.takeSecret('Copy the signing secret now');
    await me.page.waitForURL('**/integrations/webhooks/sub_*');
    await receiver.waitFor('the test', ({ type }) => type === 'webhook.test');
    ill = true;
    await delivered();
    await me.heading(/^Your receiver answers “503/);
    await me.judge('a receiver that fails');
    // Its answer is shown as text.
    await me.page.getByText('delivery.completed').first().click();
    await me.sees('<b>upstream</b>');
    await me.judge('an event that failed');
  });
  test('recovers: what failed is sent again', async () => {
    ill = false;
    await me.button('Resend').click();
    await me.sees('It is sent again.');
    await until(
      'it has heard',
      () => receiver.requests.filter(({ body }) => JSON.parse(body).type === 'delivery.completed').length > 1,
    );
    await me.choose('More', 'Send failed events again…');
    await me.judge('send again?');
    await me.sees('0 events failed since then.');
    assert.ok(await me.button('Send again', me.dialog).isDisabled());
    await me.button('Cancel', me.dialog).click();
    await me.dialog.waitFor({ state: 'detached' });
    await me.sees('Healthy');
  });
  test('gets a new secret, and both sign while they overlap', async () => {
    await me.button('Rotate secret').click();
    await me.judge('rotate?');
    await me.button('Rotate', me.dialog).click();
    const next = await me.takeSecret('Copy the new secret now');
    assert.notEqual(next, secret);
    const id = await delivered();
    await until('it has heard', () => heard(id).length > 0);
    const [request] = heard(id);
    await verifiedEvent(request, next);
    assert.equal(request.headers['webhook-signature'].split(' ').length, 2, 'both secrets sign');
    await me.sees(/^The former secret signs too until/);
    await me.judge('a receiver with two secrets');
  });
});

describe('a session', () => {
  test('of two tabs lasts over an expiry, with one refresh for both', async () => {
    const one = await Dashboard.open(browser, stack.bridge.url);
    await one.signIn({ email: merchant.email, password: PASSWORD });
    const two = await one.tab('/deliveries');
    await one.go('/deliveries');
    await two.go('/deliveries');
    // From now on the service refuses the tokens that the tabs hold, as it does when their time is over.
    const over = new Set();
    const answered = new Set();
    let refreshes = 0;
    for (const { page } of [one, two]) {
      page.on('request', (request) => (refreshes += request.url().endsWith('/api/auth/refresh') ? 1 : 0));
      page.on(
        'response',
        (response) =>
          response.ok() &&
          response.url().includes('status=waiting_for_friendship') &&
          response.url().includes('limit=50') &&
          answered.add(page),
      );
      // Slow enough for the other tab to need one too.
      await page.route('**/api/auth/refresh', async (route) => {
        await delay(1_500);
        return route.continue();
      });
      await page.route(/\/api\/(?!auth\/)/, async (route) => {
        const token = (await route.request().allHeaders()).authorization;
        if (refreshes === 0) over.add(token);
        if (token && over.has(token))
          return route.fulfill({
            status: 401,
            json: { error: { code: 'UNAUTHORIZED', message: 'Its time is over.' } },
          });
        return route.continue();
      });
    }
    // The same page in both, which asks for more at once.
    await Promise.all([one, two].map(({ page }) => page.getByRole('link', { name: /^Waiting for buyer/ }).click()));
    await until('both have what they asked for', () => answered.size === 2);
    for (const it of [one, two]) {
      await it.keepsNothing('after a refresh');
      assert.equal(await it.dialog.count(), 0, 'nobody is asked to sign in');
    }
    assert.equal(refreshes, 1);
    await one.page.context().close();
  });
  test('that another ends asks for the password over the page, and what was typed stays', async () => {
    const it = await Dashboard.open(browser, stack.bridge.url);
    await it.signIn({ email: merchant.email, password: PASSWORD });
    await it.go(`/integrations/stores/${store.id}/settings`);
    await it.field('Name').fill('A store renamed');
    // From another browser: all of them.
    const { data } = isOk(await merchant.api.get('/api/account/sessions'));
    for (const { id, current } of data)
      if (!current) assert.equal((await merchant.api.delete(`/api/account/sessions/${id}`)).status, 204);
    await it.button('Save').click();
    await it.dialog.getByText('Sign in again').first().waitFor();
    await it.judge('sign in again');
    await it.page.locator('[role=dialog] input[type=password]').fill(PASSWORD);
    await it.button('Sign in', it.dialog).click();
    await it.dialog.waitFor({ state: 'detached' });
    assert.equal(await it.field('Name').inputValue(), 'A store renamed');
    await it.button('Save').click();
    await it.sees('Saved.');
    await it.page.context().close();
  });
  test('that ends in one tab ends in all', async () => {
    const one = await Dashboard.open(browser, stack.bridge.url);
    await one.signIn({ email: merchant.email, password: PASSWORD });
    const two = await one.tab('/credits');
    await two.heading('Credits');
    await one.choose(merchant.email, 'Sign out');
    for (const { page } of [one, two]) await page.waitForURL('**/sign-in*');
    await two.go('/deliveries');
    await two.heading('Welcome back');
    await one.page.context().close();
  });
});

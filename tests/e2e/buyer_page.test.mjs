// The page that a buyer opens by the link of a delivery (spec 13.3), in a real browser against the running service.
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { Browser, accessibilityFaults } from './chromium.mjs';
import { Scope, until } from './harness.mjs';
import { Merchant, isOk, startStack } from './merchant.mjs';

const HOSTILE = '"><img src=x onerror=alert(1)>\u202e{{7*7}}';
const scope = new Scope({ after });
let stack, sim, merchant, store, browser;
let lastOrder = 0;

before(async () => {
  stack = await startStack(scope, {
    args: [
      '--cloud-name',
      'Tone Cloud',
      '--cloud-friend-requests-url',
      'https://cloud.example/requests',
      '--cloud-app-url',
      'https://cloud.example/app',
    ],
  });
  sim = stack.sim;
  merchant = await Merchant.signUp(stack.bridge, 1);
  store = await merchant.store('generic');
  browser = await Browser.start(scope);
});
afterEach(() => browser.isClean());

const customer = (username, answer) => sim.post('/sim/customers', { username, answer });
async function ordered(username, status, fields) {
  const { deliveryId } = await merchant.order(store, { orderId: `p-${++lastOrder}`, username, ...fields });
  await merchant.reaches(deliveryId, status);
  return deliveryId;
}
async function open(deliveryId, options) {
  const { buyerUrl } = await merchant.delivery(deliveryId);
  const page = await browser.page(`${stack.bridge.url}/p${new URL(buyerUrl).hash}`, options);
  await page.waitForSelector('main:not([aria-busy]) h1');
  return page;
}
const titled = (page, title) => page.getByRole('heading', { level: 1, name: title }).waitFor();
const button = (page, name) => page.getByRole('button', { name, exact: true });

describe('the page', () => {
  test('leads a buyer who waits to the request, and to another name, by the keyboard alone', async () => {
    await customer('patient', 'never');
    await customer('right', 'accept');
    const id = await ordered('patient', 'waiting_for_friendship');
    const page = await open(id, { width: 360 });
    await titled(page, 'One step left: accept our friend request');
    assert.equal(
      await page.getByRole('link', { name: 'Open friend requests' }).getAttribute('href'),
      'https://cloud.example/requests',
    );
    await button(page, 'Not you?').focus();
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'username');
    await page.keyboard.press('Control+a');
    await page.keyboard.type('@right');
    await page.keyboard.press('Enter');
    await page.getByText('Send it to @right instead? The request to @patient is withdrawn.').waitFor();
    await button(page, 'Send to @right').press('Enter');
    // It follows by itself, and says so to who cannot see it.
    await titled(page, 'Enjoy your presets');
    assert.equal(await page.locator('#announcer').textContent(), 'Enjoy your presets');
    assert.equal((await merchant.delivery(id)).targetUsername, 'right');
    assert.equal(
      await page.getByRole('link', { name: 'Open the app' }).getAttribute('href'),
      'https://cloud.example/app',
    );
  });

  test('asks where to send it, and tells what is wrong with what was typed', async () => {
    await sim.put('/sim/unknown-users', { create: false });
    const page = await open(await ordered('mispelt', 'failed'), { expected: /status of 422/ });
    await titled(page, 'Where should we send your presets?');
    await page.getByText('We could not find mispelt on Tone Cloud.').waitFor();
    const field = page.getByLabel('Your cloud username');
    assert.equal(await field.inputValue(), 'mispelt');
    for (const [typed, problem] of [
      ['', 'Type your username.'],
      ['me@mail.example', 'That looks like an e-mail address.'],
      ['\u200b', 'That is not a username.'],
    ]) {
      await field.fill(typed);
      await button(page, 'Send my presets').click();
      await page.getByRole('alert').filter({ hasText: problem }).waitFor();
      assert.equal(await field.inputValue(), typed, 'what was typed stays');
      await until('the field has the focus', () => field.evaluate((it) => it === document.activeElement));
      assert.ok((await page.locator('#username-problem').textContent()).includes(problem));
    }
    await sim.put('/sim/unknown-users', { create: true });
    await field.fill('spelt');
    await page.keyboard.press('Enter');
    await titled(page, 'Enjoy your presets');
  });

  test('has a declined request sent again', async () => {
    await customer('decliner', 'decline');
    const id = await ordered('decliner', 'failed');
    const page = await open(id);
    await titled(page, 'We could not reach you');
    await customer('decliner', 'accept');
    await button(page, 'Try again').click();
    await titled(page, 'Enjoy your presets');
  });

  test('says nothing of the cause when the merchant is to act, nor of the end', async () => {
    isOk(await sim.put('/sim/unknown-users', { create: true }));
    const id = await ordered('gone-one', 'completed');
    isOk(await merchant.api.post(`/api/deliveries/${id}/reopen`));
    const page = await open(id);
    await titled(page, 'A small delay');
    isOk(await merchant.api.post(`/api/deliveries/${id}/invalidate`, { reason: 'a secret reason' }));
    await page.reload();
    await titled(page, 'This order was closed');
    assert.ok(!(await page.content()).includes('secret'));
  });

  test('says the same of a wrong link and of none', async () => {
    for (const hash of ['', '#x', `#${'A'.repeat(32)}`]) {
      const page = await browser.page(`${stack.bridge.url}/p${hash}`, { expected: /404/ });
      await titled(page, 'This link no longer works');
      await page.getByText('Ask the shop for a new one.').waitFor();
    }
  });

  test('shows the words of strangers as text, and keeps nothing', async () => {
    isOk(
      await merchant.api.put(`/api/integrations/${store.id}/mappings`, {
        mappings: [
          {
            matchType: 'sku',
            matchValue: 'A-1',
            fileId: merchant.file(1),
            kind: '<b>kind',
            fileName: HOSTILE.replace('\u202e', ''),
          },
        ],
      }),
    );
    await customer('<i>nobody', 'never');
    const id = await ordered('<i>nobody', 'waiting_for_friendship', { orderNumber: '<b>#1' });
    const page = await open(id);
    await page.getByText('@<i>nobody').waitFor();
    await page.getByText('"><img src=x').waitFor();
    assert.equal(await page.locator('main img, main b, main i').count(), 0);
    assert.deepEqual(await page.evaluate(() => [localStorage.length, sessionStorage.length, document.cookie]), [
      0,
      0,
      '',
    ]);
  });

  test('tells that it has no connection, and goes on when it is back', async () => {
    await customer('slow', 'never');
    const page = await open(await ordered('slow', 'waiting_for_friendship'), { expected: /ERR_INTERNET_DISCONNECTED/ });
    await page.context().setOffline(true);
    await page.getByText('No connection. This page tries again by itself.').waitFor();
    await page.context().setOffline(false);
    await page.getByText('No connection.').waitFor({ state: 'detached' });
  });

  test('hears of a change at once, and hardly asks while there is none', async () => {
    await customer('calm', 'never');
    const id = await ordered('calm', 'waiting_for_friendship');
    const { buyerUrl } = await merchant.delivery(id);
    const page = await browser.page(`${stack.bridge.url}/p`);
    const asked = [];
    let lastAt = performance.now();
    page.on('request', (request) => {
      asked.push(new URL(request.url()).pathname);
      lastAt = performance.now();
    });
    const events = page.waitForResponse((response) => new URL(response.url()).pathname === '/api/buyer/events');
    await page.goto(`${stack.bridge.url}/p${new URL(buyerUrl).hash}`);
    await titled(page, 'One step left: accept our friend request');
    assert.equal((await events).status(), 200);
    await until('it has asked for what the beginning needs', () => performance.now() - lastAt > 1_500, 20_000);
    asked.length = 0;
    await page.waitForTimeout(7_000); // longer than it pauses where it has to ask
    assert.deepEqual(asked, []);
    isOk(await merchant.api.post(`/api/deliveries/${id}/invalidate`, { reason: 'a test' }));
    await page.getByRole('heading', { level: 1, name: 'This order was closed' }).waitFor();
    assert.deepEqual([...new Set(asked)], ['/api/buyer']);
  });

  test('asks again by itself where no events come', async () => {
    await customer('asker', 'never');
    const id = await ordered('asker', 'waiting_for_friendship');
    const { buyerUrl } = await merchant.delivery(id);
    const page = await browser.page(`${stack.bridge.url}/p`, { expected: /ERR_FAILED/ });
    await page.route('**/api/buyer/events', (route) => route.abort());
    await page.goto(`${stack.bridge.url}/p${new URL(buyerUrl).hash}`);
    await titled(page, 'One step left: accept our friend request');
    isOk(await merchant.api.post(`/api/deliveries/${id}/invalidate`, { reason: 'a test' }));
    await titled(page, 'This order was closed');
  });

  test('says where to ask the merchant, once that is known', async () => {
    const id = await ordered('curious', 'completed');
    isOk(
      await merchant.api.patch('/api/account', {
        displayName: 'Tones & <b>More</b>',
        supportEmail: 'he+lp@shop.example',
      }),
    );
    const page = await open(id);
    const link = page.getByRole('link', { name: 'Write to Tones & <b>More</b>' });
    assert.equal(await link.getAttribute('href'), 'mailto:he%2Blp@shop.example');
    isOk(await merchant.api.patch('/api/account', { supportUrl: 'https://shop.example/help?a=1' }));
    await page.reload();
    assert.equal(await link.getAttribute('href'), 'https://shop.example/help?a=1');
    isOk(await merchant.api.patch('/api/account', { displayName: null, supportEmail: null, supportUrl: null }));
  });

  test('is accessible in light and dark, and fits narrow screens', async () => {
    await sim.put('/sim/unknown-users', { create: false });
    const ids = [await ordered('nobody-of-that-name', 'failed')];
    await sim.put('/sim/unknown-users', { create: true });
    await customer(`a-very-long-name-${'x'.repeat(150)}`, 'never');
    ids.push(
      await ordered(`a-very-long-name-${'x'.repeat(150)}`, 'waiting_for_friendship'),
      await ordered('served', 'completed'),
    );
    for (const id of ids) {
      for (const dark of [false, true]) {
        const page = await open(id, { dark, width: 320 });
        assert.deepEqual(await accessibilityFaults(page), []);
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'no sideways scroll');
      }
    }
  });

  test('is small, and may be kept', async () => {
    const fetched = async (path) => {
      const answer = await fetch(stack.bridge.url + path, {
        headers: { 'accept-encoding': 'br', accept: 'text/html' },
      });
      assert.equal(answer.status, 200, path);
      return answer;
    };
    const html = await fetched('/p');
    assert.match(html.headers.get('content-security-policy'), /default-src 'none'/);
    assert.deepEqual(
      [html.headers.get('content-encoding'), html.headers.get('cache-control'), html.headers.get('referrer-policy')],
      ['br', 'no-cache', 'no-referrer'],
    );
    const text = await html.text();
    let bytes = 0;
    for (const [, path] of text.matchAll(/(?:src|href)="(\/[^"]+\.(?:js|css))"/g)) {
      const file = await fetched(path);
      const size = Number(file.headers.get('content-length'));
      assert.ok(size > 0, path);
      bytes += size;
      if (path.startsWith('/assets/')) assert.match(file.headers.get('cache-control'), /immutable/);
    }
    bytes += Number(html.headers.get('content-length'));
    assert.ok(bytes > 2000 && bytes <= 15 * 1024, `${bytes} bytes`);
  });
});

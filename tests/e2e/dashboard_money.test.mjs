// Actions that cost money or reach many deliveries, in the dashboard as a person does them: credits are bought on the payment simulator's page, deliveries that
// stopped for want of them go on, and many deliveries are acted on at once. In a real browser against the running programs.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Browser, accessibilityFaults } from './chromium.mjs';
import { Client, Scope, runBridge, scratch, startBridge, startCloudsim, startPaysim, until } from './harness.mjs';
import { Merchant, PASSWORD, isOk } from './merchant.mjs';
import { PACKS } from './processor.mjs';

const MANY = 300;
const scope = new Scope({ after });
let bridge, paysim, pay, sim, merchant, store, browser;

before(async () => {
  paysim = await startPaysim(scope);
  pay = new Client(paysim.url);
  const dataDir = await scratch(scope);
  for (const [name, secret] of [
    ['payments.key', 'sk_test_OfTheDashboard1'],
    ['payments.webhook', paysim.ready.webhookSecret],
  ]) {
    await writeFile(path.join(dataDir, name), `${secret}\n`);
    await chmod(path.join(dataDir, name), 0o600);
  }
  const cloud = await startCloudsim(scope, { args: ['--users', '2', '--files', '10', '--create-unknown-users'] });
  sim = new Client(cloud.url);
  bridge = await startBridge(scope, {
    cloudUrl: cloud.url,
    dataDir,
    args: [
      '--delivery-jobs-per-minute',
      '0',
      '--delivery-first-sweep-seconds',
      '1',
      '--payments-url',
      paysim.url,
      '--credits-packs',
      PACKS,
    ],
  });
  isOk(await pay.put('/sim/webhooks', { url: `${bridge.url}/api/payments/webhook` }));
  merchant = await Merchant.signUp(bridge, 1, { credits: 1 });
  store = await merchant.store('generic');
  browser = await Browser.start(scope);
});
afterEach(() => browser.isClean());

async function signedIn(to, { expected = 'never', ...options } = {}) {
  // The payment page is another origin's; the first question for a session is answered 401.
  const noted = new RegExp(`status of 401|asks ${paysim.url}|${expected}`);
  const page = await browser.page(`${bridge.url}/sign-in?to=${encodeURIComponent(to)}`, {
    ...options,
    expected: noted,
  });
  await page.locator('input[name=email]').fill(merchant.email);
  await page.locator('input[name=password]').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL(`${bridge.url}${to}`);
  return page;
}
const button = (page, name) => page.getByRole('button', { name, exact: true });
const sessionOf = (page) => new URL(page.url()).pathname.split('/').at(-1);
const admin = (...args) => runBridge(['admin', ...args, '--data-dir', bridge.dataDir]);

test('credits are bought: left, gone on with and paid, and what waited goes on', async () => {
  const orders = [];
  for (let i = 0; i < 4; ++i)
    orders.push(await merchant.order(store, { orderId: `wait-${i}`, username: `buyer-${i}` }));
  await until(
    'three wait for credits',
    async () =>
      isOk(await merchant.api.get('/api/deliveries?resolutionCode=insufficient_credits&count=true')).count === 3,
  );
  const page = await signedIn('/credits');
  await page.getByText('3 deliveries need credits').waitFor();
  await page.getByRole('radio', { name: /^500 credits/ }).check();
  await button(page, 'Go to payment').click();
  await page.waitForURL(`${paysim.url}/**`);
  await page.getByRole('link', { name: 'Cancel' }).click();
  await page.getByRole('heading', { name: 'Not paid yet' }).waitFor();
  assert.equal((await merchant.balance()).available, 0);
  await page.getByRole('link', { name: 'Go on to the payment' }).click();
  await page.waitForURL(`${paysim.url}/**`);
  await button(page, 'Pay').click();
  await page.getByRole('heading', { name: 'Paid', exact: true }).waitFor();
  await page.getByText('500 credits were added.').waitFor();
  assert.equal(new URL(page.url()).pathname, '/credits/return');
  for (const { deliveryId } of orders) await merchant.reaches(deliveryId, 'completed');
  await page.getByRole('heading', { name: 'Deliveries that went on since' }).waitFor();
  await until('all three are shown', async () => (await page.locator('tr[data-linked]').count()) === 3);
  assert.deepEqual(await accessibilityFaults(page), []);

  await page.getByRole('link', { name: 'Go to credits' }).click();
  const row = page.getByRole('row', { name: /Paid.*500 credits.*€79\.00/ });
  await row.waitFor();
  assert.match(await row.getByRole('link', { name: /^Receipt/ }).getAttribute('href'), new RegExp(`^${paysim.url}/`));
  // A share leads to the delivery that it was for.
  const spent = page.getByRole('row', { name: /shared Preset 1/ }).getByRole('link');
  await spent.first().waitFor();
  const opens = await spent.evaluateAll((links) => links.map((link) => new URL(link.href).pathname));
  for (const { deliveryId } of orders) assert.ok(opens.includes(`/deliveries/${deliveryId}`), opens.join(' '));
  const download = page.waitForEvent('download');
  await button(page, 'Export CSV').click();
  const table = await readFile(await (await download).path(), 'utf8');
  assert.match(table, /,purchase,500,,pur_\w+,500 credits,500,,,,\r\n/);
});

test('a bank that takes its time is waited for, and an expired page and a refund are told', async () => {
  const page = await signedIn('/credits');
  await button(page, 'Go to payment').click();
  await page.waitForURL(`${paysim.url}/**`);
  const session = sessionOf(page);
  await button(page, 'Pay later').click();
  await page.getByRole('heading', { name: 'The bank has not confirmed yet' }).waitFor();
  assert.equal(await page.getByRole('link', { name: 'Go on to the payment' }).count(), 0, 'it is not paid twice');
  isOk(await pay.post('/sim/settle', { session }));
  await page.getByText('100 credits were added.').waitFor();
  isOk(await pay.post('/sim/refund', { payment: session }));
  await page.reload();
  await page.getByText('€19.00 of this payment went back, and its credits with it.').waitFor();

  await page.goto(`${bridge.url}/credits`);
  await button(page, 'Go to payment').click();
  await page.waitForURL(`${paysim.url}/**`);
  isOk(await pay.post('/sim/expire', { session: sessionOf(page) }));
  const bought = isOk(await merchant.api.get('/api/credits/purchases?limit=1')).data[0];
  await page.goto(`${bridge.url}/credits/return?purchase=${bought.id}`);
  await page.getByText('The payment page was open for too long. Nothing was charged.').waitFor();
  await page.goto(`${bridge.url}/credits?state=expired`);
  await page.getByRole('row', { name: /Expired/ }).waitFor();
});

test('a purchase of another account is not there', async () => {
  const other = await Merchant.signUp(bridge, 2, { connected: false, credits: 0 });
  const theirs = isOk(await other.api.post('/api/credits/checkout', { packId: 'small' }), 201);
  const page = await signedIn(`/credits/return?purchase=${theirs.id}`, { expected: 'status of 404' });
  await page.getByText('There is no such purchase in this account').waitFor();
  assert.equal(await page.getByRole('link', { name: 'Go on to the payment' }).count(), 0);
});

test('buying asks who it is, where that was said long ago', async () => {
  const page = await signedIn('/credits');
  let asked = 0;
  // The service's own answer after ten minutes (sessions.test.mjs); here it comes at once.
  await page.route('**/api/credits/checkout', async (route) => {
    if (++asked > 1) return route.continue();
    return route.fulfill({
      status: 403,
      contentType: 'application/json',
      body: JSON.stringify({ error: { code: 'STEP_UP_REQUIRED', message: 'Confirm.' } }),
    });
  });
  browser.isClean();
  const before = browser.problems.length;
  await button(page, 'Go to payment').click();
  await page.getByRole('dialog', { name: 'Confirm it is you' }).getByLabel('Password', { exact: true }).fill(PASSWORD);
  await button(page, 'Continue').click();
  await page.waitForURL(`${paysim.url}/**`);
  assert.equal(asked, 2);
  browser.problems.splice(before); // that a request was answered 403
});

test('300 refused deliveries are retried at once: what it costs and who is left out is said before', async () => {
  isOk(await sim.put('/sim/faults', { endpoint: 'share', refused: 1 }));
  await admin('grant-credits', merchant.accountId, '1000');
  for (let i = 0; i < MANY; i += 20)
    await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        merchant.order(store, { orderId: `many-${i + n}`, username: `fan-${i + n}` }),
      ),
    );
  const refused = 'resolutionCode=cloud_rejected&status=failed&count=true&limit=1';
  await until(
    'all are refused',
    async () => isOk(await merchant.api.get(`/api/deliveries?${refused}`)).count === MANY,
    60_000,
  );
  isOk(await sim.delete('/sim/faults'));
  // This kind of store may leave the username out.
  const plain = await merchant.store('provider_b');
  const nameless = await merchant.order(plain, { orderId: '9001', username: undefined });
  await merchant.reaches(nameless.deliveryId, 'failed');

  const page = await signedIn('/deliveries?status=failed');
  await page.getByRole('checkbox', { name: 'Select all rows of this page' }).check();
  await page.getByText('50 selected').waitFor();
  await button(page, `Select all ${MANY + 1}`).click();
  await page.getByText(`All ${MANY + 1} that match are selected`).waitFor();
  await page.getByText('1 needs a fix first').waitFor();
  // A delivery that fails later is not part of the selection.
  isOk(await sim.post('/sim/faults/script', { endpoint: 'share', steps: [{ fault: 'refused' }] }));
  const late = await merchant.order(store, { orderId: 'late', username: 'fan-late' });
  await merchant.reaches(late.deliveryId, 'failed');
  const before = await merchant.balance();
  await button(page, `Retry ${MANY}`).click();
  const dialog = page.getByRole('dialog', { name: `Retry ${MANY} deliveries?` });
  await dialog.getByText(`They cost at most ${MANY} credits; you have`).waitFor();
  await dialog.getByText('1 that needs a username first').waitFor();
  // Controls behind the dialog cannot be pressed, wherever the list has scrolled to.
  assert.deepEqual(await accessibilityFaults(page, { floating: true, within: '[role=dialog]' }), []);
  await button(dialog, `Retry ${MANY}`).click();
  await page.getByText(`${MANY} queued again.`).waitFor({ timeout: 60_000 });
  await until('they are delivered', async () => (await merchant.balance()).spent - before.spent === MANY, 60_000);
  assert.equal((await merchant.delivery(late.deliveryId)).resolutionCode, 'cloud_rejected');
  assert.equal(isOk(await merchant.api.get(`/api/deliveries?${refused}`)).count, 1);
});

test('many are stopped with a reason, by the keyboard alone', async () => {
  await sim.post('/sim/customers', { username: 'waiter', answer: 'never' });
  const ids = [];
  for (const name of ['one', 'two', 'three'])
    ids.push((await merchant.order(store, { orderId: `stop-${name}`, username: 'waiter' })).deliveryId);
  for (const id of ids) await merchant.reaches(id, 'waiting_for_friendship');
  const page = await signedIn('/deliveries?view=waiting');
  await page.getByRole('checkbox', { name: 'Select stop-one' }).waitFor();
  await page.locator('h1').focus();
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await page.getByText('1 selected').waitFor();
  await page.keyboard.press('a');
  await page.getByText('3 selected').waitFor();
  await button(page, 'Stop…').press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Stop 3 deliveries?' });
  await dialog.getByLabel('Reason').fill('Sold by <b>mistake</b>.');
  await button(dialog, 'Stop 3').press('Enter');
  await page.getByText('3 stopped.').waitFor();
  for (const id of ids) assert.equal((await merchant.delivery(id)).reason, 'Sold by <b>mistake</b>.');
  // They stay where they are looked at, as they are now.
  for (const name of ['one', 'two', 'three'])
    await page.getByRole('row', { name: new RegExp(`Stopped.* stop-${name} `, 's') }).waitFor();
  await page.reload();
  await page.getByText('No buyer has to do anything').waitFor();
});

test('a password is changed, other sessions end, and the audit log tells it', async () => {
  const page = await signedIn('/account/profile');
  await page.getByLabel(/^Name for buyers/).fill('<i>Tones</i>');
  await button(page, 'Save').click();
  await page.getByText('Saved. Your buyers see it from now on.').waitFor();
  assert.equal(isOk(await merchant.api.get('/api/account')).displayName, '<i>Tones</i>');
  const other = await signedIn('/account/sessions');
  await page.getByRole('link', { name: 'Sessions' }).click();
  await button(page, 'Sign out all others').click();
  await button(page, 'Sign out the others').click();
  await page.getByText(/sessions? (is|are) signed out/).waitFor();
  await other.goto(`${bridge.url}/keys`);
  await other.waitForURL('**/sign-in**');
  await page.getByRole('link', { name: 'Audit log' }).click();
  await page
    .getByRole('row', { name: /Signed out everywhere else/ })
    .first()
    .waitFor();
  await page.getByRole('link', { name: 'Profile' }).click();
  await page
    .getByLabel(/^Current password/)
    .and(page.locator('input'))
    .fill(PASSWORD);
  await page.locator('input[autocomplete=new-password]').fill(`${PASSWORD} of another`);
  await button(page, 'Change password').click();
  await page.getByRole('dialog', { name: 'Your password is changed' }).waitFor();
  const again = await merchant.open.post('/api/auth/sign-in', { email: merchant.email, password: PASSWORD });
  assert.equal(again.status, 401);
  assert.deepEqual(
    await page.evaluate(() =>
      [Object.keys(localStorage), Object.keys(sessionStorage), document.cookie]
        .flat()
        .filter((kept) => kept && !/^presetbridge-|^tsr-/.test(kept)),
    ),
    [],
  );
});

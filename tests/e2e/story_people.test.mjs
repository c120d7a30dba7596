// The people of an account, the pages of a member, and the stored data of buyers, in a real browser.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, afterEach, before, describe, test } from 'node:test';
import { Browser } from './chromium.mjs';
import { Dashboard } from './dashboard.mjs';
import { Client, Scope, until } from './harness.mjs';
import { Merchant, PASSWORD, filled, isError, isOk, operations, startStack } from './merchant.mjs';

const HOSTILE = 'Ann <img src=x onerror=alert(1)>';
const ANN = 'ann@shop.example';
const scope = new Scope({ after });
let stack, browser, merchant, store, me;

before(async () => {
  stack = await startStack(scope, { args: ['--identity-signups-per-hour', '1000'] });
  merchant = await Merchant.signUp(stack.bridge, 1);
  store = await merchant.store('generic');
  // The first delivery ends the guide.
  const { deliveryId } = await merchant.order(store, { orderId: 'first', username: 'first-buyer' });
  await merchant.reaches(deliveryId, 'completed');
  browser = await Browser.start(scope);
  me = await Dashboard.open(browser, stack.bridge.url);
  await me.signIn({ email: merchant.email, password: PASSWORD });
});
afterEach(() => browser.isClean());

const person = (it, name) => it.page.getByRole('row', { name: new RegExp(name) });
const opened = () => Dashboard.open(browser, stack.bridge.url);

describe('somebody else', () => {
  let link, ann;

  test('is invited, by the keyboard alone', async () => {
    const { keyboard } = me.page;
    await me.go('/account/people');
    await me.sees('No invitation is open.');
    await me.judge('people of one');
    await me.button('Invite somebody').focus();
    await keyboard.press('Enter');
    await me.dialog.waitFor();
    const focused = () =>
      me.page.evaluate(
        () => document.activeElement?.closest('[role=dialog]') && document.activeElement.getAttribute('name'),
      );
    await until('the field has the focus', () =>
      me.field('For whom', me.dialog).evaluate((field) => field === document.activeElement),
    );
    await me.judge('an invitation');
    await keyboard.press('Shift+Tab');
    assert.equal(await focused(), 'role');
    await keyboard.press('ArrowDown');
    assert.ok(await me.dialog.getByRole('radio', { name: /^Owner/ }).isChecked());
    await keyboard.press('ArrowUp');
    await keyboard.press('Tab');
    await keyboard.type(HOSTILE);
    await keyboard.press('Enter');
    link = await me.takeSecret('Copy the link now', { stored: 'I have sent it or stored it' });
    assert.ok(link.startsWith(`${stack.bridge.url}/invite#`), link);
    await me.page.getByRole('row', { name: new RegExp(`^${HOSTILE.replace(/[()]/g, '\\$&')}`) }).waitFor();
    assert.equal(await me.page.locator('main img').count(), 0);
    await me.judge('people and an open invitation');
  });

  test('joins by the link, which opens once', async () => {
    ann = await opened();
    await ann.page.goto(link);
    await ann.heading('Join Shop 1');
    await ann.judge('where an invitation leads');
    assert.equal(ann.page.url(), `${stack.bridge.url}/invite`, 'the token is in no address');
    await ann.field('E-mail').fill(merchant.email);
    await ann.field('Password').fill(PASSWORD);
    await ann.button('Join').click();
    await ann.sees('This e-mail has an account here already.');
    await ann.judge('an address that is taken');
    await ann.field('E-mail').fill(ANN);
    await ann.button('Join').click();
    await ann.heading('Overview');
    await ann.keepsNothing('after joining');
    // A person who comes late, or with a link that is not whole.
    const late = await opened();
    for (const address of [link, link.slice(0, -2), `${link.split('#')[0]}#%`]) {
      await late.page.goto(address);
      await late.heading('This invitation no longer works');
    }
    await late.judge('an invitation that is used');
    await late.page.reload();
    await late.heading('Open the link of your invitation again');
    await late.judge('an invitation without its token');
    await late.page.context().close();
    // The owner sees who came, without a reload.
    await person(me, ANN).getByText('Member').waitFor();
    await me.sees('No invitation is open.');
  });

  test('who is signed in joins no second account, but by signing out', async () => {
    const { url } = isOk(await merchant.api.post('/api/invitations', { role: 'member' }), 201);
    await ann.page.goto(url);
    await ann.heading(/^You are in .+ already$/);
    await ann.sees(`You are signed in as ${ANN}.`);
    await ann.judge('an invitation of somebody who is signed in');
    await ann.page.getByRole('link', { name: 'Go to overview' }).click();
    await ann.heading('Overview');
    // Back takes nobody into the account twice, and a revoked invitation nobody at all.
    await me.go('/account/people');
    await me.button(/^Revoke the invitation for Somebody/).click();
    await me.judge('revoke?');
    await me.button('Revoke', me.dialog).click();
    await me.sees('The invitation is revoked.');
    await ann.page.goto(url);
    await ann.heading('This invitation no longer works');
  });

  // The sentence on each page of a member, and the buttons that are not there. A request that is refused (403) would fail the story, too.
  const SIGHT = [
    ['/keys', 'Only an owner can make or change tokens.', ['Create token']],
    ['/keys?new=token', 'Only an owner can make or change tokens.', ['Create token']],
    ['/cloud', 'Signed in as merchant-1', ['Change login', 'Delete login…']],
    ['/credits', 'Only an owner can buy credits.', ['Go to payment', 'Save']],
    ['/account/profile', 'Only an owner can change this.', ['Save', 'Delete account…']],
    ['/account/people', 'Only an owner can invite somebody', ['Invite somebody']],
    ['/account/people?new=invitation', 'Only an owner can invite somebody', ['Invite somebody']],
    ['/account/customers', 'Only an owner can export or erase', ['Find']],
    ['/account/audit', 'Only owners read the audit log', []],
  ];
  for (const [path, says, without] of SIGHT)
    test(`as a member sees no owner's buttons at ${path}`, async () => {
      await ann.go(path);
      await ann.sees(says);
      for (const name of without) assert.equal(await ann.button(name).count(), 0, name);
      assert.equal(await ann.dialog.count(), 0);
      await ann.judge(`a member at ${path}`);
    });

  test('is refused what only owners do by the API, too', async () => {
    const open = new Client(stack.bridge.url);
    const { idToken } = isOk(await open.post('/api/auth/sign-in', { email: ANN, password: PASSWORD }));
    const api = open.with({ authorization: `Bearer ${idToken}` });
    const owners = operations.filter((one) => one['x-permission'] === 'owner');
    assert.ok(owners.length >= 15, `${owners.length} operations`);
    for (const { method, path } of owners)
      isError(await api.request(method, filled(path, {}), method === 'GET' ? {} : { json: {} }), 403, 'FORBIDDEN');
  });

  test('is made an owner, and a member again', async () => {
    await me.choose(`Actions of ${ANN}`, 'Make owner…');
    await me.judge('make owner?');
    await me.button('Make owner', me.dialog).click();
    await me.sees(`${ANN} is now owner.`);
    await ann.go('/account/people');
    await ann.button('Invite somebody').waitFor();
    // An owner who is not the only one can step down.
    await me.choose(`Actions of ${merchant.email}`, 'Make member…');
    await me.dialog.getByText('Become a member?').waitFor();
    await me.judge('become a member?');
    await me.page.keyboard.press('Escape');
    await me.dialog.waitFor({ state: 'detached' });
    await me.choose(`Actions of ${ANN}`, 'Make member…');
    await me.button('Make member', me.dialog).click();
    await me.sees(`${ANN} is now member.`);
    await ann.page.reload();
    await ann.sees('Only an owner can invite somebody');
    // The last owner stays.
    await me.choose(`Actions of ${merchant.email}`, 'Leave the account…');
    await me.judge('leave?');
    await me.button('Leave the account', me.dialog).click();
    await me.dialog.getByRole('alert').waitFor();
    await me.button('Cancel', me.dialog).click();
  });

  test('is removed, and is out', async () => {
    await me.choose(`Actions of ${ANN}`, 'Remove…');
    await me.judge('remove?');
    await me.button('Remove', me.dialog).click();
    await person(me, ANN).waitFor({ state: 'detached' });
    await ann.page.getByRole('link', { name: 'Deliveries' }).first().click();
    await ann.dialog.getByText('Sign in again').first().waitFor();
    await ann.page.locator('[role=dialog] input[type=password]').fill(PASSWORD);
    await ann.button('Sign in', ann.dialog).click();
    await ann.sees('E-mail or password is wrong.');
    await ann.page.context().close();
  });
});

describe('a session', () => {
  test('is ended from another', async () => {
    const stolen = await opened();
    await stolen.signIn({ email: merchant.email, password: PASSWORD });
    await stolen.go('/deliveries');
    await me.go('/account/sessions');
    await me.judge('sessions');
    // Only this one is a browser's and not the one that asks.
    const others = me.page
      .getByRole('row')
      .filter({ has: me.button(/^Sign out /) })
      .filter({ hasNotText: 'Program' });
    await others.first().getByRole('button').click();
    await me.sees('It is signed out.');
    await stolen.page.getByRole('link', { name: 'Orders' }).first().click();
    await stolen.dialog.getByText('Sign in again').first().waitFor();
    await stolen.page.context().close();
  });
  test('and its beginning are in the audit log, with where it came from', async () => {
    const stranger = await opened();
    await stranger.page.fill('input[name=email]', merchant.email);
    await stranger.page.fill('input[name=password]', 'not the password');
    await stranger.button('Sign in').click();
    await stranger.sees('E-mail or password is wrong.');
    await stranger.page.context().close();
    await me.go('/account/audit');
    await me.sees('Failed to sign in');
    await me.judge('the audit log');
    await me.page.getByLabel('What', { exact: true }).selectOption({ label: 'Failed sign-ins' });
    await me.page.waitForURL('**/account/audit?action=sign_in.failed');
    await until('only those are left', async () => (await me.page.locator('tbody tr').count()) === 1);
    await me.button(/^All of the entry of/).click();
    await me.dialog.getByText('127.0.0.1').waitFor();
    await me.button('Copy Request', me.dialog).waitFor();
    await me.judge('an entry of the audit log');
    await me.page.keyboard.press('Escape');
    // Who did it, and from what to what.
    await me.go('/account/audit?action=person.');
    await me.sees('role: owner → member');
  });
});

describe('all sessions', () => {
  test('are ended at once, in this tab and all others, and the log tells it', async () => {
    const owner = await Merchant.signUp(stack.bridge, 3, { connected: false, credits: 0 });
    const sign = { email: owner.email, password: PASSWORD };
    const [here, elsewhere] = [await opened(), await opened()];
    for (const it of [here, elsewhere]) await it.signIn(sign);
    await elsewhere.go('/deliveries');
    await here.go('/account/sessions');
    const tab = await here.tab('/deliveries');
    await tab.heading('No deliveries yet');
    await until('all are listed', async () => (await here.page.locator('tbody tr').count()) === 3);
    await here.button('Sign out everywhere').click();
    await here.judge('sign out everywhere?');
    await here.button('Cancel', here.dialog).click();
    await here.dialog.waitFor({ state: 'detached' });
    isOk(await owner.api.get('/api/account'));
    await here.button('Sign out everywhere').click();
    await here.button('Sign out everywhere', here.dialog).click();
    for (const { page } of [here, tab]) await page.waitForURL('**/sign-in*');
    isError(await owner.api.get('/api/account'), 401, 'UNAUTHORIZED'); // of a program
    // Another browser is asked for the password over its page, and no longer has the session after a reload.
    await elsewhere.page.getByRole('link', { name: 'Orders' }).first().click();
    await elsewhere.dialog.getByText('Sign in again').first().waitFor();
    for (const it of [elsewhere, tab]) {
      await it.page.goto(`${stack.bridge.url}/deliveries`);
      await it.heading('Welcome back');
    }
    await here.signIn(sign);
    await here.go('/account/sessions');
    await until('one is listed', async () => (await here.page.locator('tbody tr').count()) === 1);
    await here.go('/account/audit');
    await here.page.getByRole('row', { name: /Signed out everywhere/ }).waitFor();
    for (const it of [here, elsewhere]) await it.page.context().close();
  });
});

describe('a buyer', () => {
  const BUYER = { email: 'forget.me@posteo.example', username: 'forget_me_not' };

  test('asks for their data by the platform, and the request is closed', async () => {
    await merchant.dataRequest(await merchant.store('provider_a'));
    await me.go('/');
    await me.sees('1 privacy request is open');
    await me.page.getByRole('link', { name: 'Answer' }).click();
    await me.heading('Privacy requests');
    await me.sees(/^Answer by/);
    await me.judge('an open privacy request');
    await me.button('Show 1 order of this request').click();
    await me.dialog.getByRole('heading', { name: 'Orders of this request' }).waitFor();
    await me.dialog.getByText('The bridge knows no such order').waitFor();
    await me.judge('the orders of a privacy request');
    await me.page.keyboard.press('Escape');
    await until('the dialog is closed', async () => (await me.dialog.count()) === 0);
    await me.button(/^Close the request of/).click();
    await me.judge('close the request?');
    await me.button('Close request', me.dialog).click();
    await me.sees('No request is open.');
    await me.text('All').click();
    await me.sees(/^Closed/);
    await me.judge('all privacy requests');
  });

  test('is exported', async () => {
    for (let i = 1; i <= 2; ++i) {
      const { deliveryId } = await merchant.order(store, { orderId: `forget-${i}`, ...BUYER });
      await merchant.reaches(deliveryId, 'completed');
    }
    await me.go('/account/customers');
    await me.page.getByRole('textbox', { name: 'E-mail' }).fill(BUYER.email.toUpperCase());
    await me.page.keyboard.press('Enter');
    await me.heading(/^2 orders of/);
    await me.judge('what is kept of a buyer');
    const [download] = await Promise.all([me.page.waitForEvent('download'), me.button('Export').click()]);
    assert.match(download.suggestedFilename(), /^buyer-\d{4}-\d\d-\d\d\.json$/, 'no name of a person in it');
    const exported = JSON.parse(await readFile(await download.path(), 'utf8'));
    assert.deepEqual(
      exported.orders.map(({ order }) => order.customerEmail),
      [BUYER.email, BUYER.email],
    );
    assert.ok(
      exported.orders.every(
        ({ payload, delivery }) => payload.includes(BUYER.username) && delivery.targetUsername === BUYER.username,
      ),
    );
    await me.sees('2 orders are in the file.');
  });

  test('is erased only by their name, and found nowhere on the screen', async () => {
    const deliveries = isOk(await merchant.api.get(`/api/deliveries?q=${BUYER.username}`)).data;
    const listed = isOk(await merchant.api.get(`/api/orders?q=${BUYER.username}`)).data;
    assert.deepEqual([deliveries.length, listed.length], [2, 2]);
    const holdsName = async (path) => {
      await me.go(path);
      await until(`${path} is there`, async () => (await me.page.locator('[aria-busy=true]').count()) === 0);
      const text = (await me.page.locator('main').innerText()).toLowerCase();
      return Object.values(BUYER).some((name) => text.includes(name));
    };
    assert.ok(await holdsName(`/deliveries/${deliveries[0].id}`), 'the page shows who it is');
    await me.go('/account/customers');
    await me.page.getByText('Cloud username').click();
    await me.page.getByRole('textbox', { name: 'Cloud username' }).fill(BUYER.username);
    await me.button('Find').click();
    await me.heading(/^2 orders of/);
    await me.button('Erase…').click();
    await me.dialog.getByText('2 orders lose their names').waitFor();
    assert.ok(await me.button('Erase buyer', me.dialog).isDisabled());
    await me.dialog.getByRole('textbox').fill(BUYER.email);
    assert.ok(await me.button('Erase buyer', me.dialog).isDisabled(), 'another name than was looked for');
    await me.dialog.getByRole('textbox').fill(BUYER.username);
    await me.judge('erase?');
    await me.button('Erase buyer', me.dialog).click();
    await me.sees('2 orders are erased.');
    await me.sees(`Nothing is stored about ${BUYER.username}.`);
    await me.judge('an erased buyer');
    assert.ok(!me.page.url().includes(BUYER.username));
    for (const path of [
      '/',
      '/deliveries',
      '/orders',
      '/account/audit',
      ...deliveries.map(({ id }) => `/deliveries/${id}`),
      ...listed.map(({ id }) => `/orders/${id}`),
    ])
      assert.ok(!(await holdsName(path)), path);
    for (const path of ['/deliveries', '/orders']) {
      await me.go(`${path}?q=${BUYER.username}`);
      await me.sees('Nothing matches these filters');
    }
  });
});

describe('an owner', () => {
  test('changes the e-mail address, and signs in with it', async () => {
    const next = 'owner-renamed@shop.example';
    await me.go('/account/profile');
    await me.judge('the profile');
    await me.field('New e-mail address').fill(next);
    await me.field('Your password').fill('not the password');
    await me.button('Change e-mail address').click();
    await me.sees('The password is wrong.');
    await me.field('Your password').fill(PASSWORD);
    await me.button('Change e-mail address').click();
    await me.dialog.getByText('Your e-mail address is changed').waitFor();
    await me.judge('a changed address');
    await me.button('Done', me.dialog).click();
    await me.page.getByText(next).first().waitFor();
    const again = await opened();
    await again.signIn({ email: next, password: PASSWORD });
    await again.heading('Overview');
    await again.page.context().close();
  });
  test('deletes an account by its name, and nobody signs in to it any more', async () => {
    const other = await Merchant.signUp(stack.bridge, 2);
    const it = await opened();
    await it.signIn({ email: other.email, password: PASSWORD });
    await it.go('/account/profile');
    await it.button('Delete account…').click();
    await it.dialog.getByRole('textbox').fill('Shop 1');
    assert.ok(await it.button('Delete account', it.dialog).isDisabled());
    await it.dialog.getByRole('textbox').fill('Shop 2');
    await it.judge('delete the account?');
    await it.button('Delete account', it.dialog).click();
    await it.heading('Welcome back');
    await it.page.fill('input[name=email]', other.email);
    await it.page.fill('input[name=password]', PASSWORD);
    await it.button('Sign in').click();
    await it.sees('E-mail or password is wrong.');
    await it.page.context().close();
  });
});

// A merchant signs in with an identity provider elsewhere, in a real browser and at a real provider (npm oidc-provider).
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { Browser } from './chromium.mjs';
import { Dashboard } from './dashboard.mjs';
import { Client, Scope, scratch, startBridge, startCloudsim } from './harness.mjs';
import { RealIssuer } from './issuers.mjs';
import { isOk } from './merchant.mjs';

const scope = new Scope({ after });
const NAME = 'Studio Login';
const CONTINUE = `Continue with ${NAME}`;
let bridge, issuer, browser, me;

before(async () => {
  const cloud = await startCloudsim(scope);
  const dataDir = await scratch(scope);
  // The port of the service is known only once it listens, and by then the provider has to know its address.
  issuer = await new RealIssuer(scope).start(['http://127.0.0.1:1/never']);
  await writeFile(path.join(dataDir, 'studio.client-secret'), `${issuer.secret}\n`, { mode: 0o600 });
  bridge = await startBridge(scope, {
    cloudUrl: cloud.url,
    dataDir,
    args: ['--identity-external', `studio open ${issuer.iss} ${issuer.clientId} ${NAME}`],
  });
  await issuer.stop();
  await issuer.start([`${bridge.url}/api/auth/external/studio/callback`]);
  browser = await Browser.start(scope);
  me = await opened();
});
afterEach(() => browser.isClean());

// The provider's pages are of another origin, and 403 is how the service asks for a confirmation.
const opened = () =>
  Dashboard.open(browser, bridge.url, { expected: new RegExp(`status of (401|403)|asks ${issuer.iss}/`) });
const withProvider = (it, within) => (within ?? it.page).getByRole('link', { name: CONTINUE });
// This person sits at that browser from now on, as the provider sees it; null: somebody who cancels.
async function sits(it, person) {
  issuer.person = person;
  await it.page.context().clearCookies({ domain: 'localhost' });
}
async function signIn(it, person) {
  await sits(it, person);
  await withProvider(it).click();
  await it.page.waitForURL((url) => url.origin === bridge.url && !url.pathname.startsWith('/sign-in'));
}
// The tab that the provider's link in that dialog opens.
async function inAnotherTab(dialog, person) {
  await sits(me, person);
  const [page] = await Promise.all([me.page.context().waitForEvent('page'), withProvider(me, dialog).click()]);
  return browser.follow(page, bridge.url, me.expected);
}
// No page shows the id of an account: the service is asked as the page asks it.
async function accountOf(it) {
  const asked = it.page.waitForRequest((request) => new URL(request.url()).pathname === '/api/account');
  await it.go('/account/profile');
  const { authorization } = (await asked).headers();
  return isOk(await new Client(bridge.url, { headers: { authorization } }).get('/api/account')).id;
}
async function hasTheToken() {
  await me.go('/keys');
  await me.page.getByRole('row', { name: /Print-on-demand sync/ }).waitFor();
}

let account;
test('a stranger has an account from the first sign-in with the provider on', async () => {
  await me.heading('Welcome back');
  await withProvider(me).waitFor();
  await me.judge('a sign-in with a provider');
  await signIn(me, 'ann');
  account = await accountOf(me);
  assert.match(account, /^acc_/);
  await me.sees(/^You sign in with .+ Your password is there\.$/);
  await me.judge('a profile without a password');
});

test('a token waits for a confirmation at the provider, in another tab, and the form keeps what was typed', async () => {
  await me.go('/keys');
  await me.button('Create token').first().click();
  await me.field('Name', me.dialog).fill('Print-on-demand sync');
  const stores = me.dialog.getByLabel('Manage stores');
  assert.ok(await stores.isChecked());
  await stores.uncheck();
  await me.button('Create token', me.dialog).click();
  const asks = me.page.getByRole('dialog', { name: 'Confirm it is you' });
  await asks.waitFor();
  assert.equal(await asks.locator('input').count(), 0, 'no password of a person who has none here');
  await me.judge('a confirmation at a provider');
  // Somebody else at the provider confirms nothing.
  const other = await inAnotherTab(asks, 'eve');
  await other.getByRole('heading', { name: 'Not confirmed' }).waitFor();
  await other.close();
  assert.ok(await asks.isVisible(), 'it still asks');
  assert.equal(await me.field('Name', me.page).inputValue(), 'Print-on-demand sync');
  const tab = await inAnotherTab(asks, 'ann');
  await tab.getByRole('heading', { name: 'It is you' }).waitFor();
  await tab.close();
  // The page goes on by itself: the token is of what the form said.
  const secret = await me.takeSecret('Copy your new token now');
  const key = new Client(bridge.url, { headers: { 'x-api-key': secret } });
  assert.equal((await key.get('/api/deliveries')).status, 200);
  assert.equal((await key.post('/api/integrations', { name: 'x', provider: 'generic' })).status, 403);
  await hasTheToken();
});

test('who signs out and in again comes to the same account', async () => {
  await me.choose(/@.*\./, 'Sign out');
  await me.heading('Welcome back');
  await me.go('/keys');
  await me.page.waitForURL('**/sign-in*');
  await signIn(me, 'ann');
  assert.equal(new URL(me.page.url()).pathname, '/keys', 'back to the page that asked for the sign-in');
  await hasTheToken();
  assert.equal(await accountOf(me), account);
  await me.keepsNothing('after a sign-in with a provider');
});

test('whose session another browser ends signs in at the provider in another tab, and the form keeps what was typed', async () => {
  await me.go('/account/profile');
  await me.field('Name for buyers').fill('Tones by Ann');
  const other = await opened();
  await signIn(other, 'ann');
  await other.go('/account/sessions');
  await other.button('Sign out all others').click();
  await other.button('Sign out the others', other.dialog).click();
  await other.sees(/sessions? (is|are) signed out\./);
  await other.page.context().close();
  await me.button('Save').click();
  const asks = me.page.getByRole('dialog', { name: 'Sign in again' });
  await asks.waitFor();
  assert.equal(await asks.locator('input').count(), 0, 'no password of a person who has none here');
  await me.judge('sign in again at a provider');
  const tab = await inAnotherTab(asks, 'ann');
  await tab.getByRole('heading', { name: 'You are signed in' }).waitFor();
  await tab.close();
  await asks.waitFor({ state: 'detached' });
  assert.equal(await me.field('Name for buyers').inputValue(), 'Tones by Ann');
  await me.button('Save').click();
  await me.sees('Saved. Your buyers see it from now on.');
});

test('somebody else of the provider has another account', async () => {
  const eve = await opened();
  await signIn(eve, 'eve');
  assert.notEqual(await accountOf(eve), account);
  await eve.page.context().close();
});

test('who cancels at the provider reads why they are not signed in, and can try again', async () => {
  const it = await opened();
  await sits(it, null);
  await withProvider(it).click();
  await it.heading('Not signed in');
  await it.sees('SIGN_IN_DENIED');
  await it.judge('a sign-in that was cancelled');
  await it.go('/deliveries');
  await it.heading('Welcome back');
  await signIn(it, 'ann');
  assert.equal(await accountOf(it), account);
  await it.page.context().close();
});

// A person keeps views of the deliveries as tabs of their own: on the server, theirs alone, without what was searched for.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { Browser } from './chromium.mjs';
import { Dashboard } from './dashboard.mjs';
import { Scope, until } from './harness.mjs';
import { Merchant, PASSWORD, isOk, startStack } from './merchant.mjs';

const scope = new Scope({ after });
let stack, merchant, browser, me;
before(async () => {
  stack = await startStack(scope);
  merchant = await Merchant.signUp(stack.bridge, 1);
  await merchant.reaches(
    (await merchant.order(await merchant.store('generic'), { username: 'buyer' })).deliveryId,
    'completed',
  );
  browser = await Browser.start(scope);
  me = await Dashboard.open(browser, stack.bridge.url);
  await me.signIn({ email: merchant.email, password: PASSWORD });
});
afterEach(() => browser.isClean());

const tabs = (of = me) => of.page.getByRole('navigation', { name: 'Deliveries' }).getByRole('link');
const names = async (of = me) => (await tabs(of).allTextContents()).map((text) => text.replace(/\d+$/, ''));
const current = async () =>
  (await me.page.locator('nav[aria-label="Deliveries"] [aria-current=page]').textContent()).replace(/\d+$/, '');
const are = (wanted, of = me) =>
  until(`the tabs are ${wanted}`, async () => String(await names(of)) === String(wanted));
const isAt = (wanted) => until(`the tab is ${wanted}`, async () => (await current()) === wanted);
const kept = async () => isOk(await merchant.api.get('/api/me/preferences')).views;
const BUILT_IN = ['All', 'Needs you', 'Waiting for buyer'];
async function saved(name) {
  await me.button('Save view').click();
  await me.dialog.getByLabel('Name').fill(name);
  await me.judge('the name of a view');
  await me.button('Save', me.dialog).click();
  await me.dialog.waitFor({ state: 'detached' });
}
const chosen = async (item) => {
  await me.page.getByRole('button', { name: /^Change the view / }).click();
  await me.page.getByRole('menuitem', { name: item }).click();
};

test('filters become a tab, and what was searched for is not kept', async () => {
  await me.go('/deliveries');
  await are(BUILT_IN);
  assert.equal(await me.button('Save view').count(), 0, 'there is nothing to save');
  await me.go('/deliveries?status=failed,in_review&created=7d&q=jonas');
  await saved('Tone <b>failed</b>');
  await are([...BUILT_IN, 'Tone <b>failed</b>']);
  await isAt('Tone <b>failed</b>');
  assert.deepEqual(await kept(), [{ name: 'Tone <b>failed</b>', query: 'status=failed,in_review&created=7d' }]);
  assert.equal(await me.button('Save view').count(), 0, 'it is saved already');
  await me.judge('a saved view');
});

test('it is there on another visit, and leads to its filters', async () => {
  await me.go('/deliveries');
  await are([...BUILT_IN, 'Tone <b>failed</b>']);
  await isAt('All');
  await tabs().last().click();
  await isAt('Tone <b>failed</b>');
  assert.deepEqual(Object.fromEntries(new URL(me.page.url()).searchParams), {
    status: 'failed,in_review',
    created: '7d',
  });
  await tabs().first().click();
  await isAt('All');
  assert.equal(new URL(me.page.url()).search, '');
});

test('two tabs of a browser keep what the other one saved', async () => {
  await me.go('/deliveries?test=true');
  const other = await me.tab('/deliveries');
  await are([...BUILT_IN, 'Tone <b>failed</b>'], other);
  await saved('Tests');
  await other.page.goto(`${stack.bridge.url}/deliveries?refunded=true`);
  await other.button('Save view').click();
  await other.dialog.getByLabel('Name').fill('Refunds');
  await other.button('Save', other.dialog).click();
  await are([...BUILT_IN, 'Tone <b>failed</b>', 'Tests', 'Refunds'], other);
  await other.page.close();
});

test('it is renamed, moved, gone through by keys, deleted, and brought back', async () => {
  await me.go('/deliveries?test=true');
  await isAt('Tests');
  await chosen('Rename view');
  await me.dialog.getByLabel('Name').fill('Only tests');
  await me.button('Save', me.dialog).click();
  await isAt('Only tests');
  await chosen('Move left');
  await are([...BUILT_IN, 'Only tests', 'Tone <b>failed</b>', 'Refunds']);
  await me.page.locator('h1').click();
  await me.page.keyboard.press(']');
  await isAt('Tone <b>failed</b>');
  await me.page.keyboard.press('[');
  await me.page.keyboard.press('[');
  await isAt('Waiting for buyer');
  await me.page.keyboard.press(']');
  await isAt('Only tests');
  await chosen('Delete view');
  await are([...BUILT_IN, 'Tone <b>failed</b>', 'Refunds']);
  await until('it is deleted', async () => (await kept()).length === 2);
  await me.button('Undo').click();
  await are([...BUILT_IN, 'Only tests', 'Tone <b>failed</b>', 'Refunds']);
  await until('it is back', async () => (await kept()).length === 3);
});

test('shortcuts that are turned off are off on every visit', async () => {
  await me.go('/deliveries');
  await me.page.keyboard.press('?');
  await me.dialog.getByText('Shortcuts').first().waitFor();
  await me.dialog.getByRole('switch').click();
  await until('it is kept', async () => isOk(await merchant.api.get('/api/me/preferences')).shortcutsOff);
  await me.go('/deliveries');
  await are([...BUILT_IN, 'Only tests', 'Tone <b>failed</b>', 'Refunds']);
  await me.page.keyboard.press(']');
  await me.page.keyboard.press('?');
  assert.deepEqual([await current(), await me.dialog.count()], ['All', 0]);
});

test('nobody else sees it', async () => {
  const member = await merchant.invite();
  const theirs = await Dashboard.open(browser, stack.bridge.url);
  await theirs.signIn({ email: member.email, password: PASSWORD });
  await theirs.go('/deliveries');
  await are(BUILT_IN, theirs);
});

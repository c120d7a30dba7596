// Mails and the pages of their links, by a person in a real browser: confirming an address, and a forgotten password.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { Browser } from './chromium.mjs';
import { Dashboard } from './dashboard.mjs';
import { Scope, scratch } from './harness.mjs';
import { Mailbox, linkOf } from './mailbox.mjs';
import { PASSWORD, startStack } from './merchant.mjs';

const SAM = 'sam@marlowtones.example';
const NEXT = 'another long pass phrase';
const scope = new Scope({ after });
let stack, browser, mailbox, sam;

before(async () => {
  mailbox = await Mailbox.start(scope);
  const dataDir = await scratch(scope);
  stack = await startStack(scope, { dataDir, args: await mailbox.args(dataDir) });
  browser = await Browser.start(scope);
});
afterEach(() => browser.isClean());

const opened = () => Dashboard.open(browser, stack.bridge.url);
const address = (it) => it.page.url().replace(stack.bridge.url, '');
// Opens the link of a mail; its token leaves the address at once.
async function follow(it, { url, token }, heading) {
  await it.page.goto(url);
  await it.heading(heading);
  assert.ok(!it.page.url().includes(token), it.page.url());
  assert.ok(!(await it.page.content()).includes(token), 'the token is in the page');
  await it.keepsNothing(heading);
}

test('a new account is asked to confirm its address, in the profile', async () => {
  sam = await opened();
  await sam.signUp({ shop: 'Marlow Tone Co.', email: SAM, password: PASSWORD });
  const first = linkOf(await mailbox.newest(SAM), '/verify');
  await sam.go('/account/profile');
  await sam.sees('It is not confirmed yet. Confirm it by a link.');
  await sam.judge('an address that is not confirmed');
  await sam.button('Send the link').click();
  await sam.sees('A new link is on its way.');
  const { url, token } = linkOf(await mailbox.newest(SAM, 2), '/verify');
  const phone = await opened();
  await follow(phone, first, 'Confirm your e-mail');
  await phone.button('Confirm').click();
  await phone.heading('This link no longer works');
  await phone.judge('a link that was replaced');
  await follow(phone, { url, token }, 'Confirm your e-mail');
  assert.equal(await phone.page.title(), 'Confirm your e-mail · Preset Delivery Bridge');
  await phone.judge('where the link in the mail leads');
  await phone.button('Confirm').click();
  await phone.heading('Your e-mail is confirmed');
  await phone.judge('a confirmed address');
  await phone.page.reload();
  await phone.heading('Open the link in the mail again');
  await phone.judge('a link without its token');
  await phone.page.context().close();
  await sam.page.reload();
  await sam.heading('E-mail address');
  assert.equal(await sam.page.getByText('It is not confirmed yet').count(), 0);
});

test('who forgot the password gets a link, and sets a new one', async () => {
  const phone = await opened();
  await phone.page.getByRole('link', { name: 'Forgot it?' }).click();
  await phone.heading('Forgot your password?');
  assert.equal(await phone.page.title(), 'New password · Preset Delivery Bridge');
  await phone.judge('a forgotten password');
  await phone.field('E-mail').fill('nobody@marlowtones.example');
  await phone.button('Send the link').click();
  const answer = 'If there is an account with this e-mail, a link is on its way. It works for an hour.';
  await phone.sees(answer);
  await phone.judge('a link is on its way');
  await phone.button('send another one').click();
  await phone.field('E-mail').fill(SAM);
  await phone.page.keyboard.press('Enter');
  await phone.sees(answer);
  const link = linkOf(await mailbox.newest(SAM, 3), '/reset');
  await follow(phone, link, 'Set a new password');
  await phone.judge('a new password');
  await phone.field('New password').fill(NEXT);
  await phone.button('Set password').click();
  await phone.dialog.getByText('You are signed out everywhere else.').waitFor();
  await phone.judge('a new password is set');
  await phone.button('Done', phone.dialog).click();
  await phone.page.waitForURL((url) => url.pathname === '/' || url.pathname === '/start');
  await phone.keepsNothing('after a new password');
  // The browser of before is signed out, and the link is used up.
  await sam.page.reload();
  await sam.heading('Welcome back');
  await follow(sam, link, 'Set a new password');
  await sam.field('New password').fill(NEXT);
  await sam.button('Set password').click();
  await sam.heading('This link no longer works');
  await sam.judge('a link that is used up');
  await sam.button('Send a new link').click();
  await sam.heading('Forgot your password?');
  await sam.page.getByRole('link', { name: 'Back to sign-in' }).click();
  await sam.heading('Welcome back');
  await sam.signIn({ email: SAM, password: NEXT });
  assert.notEqual(address(sam), '/sign-in');
});
